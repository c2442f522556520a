# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of action plugins that copy one of our programs, which they build here, to a host."""

from __future__ import annotations

import tempfile
from typing import Any, ClassVar

from .._programs.build import program
from .action import PodAction

OPTIONS = {"path": {"type": "path", "required": True}}


class ProgramAction(PodAction):
    """Builds the file whose entry is in ``room``; ansible.builtin.copy does the rest."""

    spec = OPTIONS
    room: ClassVar[str]
    _supports_diff = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The result of the copy."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(program(self.room))
            file.flush()
            task = self._task.copy()
            task.args = {"src": file.name, "dest": options["path"], "owner": "root", "group": "root", "mode": "0755"}
            copy = self._shared_loader_obj.action_loader.get(
                "ansible.legacy.copy",
                task=task,
                connection=self._connection,
                play_context=self._play_context,
                loader=self._loader,
                templar=self._templar,
                shared_loader_obj=self._shared_loader_obj,
            )
            result: dict[str, Any] = copy.run(task_vars=variables)
        return result
