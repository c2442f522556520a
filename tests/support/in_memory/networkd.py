# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd-networkd and netplan in memory, as systemd 252 and netplan 0.106 were seen to work.

A reload configures the interfaces whose file or drop-in is new, was written anew, or is gone. What failed once is left
alone until it is reconfigured. netplan writes all its generated files anew, whatever has changed.
"""

from __future__ import annotations

import fnmatch
from pathlib import PurePosixPath
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from tests.support.in_memory.files import MemoryFiles
from tests.support.in_memory.kernel import Refusal, TinyKernel

Settings = dict[str, list[str]]

_KNOWN = {
    *("Match.Name", "Match.MACAddress", "Match.PermanentMACAddress", "Match.Type"),
    *("Link.MTUBytes", "Link.RequiredForOnline"),
    *("Network.Address", "Network.Bond", "Network.VLAN", "Network.DHCP", "Network.IPv6AcceptRA"),
    *("Network.ConfigureWithoutCarrier", "Network.LinkLocalAddressing", "Network.Description", "Network.Gateway"),
    *("NetDev.Name", "NetDev.Kind", "VLAN.Id", "Bond.Mode", "Bond.MIIMonitorSec"),
}
_NETPLAN_TYPES = {"ethernets": None, "bonds": "bond", "vlans": "vlan", "bridges": "bridge"}
_NETPLAN_KEYS = {
    *("match", "optional", "dhcp4", "dhcp6", "accept-ra", "ignore-carrier", "link-local", "mtu", "addresses"),
    *("id", "link", "interfaces", "parameters", "set-name", "dhcp4-overrides", "dhcp6-overrides"),
}


_FOLDERS = ("/etc/systemd/network", "/run/systemd/network")


class TinyNetworkd:
    def __init__(self, kernel: TinyKernel, files: MemoryFiles) -> None:
        self.runs = True
        self.used: dict[str, str] = {}
        self.failed: set[str] = set()
        self._kernel = kernel
        self._files = files
        self._loaded: dict[str, list[File]] = {}

    def networkctl(self, words: list[str]) -> str:
        if not self.runs:
            raise Refusal("Failed to connect to the network manager")
        match words:
            case ["reload"]:
                self.reload()
            case ["reconfigure", name]:
                self.failed.discard(name)
                self._kernel.nics[name].addresses = []
                self._configure(name)
            case ["status", *names]:
                return "".join(self._status(name) for name in names)
            case _:
                raise Refusal(f"networkctl does not know: {words}")
        return ""

    def reload(self) -> None:
        old, self._loaded = self._loaded, self._load()
        for file in self._named(".netdev"):
            settings = _settings(self._loaded[file])
            name = settings["NetDev.Name"][0]
            if settings["NetDev.Kind"] == ["bond"] and name not in self._kernel.nics:
                self._kernel.add(name, "bond", mode=settings["Bond.Mode"][0])
        self.used = {name: path for name, path in self.used.items() if name in self._kernel.nics}
        done: set[str] = set()
        # A VLAN appears when its parent is configured.
        while pending := [name for name in self._by_height() if name not in done]:
            name = pending[0]
            done.add(name)
            path = self._file_for(name)
            same = path == self.used.get(name) and (not path or _same(old.get(path, []), self._loaded[path]))
            if not same and name not in self.failed:
                self._configure(name)

    def settle(self, name: str) -> None:
        """The function of that name in the undo script."""
        if name in self.failed:
            self.networkctl(["reconfigure", name])

    def _by_height(self) -> list[str]:
        """Bonds before their members, parents before their VLANs, as far as they are there."""
        order = {"bond": 0, None: 1, "vlan": 2}
        return sorted(self._kernel.nics, key=lambda name: order[self._kernel.nics[name].kind])

    def _configure(self, name: str) -> None:
        path = self._file_for(name)
        nic = self._kernel.nics[name]
        if path is None:
            self.used.pop(name, None)
            return
        self.used[name] = path
        settings = _settings(self._loaded[path])
        bonds = settings.get("Network.Bond", [])
        if not bonds or bonds[0] in self._kernel.nics:
            self._kernel.enslave(name, bonds[0] if bonds else None)
        for mtu in settings.get("Link.MTUBytes", [])[-1:]:
            if mtu.isdigit():
                self._set_mtu(name, int(mtu))
        nic.addresses = list(settings.get("Network.Address", []))
        nic.up = True
        for vlan in settings.get("Network.VLAN", []):
            self._add_vlan(vlan, name)
        self._files.write(f"/run/systemd/netif/links/{self._kernel.index_of(name)}", File("# This is private data.\n"))

    def _set_mtu(self, name: str, mtu: int) -> None:
        try:
            self._kernel.set_mtu(name, mtu)
        except Refusal:
            self.failed.add(name)

    def _add_vlan(self, name: str, parent: str) -> None:
        if name in self._kernel.nics:
            return
        for file in self._named(".netdev"):
            settings = _settings(self._loaded[file])
            if settings["NetDev.Name"] == [name]:
                try:
                    self._kernel.add(name, "vlan", parent=parent, number=int(settings["VLAN.Id"][0]))
                except Refusal:
                    self.failed.add(parent)

    def _load(self) -> dict[str, list[File]]:
        """Each file with its drop-ins, in networkd's order: by name, whatever the folder."""
        files = self._files.files
        paths = [path for path in files if str(PurePosixPath(path).parent) in _FOLDERS]
        paths = [path for path in paths if path.endswith((".network", ".netdev"))]
        ordered = sorted(paths, key=lambda path: PurePosixPath(path).name)
        return {path: [files[path], *self._drop_ins(path)] for path in ordered}

    def _drop_ins(self, path: str) -> list[File]:
        drop_ins = {f"{folder}/{PurePosixPath(path).name}.d" for folder in _FOLDERS}
        files = self._files.files
        return [files[other] for other in sorted(files) if str(PurePosixPath(other).parent) in drop_ins]

    def _named(self, ending: str) -> list[str]:
        return [path for path in self._loaded if path.endswith(ending)]

    def _file_for(self, name: str) -> str | None:
        nic = self._kernel.nics[name]
        for path in self._named(".network"):
            settings = _settings(self._loaded[path])
            named = any(fnmatch.fnmatch(name, pattern) for pattern in settings.get("Match.Name", []))
            mac = settings.get("Match.MACAddress") == [nic.mac] and settings["Match.Type"] == ["ether"]
            permanent = settings.get("Match.PermanentMACAddress") == [nic.mac]
            if named or (nic.kind is None and (mac or permanent)):
                return path
        return None

    def _status(self, name: str) -> str:
        number = self._kernel.index_of(name)
        state = "failed" if name in self.failed else "configured"
        file = self.used.get(name, "n/a")
        return f"● {number}: {name}\n    Link File: n/a\n   Network File: {file}\n   State: routable ({state})\n\n"


