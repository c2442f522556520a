# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a server that tell Poplar about its partitions: which are ours, and how they are changed."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from .._host.files import File, Files, NotPlain
from .._plan.converge import DeviceError
from .._plan.steps import Fields, State, Step
from .ipuof import CONFIGURATIONS, ENVIRONMENTS, FILE, FOREIGN, HEADER, MANIFEST, PROFILE, manifest_names


@dataclass(frozen=True)
class IpuofFiles:
    """Reads and changes them; the state is that of :mod:`.ipuof`."""

    files: Files

    def read(self) -> State:
        """All files that Poplar, a login shell or a service would read.

        Raises:
            DeviceError: a file cannot be read, or the manifest is damaged.
        """
        listed = self._listed()
        state: State = {FILE: {}, FOREIGN: {}}
        for path in self._paths():
            file = self._plain(path)
            if file is not None and (path in listed or file.content.startswith(HEADER + "\n")):
                state[FILE][path] = _fields(file)
            else:
                state[FOREIGN][path] = {}
        return state

    def carry_out(self, step: Step) -> None:
        """Write or remove one file."""
        self.files.put(step.name, None if step.after is None else _file(step.after))

    def _paths(self) -> list[str]:
        """The places that are read, as far as something is there."""
        environments = [name for name in self.files.names(ENVIRONMENTS) if name.endswith(".env")]
        configurations = [
            name
            for name in self.files.names(CONFIGURATIONS)
            if name.endswith(".conf") or name == posixpath.basename(MANIFEST)
        ]
        profile, directory = posixpath.basename(PROFILE), posixpath.dirname(PROFILE)
        return [
            *(f"{directory}/{name}" for name in self.files.names(directory) if name == profile),
            *(f"{ENVIRONMENTS}/{name}" for name in environments),
            *(f"{CONFIGURATIONS}/{name}" for name in configurations),
        ]

    def _plain(self, path: str) -> File | None:
        """The file; None for a link or the like, which is never ours."""
        try:
            return self.files.read(path)
        except NotPlain:
            return None

    def _listed(self) -> list[str]:
        """The configuration files that the manifest calls ours, and the manifest itself."""
        manifest = self.files.read(MANIFEST)
        if manifest is None:
            return []
        try:
            return [MANIFEST, *(f"{CONFIGURATIONS}/{name}" for name in manifest_names(manifest.content))]
        except ValueError as error:
            raise DeviceError(
                f"{MANIFEST} is damaged ({error}); write the names of this collection's files into it again, "
                'like {"files": ["train_ipuof.conf"]}, or move it away together with them'
            ) from error


def _fields(file: File) -> Fields:
    return {
        "content": file.content.rstrip("\n").split("\n"),
        "owner": file.owner,
        "group": file.group,
        "mode": file.mode,
    }


def _file(fields: Fields) -> File:
    content = "".join(line + "\n" for line in fields["content"])
    return File(content, fields["owner"], fields["group"], fields["mode"])
