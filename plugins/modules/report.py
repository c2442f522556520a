#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: report
short_description: Reports what a run has done, or what its look and its plan show
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes lines for a person, and files, of what M(ipu.pod.look) and M(ipu.pod.decide) have kept in the same run. Asks
    no device, and writes no file.
  - The callback P(ipu.pod.report#callback) shows the lines as they are.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  view:
    description:
      - V(run) is the end of a run. How much was done, how many devices were looked at, and how long it took; in check
        mode the plan.
      - V(stage) is what was done on the host of the task in O(stage). From then on it counts as done.
      - V(plan) is the plan as a table, with C(plan.json), C(plan.md) and C(plan.html).
      - V(drift) is what is not as declared, with C(drift.json), C(drift.md) and C(junit.xml).
      - V(vpods) is where each vPOD stands, layer by layer.
      - V(capacity) is what is free in the clusters, and whether O(ipus) fit.
      - V(cabling) is which device is on which port of the ToR switches.
      - V(summary) is what there is on controllers and switches, and what was verified.
      - V(capacity) and V(cabling) need a look alone, all others a plan.
    type: str
    choices: [run, stage, plan, drift, vpods, capacity, cabling, summary]
    default: run
  stage:
    description: The stage that O(view=stage) is about, which needs it.
    type: str
    choices:
      - clouds_down
      - vpods_down
      - dedicated_down
      - tenants_down
      - servers_down
      - switches_down
      - allocations_down
      - controllers
      - switches
      - servers
      - tenants
      - dedicated
      - vpods
      - clouds
      - verification
  directory:
    description: Directory on the control node that gets the files of O(view=plan) or O(view=drift), mode 0644.
    type: path
  ignore:
    description:
      - For O(view=drift), drift that its owner knows of. Each rule has C(reason) and C(until), the last day on which it
        ignores anything, such as C(2026-12-31), and at least one of C(device), C(kind) and C(name), which may have
        C(*) and C(?) in them.
    type: list
    elements: dict
    default: []
  vpods: {description: "For O(view=vpods), the vPODs that are shown. Default all.", type: list, elements: str}
  ipus: {description: "For O(view=capacity), how many IPUs are wanted. 0 asks for none.", type: int, default: 0}
  cluster: {description: "For O(view=capacity), the one cluster that is shown. Default all.", type: str, default: ""}
"""

EXAMPLES = r"""
- name: Report what was done on this switch
  ipu.pod.report:
    view: stage
    stage: switches

- name: Show and save the plan
  ipu.pod.report:
    view: plan
    directory: plan
  delegate_to: localhost
"""

RETURN = r"""
lines:
  description: What there is to say.
  returned: success
  type: list
  elements: str
  sample: ["pod001-tor: vlan 101 vpod-alice added; Ethernet9/1 access 1 -> 101"]
exit_code:
  description:
    - What a playbook may end with. For O(view=drift) 0 for as declared, 2 for drift, 1 where something could not be
      looked at; for O(view=cabling) 2 where a device is on the port of another; else 0.
  returned: success
  type: int
  sample: 0
"""
