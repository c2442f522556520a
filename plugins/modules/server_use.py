#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find processes that use the IPUs of a Poplar server."""

from __future__ import annotations

DOCUMENTATION = r"""
module: server_use
short_description: Find work on a Poplar server that needs its IPUs or its RDMA network
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Lists the Slurm jobs on a server, if Slurm is installed there, and the RDMA queue pairs of its programs, if it has
    RDMA devices. With O(addresses) also the connections of its programs. Changes nothing.
  - What is there and cannot be asked is named in RV(unknown), and counts as in use.
extends_documentation_fragment: ipu.pod._attributes.reads
requirements:
  - C(rdma) of iproute2, on servers with RDMA devices, and C(ss) for O(addresses)
options:
  addresses:
    description: Connections from these addresses of the server count as work, too.
    type: list
    elements: str
    default: []
    version_added: 2.0.0
seealso: [{module: ipu.pod.rnic_info}]
"""

EXAMPLES = r"""
- name: Find work that uses IPUs
  ipu.pod.server_use:
  register: server

- name: Check that there is none
  ansible.builtin.assert:
    that: server.in_use | length == 0
"""

RETURN = r"""
in_use:
  description: What runs on the server, in words, with what of RV(unknown) may.
  returned: always
  type: list
  elements: str
  sample: [Slurm job 4711 of alice, "queue pair 42 on mlx5_0 of python3 (process 815)"]
unknown: {description: "What could not be asked, and why.", returned: always, type: list, elements: str, sample: []}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs, run_program
from ansible_collections.ipu.pod.plugins.module_utils._look.use import running_on
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Sysfs

ARGUMENTS = {"addresses": {"type": "list", "elements": "str", "default": []}}


def main() -> None:
    """Ask everybody who may know."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    in_use, unknown = running_on(Programs(run_program), Sysfs().rdma_devices(), module.params["addresses"])
    module.exit_json(changed=False, in_use=in_use, unknown=unknown)


if __name__ == "__main__":
    main()
