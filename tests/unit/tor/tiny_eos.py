# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A very small EOS for tests: the few commands that tor_switch sends, understood without the collection's own code."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError

# Per setting of a port: the start of its line, and what EOS does not show. Later lines are shown later.
PORT_SETTINGS = {
    "description": "",
    "mtu": "mtu 9214",
    "switchport access vlan": "switchport access vlan 1",
    "switchport trunk native vlan": "switchport trunk native vlan 1",
    "switchport trunk allowed vlan": "switchport trunk allowed vlan 1-4094",
    "switchport mode": "switchport mode access",
    "shutdown": "no shutdown",
}


@dataclass
class Config:
    """A configuration: VLANs with name line and other lines, ports with settings and other lines, other blocks."""

    vlans: dict[int, tuple[str, ...]] = field(default_factory=dict)
    ports: dict[str, dict[str, str]] = field(default_factory=dict)
    port_others: dict[str, list[str]] = field(default_factory=dict)
    head: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)

    def text(self) -> str:
        lines = ["! Command: show running-config", "!", *self.head, "!"]
        for content, group in groupby(sorted(self.vlans.items()), key=lambda item: item[1]):
            lines += [f"vlan {spelled(vlan_id for vlan_id, _ in group)}", *(f"   {line}" for line in content), "!"]
        for name, settings in self.ports.items():
            shown = [settings[key] for key in PORT_SETTINGS if key in settings]
            lines += [f"interface {name}", *(f"   {line}" for line in shown + self.port_others.get(name, [])), "!"]
        return "\n".join([*lines, *self.tail, "!", "end"])

    def enter(self, line: str) -> str:
        """Enter a block and give its name; refuse what a switch with these ports refuses."""
        if re.fullmatch(r"vlan \d+", line):
            self.vlans.setdefault(int(line[5:]), ())
            return line
        kind, _, name = line.partition(" ")
        if kind == "interface" and name in self.ports:
            return line
        raise DeviceError(f"Invalid input: {line!r}")

    def set(self, block: str, line: str) -> None:
        """Set one line in a block."""
        kind, _, name = block.partition(" ")
        if kind == "vlan" and re.fullmatch(r"name \S+|no name", line):
            others = [other for other in self.vlans[int(name)] if not other.startswith("name ")]
            self.vlans[int(name)] = tuple(others if line == "no name" else [line, *others])
            return
        key = next((key for key in PORT_SETTINGS if re.sub("^no ", "", line).startswith(key)), None)
        if kind != "interface" or key is None:
            raise DeviceError(f"Invalid input: {line!r} in {block!r}")
        self.ports[name].pop(key, None)
        if line != PORT_SETTINGS[key] and not line.startswith("no "):
            self.ports[name][key] = line


def spelled(vlan_ids: Iterable[int]) -> str:
    """Spell VLAN IDs as EOS does: ``100-102,200``."""
    runs = groupby(enumerate(vlan_ids), key=lambda item: item[1] - item[0])
    ends = [[vlan_id for _, vlan_id in run] for _, run in runs]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ends)


class TinyEos:
    """A switch. ``send`` is what the client gets; ``requests`` is what it saw.

    ``refuse`` maps a pattern of a command's start to the error with which it is refused; ``meanwhile`` maps such a
    pattern to something that happens right after the command.
    """

    def __init__(self, config: Config | None = None) -> None:
        self.running = config or Config(ports={f"Ethernet{number}/1": {} for number in range(1, 33)})
        self.startup = copy.deepcopy(self.running)
        self.sessions: dict[str, Config] = {}
        self.timed: tuple[str, Config] | None = None
        self.timer = ""
        self.requests: list[list[str]] = []
        self.refuse: dict[str, str] = {}
        self.meanwhile: dict[str, Callable[[TinyEos], None]] = {}
        self._session = self._block = ""

    def send(self, commands: Sequence[str], output: str) -> list[str]:
        self.requests.append(list(commands))
        self._session = self._block = ""
        return [self._run(command, output) for command in commands]

    def expire(self) -> None:
        """Let the commit timer end."""
        if self.timed:
            self.running, self.timed = self.timed[1], None

    def _run(self, command: str, output: str) -> str:
        for start, error in self.refuse.items():
            if re.match(start, command):
                raise DeviceError(error)
        answer = ""
        if command.startswith("show "):
            answer = self._show(command, output)
        elif command == "copy running-config startup-config":
            self.startup = copy.deepcopy(self.running)
        else:
            self._configure(command)
        for start, happen in self.meanwhile.items():
            if re.match(start, command):
                happen(self)
        return answer

    def _configure(self, command: str) -> None:
        match = re.fullmatch(r"configure session (\S+)( .+)?", command)
        if match and match.group(2):
            self._end(match.group(1), match.group(2).split())
        elif match:
            self._session = match.group(1)
            self.sessions.setdefault(self._session, copy.deepcopy(self.running))
        elif command.startswith("commit"):
            self._end(self._session, command.split())
        elif not self._session:
            raise DeviceError(f"Invalid input: {command!r} outside of a session")
        elif re.match("vlan |interface ", command):
            self._block = self.sessions[self._session].enter(command)
        else:
            self.sessions[self._session].set(self._block, command)

    def _show(self, command: str, output: str) -> str:
        if command == "show running-config" and output == "text":
            return self.running.text()
        if command == "show configuration sessions detail" and output == "json":
            states = {name: {"state": "pending"} for name in self.sessions}
            timed = {self.timed[0]: {"state": "pendingCommitTimer"}} if self.timed else {}
            return json.dumps({"maxSavedSessions": 1, "sessions": {**states, **timed}})
        raise DeviceError(f"Invalid input: {command!r} as {output}")

    def _end(self, name: str, how: list[str]) -> None:
        if how[:2] == ["commit", "timer"] and name in self.sessions and not self.timed:
            self.timed, self.timer = (name, self.running), how[2]
            self.running = self.sessions.pop(name)
        elif how == ["commit"] and self.timed and self.timed[0] == name:
            self.timed = None
        elif how == ["abort"] and self.timed and self.timed[0] == name:
            self.expire()
        elif how == ["abort"] and name in self.sessions:
            del self.sessions[name]
        else:
            raise DeviceError(f"Invalid input: configure session {name} {' '.join(how)}")
