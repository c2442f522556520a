# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps every question to a device and its answer, as plain data without secrets.

An entry has ``asked``, a list of words that begins with the kind of the question, and the answer:

* ``["text" or "json", COMMAND, ...]`` of a switch: ``answers``, or ``refused``, or ``lost`` without a way to it
* ``["program", WORD, ...]``: ``status``, ``output``, ``errors``, or ``missing`` where there is no such program
* ``["file", PATH]``: ``text``, ``owner``, ``group``, ``mode``, or ``absent``, or ``unreadable``
* ``["kernel", PATH]``: ``text``; ``["directory", PATH]``: ``names``; ``["modified", PATH]``: ``time``
* ``["sysfs", QUESTION, ...]``: ``found``

A text is a list of its lines, so that a person can read it; what is JSON is in a mapping with ``json`` alone.
"""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import Any, Callable, Dict, Mapping, Sequence, TypeVar

from .._host.files import File, Files, NotPlain
from .._host.programs import Run
from .._plan.converge import DeviceError
from .._rnic.sysfs import Function, Sysfs
from .._tor.session import CommandRefused, Send
from .secrets import hidden

Entry = Dict[str, Any]
Found = TypeVar("Found")


class Recording:
    """The answers so far. What is asked twice is kept as it was answered first."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, ...], Entry] = {}

    @property
    def entries(self) -> list[Entry]:
        """Everything that was asked, sorted by the question."""
        return [self._entries[asked] for asked in sorted(self._entries)]

    def keep(self, asked: Sequence[str], **answer: Any) -> None:
        """Keep an answer, without secrets."""
        entry = {"asked": list(asked), **{name: hidden(name, value) for name, value in answer.items()}}
        self._entries.setdefault(tuple(asked), entry)

    def send(self, send: Send) -> Send:
        """A way to a switch that records."""

        def recording(commands: Sequence[str], output: str) -> list[str]:
            asked = [output, *commands]
            try:
                answers = send(commands, output)
            except CommandRefused as error:
                self.keep(asked, refused=str(error))
                raise
            except DeviceError as error:
                self.keep(asked, lost=str(error))
                raise
            self.keep(asked, answers=[kept(answer) for answer in answers])
            return answers

        return recording

    def run(self, run: Run) -> Run:
        """A function that runs programs, and records."""

        def recording(argv: list[str]) -> tuple[int, str, str]:
            asked = ["program", *argv]
            try:
                status, output, errors = run(argv)
            except OSError as error:
                self.keep(asked, missing=error.strerror or "")
                raise
            self.keep(asked, status=status, output=kept(output), errors=kept(errors))
            return status, output, errors

        return recording


class RecordedFiles(Files):
    """The files of this host; each that is read is recorded."""

    def __init__(self, recording: Recording, root: str = "/") -> None:
        super().__init__(root)
        self._recording = recording

    def names(self, directory: str) -> list[str]:
        """As of the base."""
        names = super().names(directory)
        self._recording.keep(["directory", directory], names=names)
        return names

    def read(self, path: str) -> File | None:
        """As of the base."""
        asked = ["file", path]
        try:
            file = super().read(path)
        except NotPlain as error:
            self._recording.keep(asked, unreadable=str(error))
            raise
        if file is None:
            self._recording.keep(asked, absent=True)
        else:
            attributes = {"owner": file.owner, "group": file.group, "mode": file.mode}
            self._recording.keep(asked, text=kept(file.content), **attributes)
        return file

    def kernels(self, path: str) -> str:
        """As of the base."""
        text = super().kernels(path)
        self._recording.keep(["kernel", path], text=kept(text))
        return text

    def modified(self, path: str) -> int | None:
        """As of the base."""
        time = super().modified(path)
        self._recording.keep(["modified", path], time=time)
        return time


class RecordedSysfs(Sysfs):
    """The NICs of this host; each question is recorded."""

    def __init__(self, recording: Recording, root: str = "/sys") -> None:
        super().__init__(root)
        self._recording = recording

    def pci_addresses(self) -> dict[str, str]:
        """As of the base."""
        return self._kept(super().pci_addresses, "pci_addresses")

    def mtu(self, device: str) -> str:
        """As of the base."""
        return self._kept(lambda: super(RecordedSysfs, self).mtu(device), "mtu", device)

    def rdma_devices(self) -> list[str]:
        """As of the base."""
        return self._kept(super().rdma_devices, "rdma_devices")

    def max_virtual_functions(self) -> dict[str, int]:
        """As of the base."""
        return self._kept(super().max_virtual_functions, "max_virtual_functions")

    def functions(self, device: str) -> list[Function]:
        """As of the base."""
        return self._kept(lambda: super(RecordedSysfs, self).functions(device), "functions", device)

    def _kept(self, ask: Callable[[], Found], *question: str) -> Found:
        found = ask()
        listed = [asdict(each) for each in found] if isinstance(found, list) and _is_data(found) else found
        self._recording.keep(["sysfs", *question], found=listed)
        return found


def kept(text: str) -> Any:
    """A text as an entry has it."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return {"json": json.loads(text)}
        except ValueError:
            pass
    return text.split("\n")


def text_of(value: Any) -> str:
    """The text that an entry has."""
    if isinstance(value, Mapping):
        return json.dumps(value["json"])
    return "\n".join(value)


def _is_data(found: Sequence[Any]) -> bool:
    return any(is_dataclass(each) for each in found)
