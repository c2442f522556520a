# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the pods.yml of a pod as it is, from what its devices have answered. Everything that decides is pure."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import document_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.gathering import gather
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError


class ActionModule(ActionBase):
    """The thin shell."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The files, and what there is to say of them."""
        super().run(tmp, task_vars)
        self.validate_argument_spec({})
        try:
            found = gather(document_of(task_vars or {}, self._loader), RunFolder().looks())
        except DeclarationError as error:
            raise AnsibleActionFail("; ".join(error.problems)) from None
        return {
            "changed": False,
            "files": dict(found.files),
            "lines": list(found.lines),
            "partly": list(found.partly),
            "unread": list(found.unread),
            "left": list(found.left),
        }
