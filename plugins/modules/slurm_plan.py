#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_plan
short_description: The files with which Slurm runs IPU jobs
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Works out what the hosts of a Slurm cluster get, so that its jobs have the IPUs of a vPOD. Asks no host.
  - A contradiction between pods.yml and what the owner chose is an error of one sentence.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  choice: {description: "Variables of the role P(ipu.pod.slurm#role), without C(slurm_).", type: dict, required: true}
  controllers: {description: "The hosts of Slurm's controllers, each with its address.", type: raw, default: []}
  found:
    description: What M(ipu.pod.slurm_info) returns on the first of them. Without it there are only RV(settings).
    type: dict
"""

EXAMPLES = r"""
- name: Plan Slurm's configuration
  ipu.pod.slurm_plan:
    choice: "{{ slurm_choice }}"
    controllers: {slurm1: 10.3.1.201}
    found: "{{ slurm_found.site }}"
  register: slurm_planned
"""

RETURN = r"""
settings: {description: The settings of the hooks., returned: success, type: dict}
nodes: {description: Slurm's nodes., returned: with O(found), type: raw}
held_back:
  description: Nodes that are to have no jobs, each with those of its IPU-Machines that are excluded.
  returned: with O(found)
  type: raw
vipu: {description: "Where the V-IPU controller is, and who Slurm is there.", returned: with O(found), type: dict}
user: {description: Who Slurm's controller runs as., returned: with O(found), type: str}
refusals: {description: "What is in the way, one sentence each.", returned: with O(found), type: list, elements: str}
files: {description: Path to text of files that are read when they are needed., returned: with O(found), type: dict}
conf:
  description: Path to text of files that are read when a daemon of Slurm starts.
  returned: with O(found)
  type: dict
"""
