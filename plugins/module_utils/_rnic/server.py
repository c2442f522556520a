# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server's links, as its own tools tell them. Takes the tools' output; only ``*_of`` asks them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from .._host.programs import Programs
from .._plan.converge import DeviceError
from . import virtual_functions
from .declared import sorted_addresses

_STATUS_HEAD = re.compile(r"^\S* *\d+: (\S+)")
_STATUS_FILE = re.compile(r"^\s*Network File: (.+)$")


@dataclass(frozen=True)
class Link:
    """One network device.

    Args:
        index: the kernel's number of it.
        kind: the kernel's word for a virtual device (``vlan``, ``veth``); None for hardware.
        mac: the one that it was built with, where it has another one now.
        max_mtu: in bytes; 0 where the driver has no limit.
        addresses: global addresses with prefix length, in canonical order.
        dynamic: those of them that DHCP or a router gave.
        ips: every address without prefix length, link-local ones included.
        master: the bridge or bond that it is a port of.
        parent: the device that it is a VLAN or the like of.
        virtual_functions: its SR-IOV functions, in the form of the option ``virtual_functions``.
    """

    device: str
    index: int
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
    vlan_id: int | None = None
    bond_mode: str | None = None
    virtual_functions: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_nic(self) -> bool:
        """Hardware, or a veth pair's end: what stands for hardware in a container."""
        return self.kind in (None, "veth")


@dataclass(frozen=True)
class Server:
    """The survey of a server.

    Args:
        default_devices: the devices that default routes go through.
        ssh_addresses: the server's end of the SSH connections that this process was started over.
        services: the back ends whose daemon runs; netplan where it has files.
        claims: per device and back end the file that the device is configured from, where there is one.
        files: the files with names of ours, by path, and netplan's others.
        used_texts: the files of others that devices are configured from, by path.
        pci: the PCI address per device, where it has one.
        max_virtual_functions: per device that can have any.
    """

    links: Mapping[str, Link]
    default_devices: frozenset[str] = frozenset()
    ssh_addresses: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    claims: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    used_texts: Mapping[str, str] = field(default_factory=dict)
    pci: Mapping[str, str] = field(default_factory=dict)
    max_virtual_functions: Mapping[str, int] = field(default_factory=dict)


def links_from(address_output: str) -> dict[str, Link]:
    """The links in the output of ``ip -details -json address show``."""
    try:
        return {entry["ifname"]: _link(entry) for entry in _json_list(address_output)}
    except (KeyError, TypeError, ValueError) as error:
        raise DeviceError(f"ip -details -json address show: unknown answer: {error!r}") from error


def links_of(programs: Programs) -> dict[str, Link]:
    """The links of a server; DeviceError where they cannot be listed."""
    return links_from(programs.call(["ip", "-details", "-json", "address", "show"]))


def default_devices_of(programs: Programs) -> frozenset[str]:
    """The devices of a server's default routes; DeviceError where they cannot be listed."""
    routes = [programs.call(["ip", version, "-json", "route", "show", "default"]) for version in ("-4", "-6")]
    return frozenset().union(*map(default_devices_from, routes))


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


def profile_files_from(connection_output: str) -> dict[str, str]:
    """The file per device in the output of ``nmcli --terse --fields DEVICE,FILENAME connection show --active``."""
    lines = (line.partition(":") for line in connection_output.splitlines())
    return {device: file for device, _colon, file in lines if device and file}


def unmanaged_from(device_output: str) -> set[str]:
    """The devices that NetworkManager only watches, by ``nmcli --terse --fields DEVICE,STATE device status``."""
    lines = (line.partition(":") for line in device_output.splitlines())
    return {device for device, _colon, state in lines if state == "unmanaged" or state.endswith("(externally)")}


def below(links: Mapping[str, Link], device: str) -> set[str]:
    """The devices that this one is made of, at any depth."""
    found: set[str] = set()
    pending = [device]
    while pending:
        upper = pending.pop()
        parent = links[upper].parent if upper in links else None
        lower = {link.device for link in links.values() if link.master == upper or link.device == parent}
        pending += sorted(lower - found)
        found |= lower
    return found


def above(links: Mapping[str, Link], device: str) -> set[str]:
    """The devices that are made of this one, at any depth."""
    return {upper for upper in links if device in below(links, upper)}


def management(server: Server) -> dict[str, str]:
    """The devices that the server is managed through, and those below and above them, each with the reason."""
    reasons = dict.fromkeys(server.default_devices, "carries the default route")
    for link in server.links.values():
        if link.ips & server.ssh_addresses:
            reasons[link.device] = "carries this SSH connection"
    for device, reason in sorted(reasons.items()):
        for lower in below(server.links, device):
            reasons.setdefault(lower, f"is below {device}, which {reason}")
        for upper in above(server.links, device):
            reasons.setdefault(upper, f"is above {device}, which {reason}")
    return reasons


def _json_list(output: str) -> list[Any]:
    """The list in the answer of ``ip -json``, which prints nothing at all where some releases have nothing to list."""
    try:
        # It writes the names of interfaces as they are, control characters and all.
        answer = json.loads(output, strict=False) if output.strip() else []
    except ValueError as error:
        raise DeviceError(f"ip -json: the answer is no JSON: {error}") from error
    if not isinstance(answer, list):
        raise DeviceError("ip -json: the answer is no list")
    return answer


def _link(entry: Mapping[str, Any]) -> Link:
    info = entry.get("linkinfo", {})
    kind, data = info.get("info_kind"), info.get("info_data", {})
    infos = entry["addr_info"]
    lasting = [info for info in infos if info["scope"] == "global"]
    return Link(
        device=entry["ifname"],
        index=entry["ifindex"],
        kind=kind,
        mac=entry.get("permaddr", entry.get("address", "")),
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
        vlan_id=data.get("id") if kind == "vlan" else None,
        bond_mode=data.get("mode") if kind == "bond" else None,
        virtual_functions=tuple(virtual_functions.functions_from(entry.get("vfinfo_list", []))),
    )


def _addresses(infos: list[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(sorted_addresses([f"{info['local']}/{info['prefixlen']}" for info in infos]))
