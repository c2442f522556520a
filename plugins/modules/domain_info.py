#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which libvirt domains have ports of vPODs."""

from __future__ import annotations

DOCUMENTATION = r"""
module: domain_info
short_description: Read which libvirt domains have RNIC ports of vPODs
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads all domains of this hypervisor, as they run and as they are defined, and returns the vPODs of which
    M(ipu.pod.domain_port) has plugged ports in.
extends_documentation_fragment: ipu.pod._attributes.reads
requirements:
  - root
  - C(virsh)
"""

EXAMPLES = r"""
- name: Read which domains have ports of vPODs
  ipu.pod.domain_info:
  register: hypervisor
"""

RETURN = r"""
domains:
  description: Domain to the names of the vPODs.
  returned: success
  type: dict
  sample: {build1: [alice], build2: []}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._domain.hypervisor import Hypervisor
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs, run_program
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError


def main() -> None:
    """Read and return."""
    module = AnsibleModule({}, supports_check_mode=True)
    try:
        domains = Hypervisor(Programs(run_program)).attached()
    except DeviceError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, domains=domains)


if __name__ == "__main__":
    main()
