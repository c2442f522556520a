# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says everything that is wrong with a pods.yml, and with the variables beside it. Needs no pod."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of, file_of, source_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.role_variables import ROLES
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.contradictions import declared_contradictions
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.option_checks import (
    IGNORED_DRIFT,
    by_hosts,
    options_of,
    refusals,
    slips,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.checking import checked, unplaced
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.warnings import warnings
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

# Of the role poplar_server; they have to fit what pods.yml declares.
VARIABLES = ("poplar_server_more_interfaces", "poplar_server_roce")
ROLE_NAMES = tuple(sorted(path.name for path in ROLES.glob("*")))

OPTIONS = {"path": {"type": "path"}}


class ActionModule(PodAction):
    """Returns the problems that pure functions find."""

    spec = OPTIONS
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The problems, one sentence each."""
        path = options["path"] or file_of(variables)
        try:
            source = source_of(path, self._loader)
            declaration = checked(source)
        except DeclarationError as error:
            return {"problems": error.problems, "contradictions": [], "warnings": []}
        if problems := [str(problem) for problem in unplaced(declaration, source)]:
            return {"problems": problems, "contradictions": [], "warnings": []}
        found = warnings(declaration)
        if not variables["groups"].get("ipu_pods"):
            return {"problems": [], "contradictions": [], "warnings": found}
        # That of the inventory, whose variables they are.
        declaration = declaration_of(variables, self._loader)
        of_roles = options_of(path.read_text(encoding="utf-8") for path in ROLES.glob("*/meta/argument_specs.yml"))
        hosts = {str(host): variables["hostvars"][host] for host in variables["groups"]["ipu_pods"]}
        found += by_hosts({host: list(slips(own, of_roles, ROLE_NAMES)) for host, own in hosts.items()})
        hosts = {host: _values(own, of_roles) for host, own in hosts.items()}
        refused = by_hosts({host: list(refusals(own, of_roles, declaration.vpods)) for host, own in hosts.items()})
        if not refused:
            settings = {
                host: {name: hosts[host].get(name) or [] for name in VARIABLES}
                for host in variables["groups"]["poplar_servers"]
            }
            refused = declared_contradictions(declaration, settings)
        return {"problems": [], "contradictions": refused, "warnings": found}


def _values(variables: Mapping[str, Any], of_roles: Mapping[str, Any]) -> dict[str, Any]:
    """Those variables of a host that roles read, as far as they can be known now."""
    found = {}
    for name in (IGNORED_DRIFT, *of_roles):
        # What hangs on facts or on secrets, only a run knows.
        with contextlib.suppress(AnsibleError):
            if name in variables:
                found[name] = plain(variables[name])
    return found
