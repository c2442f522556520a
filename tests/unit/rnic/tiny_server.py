# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server in memory: its kernel, systemd-networkd and files, behind the programs that the collection runs there.

It reads .network files by itself, and does what systemd 252 was seen to do: a reload configures the interfaces whose
file is new, changed or gone; a reconfigure takes the addresses away first.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import json
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File, Files


class MemoryFiles(Files):
    def __init__(self, **content: File) -> None:
        super().__init__("/nowhere")
        self.files = dict(content)

    def names(self, directory: str) -> list[str]:
        return sorted(PurePosixPath(path).name for path in self.files if str(PurePosixPath(path).parent) == directory)

    def read(self, path: str) -> File | None:
        return self.files.get(path)

    def write(self, path: str, file: File) -> None:
        self.files[path] = file

    def remove(self, path: str) -> None:
        self.files.pop(path, None)


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
    network_file: str | None = None

    def described(self, name: str) -> dict[str, object]:
        entry: dict[str, object] = {
            "ifname": name,
            "flags": ["BROADCAST", "UP"] if self.up else ["BROADCAST"],
            "mtu": self.mtu,
            "address": self.mac,
            "min_mtu": 68,
            "max_mtu": self.max_mtu,
            "addr_info": [self._info(address) for address in self.addresses],
        }
        kind = {"info_kind": self.kind} if self.kind else None
        optional = {"linkinfo": kind, "master": self.master, "link": self.parent}
        return {**entry, **{key: value for key, value in optional.items() if value}}

    def _info(self, address: str) -> dict[str, object]:
        interface = ipaddress.ip_interface(address)
        info: dict[str, object] = {"local": str(interface.ip), "prefixlen": interface.network.prefixlen}
        return {**info, "scope": "global", **({"dynamic": True} if address in self.dynamic else {})}


class TinyServer:
    """Runs programs; ``refused_mtus`` are those that its NICs claim to take, but do not."""

    def __init__(self, nics: dict[str, Nic], files: dict[str, File] | None = None) -> None:
        self.nics = nics
        self.files = MemoryFiles(**(files or {}))
        self.default_device = "eno1"
        self.networkd_runs = True
        self.refused_mtus: set[int] = set()
        self.calls: list[list[str]] = []
        self.now = 0.0
        self._loaded: dict[str, str] = {}
        self.reload()

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        self.calls.append(argv)
        if argv == ["systemctl", "is-active", "--quiet", "systemd-networkd"]:
            return 0 if self.networkd_runs else 3, "", ""
        answer = self._answer(argv)
        if answer is None and not self._done(argv):
            return 1, "", f"unknown command: {' '.join(argv)}"
        return 0, answer or "", ""

    def _answer(self, argv: list[str]) -> str | None:
        """What a program that only looks says."""
        match argv:
            case ["ip", "-details", "-json", "address", "show"]:
                return json.dumps([nic.described(name) for name, nic in self.nics.items()])
            case ["ip", "-details", "-json", "address", "show", "dev", name]:
                return json.dumps([self.nics[name].described(name)])
            case ["ip", "-4", "-json", "route", "show", "default"]:
                return json.dumps([{"dst": "default", "dev": self.default_device}])
            case ["ip", "-6", "-json", "route", "show", "default"]:
                return ""
            case ["networkctl", "status", *names]:
                return "".join(self._status(name) for name in names)
        return None

    def _done(self, argv: list[str]) -> bool:
        """Do what a program does; whether there is such a program."""
        match argv:
            case ["networkctl", "reload"]:
                self.reload()
            case ["networkctl", "reconfigure", name]:
                self.nics[name].addresses = []
                self._configure(name)
            case ["ip", "link", "set", "dev", name, "mtu", mtu]:
                self.nics[name].mtu = int(mtu)
            case ["ip", "link", "set", "dev", name, "up" | "down" as way]:
                self.nics[name].up = way == "up"
            case ["ip", "address", "add", address, "dev", name]:
                self.nics[name].addresses.append(address)
            case ["ip", "address", "del", address, "dev", name]:
                self.nics[name].addresses.remove(address)
            case [program, *_]:
                return program.endswith("/systemd-networkd-wait-online")
        return True

    def reload(self) -> None:
        """Load the files and configure the NICs whose file is new, changed or gone."""
        old = self._loaded
        self._loaded = {
            path: file.content
            for path, file in sorted(self.files.files.items(), key=lambda item: PurePosixPath(item[0]).name)
            if path.endswith(".network")
        }
        for name, nic in self.nics.items():
            path = self._file_for(name)
            if path != nic.network_file or (path and old.get(path) != self._loaded[path]):
                self._configure(name)

    def _configure(self, name: str) -> None:
        nic = self.nics[name]
        nic.network_file = self._file_for(name)
        if nic.network_file is None:
            return
        settings = _settings(self._loaded[nic.network_file])
        mtus = settings.get("Link.MTUBytes", [])
        if mtus and int(mtus[-1]) not in self.refused_mtus:
            nic.mtu = int(mtus[-1])
        nic.addresses = settings.get("Network.Address", [])
        nic.up = True

    def _file_for(self, name: str) -> str | None:
        for path, text in self._loaded.items():
            settings = _settings(text)
            macs = settings.get("Match.MACAddress", [])
            names = settings.get("Match.Name", [])
            ether = settings.get("Match.Type", ["ether"]) == ["ether"] and self.nics[name].kind != "vlan"
            named = any(fnmatch.fnmatch(name, pattern) for pattern in names)
            if (ether and macs == [self.nics[name].mac]) or (not macs and named):
                return path
        return None

    def _status(self, name: str) -> str:
        number = list(self.nics).index(name) + 2
        return f"● {number}: {name}\n      Link File: n/a\n   Network File: {self.nics[name].network_file or 'n/a'}\n\n"


def _settings(text: str) -> dict[str, list[str]]:
    settings: dict[str, list[str]] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            settings.setdefault(f"{section}.{key}", []).append(value)
    return settings
