# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of action plugins that copy what they make here to a host."""

from __future__ import annotations

import tempfile
from typing import Any

from .action import PodAction


class CopyingAction(PodAction):
    """ansible.builtin.copy does the work, in check mode, too."""

    _supports_diff = False

    def copied(self, content: bytes, path: str, variables: dict[str, Any], **arguments: str) -> dict[str, Any]:
        """The result of the copy; ``arguments`` are others of copy, such as ``mode``."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            task = self._task.copy()
            task.args = {"src": file.name, "dest": path, **arguments}
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
