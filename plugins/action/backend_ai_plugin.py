# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies Backend.AI's IPU plugin, a wheel that is given or made of a checkout, to a host."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.copying import CopyingAction
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.wheel import wheel_from

OPTIONS = {"plugin": {"type": "path", "required": True}, "directory": {"type": "path", "required": True}}


class ActionModule(CopyingAction):
    """The thin shell."""

    spec = OPTIONS

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The result of the copy."""
        wheel = wheel_from(options["plugin"])
        owned = {"owner": "root", "group": "root", "mode": "0644"}
        return self.copied(wheel.content, f"{options['directory']}/{wheel.name}", variables, **owned)
