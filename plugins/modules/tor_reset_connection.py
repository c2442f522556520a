#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: tor_reset_connection
short_description: The next task logs in to the switch anew
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Ends the connection to a switch that outlasts a task, and waits until it has ended. The next task opens another; so
    before a change is confirmed, it shows that the switch can still be reached and logged in to.
  - Does what C(meta) with C(reset_connection) does, but waits for the end. C(meta) goes on at once, and the next task
    may still find the old connection at its end and fail.
extends_documentation_fragment: ipu.pod._attributes.reads
notes:
  - Runs on the control node over the same connections as M(ipu.pod.tor_switch).
seealso: [{module: ipu.pod.tor_switch}]
"""

EXAMPLES = r"""
- name: Commit a change with a timer
  ipu.pod.tor_switch:
    vlans: [{vlan_id: 102, name: vpod-bob}]
    confirm: false
  register: change

- name: End the connection
  ipu.pod.tor_reset_connection:

- name: Confirm the change over another connection
  ipu.pod.tor_switch:
    state: confirmed
    pending: "{{ change.pending }}"
"""

RETURN = r"""#"""
