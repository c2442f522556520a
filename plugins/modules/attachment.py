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
  - Works out from pods.yml which port a machine of a cloud, or a libvirt domain on a hypervisor, gets, and the settings
    inside of it. Asks no host.
  - What is not declared, does not go together, or is declared otherwise in C(machines), is an error of one sentence.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  machine: {description: "The machine, C(CLOUD/NAME) or C(HYPERVISOR/DOMAIN).", type: str, required: true}
  vpod: {description: Name of the vPOD., type: str, required: true}
  state:
    description: Whether the machine is to have the vPOD.
    type: str
    choices: [present, absent]
    default: present
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
    - C(machine), C(name) and C(vpod), and C(place), the inventory's host on which the port is plugged in.
    - C(cloud) with the options of M(ipu.pod.cloud_port), or C(domain) with those of M(ipu.pod.domain_port); the other
      is null. C(hypervisors) are those that carry the vPOD.
    - C(interface), C(mtu) and C(prefix) for M(ipu.pod.rnic_network) inside, C(vipu), C(ipuof) and C(partitions) for the
      role P(ipu.pod.vpod#role).
    - C(address) and C(user), by which to log in, of a machine that is declared.
  returned: success
  type: dict
"""
