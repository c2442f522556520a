#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: attachment
short_description: What a virtual machine gets of a vPOD
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Works out from pods.yml which port a libvirt domain on a hypervisor gets, and the settings inside of it. Asks no
    host.
  - What is not declared, or does not go together, is an error of one sentence.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  machine: {description: "The machine, C(HYPERVISOR/DOMAIN).", type: str, required: true}
  vpod: {description: Name of the vPOD., type: str, required: true}
"""

EXAMPLES = r"""
- name: Work out what the machine gets
  ipu.pod.attachment:
    machine: pod001-poplar4/build1
    vpod: alice
  register: worked_out
"""

RETURN = r"""
attachment:
  description:
    - C(hypervisor), C(domain), C(rnic), C(vlan), C(mtu), C(addresses), C(function) and C(function_mac) for
      M(ipu.pod.domain_port).
    - C(interface) and C(prefix) for M(ipu.pod.rnic_network) inside, C(vipu), C(ipuof) and C(partitions) for the role
      P(ipu.pod.vpod#role).
  returned: success
  type: dict
"""