class TinyNetplan:
    """Knows what netplan 0.106 knows of the keys that are used here, and refuses all others."""

    def __init__(self, files: MemoryFiles) -> None:
        self._files = files

    def netplan(self, words: list[str]) -> str:
        match words:
            case ["generate"]:
                self.generate()
            case ["generate", "--root-dir", root]:
                self.generate(root)
            case _:
                raise Refusal(f"netplan does not know: {words}")
        return ""

    def generate(self, root: str = "") -> None:
        definitions: dict[str, dict[str, Any]] = {}
        for name in self._files.names(f"{root}/etc/netplan"):
            if name.endswith(".yaml"):
                self._merge(f"{root}/etc/netplan/{name}", definitions)
        texts: dict[str, list[str]] = {}
        for name, definition in definitions.items():
            texts[name] = self._network(name, definition)
        for name, definition in definitions.items():
            for member in definition.get("interfaces", []):
                texts[member].append(f"Bond={name}")
            if "link" in definition:
                texts[definition["link"]].append(f"VLAN={name}")
        prefix = f"{root}/run/systemd/network/10-netplan-"
        for path in [path for path in self._files.files if path.startswith(prefix)]:
            self._files.remove(path)
        for name, lines in texts.items():
            self._write(f"{prefix}{name}.network", lines)
            if definitions[name]["kind"]:
                self._write(f"{prefix}{name}.netdev", self._netdev(name, definitions[name]))

    def _merge(self, path: str, definitions: dict[str, dict[str, Any]]) -> None:
        network = yaml.safe_load(self._files.files[path].content)["network"]
        if network.pop("version") != 2:
            raise Refusal(f"{path}: only version 2 is supported")
        for section, interfaces in network.items():
            for name, settings in interfaces.items():
                unknown = set(settings or {}) - _NETPLAN_KEYS
                if unknown:
                    raise Refusal(f"{path}: Error in network definition: unknown key '{sorted(unknown)[0]}'")
                mine = definitions.setdefault(name, {"kind": _NETPLAN_TYPES[section]})
                for key, value in (settings or {}).items():
                    mine[key] = [*mine.get(key, []), *value] if isinstance(value, list) else value
        for name, settings in definitions.items():
            for other in [*settings.get("interfaces", []), *([settings["link"]] if "link" in settings else [])]:
                if other not in definitions:
                    raise Refusal(f"{path}: Error in network definition: {name}: interface '{other}' is not defined")

    def _network(self, name: str, definition: dict[str, Any]) -> list[str]:
        match = definition.get("match", {})
        mac, device = match.get("macaddress"), match.get("name", name)
        lines = ["[Match]", f"PermanentMACAddress={mac}" if mac else f"Name={device}", "[Link]"]
        lines += [f"MTUBytes={definition['mtu']}"] if "mtu" in definition else []
        return [*lines, "[Network]", *(f"Address={address}" for address in definition.get("addresses", []))]

    def _netdev(self, name: str, definition: dict[str, Any]) -> list[str]:
        lines = ["[NetDev]", f"Name={name}", f"Kind={definition['kind']}"]
        if definition["kind"] == "vlan":
            return [*lines, "[VLAN]", f"Id={definition['id']}"]
        return [*lines, "[Bond]", f"Mode={definition['parameters']['mode']}"]

    def _write(self, path: str, lines: list[str]) -> None:
        self._files.write(path, File("\n".join(lines) + "\n"))


def _settings(files: list[File]) -> Settings:
    settings: Settings = {}
    for file in files:
        section = ""
        for line in file.content.splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif "=" in line and not line.startswith("#"):
                key, value = line.split("=", 1)
                # networkd warns of what it does not know; here that would be a bug.
                assert f"{section}.{key}" in _KNOWN, f"{section}.{key}"
                settings.setdefault(f"{section}.{key}", []).append(value)
    return settings


def _same(old: list[File], new: list[File]) -> bool:
    """Whether these are the very same files: one that was written anew counts as another one."""
    return len(old) == len(new) and all(one is other for one, other in zip(old, new, strict=True))
