# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NetworkManager in memory, behind the program nmcli, as NetworkManager 1.42 was seen to work.

A profile whose file is gone is let go of at a reload: a virtual device disappears, a NIC falls back to the automatic
profile, without addresses and with its default MTU.
"""

from __future__ import annotations

import configparser
import contextlib

from tests.support.in_memory.files import MemoryFiles
from tests.support.in_memory.kernel import Refusal, TinyKernel

ETC = "/etc/NetworkManager/system-connections"
_KNOWN = {
    "connection": {"id", "uuid", "type", "interface-name", "master", "slave-type"},
    "ethernet": {"mac-address", "mtu"},
    "vlan": {"id", "parent"},
    "bond": {"mode", "miimon"},
    "ipv4": {"method", "never-default", *(f"address{number}" for number in range(1, 9))},
    "ipv6": {"method", "never-default", "addr-gen-mode", *(f"address{number}" for number in range(1, 9))},
}


class TinyNetworkManager:
    def __init__(self, kernel: TinyKernel, files: MemoryFiles) -> None:
        self.runs = False
        self.unmanaged: set[str] = set()
        # The path of each device's active profile.
        self.active: dict[str, str] = {}
        self._kernel = kernel
        self._files = files
        self._loaded: dict[str, configparser.ConfigParser] = {}

    def boot(self) -> None:
        """Take the NICs over, with the profiles that there are."""
        self._loaded, self.active = {}, {}
        self.reload()

    def nmcli(self, words: list[str]) -> str:
        if not self.runs:
            raise Refusal("Error: NetworkManager is not running.")
        match words:
            case ["--terse", "--escape", "no", "--fields", "DEVICE,STATE", "device", "status"]:
                return "".join(f"{name}:{self._state(name)}\n" for name in self._kernel.nics)
            case ["--terse", "--escape", "no", "--fields", "DEVICE,FILENAME", "connection", "show", "--active"]:
                return "".join(f"{name}:{path}\n" for name, path in self.active.items())
            case ["connection", "load", path]:
                self._load(path)
            case ["connection", "reload"]:
                self.reload()
            case ["--wait", "20", "connection", "up", "id", name]:
                self._up(self._path_of(name))
            case ["device", "reapply", name]:
                if name not in self.active or self.active[name] not in self._loaded:
                    raise Refusal(f"Error: Reapplying connection to device '{name}' failed: device is not activated")
                self._apply(name, self.active[name])
            case ["connection", "delete", "id", name]:
                path = self._path_of(name)
                self._files.remove(path)
                self._forget(path)
            case _:
                raise Refusal(f"nmcli does not know: {words}")
        return ""

    def reload(self) -> None:
        """Read all files, let go of what has none, and connect what can be connected by itself."""
        for path in list(self._loaded):
            if path not in self._files.files:
                self._forget(path)
        for name in self._files.names(ETC):
            self._load(f"{ETC}/{name}")
        order = {"ethernet": 0, "bond": 1, "vlan": 2}
        for path in sorted(self._loaded, key=lambda path: order[self._loaded[path]["connection"]["type"]]):
            if path not in self.active.values() and self._can_come_up(path):
                with contextlib.suppress(Refusal):
                    self._up(path)
        for name, nic in self._kernel.nics.items():
            if nic.kind is None and name not in self.active and name not in self.unmanaged:
                self.active[name] = f"/run/NetworkManager/system-connections/Wired {name}.nmconnection"

    def _state(self, name: str) -> str:
        if name in self.unmanaged:
            return "connected (externally)" if name in self.active else "unmanaged"
        return "connected" if name in self.active else "disconnected"

    def _load(self, path: str) -> None:
        file = self._files.files[path]
        if file.mode != "0600":
            raise Refusal(f"Could not load file '{path}': its permissions are too open")
        profile = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=True)
        profile.read_string(file.content)
        for section in profile.sections():
            unknown = set(profile[section]) - _KNOWN[section]
            # NetworkManager ignores what it does not know; here that would be a bug.
            assert not unknown, f"[{section}] {unknown}"
        self._loaded[path] = profile

    def _path_of(self, name: str) -> str:
        for path, profile in self._loaded.items():
            if profile["connection"]["id"] == name:
                return path
        raise Refusal(f"Error: unknown connection '{name}'.")

    def _can_come_up(self, path: str) -> bool:
        profile = self._loaded[path]
        if profile["connection"]["type"] == "vlan":
            return profile["vlan"]["parent"] in self._kernel.nics
        return profile["connection"]["type"] == "bond" or self._nic_of(path) is not None

    def _nic_of(self, path: str) -> str | None:
        profile = self._loaded[path]
        wanted, mac = profile["connection"].get("interface-name"), profile["ethernet"].get("mac-address")
        found = [n for n, nic in self._kernel.nics.items() if nic.kind is None and (n == wanted or nic.mac == mac)]
        return found[0] if found else None

    def _up(self, path: str) -> None:
        profile = self._loaded[path]
        connection = profile["connection"]
        device = connection.get("interface-name", "")
        if connection["type"] == "ethernet":
            device = self._nic_of(path) or ""
            if not device:
                raise Refusal("Error: No suitable device found for this connection")
        elif device not in self._kernel.nics:
            if connection["type"] == "bond":
                self._kernel.add(device, "bond", mode=profile["bond"]["mode"])
            else:
                vlan = profile["vlan"]
                self._kernel.add(device, "vlan", parent=vlan["parent"], number=int(vlan["id"]))
        master = connection.get("master")
        if master and master not in self._kernel.nics:
            self._up(self._path_of(f"ipu-{master}"))
        self.active[device] = path
        if connection["type"] == "ethernet":
            self._kernel.enslave(device, master)
        self._apply(device, path)

    def _apply(self, device: str, path: str) -> None:
        profile, nic = self._loaded[path], self._kernel.nics[device]
        if "mtu" in profile["ethernet"]:
            self._kernel.set_mtu(device, int(profile["ethernet"]["mtu"]))
        nic.addresses = [
            value
            for section in ("ipv4", "ipv6")
            if profile.has_section(section) and profile[section]["method"] == "manual"
            for key, value in profile[section].items()
            if key.startswith("address")
        ]
        nic.up = True

    def _forget(self, path: str) -> None:
        self._loaded.pop(path, None)
        for device in [device for device, active in self.active.items() if active == path]:
            del self.active[device]
            nic = self._kernel.nics.get(device)
            if nic is None:
                continue
            if nic.kind:
                self._kernel.delete(device)
            else:
                nic.addresses, nic.mtu, nic.master = [], 1500, None
        self.active = {device: active for device, active in self.active.items() if device in self._kernel.nics}
