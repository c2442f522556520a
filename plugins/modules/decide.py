#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: decide
short_description: Decides what a run does, from pods.yml and what the devices have answered
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes the whole plan at once - what every device should be, what contradicts what, where the vPODs lie, whose work
    would end, and the steps of every device, stage by stage. Changes nothing.
  - Needs what M(ipu.pod.look) has kept in the same run. The plan is kept for M(ipu.pod.report) and other readers.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  parts:
    description: What the playbook carries out. Steps of other parts are left out.
    type: list
    elements: str
    choices: [controllers, switches, servers, vpods, clouds]
    default: [controllers, switches, servers, vpods, clouds]
  vpods: {description: The vPODs that the run is about. Default everything., type: list, elements: str}
  interrupt: {description: The vPODs whose running work may end., type: list, elements: str, default: []}
  cables:
    description: Whether variables that contradict pods.yml, and cables whose ends do not agree, are among RV(refusals).
    type: bool
    default: true
  verify:
    description: Whether every Poplar server of the run takes part in the verification, also where nothing changes.
    type: bool
    default: false
  goes_on:
    description: Whether the stages up to the point where the run decides again, see RV(undecided), are done.
    type: bool
    default: false
  hooks:
    description: A folder with the site's own task files, C(before_STAGE.yml) and C(after_STAGE.yml), see RV(hooks).
    type: path
  plan: {description: A saved plan. What has moved since it was made is among RV(refusals)., type: path}
"""

EXAMPLES = r"""
- name: Decide what to do
  ipu.pod.decide:
  register: decision
"""

RETURN = r"""
refusals: {description: "Why the run must not begin, one sentence each.", returned: success, type: list, elements: str}
findings:
  description:
    - What is declared and does not work, although no step is due for it, one sentence each with what to do. A run fails
      for it in the end. Machines that attachments.yml is to attach or detach are in plans and reports alone.
  returned: success
  type: list
  elements: str
looked_at: {description: How many devices have answered., returned: success, type: int}
steps: {description: How many steps there are., returned: success, type: int}
changing:
  description: The devices that have a step, those first that are changed first.
  returned: success
  type: list
  elements: str
members:
  description:
    - For each device that has something to do its C(host), the C(groups) of its stages, and its C(options) in each.
  returned: success
  type: list
  elements: dict
hooks:
  description: The path of each of the site's own task files, by its name without C(.yml).
  returned: success
  type: dict
undecided: {description: The stage after which to look and decide again; empty for none., returned: success, type: str}
made_at: {description: "When the plan was made, in seconds since the epoch.", returned: success, type: int}
digest: {description: The checksum of the plan., returned: success, type: str}
folder:
  description: The directory on the control node that the run has for itself. Ansible removes it when the run ends.
  returned: success
  type: str
"""
