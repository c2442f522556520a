# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which back end configures a server's interfaces: who does it now, or else whose daemon runs. Pure."""

from __future__ import annotations

from typing import Any, Sequence

from .._plan.converge import Refused
from .netplan import GENERATED_PREFIX, Netplan
from .network_manager import NetworkManager
from .networkd import Networkd
from .profile import Backend
from .server import Server

AUTO = "auto"
BACKENDS: dict[str, Backend] = {backend.name: backend for backend in (Networkd(), Netplan(), NetworkManager())}
OPTION: dict[str, Any] = {"type": "str", "choices": [AUTO, *BACKENDS], "default": AUTO}

# The daemon that has to run for a back end.
_DAEMON = {"networkd": "networkd", "netplan": "networkd", "networkmanager": "networkmanager"}
_START = {
    "networkd": "systemd-networkd is not running on this server; start it with `systemctl enable --now "
    "systemd-networkd` after making sure that no file of it matches the management interface",
    "networkmanager": "NetworkManager is not running on this server; start it with `systemctl enable --now "
    "NetworkManager` after making sure that no profile of it matches the management interface",
}


def backend_for(wanted: str, server: Server, devices: Sequence[str], may_be_stopped: bool = False) -> Backend:
    """The back end that configures the devices.

    Args:
        wanted: what is declared, ``auto`` for whoever does it now.
        devices: those of the declared interfaces that exist.
        may_be_stopped: take a daemon that is not running as one that configures nothing yet.

    Raises Refused: two of them do, another one than declared does, or its daemon is not running.
    """
    claims = {(device, name) for device in devices for name in server.claims.get(device, {})}
    names = sorted({name for _device, name in claims})
    if len(names) > 1:
        who = " and ".join(f"{device} by {name}" for device, name in sorted(claims))
        raise Refused(f"{who} are configured at the same time; leave each server's RNICs to one of them")
    name = wanted
    if wanted == AUTO:
        name = names[0] if names else _by_service(server, may_be_stopped)
    elif names and names[0] != wanted:
        device = sorted(claims)[0][0]
        raise Refused(f"{device} is configured by {names[0]}, not by {wanted}; declare that, or backend: auto")
    daemon = _DAEMON[name]
    if daemon not in server.services and not may_be_stopped:
        raise Refused(_START[daemon])
    return BACKENDS[name]


def claim_of(network_file: str) -> str:
    """The back end whose file networkd uses."""
    return "netplan" if network_file.startswith(GENERATED_PREFIX) else "networkd"


def _by_service(server: Server, may_be_stopped: bool) -> str:
    """Who would configure an interface that nobody configures yet."""
    daemons = sorted(server.services & {"networkd", "networkmanager"})
    if len(daemons) > 1:
        raise Refused(
            "systemd-networkd and NetworkManager both run on this server, and none of them has these interfaces; "
            "name one as backend"
        )
    if not daemons and not may_be_stopped:
        raise Refused(
            "neither systemd-networkd nor NetworkManager runs on this server; start the one that shall have the RNICs"
        )
    if daemons == ["networkmanager"]:
        return "networkmanager"
    return "netplan" if "netplan" in server.services else "networkd"
