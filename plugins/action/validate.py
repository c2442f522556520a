# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says everything that is wrong with a pods.yml, and with the variables beside it. Needs no pod."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from ansible.errors import AnsibleActionFail

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import document_of, file_of
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.contradictions import (
    declared_contradictions,
    problems_of,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.positions import located
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.open_controllers import open_controllers

# Of the role poplar_server.
VARIABLES = ("poplar_server_more_interfaces", "poplar_server_roce")

OPTIONS = {"path": {"type": "path"}}


class ActionModule(PodAction):
    """Returns the problems that pure functions find."""

    spec = OPTIONS
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The problems, one sentence each."""
        path = options["path"] or file_of(variables)
        if options["path"] is None:
            document, text = document_of(variables, self._loader), self._loader.get_text_file_contents(path)
        else:
            document, text = _file(path)
        problems = [str(problem) for problem in located(problems_of(document), text, Path(path).name)]
        warnings = [] if problems else open_controllers(parse_declaration(document))
        contradictions: list[str] = []
        if not problems and variables["groups"].get("ipu_pods"):
            declaration = parse_declaration(document_of(variables, self._loader))
            settings = {
                str(host): {name: plain(variables["hostvars"][host].get(name, [])) for name in VARIABLES}
                for host in variables["groups"]["poplar_servers"]
            }
            contradictions = declared_contradictions(declaration, settings)
        return {"problems": problems, "contradictions": contradictions, "warnings": warnings}


def _file(path: str) -> tuple[Any, str]:
    """The document in a file, and its text."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return yaml.safe_load(text), text
    except (OSError, yaml.YAMLError) as error:
        raise AnsibleActionFail(f"{path}: {error}") from None
