#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: differing
short_description: Find files and directories of a host that differ
description:
  - Looks once at everything that is given, and returns what is missing or other, for tasks that write it with ordinary
    modules. What is as wanted then costs no task.
  - Changes nothing.
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  directories: {description: "Directories of root, with the mode 0755.", type: list, elements: path, default: []}
  files:
    description: Files of root, none of them a secret.
    type: list
    elements: dict
    default: []
    suboptions:
      path: {description: Where it is to be., type: path, required: true}
      content: {description: Its whole text., type: str, required: true}
      mode: {description: "Its mode, octal.", type: str, default: "0644"}
  absent: {description: Paths where nothing is to be., type: list, elements: path, default: []}
"""

EXAMPLES = r"""
- name: Find files that differ
  ipu.pod.differing:
    directories: [/etc/ipu-pod]
    files:
      - path: /etc/ipu-pod/motd
        content: "One pod, four servers.\n"
  register: differing

- name: Write files
  ansible.builtin.copy:
    content: "{{ item.content }}"
    dest: "{{ item.path }}"
    owner: "{{ item.owner }}"
    group: "{{ item.group }}"
    mode: "{{ item.mode }}"
  loop: "{{ differing.files }}"
  loop_control:
    label: "{{ item.path }}"
"""

RETURN = r"""
directories:
  description: Directories that are missing or have another owner, group or mode.
  returned: success
  type: list
  elements: dict
  sample: [{path: /etc/ipu-pod, owner: root, group: root, mode: "0755"}]
files:
  description: Files that are missing or have another content, owner, group or mode; with all of what is wanted.
  returned: success
  type: list
  elements: dict
  sample: [{path: /etc/ipu-pod/motd, content: "One pod, four servers.\n", owner: root, group: root, mode: "0644"}]
absent: {description: Paths where something is., returned: success, type: list, elements: str, sample: []}
"""
