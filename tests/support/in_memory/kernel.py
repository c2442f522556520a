# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kernel's network devices in memory, behind the program ip: NICs, VLANs, bonds, and SR-IOV virtual functions."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass, field
from typing import Any


class Refusal(Exception):
    """The message of a program that ends with an error."""


@dataclass
class Nic:
    mac: str
    mtu: int = 1500
    up: bool = True
    addresses: list[str] = field(default_factory=list)
    max_mtu: int = 9978
    kind: str | None = None
    master: str | None = None
    parent: str | None = None
    dynamic: list[str] = field(default_factory=list)
    vlan_id: int | None = None
    bond_mode: str | None = None
    functions: list[dict[str, Any]] = field(default_factory=list)

    def described(self, name: str, index: int) -> dict[str, object]:
        entry: dict[str, object] = {
            "ifindex": index,
            "ifname": name,
            "flags": ["BROADCAST", "UP"] if self.up else ["BROADCAST"],
            "mtu": self.mtu,
            "address": self.mac,
            "min_mtu": 68,
            "max_mtu": self.max_mtu,
            "addr_info": [self._info(address) for address in self.addresses],
        }
        data = {"vlan": {"protocol": "802.1Q", "id": self.vlan_id}, "bond": {"mode": self.bond_mode, "miimon": 100}}
        kind = {"info_kind": self.kind, "info_data": data.get(self.kind, {})} if self.kind else None
        functions = [self._function(function) for function in self.functions]
        optional = {"linkinfo": kind, "master": self.master, "link": self.parent, "vfinfo_list": functions}
        return {**entry, **{key: value for key, value in optional.items() if value}}

    def _info(self, address: str) -> dict[str, object]:
        interface = ipaddress.ip_interface(address)
        info: dict[str, object] = {"local": str(interface.ip), "prefixlen": interface.network.prefixlen}
        return {**info, "scope": "global", **({"dynamic": True} if address in self.dynamic else {})}

    def _function(self, function: dict[str, Any]) -> dict[str, Any]:
        vlan = {"vlan_list": [{"vlan": function["vlan"]}]} if function["vlan"] else {}
        common = {"vf": function["index"], "address": function["mac"], "link_state": "auto"}
        return {**common, **vlan, "spoofchk": function["spoof_check"], "trust": function["trust"]}


class TinyKernel:
    """``refused_mtus`` are those that its devices claim to take, but do not; it makes no ``unsupported`` kinds."""

    def __init__(self, nics: dict[str, Nic]) -> None:
        self.nics = nics
        self.default_device = "eno1"
        self.refused_mtus: set[int] = set()
        self.unsupported: set[str] = set()
        self._indexes: dict[str, int] = {}

    def index_of(self, name: str) -> int:
        """The number of a device."""
        return self._indexes.setdefault(name, len(self._indexes) + 2)

    def ip(self, words: list[str]) -> str:
        """The program ip."""
        match words:
            case ["-details", "-json", "address", "show"]:
                return json.dumps([nic.described(name, self.index_of(name)) for name, nic in self.nics.items()])
            case ["-4", "-json", "route", "show", "default"]:
                return json.dumps([{"dst": "default", "dev": self.default_device}] if self.default_device else [])
            case ["-6", "-json", "route", "show", "default"]:
                return ""
            case ["-json", "route", "get", address]:
                return json.dumps([{"dst": address, "dev": self._way_to(address)}])
            case ["link", *words]:
                self._link(words)
            case ["address", "flush", "dev", name, "to", host]:
                nic = self._nic(name)
                nic.addresses = [address for address in nic.addresses if address.split("/")[0] != host]
            case ["address", "replace", address, "dev", name]:
                nic = self._nic(name)
                nic.addresses = [*(other for other in nic.addresses if other != address), address]
            case _:
                raise Refusal(f"ip does not know: {words}")
        return ""

    def _link(self, words: list[str]) -> None:
        match words:
            case ["set", "dev", name, "mtu", mtu]:
                self.set_mtu(name, int(mtu))
            case ["set", "dev", name, "up" | "down" as way]:
                self._nic(name).up = way == "up"
            case ["set", "dev", name, "vf", index, *settings]:
                self._set_function(name, int(index), dict(zip(settings[::2], settings[1::2], strict=True)))
            case ["delete", "dev", name]:
                self.delete(name)
            case _:
                raise Refusal(f"ip link does not know: {words}")

    def set_mtu(self, name: str, mtu: int) -> None:
        nic = self._nic(name)
        if mtu in self.refused_mtus:
            return
        if nic.kind == "vlan" and mtu > self.nics[nic.parent or ""].mtu:
            raise Refusal("RTNETLINK answers: Numerical result out of range")
        nic.mtu = mtu
        for other in self.nics.values():
            if other.parent == name:
                other.mtu = min(other.mtu, mtu)
            if other.master == name:
                other.mtu = mtu

    def add(self, name: str, kind: str, parent: str | None = None, number: int | None = None, mode: str = "") -> None:
        if kind in self.unsupported:
            raise Refusal("Unknown device type")
        lower = self._nic(parent) if parent else Nic("02:00:00:00:00:99")
        self.nics[name] = Nic(
            lower.mac, mtu=lower.mtu, up=False, kind=kind, parent=parent, vlan_id=number, bond_mode=mode or None
        )

    def delete(self, name: str) -> None:
        if self._nic(name).kind is None:
            raise Refusal("RTNETLINK answers: Operation not supported")
        for other, nic in list(self.nics.items()):
            if nic.parent == name:
                del self.nics[other]
            if nic.master == name:
                nic.master = None
        del self.nics[name]

    def enslave(self, name: str, bond: str | None) -> None:
        nic = self._nic(name)
        if bond and nic.master != bond:
            nic.addresses, nic.mtu = [], self._nic(bond).mtu
        nic.master = bond

    def set_function_count(self, name: str, count: int) -> None:
        nic = self._nic(name)
        if len(nic.functions) != count:
            zero = {"mac": "00:00:00:00:00:00", "vlan": 0, "trust": False, "spoof_check": True}
            nic.functions = [{"index": index, **zero} for index in range(count)]

    def _set_function(self, name: str, index: int, settings: dict[str, str]) -> None:
        if settings.keys() != {"mac", "vlan", "trust", "spoofchk"}:
            raise Refusal(f"ip link set vf does not know: {settings}")
        self._nic(name).functions[index] = {
            "index": index,
            "mac": settings["mac"],
            "vlan": int(settings["vlan"]),
            "trust": {"on": True, "off": False}[settings["trust"]],
            "spoof_check": {"on": True, "off": False}[settings["spoofchk"]],
        }

    def _way_to(self, text: str) -> str:
        address = ipaddress.ip_address(text)
        for name, nic in self.nics.items():
            if any(address in ipaddress.ip_interface(own).network for own in nic.addresses):
                return name
        return self.default_device

    def _nic(self, name: str | None) -> Nic:
        if name not in self.nics:
            raise Refusal(f'Cannot find device "{name}"')
        return self.nics[name or ""]
