#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gather
short_description: Makes the pods.yml of a pod as it is, from what its devices have answered
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Describes what M(ipu.pod.look) has kept in the same run in the words of pods.yml, and names where the layers of the
    pod contradict each other. What the inventory's pods.yml says of a device that was not read is kept.
  - Plans from these files, too, which has to give nothing to do.
  - Writes no file, and changes nothing.
extends_documentation_fragment: ipu.pod._attributes.reads
"""

EXAMPLES = r"""
- name: Make a pods.yml from the looks
  ipu.pod.gather:
  register: gathered
"""

RETURN = r"""
files:
  description:
    - The files, by name. C(pods.yml), C(host_vars/SERVER.yml) for servers that need variables of their own,
      C(HOST.vipu_state.yml) with options of M(ipu.pod.vipu_state) for what pods.yml has no words for, and
      C(findings.md) and C(findings.json) with the contradictions.
  returned: success
  type: dict
lines:
  description: What is not in pods.yml and why, and the contradictions, for a person.
  returned: success
  type: list
  elements: str
partly:
  description: What could not be read of devices that have answered, one sentence each.
  returned: success
  type: list
  elements: str
unread:
  description: The devices that could not be read, one sentence each.
  returned: success
  type: list
  elements: str
left:
  description: Where the files would not keep what is there, one sentence each. Empty unless something is wrong here.
  returned: success
  type: list
  elements: str
"""
