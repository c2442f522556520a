#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a V-IPU controller holds, read-only."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_info
short_description: Read what a V-IPU controller holds
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads agents, clusters, allocations and partitions of a V-IPU controller with one request per kind, and its release.
  - An answer that cannot be understood is an error, never an empty list.
extends_documentation_fragment:
  - ipu.pod._attributes
  - ipu.pod._vipu
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: Changes nothing.
  idempotent:
    support: full
"""

EXAMPLES = r"""
- name: What is allocated
  ipu.pod.vipu_info:
  register: controller

- name: Show it
  ansible.builtin.debug:
    var: controller.allocations
"""

RETURN = r"""
release:
  description: The V-IPU release of the controller.
  type: str
  returned: success
  sample: 1.18.0
agents:
  description: Agent name to its host, port and status.
  type: dict
  returned: success
  sample: {pod001-ipum1: {host: 10.2.1.1, port: 8080, status: Up}}
clusters:
  description: Cluster name to its agents, topology, number of IPU-Link domains and whether it is looped.
  type: dict
  returned: success
allocations:
  description: Allocation name to its cluster, size in IPUs and agents.
  type: dict
  returned: success
partitions:
  description: Partition name to its allocation, size in IPUs, GCDs, replicas, whether it is reconfigurable, status.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import CONNECTION_OPTIONS, controller_of
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import plural


def main() -> None:
    """Read and return."""
    module = AnsibleModule(argument_spec=CONNECTION_OPTIONS, supports_check_mode=True)
    controller = controller_of(module)
    try:
        state = controller.read()
        release = controller.server_version()
    except DeviceError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, release=release, **{plural(kind): names for kind, names in state.items()})


if __name__ == "__main__":
    main()
