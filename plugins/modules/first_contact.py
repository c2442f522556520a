#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: first_contact
short_description: Writes the recorded answers of all devices into one archive, without names and addresses of the site
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Takes what M(ipu.pod.answers) has recorded in the same run, puts stand-ins in the place of all names, addresses and
    other words of the site, and writes the file C(answers.json), which only its owner can read.
  - Every word stays that is one of EOS, V-IPU, Linux or its NICs, and every other one gets a stand-in such as C(w17),
    the same one wherever it stands. Numbers stay that are no part of a name.
  - Private IPv4 addresses stay private and keep their last two numbers (of 192.168.0.0/16 the last one), public ones go
    to 240.0.0.0/4; IPv6 addresses go to 2001:db8::/32 or stay unique local ones. Who was in one subnet still is.
  - MAC addresses keep their first three bytes, which say who has made the device.
  - Secrets are in no record.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  directory: {description: Where the file is written., type: path, required: true}
  names:
    description: More words of the site that get a stand-in as a whole, also where a program uses the same word.
    type: list
    elements: str
    default: []
seealso: [{module: ipu.pod.answers}]
"""

EXAMPLES = r"""
- name: Write the archive
  ipu.pod.first_contact:
    directory: first-contact
  register: archive

- name: Show what was recorded
  ansible.builtin.debug:
    msg: "{{ archive.lines }}"
"""

RETURN = r"""
lines: {description: "What was recorded, a line for each device.", returned: success, type: list, elements: str}
silent: {description: The devices that did not answer., returned: success, type: list, elements: str}
file: {description: The path of the archive., returned: success, type: str}
"""
