# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the pods.yml of a pod as it is, from what its devices have answered. Everything that decides is pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import document_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.gathering import gather


class ActionModule(PodAction):
    """The thin shell."""

    _requires_connection = False

    def result(self, _options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The files, and what there is to say of them."""
        found = gather(document_of(variables, self._loader), RunFolder().looks())
        return {
            "files": dict(found.files),
            "lines": list(found.lines),
            "partly": list(found.partly),
            "unread": list(found.unread),
            "left": list(found.left),
        }
