#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: scope
short_description: Finds the devices of vPODs, and the hosts that keep the locks of pods
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - From pods.yml alone, but for O(left). The devices of vPODs are their Poplar servers, the hosts of their V-IPU
    controllers, and the ToR switches of their clusters. The lock of a pod is kept on the host of its V-IPU controller
    if that is managed, else on the control node.
  - Needs O(vpods), O(hosts), or both.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  vpods: {description: Names of vPODs., type: list, elements: str}
  hosts: {description: Names of devices., type: list, elements: str}
  left:
    description:
      - Also find the Poplar servers that the vPODs leave; pods.yml does not name them any more, but the switches that
        were looked at in this run have them in a VLAN of theirs.
      - Needs O(vpods).
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Find the devices of a vPOD
  ipu.pod.scope:
    vpods: [alice]
"""

RETURN = r"""
hosts: {description: The devices of O(hosts) and those of O(vpods)., returned: success, type: list, elements: str}
lock_hosts:
  description: The hosts that keep the locks of the pods, each with C(host) and C(pods).
  returned: success
  type: list
  elements: dict
"""
