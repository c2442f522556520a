# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what a run has done, or what its look and its plan show, in lines for a person and in files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._text.line import printable
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.this_run import seconds_since_start
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.written_files import write_files
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import (
    View,
    allocations_of,
    cabling_view,
    capacity_view,
    drift_view,
    plan_view,
    summary_view,
    vpods_view,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import STAGE_NAMES
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.open_controllers import open_controllers
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.run_report import report_lines, stage_lines

# Views that need a look and no plan.
LOOKED = ("capacity", "cabling")

OPTIONS = {
    "view": {
        "type": "str",
        "choices": ["run", "stage", "plan", "drift", "vpods", "capacity", "cabling", "summary"],
        "default": "run",
    },
    "stage": {"type": "str", "choices": list(STAGE_NAMES)},
    "ignore": {"type": "list", "elements": "dict", "default": []},
    "vpods": {"type": "list", "elements": "str"},
    "directory": {"type": "path"},
    "ipus": {"type": "int", "default": 0},
    "cluster": {"type": "str", "default": ""},
}
RULES = {"required_if": [("view", "stage", ["stage"])]}


class ActionModule(PodAction):
    """Writes the lines and files that ``_reports`` renders."""

    spec = OPTIONS
    rules = RULES
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The lines and the files."""
        if options["view"] in LOOKED:
            view = _of_looks(options, declaration_of(variables, self._loader))
        else:
            view = self._view(options, variables)
        is_plan = options["view"] == "plan"
        return {
            "changed": write_files(view.files, options["directory"]) if options["directory"] else False,
            "lines": list(map(printable, view.lines)),
            "exit_code": view.exit_code,
            "warnings": open_controllers(declaration_of(variables, self._loader)) if is_plan else [],
            # Ansible's own output shows it as well.
            "_ansible_verbose_always": True,
        }

    def _view(self, options: dict[str, Any], variables: dict[str, Any]) -> View:
        folder = RunFolder()
        document, reading = folder.read("plan", "document"), folder.read("plan", "reading")
        if document is None or reading is None:
            raise Refused("nothing has been decided in this run; run ipu.pod.decide first")
        name = options["view"]
        if name == "stage":
            host = str(variables["inventory_hostname"])
            folder.write("done", f"{options['stage']} {host}", {"stage": options["stage"], "host": host})
            return View(stage_lines(reading["stages"], options["stage"], host))
        if name == "run":
            seconds = round(seconds_since_start())
            return View(report_lines(document, reading, folder.done(), seconds, bool(self._task.check_mode)))
        if name == "drift":
            today = datetime.now(UTC).strftime("%Y-%m-%d")
            return drift_view(document, reading["compared"], options["ignore"], today)
        declaration = declaration_of(variables, self._loader)
        if name == "plan":
            return plan_view(document, declaration, reading["placement"])
        if name == "summary":
            return summary_view(declaration, folder.looks(), reading["wanted"], folder.done())
        return vpods_view(document, declaration, options["vpods"])


def _of_looks(options: dict[str, Any], declaration: Declaration) -> View:
    looks = RunFolder().looks()
    if options["view"] == "cabling":
        return cabling_view(declaration, looks)
    allocations = allocations_of(declaration, looks)
    return capacity_view(declaration, allocations, options["ipus"], options["cluster"])
