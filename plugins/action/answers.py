# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what one device answers, whatever it is, and keeps that for the archive of this run."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleError

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._recording.host import CONTROLLER_PARTS, SERVER_PARTS
from ansible_collections.ipu.pod.plugins.module_utils._recording.switch import record_switch
from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import own_connection
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.role_variables import settings_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder

KIND = "answers"
PORT = "vipu_controller_admin_port"
# What says who logs in to a device, and where.
NAMES = ("ansible_host", "ansible_user", "ansible_become_user", "inventory_hostname_short")


class ActionModule(PodAction):
    """Keeps the record of a device on disk. Never fails."""

    def result(self, _options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """How much was recorded; the record itself is in the folder of the run."""
        host = str(variables["inventory_hostname"])
        kept: dict[str, Any] = {"record": {}, "message": "", "names": self._names(variables)}
        try:
            kept["record"] = self._record(variables)
        except (Refused, DeviceError, AnsibleError) as error:
            kept["message"] = one_line(str(error))
        RunFolder().write(KIND, host, kept)
        return {"answers": len(kept["record"].get("answers", [])), "message": kept["message"]}

    def _record(self, variables: dict[str, Any]) -> dict[str, Any]:
        groups = variables["group_names"]
        if "switches" in groups:
            if "ansible_network_os" not in variables:
                raise Refused("the inventory does not say how it is reached; set ansible_network_os")
            with own_connection(self._connection.socket_path):
                return record_switch(self._connection.socket_path)
        is_server, is_controller = "poplar_servers" in groups, "vipu_controllers" in groups
        arguments: dict[str, Any] = {"parts": [*(SERVER_PARTS * is_server), *(CONTROLLER_PARTS * is_controller)]}
        # Hosts that dedicated controllers have to themselves have none of the clusters.
        if "vipu_agents" in variables:
            arguments["admin_port"] = settings_of(("vipu_controller",), self._loader, self._templar, variables)[PORT]
        answer = self._execute_module(module_name="ipu.pod.host_answers", module_args=arguments, task_vars=variables)
        if "record" not in answer:
            raise DeviceError(str(answer.get("module_stderr") or answer.get("msg") or "it did not say why"))
        return dict(answer["record"])

    def _names(self, variables: dict[str, Any]) -> list[str]:
        found = (self._templar.template(variables.get(name) or "") for name in NAMES)
        return [str(each) for each in found if each]
