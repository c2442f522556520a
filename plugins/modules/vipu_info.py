#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the entities of a V-IPU controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_info
short_description: Read what a V-IPU controller holds
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads what the controller's end-point shows, with one request per kind, and the release of the controller.
  - The admin end-point shows agents, clusters, allocations, users and partitions; the user end-point, which needs no
    administrator, allocations and partitions; transport V(grpc) partitions alone.
  - An answer that cannot be understood is an error, never an empty list.
extends_documentation_fragment: [ipu.pod._attributes.reads, ipu.pod._vipu]
options:
  transport:
    description:
      - V(cli) asks through C(vipu-admin) or C(vipu).
      - V(grpc) asks the published user service directly. It needs grpcio and protobuf for the Python that runs the
        module, and nothing of V-IPU.
    type: str
    choices: [cli, grpc]
    default: cli
  end_point:
    description: Whom to ask by transport V(cli). Transport V(grpc) always asks the user end-point.
    type: str
    choices: [admin, user]
    default: admin
  api_port: {description: "TCP port of the end-point. Default 8091 for admin, 8090 for user.", type: int}
  program:
    description:
      - Name or path of the V-IPU program on the host that the module runs on. Default C(vipu-admin) for the admin
        end-point, C(vipu) for the user end-point.
    type: str
  partition_status:
    description: Also ask each partition for its operation, its errors and how often it was reset automatically.
    type: bool
    default: false
  ipuof_configurations:
    description: Names of partitions to read the IPUoF configuration of.
    type: list
    elements: str
    default: []
  ipu_attributes: {description: Also read the attributes of all IPUs., type: bool, default: false}
  discovered_agents:
    description:
      - Also read which agents have announced themselves. Only the admin end-point knows them, and only where the
        controller listens for them (option C(vipu_controller_autodiscovery_interfaces) of the role
        P(ipu.pod.vipu_controller#role)).
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Read the allocations
  ipu.pod.vipu_info:
  register: controller

- name: Show the allocations
  ansible.builtin.debug:
    var: controller.allocations

- name: List IPU-Machines that have announced themselves
  ipu.pod.vipu_info:
    discovered_agents: true
  register: found

- name: Register all of them, under the names by which they announce themselves
  ipu.pod.vipu_agent:
    agents: "{{ found.discovered_agents }}"

- name: Read as a tenant, without any V-IPU program
  ipu.pod.vipu_info:
    transport: grpc
    api_host: 10.3.1.200
    api_user_id: alice
    api_access_key: "{{ alice_access_key }}"
    tls_certs: /etc/vipu/certs
    partition_status: true
    ipuof_configurations: [train]
  delegate_to: localhost
"""

RETURN = r"""
release: {description: The V-IPU release of the controller., type: str, returned: success, sample: 1.18.0}
agents:
  description: Agent name to its host, port, status and V-IPU release.
  type: dict
  returned: from the admin end-point
  sample: {pod001-ipum1: {host: 10.2.1.1, port: 8080, status: Up, version: 1.18.0}}
clusters:
  description: Cluster name to its agents, topology, number of IPU-Link domains and whether it is looped.
  type: dict
  returned: from the admin end-point
allocations:
  description: Allocation name to its cluster, size in IPUs and agents.
  type: dict
  returned: by transport cli
users:
  description: User name to the allocations that the user may use, and whether the user is an administrator.
  type: dict
  returned: from the admin end-point
partitions:
  description:
    - Partition name to its status and its fields, as the option C(partitions) of M(ipu.pod.vipu_state), without those
      that count at creation only.
  type: dict
  returned: success
partition_status:
  description:
    - Partition name to its status, operation, errors and automatic resets. An installed program that does not tell
      all of that gives the status alone.
  type: dict
  returned: when asked for
  sample: {train: {status: ACTIVE, operation: IDLE, errors: [], auto_resets: 0}}
partition_status_unread:
  description: Partition name to why its status cannot be read. That hides no other partition's.
  type: dict
  returned: with RV(partition_status)
  sample: {}
ipuof_configurations:
  description: Partition name to a list with, for each of its GCDs, the devices and attributes that Poplar needs.
  type: dict
  returned: when asked for
ipu_attributes: {description: Agent name to number of an IPU to attributes., type: dict, returned: when asked for}
discovered_agents:
  description:
    - Name (the id that the controller would add it by), host and port of each agent that has announced itself, whether
      it is registered or not; as the option C(agents) of M(ipu.pod.vipu_agent).
  type: list
  elements: dict
  returned: when asked for
  sample: [{name: pod001-ipum1, host: 10.2.1.1, port: 8080}]
"""

from typing import Any, Iterable

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Fields
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import READ_OPTIONS, Client, reader_of
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import AGENT, PARTITION, plural

OPTIONS = dict(
    READ_OPTIONS,
    partition_status={"type": "bool", "default": False},
    ipuof_configurations={"type": "list", "elements": "str", "default": []},
    ipu_attributes={"type": "bool", "default": False},
    discovered_agents={"type": "bool", "default": False},
)


def statuses_of(client: Client, partitions: Iterable[str]) -> tuple[dict[str, Fields], dict[str, str]]:
    """The status of each partition, and why some cannot be read: anybody may give a partition an odd name."""
    found: dict[str, Fields] = {}
    unread: dict[str, str] = {}
    for name in partitions:
        try:
            found[name] = client.partition_status(name)
        except DeviceError as error:
            unread[name] = str(error)
    return found, unread


def configurations_of(client: Client, partition: str, partitions: dict[str, Fields]) -> list[dict[str, Any]]:
    """The IPUoF configuration of each GCD of a partition."""
    if partition not in partitions:
        raise DeviceError(
            f"ipuof_configurations: {partition!r} is no partition of this controller; "
            f"its partitions are {', '.join(sorted(partitions)) or 'none'}"
        )
    return [client.ipuof_configuration(partition, gcd) for gcd in range(partitions[partition]["gcds"])]


def discovered_by(client: Client) -> list[Fields]:
    """The agents that have announced themselves to the controller."""
    if not isinstance(client, Controller) or AGENT not in client.kinds:
        raise DeviceError("discovered_agents: only the admin end-point knows them; leave transport and end_point out")
    return client.discovered_agents()


def main() -> None:
    """Read and return."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    asked = module.params
    try:
        client = reader_of(module)
        state = client.read(client.kinds)
        partitions = state[PARTITION]
        result: dict[str, Any] = {"release": client.server_version()}
        if asked["partition_status"]:
            result["partition_status"], result["partition_status_unread"] = statuses_of(client, partitions)
        if asked["ipuof_configurations"]:
            result["ipuof_configurations"] = {
                name: configurations_of(client, name, partitions) for name in asked["ipuof_configurations"]
            }
        if asked["ipu_attributes"]:
            result["ipu_attributes"] = client.ipu_attributes()
        if asked["discovered_agents"]:
            result["discovered_agents"] = discovered_by(client)
    except DeviceError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, **result, **{plural(kind): names for kind, names in state.items()})


if __name__ == "__main__":
    main()
