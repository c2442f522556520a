# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works out what Slurm is configured with. Everything that decides is pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import document_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.plan import slurm_plan
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.settings import slurm_settings

OPTIONS = {
    "choice": {"type": "dict", "required": True},
    "controllers": {"type": "raw", "default": []},
    "found": {"type": "dict"},
}


class ActionModule(PodAction):
    """The thin shell."""

    spec = OPTIONS
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The whole plan where it is known what Slurm is there, else the settings of the hooks."""
        document = document_of(variables, self._loader)
        if options["found"] is None:
            return {"settings": slurm_settings(parse_declaration(document), options["choice"])}
        return slurm_plan(document, options["choice"], options["controllers"], options["found"])
