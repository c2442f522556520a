# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the archive of a first contact, from the records of this run. Everything that decides is pure."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import ansible

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.archive import (
    REAL,
    SIMULATED,
    archive_of,
    lines_of,
    text_of,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import document_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.written_files import write_files

FILE = "answers.json"
OPTIONS = {
    "directory": {"type": "path", "required": True},
    "names": {"type": "list", "elements": "str", "default": []},
}
KIND = "answers"


class ActionModule(PodAction):
    """The thin shell."""

    spec = OPTIONS
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """What was recorded. The file of the control node is no change of a device."""
        folder = RunFolder()
        kept = {name: folder.read(KIND, name) or {} for name in folder.names(KIND)}
        records = {name: each["record"] for name, each in kept.items() if each["record"]}
        if not records:
            raise Refused("no device has answered, so there is nothing to write; the task before this one says why")
        names = [*map(str, variables["groups"]["all"]), *(name for each in kept.values() for name in each["names"])]
        source = SIMULATED if "sim" in document_of(variables, self._loader) else REAL
        control = {"ansible-core": ansible.__version__, "python": platform.python_version()}
        archive = archive_of(records, names, options["names"], source, control)
        write_files({FILE: text_of(archive)}, options["directory"])
        silent = {name: each["message"] for name, each in kept.items() if not each["record"]}
        return {
            "lines": lines_of(records, archive, silent),
            "silent": sorted(silent),
            "file": str(Path(options["directory"]) / FILE),
        }
