# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a server that tell Poplar about its partitions: which are ours, and how they are changed."""

from __future__ import annotations

from typing import Set

from .._host.files import File, Files
from .._plan.converge import DeviceError
from .._plan.steps import Fields, State, Step
from .ipuof import CONFIGURATIONS, ENVIRONMENTS, FILE, FOREIGN, HEADER, MANIFEST, PROFILE, manifest_names


class IpuofFiles:
    """Reads and changes them; the state is that of :mod:`.ipuof`."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def read(self) -> State:
        """All files that Poplar or a login shell would read.

        Raises:
            DeviceError: a file cannot be read, or the manifest is damaged.
        """
        state: State = {FILE: {}, FOREIGN: {}}
        listed = self._listed()
        environments = [f"{ENVIRONMENTS}/{name}" for name in self._files.names(ENVIRONMENTS) if name.endswith(".env")]
        configurations = [f"{CONFIGURATIONS}/{name}" for name in self._files.names(CONFIGURATIONS)]
        for path in [PROFILE, *environments, *(path for path in configurations if path.endswith(".conf")), MANIFEST]:
            file = self._files.read(path)
            if file is None:
                continue
            if path in listed or file.content.startswith(HEADER + "\n"):
                state[FILE][path] = _fields(file)
            else:
                state[FOREIGN][path] = {}
        return state

    def carry_out(self, step: Step) -> None:
        """Write or remove one file."""
        self._files.put(step.name, None if step.after is None else _file(step.after))

    def _listed(self) -> Set[str]:
        manifest = self._files.read(MANIFEST)
        if manifest is None:
            return set()
        try:
            return {MANIFEST, *(f"{CONFIGURATIONS}/{name}" for name in manifest_names(manifest.content))}
        except ValueError as error:
            raise DeviceError(
                f"{MANIFEST} is damaged ({error}); write the names of this collection's files into it again, "
                'like {"files": ["train_ipuof.conf"]}, or move it away together with them'
            ) from error


def _fields(file: File) -> Fields:
    lines = file.content.split("\n")
    # The newline at the end of a file is no line of its own; without it the last line is marked as what it is.
    content = lines[:-1] if lines[-1] == "" else [*lines[:-1], lines[-1] + " (no newline)"]
    return {"content": content, "owner": file.owner, "group": file.group, "mode": file.mode}


def _file(fields: Fields) -> File:
    content = "".join(line + "\n" for line in fields["content"])
    return File(content, fields["owner"], fields["group"], fields["mode"])
