# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies the program that Slurm runs, which it builds here, to a host."""

from __future__ import annotations

import tempfile
from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.program import program

OPTIONS = {"path": {"type": "path", "required": True}}


class ActionModule(PodAction):
    """Builds the content of the file; ansible.builtin.copy does the rest."""

    spec = OPTIONS
    _supports_diff = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The result of the copy."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(program())
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
