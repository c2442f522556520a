#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: report
short_description: Says what a run has done, in lines for a person
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Without O(stage) the end of the run - the plan where nothing was to be changed, else how much was done, how many
    devices were looked at and how long it took.
extends_documentation_fragment:
  - ipu.pod._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: Changes nothing.
  idempotent:
    support: full
options:
  stage:
    description: Say what was done on the host in this stage.
    type: str
    choices:
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
      - verification
"""

EXAMPLES = r"""
- name: Report
  ipu.pod.report:
    stage: switches
"""

RETURN = r"""
lines:
  description: What there is to say.
  returned: success
  type: list
  elements: str
  sample: ["pod001-tor: vlan 101 vpod-alice added; Ethernet9/1 access 1 -> 101"]
"""
