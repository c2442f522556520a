# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works out what a virtual machine gets of a vPOD. Everything that decides is pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.attachments import by_hand

PRESENT, ABSENT = "present", "absent"
OPTIONS = {
    "machine": {"type": "str", "required": True},
    "vpod": {"type": "str", "required": True},
    "state": {"type": "str", "choices": [PRESENT, ABSENT], "default": PRESENT},
}


class ActionModule(PodAction):
    """The thin shell."""

    spec = OPTIONS
    _supports_diff = False
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The settings, from pods.yml alone."""
        declaration = declaration_of(variables, self._loader)
        is_wanted = options["state"] == PRESENT
        return {"attachment": by_hand(declaration, options["machine"], options["vpod"], is_wanted)}
