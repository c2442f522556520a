#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cloud_vpods
short_description: What vPODs in clouds have to do with their V-IPU controllers
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Works out from pods.yml what the machines of vPODs in clouds need of their V-IPU controllers, and what has to be
    known of them there. Asks no host, and returns no secret.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  name: {description: "Name of a vPOD, which is an error if it has nothing in a cloud. All by default.", type: str}
"""

EXAMPLES = r"""
- name: Work out what the machines of vPOD alice need
  ipu.pod.cloud_vpods:
    name: alice
  register: worked_out
"""

RETURN = r"""
vpods:
  description:
    - C(name) of each, and C(controller), the host of its V-IPU controller.
    - C(settings), the variables of the role P(ipu.pod.vpod#role) for its machines.
    - C(partitions), its entry in C(cloud_partitions_vpods) of the role P(ipu.pod.cloud_partitions#role).
  returned: success
  type: list
  elements: dict
"""
