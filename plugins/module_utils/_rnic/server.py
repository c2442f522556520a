# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server's links, as its own tools tell them. Pure: takes the tools' output, runs nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from .._plan.converge import DeviceError
from .declared import sorted_addresses

_STATUS_HEAD = re.compile(r"^\S* *\d+: (\S+)")
_STATUS_FILE = re.compile(r"^\s*Network File: (.+)$")


@dataclass(frozen=True)
class Link:
    """One network device.

    Args:
        kind: the kernel's word for a virtual device (``vlan``, ``veth``); None for hardware.
        max_mtu: in bytes; 0 where the driver has no limit.
        addresses: global addresses with prefix length, in canonical order.
        dynamic: those of them that DHCP or a router gave.
        ips: every address without prefix length, link-local ones included.
        master: the bridge or bond that it is a port of.
        parent: the device that it is a VLAN or the like of.
    """

    device: str
    kind: str | None
    mac: str
    up: bool
    mtu: int
    min_mtu: int
    max_mtu: int
    addresses: tuple[str, ...]
    dynamic: tuple[str, ...]
    ips: frozenset[str]
    master: str | None
    parent: str | None

    @property
    def is_nic(self) -> bool:
        """Hardware, or a veth pair's end: what stands for hardware in a container."""
        return self.kind in (None, "veth")


@dataclass(frozen=True)
class Server:
    """What one survey of a server saw.

    Args:
        links: every network device by its kernel name.
        default_devices: the devices that default routes go through.
        ssh_addresses: the server's end of the SSH connections that this process was started over.
        network_files: the file that networkd configures a device from, where there is one.
        files: the text of the files of the declared interfaces, by path, where they exist.
    """

    links: Mapping[str, Link]
    default_devices: frozenset[str] = frozenset()
    ssh_addresses: frozenset[str] = frozenset()
    network_files: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def links_from(address_output: str) -> dict[str, Link]:
    """The links in the output of ``ip -details -json address show``."""
    try:
        return {entry["ifname"]: _link(entry) for entry in _json_list(address_output)}
    except (KeyError, TypeError, ValueError) as error:
        raise DeviceError(f"ip -details -json address show: unknown answer: {error!r}") from error


def default_devices_from(route_output: str) -> set[str]:
    """The devices in the output of ``ip -json route show default``, next hops of multipath routes included."""
    routes = _json_list(route_output)
    hops = [hop for route in routes for hop in [route, *route.get("nexthops", [])]]
    return {hop["dev"] for hop in hops if "dev" in hop}


def network_files_from(status_output: str) -> dict[str, str]:
    """The file per device in the output of ``networkctl status DEVICE...``; devices without a file are left out."""
    files: dict[str, str] = {}
    device = ""
    for line in status_output.splitlines():
        head, file = _STATUS_HEAD.match(line), _STATUS_FILE.match(line)
        if head:
            device = head.group(1)
        elif file and file.group(1) != "n/a":
            files.setdefault(device, file.group(1))
    return files


def management(server: Server) -> dict[str, str]:
    """The devices that the server is managed through, and those below them, each with the reason."""
    reasons = dict.fromkeys(server.default_devices, "carries the default route")
    for link in server.links.values():
        if link.ips & server.ssh_addresses:
            reasons[link.device] = "carries this SSH connection"
    pending = sorted(reasons)
    while pending:
        upper = pending.pop()
        for link in server.links.values():
            below = link.master == upper or (upper in server.links and server.links[upper].parent == link.device)
            if below and link.device not in reasons:
                reasons[link.device] = f"is below {upper}, which {reasons[upper]}"
                pending.append(link.device)
    return reasons


def _json_list(output: str) -> list[Any]:
    """The list in the answer of ``ip -json``, which prints nothing at all where some releases have nothing to list."""
    try:
        answer = json.loads(output) if output.strip() else []
    except ValueError as error:
        raise DeviceError(f"ip -json: the answer is no JSON: {error}") from error
    if not isinstance(answer, list):
        raise DeviceError("ip -json: the answer is no list")
    return answer


def _link(entry: Mapping[str, Any]) -> Link:
    kind = entry.get("linkinfo", {}).get("info_kind")
    infos = entry["addr_info"]
    lasting = [info for info in infos if info["scope"] == "global"]
    return Link(
        device=entry["ifname"],
        kind=kind,
        mac=entry.get("address", ""),
        up="UP" in entry["flags"],
        mtu=entry["mtu"],
        min_mtu=entry.get("min_mtu", 0),
        max_mtu=entry.get("max_mtu", 0),
        addresses=_addresses(lasting),
        dynamic=_addresses([info for info in lasting if info.get("dynamic")]),
        ips=frozenset(info["local"] for info in infos),
        master=entry.get("master"),
        # The other end of a veth pair is no device below it.
        parent=None if kind == "veth" else entry.get("link"),
    )


def _addresses(infos: list[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(sorted_addresses([f"{info['local']}/{info['prefixlen']}" for info in infos]))
