#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of a vPOD on a machine of an OpenStack cloud."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cloud_port
short_description: The RNIC port of a vPOD on a machine of an OpenStack cloud, plugged in as it runs
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes a port on the RNIC network of a vPOD in the project of a machine, since Nova takes no other, and has Nova plug
    it in as the machine runs. Other interfaces are not touched, and nothing is restarted.
  - The operator needs no role in that project. The machine is of the vPOD's own project, or of one that no vPOD has.
  - Neutron chooses the address. The description of the port says C(ipu.pod:attached=VPOD), by which it is known again;
    a port that the machine's tenant has made is never touched.
  - A machine has ports of one vPOD at most, since it would join two.
  - Ports that were made here for machines that are gone since then go, too.
extends_documentation_fragment: [ipu.pod._attributes, ipu.pod._cloud]
requirements:
  - a guest that takes and gives back devices as it runs, which those of Debian, Ubuntu and RHEL do
options:
  machine: {description: "Name of the machine, or its UUID where several are called so.", type: str, required: true}
  vpod: {description: Name of the vPOD., type: str, required: true}
  network: {description: "Name of its RNIC network, which M(ipu.pod.cloud_state) has made.", type: str, required: true}
  control_network: {description: Name of the network by which the machine is reached., type: str, required: true}
  state:
    description: Whether the machine has the port.
    type: str
    choices: [present, absent]
    default: present
  hypervisors:
    description: The hypervisors on which machines reach the vPOD's IPU-Machines. A machine on another is refused.
    type: list
    elements: str
    default: []
  other_vpods:
    description: The projects of other vPODs, each with its vPOD. Their machines are refused.
    type: dict
    default: {}
  leaving:
    description: The vPODs whose ports the machine loses before, so that a look at what will be has them gone.
    type: list
    elements: str
    default: []
  wait_timeout:
    description: How many seconds a machine may take to let go of the port.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: Plug a port of vPOD alice into a running machine
  ipu.pod.cloud_port:
    entry: cloud001
    machine: train
    vpod: alice
    network: vpod-alice-rnic
    control_network: control
    hypervisors: [pod001-poplar3]
  delegate_to: localhost
"""

RETURN = r"""
name: {description: The machine's name., returned: when not refused, type: str, sample: train}
project: {description: The machine's project., returned: when not refused, type: str, sample: alice}
hypervisor: {description: The hypervisor that it is on., returned: when not refused, type: str, sample: pod001-poplar3}
control_address:
  description: Its address in O(control_network); empty where it has none.
  returned: when not refused
  type: str
  sample: 10.6.1.17
address:
  description: The port's address; empty without a port.
  returned: when not refused
  type: str
  sample: 10.5.1.193
mac:
  description: Its MAC address; empty without a port.
  returned: when not refused
  type: str
  sample: "fa:16:3e:0a:05:01"
before:
  description: The ports that were made here for the vPOD, as C(port), and the machines that have one, as C(plug).
  returned: when not refused
  type: dict
  sample: {port: {}, plug: {}}
after:
  description: The same after the change, read again. In check mode what it would be. Null where it could not be read.
  returned: when not refused
  type: dict
diff: {description: The fields of RV(before) and RV(after) that differ., returned: when not refused, type: dict}
plan:
  description: The ordered steps, each with action, kind, name (of the port), reason and risk.
  returned: when not refused
  type: list
  elements: dict
done: {description: The steps done before the failed one., returned: when a step failed, type: list, elements: dict}
failed_step: {description: "The step that failed, with its C(error).", returned: when a step failed, type: dict}
not_tried: {description: The steps after the one that failed., returned: when a step failed, type: list, elements: dict}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._cloud.options import PORT_OPTIONS
from ansible_collections.ipu.pod.plugins.module_utils._cloud.plugging import run_module


def main() -> None:
    """Plug the port in, or unplug it."""
    run_module(AnsibleModule(argument_spec=PORT_OPTIONS, supports_check_mode=True))


if __name__ == "__main__":
    main()
