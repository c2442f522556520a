# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at one device, whatever it is, and keeps what it has answered for the decision of this run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.utils.vars import load_extra_vars

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at_switch
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line
from ansible_collections.ipu.pod.plugins.module_utils._text.remedy import turned_away, with_remedy
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import own_connection
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.role_variables import settings_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.cloud_steps import PART as CLOUD
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.look_options import PARTS, asked_of_host
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.looks import (
    ANSWERED,
    FAILED,
    NOT_ASKED,
    REFUSED,
    TIMED_OUT,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.clouds import Cloud

SWITCH_ROLES = ("tor_switch", "preflight")
HOST_ROLES = ("poplar_server", "vipu_controller", "vpod", "containers", "preflight")
LONGEST = 1000
# What the secrets of different hosts are compared by.
SECRETS = "secrets"
# All that Ansible says where ssh ends before it has taken what is sent; ssh's own reason is lost.
NOT_TAKEN = "Data could not be sent"

OPTIONS = {"host": {"type": "str"}, "parts": {"type": "list", "elements": "str", "choices": list(PARTS)}}


class ActionModule(PodAction):
    """Keeps the answer of a device on disk and returns the outcome of the look. Never fails."""

    spec = OPTIONS

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """Return whether the device has answered; its answer is in the folder of the run."""
        host = options["host"] or str(variables["inventory_hostname"])
        if host != variables["inventory_hostname"]:
            variables = {**variables, **variables["hostvars"][host]}
        look: dict[str, Any] = {"host": host, "outcome": ANSWERED, "message": "", "settings": {}, "parts": {}}
        look["explicit"] = sorted(load_extra_vars(self._loader))
        try:
            look.update(self._looked(variables, options["parts"]))
        except AnsibleConnectionFailure as error:
            look.update(_not_reached(self._reason(str(error))))
        except AnsibleError as error:
            look.update(_failed(str(error)))
        digest = RunFolder().write("looks", host, look)
        return {"outcome": look["outcome"], "message": look["message"], "digest": digest}

    def _reason(self, message: str) -> str:
        if NOT_TAKEN in message:
            try:
                self._connection.exec_command("true", in_data=None, sudoable=False)
            except AnsibleConnectionFailure as error:
                return str(error)
        return message

    def _looked(self, variables: dict[str, Any], parts: list[str] | None) -> dict[str, Any]:
        groups = variables["group_names"]
        if "clouds" in groups:
            return _cloud(declaration_of(variables, self._loader).clouds[str(variables["inventory_hostname"])])
        is_switch = "switches" in groups
        roles = SWITCH_ROLES if is_switch else HOST_ROLES
        # Before anything that takes time: Ansible ends a connection that is idle for half a minute.
        seen = _switch(self._connection.socket_path, variables) if is_switch else {}
        settings = settings_of(roles, self._loader, self._templar, variables)
        if "rnic_interfaces" in variables:
            settings["rnic_interfaces"] = plain(self._templar.template(variables["rnic_interfaces"]))
        if is_switch:
            return {"settings": settings, **seen}
        partitions = plain(variables.get("vipu_ipuof_partitions", []))
        dedicated = plain(variables.get("vipu_dedicated_vpods", []))
        has_machines = bool(variables.get("ipu_pod_has_machines"))
        asked = asked_of_host(groups, settings, partitions, dedicated, has_machines)
        arguments = {**asked, "run_key": RunFolder().key(SECRETS)}
        if parts is not None:
            arguments["parts"] = [each for each in arguments["parts"] if each in parts]
        answer = self._execute_module(module_name="ipu.pod.host_look", module_args=arguments, task_vars=variables)
        if answer.get("failed") or "parts" not in answer:
            return {"settings": settings, **_failed(str(answer.get("module_stderr") or answer.get("msg", "")))}
        return {"settings": settings, "parts": answer["parts"]}


# A module would be a process of its own on the control node, which takes longer to start than the switch to answer.
def _switch(socket_path: str | None, variables: Mapping[str, Any]) -> dict[str, Any]:
    if "ansible_network_os" not in variables:
        message = "the inventory does not say how it is reached; set ansible_network_os and ansible_connection"
        return dict(_without(NOT_ASKED, message))
    try:
        with own_connection(socket_path):
            return {"parts": look_at_switch(socket_path)}
    except Refused as error:
        return dict(_without(FAILED, str(error)))
    except DeviceError as error:
        return dict(_not_reached(str(error)))


def _cloud(cloud: Cloud) -> dict[str, Any]:
    # openstacksdk takes its time, and only clouds need it.
    from ansible_collections.ipu.pod.plugins.module_utils._cloud import client, engine, look  # noqa: PLC0415

    images = {"images": [{"name": image.name, "file": image.file} for image in cloud.images]}
    try:
        files = {image["name"]: image["sha512"] for image in engine.with_checksums(images)["images"]}
        return {"parts": {CLOUD: {**look.look_at_cloud(client.connect(cloud.entry)), "files": files}}}
    except (DeviceError, Refused) as error:
        return dict(_without(FAILED, str(error)))


def _not_reached(message: str) -> Mapping[str, str]:
    return _without(REFUSED if turned_away(message) else TIMED_OUT, with_remedy(_line(message)))


def _failed(message: str) -> Mapping[str, str]:
    return _not_reached(message) if turned_away(message) else _without(FAILED, f"{_line(message)}; put that right")


def _without(outcome: str, message: str) -> Mapping[str, str]:
    return {"outcome": outcome, "message": message}


def _line(message: str) -> str:
    return one_line(message, LONGEST) or "it did not say why"
