# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch: its configurations on disk and in effect, its sessions, its clock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Protocol

from podsim.eos import surroundings
from podsim.eos.config import Node, load
from podsim.eos.errors import EosError
from podsim.eos.hardware import MANAGEMENT, Hardware, empty_config, factory_config
from podsim.eos.ports import Port, ports, vlans
from podsim.eos.releases import Release
from podsim.eos.rendering import render
from podsim.eos.sessions import Sessions
from podsim.eos.surroundings import Surroundings

SHOWN = "! Command: show running-config"
SAVED = "! Startup-config last modified at"


class DataPlane(surroundings.DataPlane, Protocol):
    """The data plane, which forwards the frames."""

    def apply(self, running: Node) -> None:
        """Make the ports what this configuration says."""

    def watch(self, cabled: Callable[[], None]) -> None:
        """From now on, call `cabled` when a port is plugged in or out."""

    def close(self) -> None:
        """Stop watching."""


class NoDataPlane:
    """A switch of configuration only: every port counts as connected, nothing is learned."""

    def __init__(self, ports: tuple[str, ...]) -> None:
        self._ports = set(ports)

    def apply(self, running: Node) -> None:
        """Nothing moves."""

    def watch(self, cabled: Callable[[], None]) -> None:
        """Nothing is plugged."""

    def close(self) -> None:
        """Nothing to stop."""

    def connected(self) -> set[str]:
        """All ports."""
        return set(self._ports)

    def unbundled(self) -> set[str]:
        """Whoever is asked speaks LACP."""
        return set()

    def mac_table(self) -> list[tuple[str, int, str]]:
        """No addresses."""
        return []

    def statistics(self) -> dict[str, dict[str, int]]:
        """No traffic."""
        return {}


