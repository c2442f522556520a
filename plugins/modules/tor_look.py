#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: tor_look
short_description: Everything that a run compares on a switch
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads what M(ipu.pod.tor_switch) compares and M(ipu.pod.tor_info) tells of a switch with Arista EOS, and who else is
    changing it. Changes nothing.
  - A part that cannot be read has C(message) alone, in one line, and takes no other with it. Only where there is no way
    to the switch at all, the task fails.
  - Costs the switch three requests over eAPI. A switch that has no counters for PFC or ECN is asked up to six times,
    and one that does not show its startup-config once more.
extends_documentation_fragment: ipu.pod._attributes.reads
notes:
  - Runs on the control node over the same connections as M(ipu.pod.tor_switch).
seealso: [{module: ipu.pod.look}, {module: ipu.pod.tor_info}, {module: ipu.pod.tor_switch}]
"""

EXAMPLES = r"""
- name: Look at the switch
  ipu.pod.tor_look:
  register: look

- name: Show changes by others
  ansible.builtin.debug:
    var: look.parts.sessions.busy
"""

RETURN = r"""
parts:
  description: What was read, part by part.
  type: dict
  returned: success
  contains:
    running_config: {description: "C(text), without what follows words such as C(secret) or C(key).", type: dict}
    startup_config:
      description:
        - C(text), as of the running-config; in C(vlans) the VLANs that it has.
        - A secret that is not the one in the running-config is marked as another one.
      type: dict
    gathered:
      description:
        - VLANs, ports and quality of service, as M(ipu.pod.tor_switch) returns them with
          O(ipu.pod.tor_switch#module:state=gathered).
      type: dict
    info: {description: "What M(ipu.pod.tor_info) returns, except for the cabling.", type: dict}
    status:
      description:
        - The state of each port's link in EOS's word, such as C(connected) or C(errdisabled), in C(links), and of each
          VLAN, C(active) or C(suspended), in C(vlans).
        - The ports on which a VLAN is active in C(members), and those that an instance of spanning tree blocks in
          C(blocked).
      type: dict
      sample:
        links: {Ethernet9/1: connected, Ethernet10/1: disabled}
        vlans: {"101": active}
        members: {"101": [Ethernet9/1]}
        blocked: {}
    sessions:
      description:
        - The configuration sessions that are open or wait for their confirmation, each with its state, in C(busy).
        - The names of those that a run of this collection has left behind, in C(left_over).
        - In C(timer) the seconds until the switch undoes a commit; V(null) where no commit waits for its confirmation.
      type: dict
      sample: {busy: {joe: pending}, left_over: [], timer: null}
    release:
      description: The release of EOS in C(eos).
      type: dict
      sample: {eos: 4.28.3M}
"""
