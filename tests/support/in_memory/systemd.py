# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd in memory: units from their files, timers on a clock of its own, and a shell that is just good enough."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from tests.support.in_memory.files import MemoryFiles
from tests.support.in_memory.kernel import Refusal

ETC = "/etc/systemd/system"
WANTS = f"{ETC}/multi-user.target.wants"
RENAMES = {
    "output=$(mv armed undoing 2>&1)": ("armed", "undoing"),
    'output=$({ mv undoing undone && sync .; } 2>&1) || not_undone "$output"': ("undoing", "undone"),
}
# What fails is not shown here.
KNOWN_LINES = (
    *("", "fi", "left=", 'say "undone"', "cd /var/lib/ipu-pod/rnic-network || exit 0"),
    *('[ ! -e armed ] || not_undone "$output"', '[ -z "$left" ] || not_undone "$left"'),
)


class TinySystemd:
    """``run`` runs a program and raises Refusal; ``settle`` is the shell function of that name."""

    def __init__(self, files: MemoryFiles, run: Callable[[list[str]], str], settle: Callable[[str], None]) -> None:
        self.now = 0.0
        self.timers: dict[str, float] = {}
        self.services: dict[str, bool] = {}
        self.broken_units: set[str] = set()
        self._files = files
        self._run = run
        self._settle = settle
        self._loaded: set[str] = set()

    def pass_time(self, seconds: float) -> None:
        """Advance the clock; timers that elapse start their units."""
        self.now += seconds
        for unit, due in list(self.timers.items()):
            if due <= self.now:
                del self.timers[unit]
                self.start(unit)

    def boot(self) -> None:
        """Forget what does not survive a reboot."""
        self.timers = {}
        for path in [path for path in self._files.files if path.startswith("/run/")]:
            self._files.remove(path)
        self._loaded = set(self._files.names(ETC))

    def systemctl(self, words: list[str]) -> str:
        match words:
            case ["daemon-reload"]:
                self._loaded = set(self._files.names(ETC))
            case ["enable", "--quiet", unit]:
                self._need(unit)
                self._loaded.add(unit)
                self._files.write(f"{WANTS}/{unit}", File(""))
            case ["disable", unit] | ["disable", "--quiet", unit]:
                self._files.remove(f"{WANTS}/{unit}")
            case ["start" | "restart", unit]:
                self.start(unit)
            case ["stop", unit] if unit.endswith(".timer"):
                self.timers.pop(unit.replace(".timer", ".service"), None)
            case _:
                raise Refusal(f"systemctl does not know: {words}")
        return ""

    def states(self, units: list[str]) -> list[str]:
        """The output of ``systemctl is-active``."""
        timers = {unit.replace(".service", ".timer") for unit in self.timers}
        return ["active" if self.services.get(unit) or unit in timers else "inactive" for unit in units]

    def systemd_run(self, words: list[str]) -> str:
        match words:
            case ["--quiet", "--timer-property=AccuracySec=100ms", on_active, unit]:
                name = unit.removeprefix("--unit=")
                self._need(name)
                self.timers[name] = self.now + int(on_active.removeprefix("--on-active="))
            case _:
                raise Refusal(f"systemd-run does not know: {words}")
        return ""

    def is_enabled(self, unit: str) -> bool:
        return f"{WANTS}/{unit}" in self._files.files and f"{ETC}/{unit}" in self._files.files

    def start(self, unit: str) -> None:
        self._need(unit)
        if unit not in self._loaded:
            raise Refusal(f"Unit {unit} not found; its file is newer than the last daemon-reload")
        if unit in self.broken_units:
            raise Refusal(f"Job for {unit} failed because the control process exited with error code")
        for line in self._files.files[f"{ETC}/{unit}"].content.splitlines():
            if line.startswith("ExecStart="):
                words = shlex.split(line.removeprefix("ExecStart="))
                if words[0] == "/bin/sh":
                    self._script(words[1])
                else:
                    self._run(words)

    def _need(self, unit: str) -> None:
        if f"{ETC}/{unit}" not in self._files.files:
            raise Refusal(f"Unit {unit} not found.")

    def _script(self, path: str) -> None:
        """Run the undo script, and refuse every line that is not known to be in it."""
        folder = path.rsplit("/", 1)[0]
        log: list[str] = []
        skipping = ""
        for line in self._files.files[path].content.splitlines():
            if skipping:
                skipping = "" if line == skipping else skipping
                continue
            if re.fullmatch(r"\w+\(\) \{", line):
                skipping = "}"
                continue
            words = shlex.split(line, comments=True)
            if words[:2] == ["if", "["]:
                skipping = "" if words[3] in self._files.files else "fi"
            elif line == "[ -e undoing ] || exit 0":
                if f"{folder}/undoing" not in self._files.files:
                    return
            elif words[:1] == ["try"]:
                log.append("+ " + " ".join(words[1:]))
                log += self._tried(words[1:])
            elif words[:1] in (["rm"], ["systemctl"]):
                self._run(words)
            else:
                self._file_line(folder, line)
        self._files.write(f"{folder}/log", File("".join(line + "\n" for line in log)))

    def _file_line(self, folder: str, line: str) -> None:
        match shlex.split(line, comments=True):
            case ["put_back", path]:
                self._files.write(path, self._files.files[f"{folder}/old{path}"])
            case ["remove", path]:
                self._files.remove(path)
            case _ if line in RENAMES:
                old, new = RENAMES[line]
                self._files.rename(f"{folder}/{old}", f"{folder}/{new}")
            case _:
                assert line in KNOWN_LINES or line.startswith("#"), line

    def _tried(self, words: list[str]) -> list[str]:
        try:
            if words[0] == "settle":
                self._settle(words[1])
            else:
                self._run(words)
        except Refusal as error:
            return [str(error), "failed: " + " ".join(words)]
        return []
