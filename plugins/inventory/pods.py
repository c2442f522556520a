# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory plugin: one pods.yml gives every host, group, address, switch port and VLAN."""

from __future__ import annotations

DOCUMENTATION = r"""
name: pods
short_description: IPU pods as declared in pods.yml
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads one file, C(pods.yml) or C(*.pods.yml), in which the owner declares pods, V-IPU controllers, clusters and
    vPODs, and derives every host, group, address and switch port from it.
  - Refuses a file that contradicts itself and says everything that is wrong at once, each with its line, its column and
    its key path.
  - IPU-Machines are appliances. They are in the inventory for their variables, no play runs on them.
  - What may stand in the file is listed under the options below, and in C(docs/inventory.md). C(docs/pods.schema.json)
    is the same as JSON Schema, for editors.
  - The path of the file stands in the variable C(ipu_pod_file) of the group C(ipu_pods).
extends_documentation_fragment:
  - ipu.pod._pods
notes:
  - "Groups that always exist: C(ipu_pods) (everything), C(tor_switches), C(management_switches), C(switches) (both),
    C(poplar_servers), C(ipu_machines), C(vipu_controllers) and C(clouds), in the order in which devices are changed.
    C(vpod_NAME) holds the Poplar servers of a vPOD and the IPU-Machines that it is pinned to. Beside them one group a
    pod, named as the pod, and C(cluster_NAME)."
  - "C(ipu_pod_unmanaged) holds the devices that are only read; C(ipu_pod_unmanaged_switches),
    C(ipu_pod_unmanaged_servers) and C(ipu_pod_unmanaged_controllers) say it by layer, as a Poplar server may run a
    controller. Runs fill C(ipu_pod_concerned), C(ipu_pod_changing), C(ipu_pod_undecided), C(ipu_pod_idle), one group
    for each stage such as C(ipu_pod_stage_switches), C(slurm_nodes), C(backend_ai_agents), and C(ipu_pod_attach),
    C(ipu_pod_detach) and C(ipu_pod_attach_places). All of them always exist."
  - "C(slurm_controllers) and C(slurm_clients) are empty and always exist; other inventory files put hosts there."
  - "Host variables of an IPU-Machine: C(bmc_address), C(gateway_address), C(rnic_address), C(rnic_prefix), C(ipus),
    C(switch), C(switch_port) such as C(Ethernet9/1), C(rnic_vlan) where the file alone tells it."
  - "Host variables of a Poplar server: C(management_address), C(rnic_address), C(rnic_prefix), C(rnic_interface),
    C(switch), C(switch_port) of the first RNIC, C(switch_ports) of both, C(rnic_vlan), C(rnic_mtu) where declared."
  - "Host variables of a switch or of a controller with a host of its own: C(management_address)."
  - "Every one of them has C(ipu_pod), C(lrack) and C(number), where it stands in a pod, and C(ansible_host)."
  - "A cloud is worked on from the control node: C(ansible_connection) is C(local), and C(ansible_python_interpreter)
    that of Ansible. It has C(cloud_entry), its entry of C(clouds.yaml)."
options:
  plugin:
    description: Says that the file is for this plugin.
    type: str
    required: true
    choices: [ipu.pod.pods]
  schema:
    description: The version of the file's format.
    type: int
    required: true
    choices: [1]
"""

EXAMPLES = r"""
# pods.yml
plugin: ipu.pod.pods
schema: 1
pods:
  pod001: {model: bow-pod64, lrack: 1, addressing: multi-rack, poplar_servers: 4}
controllers:
  ctrl001: {host: pod001-poplar1}
clusters:
  c001: {controller: ctrl001, pods: [pod001], topology: torus}
vpods:
  alice:
    cluster: c001
    ipus: 16
    vlan: 101
    poplar_servers: [pod001-poplar1]
    partitions:
      train: {ipus: 16, reconfigurable: true}
"""

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin
from ansible.template import trust_as_template

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import source_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.checking import checked
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import (
    CLOUDS,
    CONTROLLERS,
    EVERYTHING,
    groups,
    host_variables,
    pod_groups,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

# With which a template of Ansible's begins.
TEMPLATES = ("{{", "{%", "{#")
OWN_PYTHON = "{{ ansible_playbook_python }}"


class InventoryModule(BaseInventoryPlugin):
    """The thin shell: read the file, hand the derived hosts and groups to Ansible."""

    NAME = "ipu.pod.pods"

    def verify_file(self, path: str) -> bool:
        """Only files that say by their name that they are for this plugin."""
        return super().verify_file(path) and path.endswith(("pods.yml", "pods.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = False) -> None:
        """Fill the inventory, or refuse the file with everything that is wrong with it."""
        super().parse(inventory, loader, path, cache)
        try:
            declaration = checked(source_of(path, loader))
        except DeclarationError as error:
            # Ansible shows what helps once, and the message twice.
            raise AnsibleParserError(f"{path} is refused.", help_text="\n".join(error.problems)) from None
        inventory.add_group(EVERYTHING)
        inventory.set_variable(EVERYTHING, "ipu_pod_file", _as_data(str(Path(path).resolve())))
        for host, variables in host_variables(declaration).items():
            inventory.add_host(host)
            for name, value in variables.items():
                inventory.set_variable(host, name, _as_data(value))
        for group, members in {**pod_groups(declaration), **groups(declaration)}.items():
            inventory.add_group(group)
            for host in members:
                inventory.add_host(host, group)
        for cloud in declaration.clouds:
            inventory.set_variable(cloud, "ansible_python_interpreter", trust_as_template(OWN_PYTHON))
        for child in (*pod_groups(declaration), CONTROLLERS, CLOUDS):
            inventory.add_child(EVERYTHING, child)


def _as_data(value: Any) -> Any:
    """The value with only those texts trusted that are no templates: other programs then get them as plain values."""
    if isinstance(value, dict):
        return {key: _as_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_data(item) for item in value]
    if not isinstance(value, str) or any(sign in value for sign in TEMPLATES):
        return value
    return trust_as_template(value)
