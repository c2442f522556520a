#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: validate
short_description: Everything that is wrong with a pods.yml, at once
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Checks a pods.yml, and, with an inventory that comes from one, what variables of the role
    P(ipu.pod.poplar_server#role) say that contradicts it. Needs no pod, and touches nothing.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  path: {description: The file. Default that of the inventory., type: path}
"""

EXAMPLES = r"""
- name: Check a pods.yml
  ipu.pod.validate:
    path: inventories/pod64/pods.yml
  register: checked
"""

RETURN = r"""
problems:
  description: What is wrong with the file, one sentence each, behind its place in the file such as C(pods.yml:14:5).
  returned: success
  type: list
  elements: str
contradictions:
  description: Where variables and the inventory's pods.yml contradict each other, one sentence each.
  returned: success
  type: list
  elements: str
"""