class Switch:
    """One simulated switch. `lock` is held by whoever runs commands on it."""

    def __init__(
        self,
        running_file: Path,
        startup_file: Path,
        hardware: Hardware,
        release: Release,
        data_plane: DataPlane,
        hostname: str | None = None,
        enable_password: str | None = None,
        observed: Path | None = None,
    ) -> None:
        self.hardware = hardware
        self.release = release
        self.data_plane = data_plane
        self.surroundings = Surroundings(data_plane, observed)
        self.enable_password = enable_password
        self.lock = RLock()
        self.connections: set[Callable[[], None]] = set()
        self._running_file = running_file
        self._startup_file = startup_file
        self._flash = running_file.with_name(running_file.name + ".flash")
        self._boot(self._boot_config(hostname))
        self._in_effect: list[str] = []
        self.put_into_effect()
        data_plane.watch(self._recable)

    def _boot(self, running: Node) -> None:
        self.booted = time.time()
        self._boot_clock = time.monotonic()
        self.running = running
        self.sessions = Sessions(self)

    def reload(self) -> None:
        """Boot from startup-config: what was not saved, sessions and timers are gone, and so is every connection."""
        saved = self._startup_file
        running = self._load(saved) if saved.exists() else factory_config(self.hardware, None)
        self.sessions.close()
        self._boot(running)
        self.put_into_effect()
        connections, self.connections = self.connections, set()
        for drop in connections:
            drop()

    def uptime(self) -> float:
        """Seconds since boot."""
        return time.monotonic() - self._boot_clock

    @property
    def hostname(self) -> str:
        """The configured host name."""
        return self.running.value("hostname") or "localhost"

    def api_reachable(self) -> bool:
        """Whether the running configuration lets eAPI answer."""
        api = self.running.children.get(("management", "api", "http-commands"))
        return api is not None and api.has("no shutdown") and self._managed()

    def ssh_reachable(self) -> bool:
        """Whether the running configuration lets SSH answer."""
        ssh = self.running.children.get(("management", "ssh"))
        return not (ssh and ssh.has("shutdown")) and self._managed()

    def _managed(self) -> bool:
        return not ports(self.running)[MANAGEMENT].shutdown

    def exclusively(self, action: Callable[[], None]) -> None:
        """Run an action of the switch's own while no command runs, and put its changes into effect."""
        with self.lock:
            action()
            self.put_into_effect()

    def put_into_effect(self) -> None:
        """Give a changed running configuration to the data plane, and to the disk as far as it is confirmed."""
        rendered = render(self.running)
        if rendered != self._in_effect:
            self.data_plane.apply(self.running)
            self._in_effect = rendered
        _write(self._running_file, self.config_text(self.sessions.confirmed, SHOWN))

    def header(self, *comments: str) -> list[str]:
        """The lines that EOS gives a configuration first."""
        return [*comments, f"! device: {self.hostname} ({self.hardware.model}, EOS-{self.release.name})"]

    def config_text(self, root: Node, *comments: str, all_lines: bool = False) -> str:
        """A configuration under its header."""
        return "\n".join([*self.header(*comments), *render(root, all_lines, self.release)]) + "\n"

    def read(self, name: str) -> Node:
        """The configuration `running-config`, `startup-config` or `flash:FILE`."""
        if name == "running-config":
            return self.running
        path = self._path(name)
        if not path.exists():
            raise EosError(f"Error reading {name} (No such file or directory)")
        return self._load(path)

    def write(self, name: str, root: Node, user: str) -> None:
        """Write a configuration to `startup-config` or `flash:FILE`, or make it the running one."""
        if name == "running-config":
            self.running = root.copy()
        else:
            saved = f"{SAVED} {time.ctime()} by {user}" if name == "startup-config" else SHOWN
            _write(self._path(name), self.config_text(root, saved))

    def saved(self) -> list[str]:
        """When the startup-config was written, and by whom, as the comment in it; nothing where it has none."""
        first = self._startup_file.read_text().partition("\n")[0]
        return [first] if first.startswith(SAVED) else []

    def flash_files(self) -> list[str]:
        """The names of the files in flash."""
        return sorted(path.name for path in self._flash.iterdir()) if self._flash.is_dir() else []

    def vlan_members(self) -> dict[int, list[Port]]:
        """The connected switch ports that forward each VLAN."""
        database, linked = vlans(self.running), self.surroundings.linked()
        up = [port for port in ports(self.running).values() if port.name in linked and not port.shutdown]
        return {vlan_id: [port for port in up if vlan_id in port.carried(database)] for vlan_id in database}

    def close(self) -> None:
        """Stop the clock and the watch over the cables."""
        self.sessions.close()
        self.data_plane.close()

    def _recable(self) -> None:
        """Give a port that was plugged in its settings."""
        with self.lock:
            self.data_plane.apply(self.running)

    def _boot_config(self, hostname: str | None) -> Node:
        for path in (self._running_file, self._startup_file):
            if path.exists():
                return self._load(path)
        factory = factory_config(self.hardware, hostname)
        self.running = factory
        self.write("startup-config", factory, "root")
        return factory

    def _path(self, name: str) -> Path:
        place, colon, file = name.partition(":")
        if name == "startup-config":
            return self._startup_file
        if place == "flash" and colon and file.strip("/") and "/" not in file.strip("/"):
            return self._flash / file.strip("/")
        raise EosError(f"Error opening {name} (Invalid argument)")

    def _load(self, path: Path) -> Node:
        try:
            return _loaded(path.read_text(), self.hardware, self.release).copy()
        except EosError as error:
            raise EosError(f"{path}: {error}") from None


# Clients ask for the startup-config again and again, and it seldom changes.
@lru_cache(maxsize=8)
def _loaded(text: str, hardware: Hardware, release: Release) -> Node:
    """A configuration from its text, of which nothing may be changed but in a copy."""
    root = empty_config(hardware)
    load(root, text, release)
    return root


def _write(path: Path, text: str) -> None:
    """Replace a file in one step, and only if its content changes."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.replace(new, path)
