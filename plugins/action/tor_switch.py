# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module tor_switch over a connection of its own, with a secret that only this run has."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import SwitchModule
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder


class ActionModule(SwitchModule):
    """The module of the same name does all of it."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of the module."""
        switch = str((task_vars or {})["inventory_hostname"])
        self._task.args = {**self._task.args, "run_key": RunFolder().key(switch)}
        return super().run(tmp, task_vars)
