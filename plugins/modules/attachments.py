#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: attachments
short_description: Which virtual machines are to get or give back the IPUs of vPODs
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Compares the C(machines) of pods.yml with what clouds and hypervisors have. Asks no host.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  looks:
    description: What M(ipu.pod.cloud_info) has found in each cloud and M(ipu.pod.domain_info) on each hypervisor, by
      the names of these. Without them there are only RV(places).
    type: dict
"""

EXAMPLES = r"""
- name: Find out where machines are declared
  ipu.pod.attachments:
  register: declared
"""

RETURN = r"""
places:
  description: The clouds and hypervisors with declared machines.
  returned: success
  type: list
  elements: str
  sample: [cloud001]
detach:
  description: What is to be detached, each as M(ipu.pod.attachment) describes it.
  returned: with O(looks)
  type: list
  elements: dict
attach:
  description: What is to be there when all is done, in the same form.
  returned: with O(looks)
  type: list
  elements: dict
"""
