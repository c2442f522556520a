#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what an OpenStack cloud holds."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cloud_info
short_description: Read what an OpenStack cloud holds
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads all projects, networks, machines and so on of a cloud with one token and one list of each kind, across all
    projects. Quotas of marked projects, the access to marked flavors and the traits of hypervisors are asked one by
    one, as OpenStack has no list of them.
  - What M(ipu.pod.cloud_state) makes is marked, and C(vpod) names its vPOD here; it is empty for everything else.
  - A service that does not answer is an error, never an empty list. User data and credentials are not read.
extends_documentation_fragment: [ipu.pod._attributes.reads, ipu.pod._cloud]
"""

EXAMPLES = r"""
- name: Read a cloud
  ipu.pod.cloud_info:
    entry: cloud001
  register: cloud
  delegate_to: localhost

- name: Show the machines of vPOD alice
  ansible.builtin.debug:
    msg: "{{ cloud.servers | selectattr('vpod', 'eq', 'alice') | map(attribute='name') }}"
"""

RETURN = r"""
projects:
  description: All projects, each with its id, name, domain and vPOD.
  type: list
  elements: dict
  returned: success
members: {description: The roles of users in projects., type: list, elements: dict, returned: success}
quotas: {description: The quotas of the projects of vPODs., type: list, elements: dict, returned: success}
networks:
  description: All networks, with physical network, VLAN, MTU and the projects that they are shared with.
  type: list
  elements: dict
  returned: success
subnets: {description: All subnets., type: list, elements: dict, returned: success}
security_groups: {description: "All security groups, with their rules.", type: list, elements: dict, returned: success}
ports: {description: All ports., type: list, elements: dict, returned: success}
flavors: {description: "All flavors, private ones, too.", type: list, elements: dict, returned: success}
traits:
  description: The traits by which machines land on the hypervisors of their vPOD.
  type: list
  elements: dict
  returned: success
images: {description: "All images, those that are hidden, too.", type: list, elements: dict, returned: success}
keys: {description: The key pairs of the operator., type: list, elements: dict, returned: success}
volumes: {description: All volumes., type: list, elements: dict, returned: success}
snapshots: {description: All snapshots of volumes., type: list, elements: dict, returned: success}
servers: {description: All machines., type: list, elements: dict, returned: success}
hypervisors:
  description:
    - All hypervisors, with the state of nova-compute, Neutron's agents there with what they map, and what Placement
      says of their C(resources), what the C(largest) machine can have, and what is C(free).
  type: list
  elements: dict
  returned: success
users: {description: All users., type: list, elements: dict, returned: success}
roles: {description: All roles., type: list, elements: dict, returned: success}
operator: {description: The user and the project of the entry., type: dict, returned: success}
services: {description: The services that have answered., type: list, elements: str, returned: success}
vlan_ranges:
  description: Physical network to its VLANs, where Neutron tells them.
  type: dict
  returned: success
  sample: {rnic: [[100, 199]]}
default_quota: {description: The quota of a new project., type: dict, returned: success}
requests: {description: How many requests that took., type: int, returned: success}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._cloud.client import connect
from ansible_collections.ipu.pod.plugins.module_utils._cloud.look import look_at_cloud
from ansible_collections.ipu.pod.plugins.module_utils._cloud.options import READ_OPTIONS
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError


def main() -> None:
    """Read and return."""
    module = AnsibleModule(argument_spec=READ_OPTIONS, supports_check_mode=True)
    try:
        look = look_at_cloud(connect(module.params["entry"]))
    except DeviceError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, **look)


if __name__ == "__main__":
    main()
