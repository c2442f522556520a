# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is served by DHCP, from the inventory's facts of the IPU-Machines. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .._plan.converge import Refused
from .addresses import address_from

# The three ends of an IPU-Machine that ask: the fact prefix, and what is added to its name.
_ENDS = {"bmc": "-bmc", "gateway": "-gw", "rnic": "-rnic"}

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


@dataclass(frozen=True)
class DhcpHost:
    """One known MAC with its one address, whatever VLAN it asks from."""

    name: str
    mac: str
    address: ipaddress.IPv4Address


def hosts_of_machines(machines: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """The BMC, gateway and RNIC of each IPU-Machine with a known MAC, as options; by host name, its variables."""
    return [
        {"name": name + suffix, "mac": facts[f"{end}_mac"], "address": facts[f"{end}_address"]}
        for name, facts in machines.items()
        for end, suffix in _ENDS.items()
        if facts.get(f"{end}_mac") and facts.get(f"{end}_address")
    ]


def hosts_from(options: Sequence[Mapping[str, Any]]) -> list[DhcpHost]:
    """The declared hosts. Raises Refused: a name, MAC or address is malformed, or is declared twice."""
    hosts = [_host(number, option) for number, option in enumerate(options)]
    for what in ("name", "mac", "address"):
        owners: dict[Any, str] = {}
        for host in hosts:
            value = getattr(host, what)
            if value in owners:
                raise Refused(f"DHCP hosts {owners[value]} and {host.name}: both have the {what} {value}; keep one")
            owners[value] = host.name
    return hosts


def mac_from(place: str, text: str) -> str:
    """A MAC address in lower case with colons. Raises Refused: it is none; the sentence begins with ``place``."""
    mac = text.lower().replace("-", ":")
    if not _MAC.fullmatch(mac):
        raise Refused(f"{place} {text!r} is no MAC address; write it like 70:69:79:20:01:02")
    return mac


def _host(number: int, option: Mapping[str, Any]) -> DhcpHost:
    name = str(option.get("name", ""))
    if not _NAME.fullmatch(name):
        raise Refused(f"DHCP host {number + 1}: name {name!r} is no host name; use letters, digits and dashes")
    mac = mac_from(f"DHCP host {name}: mac", str(option.get("mac")))
    return DhcpHost(name, mac, address_from(f"DHCP host {name}", option.get("address")))
