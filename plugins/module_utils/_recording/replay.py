# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers from a recording, in place of a device. Pure: nothing of this host is read or run."""

from __future__ import annotations

from errno import ENOENT
from typing import Any, Mapping, Sequence

from .._host.files import File, Files, NotPlain
from .._plan.converge import DeviceError
from .._rnic.sysfs import Function, Sysfs
from .._tor.session import CommandRefused
from .recording import Entry, text_of


class Replay:
    """The answers of a recording, by question."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._answers = {tuple(entry["asked"]): entry for entry in entries}

    def answer(self, *asked: str) -> Entry:
        """The entry of a question. Raises DeviceError: it was not asked."""
        try:
            return self._answers[asked]
        except KeyError:
            raise DeviceError(f"the recording has no answer to: {' '.join(asked)}") from None

    def has(self, *asked: str) -> bool:
        """Whether something was asked."""
        return asked in self._answers

    def send(self, commands: Sequence[str], output: str) -> list[str]:
        """The way to a switch."""
        entry = self.answer(output, *commands)
        if "refused" in entry:
            raise CommandRefused(entry["refused"])
        if "lost" in entry:
            raise DeviceError(entry["lost"])
        return [text_of(answer) for answer in entry["answers"]]

    def run(self, argv: Sequence[str]) -> tuple[int, str, str]:
        """A program of a host."""
        entry = self.answer("program", *argv)
        if "missing" in entry:
            raise OSError(ENOENT, entry["missing"])
        return entry["status"], text_of(entry["output"]), text_of(entry["errors"])


class ReplayedFiles(Files):
    """The files of a recorded host."""

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self._replay = replay

    def names(self, directory: str) -> list[str]:
        """As of the base."""
        return list(self._replay.answer("directory", directory)["names"])

    def read(self, path: str) -> File | None:
        """As of the base."""
        entry = self._replay.answer("file", path)
        if "unreadable" in entry:
            raise NotPlain(entry["unreadable"])
        if "absent" in entry:
            return None
        return File(text_of(entry["text"]), entry["owner"], entry["group"], entry["mode"])

    def kernels(self, path: str) -> str:
        """As of the base; what the kernel refused to tell was not kept."""
        return text_of(self._replay.answer("kernel", path)["text"])

    def modified(self, path: str) -> int | None:
        """As of the base."""
        time: int | None = self._replay.answer("modified", path)["time"]
        return time


class ReplayedSysfs(Sysfs):
    """The NICs of a recorded host."""

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self._replay = replay

    def pci_addresses(self) -> dict[str, str]:
        """As of the base."""
        return dict(self._found("pci_addresses"))

    def mtu(self, device: str) -> str:
        """As of the base."""
        return str(self._found("mtu", device))

    def rdma_devices(self) -> list[str]:
        """As of the base."""
        return list(self._found("rdma_devices"))

    def max_virtual_functions(self) -> dict[str, int]:
        """As of the base."""
        return dict(self._found("max_virtual_functions"))

    def functions(self, device: str) -> list[Function]:
        """As of the base."""
        return [_function(each) for each in self._found("functions", device)]

    def _found(self, *question: str) -> Any:
        return self._replay.answer("sysfs", *question)["found"]


def _function(found: Mapping[str, Any]) -> Function:
    lists = {name: tuple(found[name]) for name in ("devices", "verbs")}
    return Function(**{**found, **lists})
