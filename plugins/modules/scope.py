#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: scope
short_description: Finds the devices that a run on some vPODs is about
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - From pods.yml alone - their Poplar servers, the hosts of their V-IPU controllers, and the ToR switches of their
    clusters.
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
  vpods:
    description: Names of vPODs.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Find the devices of a vPOD
  ipu.pod.scope:
    vpods: [alice]
"""

RETURN = r"""
hosts:
  description: Names of inventory hosts.
  returned: success
  type: list
  elements: str
"""
