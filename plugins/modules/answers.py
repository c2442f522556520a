#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: answers
short_description: Records what a device answers to a look
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Asks a switch, a Poplar server or the host of a V-IPU controller what M(ipu.pod.look) asks it, and which releases it
    has, and keeps every answer without secrets for M(ipu.pod.first_contact) in the folder of the run, which Ansible
    removes when the run ends.
  - Never fails. A device that does not answer is a result, too.
extends_documentation_fragment: ipu.pod._attributes.reads
seealso: [{module: ipu.pod.first_contact}, {module: ipu.pod.look}]
"""

EXAMPLES = r"""
- name: Record what every device answers
  hosts: switches:poplar_servers:vipu_controllers
  gather_facts: false
  tasks:
    - name: Record what the device answers
      ipu.pod.answers:
"""

RETURN = r"""
answers: {description: How many answers were recorded., returned: always, type: int}
message: {description: "Why none was, in one line; empty where the device has answered.", returned: always, type: str}
"""
