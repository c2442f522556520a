#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name, which does all of it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: look
short_description: Reads everything of a device that a run compares
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads everything of a switch, a Poplar server, the host of a V-IPU controller or a cloud that any layer compares
    with pods.yml, as M(ipu.pod.tor_look) and M(ipu.pod.host_look) do, and keeps it for M(ipu.pod.decide) in the folder
    of the run.
  - Never fails. A device that does not answer is a result, too.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  host: {description: "The inventory host. Default that of the task, which may be delegated.", type: str}
  parts:
    description: The parts of M(ipu.pod.host_look) that are read. Default all that the host can have.
    type: list
    elements: str
    choices: [links, network, uses, roce, nics, use, ipuof, containers, leases, domains, controllers, things]
"""

EXAMPLES = r"""
- name: Look at every device
  hosts: switches:poplar_servers:vipu_controllers:clouds
  gather_facts: false
  tasks:
    - name: Look at the device
      ipu.pod.look:
"""

RETURN = r"""
outcome:
  description:
    - V(answered); V(refused), where the device rejected the connection; V(timed out), where it did not answer;
      V(failed), where the reader could not do its work; V(not asked), where the inventory does not say how the device
      is reached.
  returned: always
  type: str
message: {description: The error in one line; empty where the device has answered., returned: always, type: str}
digest: {description: The checksum of what was kept., returned: always, type: str}
"""
