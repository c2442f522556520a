# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an interface in files of others, and whether they are sufficient. Pure.

Most servers had their RNICs configured before this collection came. A NIC that is as declared, now and after a
restart, stays with the file that makes it so.
"""

from __future__ import annotations

import re
from typing import Mapping, Sequence

from .declared import NIC, Interface, sorted_addresses
from .netplan import GENERATED_PREFIX, mentions
from .network_manager import NetworkManager
from .networkd import Networkd
from .server import Link, Server

# The kernel's own for Ethernet, which a file need not say.
_KERNEL_MTU = 1500
# With this a NIC is a port of something after a restart.
_PORT_OF = re.compile(r"^(Bond|Bridge|VRF|master|controller)=\S", re.MULTILINE)
_DHCP = re.compile(r"^(DHCP=(yes|true|1|ipv4)|method=auto)\s*$", re.MULTILINE)


def left_to_others(
    server: Server, interfaces: Sequence[Interface], devices: Mapping[str, str], backend: str
) -> set[str]:
    """The declared NICs that are as declared by a file of somebody else, by name.

    A NIC below a declared VLAN or bond is none of them: what is above it needs files of ours.
    """
    below = {name for each in interfaces for name in (each.parent, *each.members) if name}
    found = set()
    for interface in interfaces:
        link = server.links.get(devices[interface.name])
        if interface.type != NIC or interface.name in below or link is None:
            continue
        if _is_as_declared(interface, link) and is_lasting(server, link, backend):
            found.add(interface.name)
    return found


def is_lasting(server: Server, link: Link, backend: str) -> bool:
    """Whether a restart brings a NIC's running settings back, by the file that it is configured from."""
    path = server.claims.get(link.device, {}).get(backend, "")
    text = server.files.get(path) or server.used_texts.get(path)
    if not text or link.master or _PORT_OF.search(text) or not link.up or not _survives_a_restart(server, link, path):
        return False
    # The language of the file is in its name.
    kept = (Networkd() if path.endswith(".network") else NetworkManager()).kept({path: text})
    from_dhcp = set(link.dynamic) if _DHCP.search(text) else set()
    addresses = set(sorted_addresses(kept.addresses)) - from_dhcp
    return addresses == set(link.addresses) - from_dhcp and (kept.mtu or _KERNEL_MTU) == link.mtu


def _is_as_declared(interface: Interface, link: Link) -> bool:
    functions = [function.fields() for function in interface.virtual_functions or ()]
    return (
        interface.addresses in (None, link.addresses)
        and interface.mtu in (None, link.mtu)
        and not interface.description
        and (interface.virtual_functions is None or functions == [dict(each) for each in link.virtual_functions])
    )


def _survives_a_restart(server: Server, link: Link, path: str) -> bool:
    """Return whether a file survives a reboot; below /run it does not, unless netplan generates it again."""
    if "/netplan-" in path or path.startswith(GENERATED_PREFIX):
        texts = [text for name, text in server.files.items() if name.endswith(".yaml")]
        return any(mentions(text, link.device, link.mac) for text in texts)
    return not path.startswith("/run/")
