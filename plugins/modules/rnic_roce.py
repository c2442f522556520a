#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lossless side of a Poplar server's RDMA interfaces."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rnic_roce
short_description: Lossless settings of a Poplar server's RDMA interfaces
description:
  - Trust state, DSCP map, PFC, ECN, pause frames, rings and receive buffers of a NIC, and the defaults of its RDMA CM.
  - With C(mlnx_qos), C(cma_roce_mode) and C(cma_roce_tos) where MLNX_OFED is installed, with C(dcb) of iproute2 and
    configfs where the distribution's own drivers are, with C(ethtool) and sysfs in both cases.
  - A NIC forgets all of that when its driver is loaded. So every interface gets a plain shell script,
    C(/etc/ipu-roce/NAME.sh), and a systemd unit that is bound to the device and runs it,
    C(ipu-roce-NAME.service). The running settings and these files are both compared with what is declared; one without
    the other is drift and is repaired.
  - Whatever is not declared is kept. A setting that was declared once stays in the script until it is declared anew.
  - Settings that contradict each other are refused before anything is touched. Kept ones count, too.
  - Where a tool fails in the middle of an interface, its old settings are put back, and the module fails with both.
  - The interface that carries the default route or the SSH connection in use is never changed.
  - A change that affects existing connections, which is any but that of O(interfaces[].roce_mode) and
    O(interfaces[].roce_tos), is refused while RDMA queue pairs other than the kernel's own two per port are on the
    interface, with their names. Queue pairs that cannot be listed count as in use where the server has RDMA devices.
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes
requirements:
  - root
  - systemd
  - ethtool, iproute2 with JSON output
  - MLNX_OFED, or iproute2 5.11 or later for C(dcb)
options:
  interfaces:
    description:
      - The interfaces to configure. Others are left alone.
      - Required for O(state=merged), ignored for O(state=gathered).
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Name of the interface as the kernel has it, at most 15 characters.
          - With O(interfaces[].mac) or O(interfaces[].pci) it is only a label, which stands in the names of its files.
        type: str
        required: true
      mac:
        description:
          - MAC address that finds the NIC, whatever the kernel calls it.
          - Without it and O(interfaces[].pci), the NIC is found by O(interfaces[].name).
        type: str
      pci:
        description: PCI address that finds the NIC, like V(0000:3b:00.0). Not together with O(interfaces[].mac).
        type: str
      trust:
        description:
          - What gives a received packet its priority, its DSCP or its VLAN tag.
          - The inbox tools have no such setting; the driver trusts the DSCP as soon as O(interfaces[].dscp_map) has an
            entry.
        type: str
        choices: [dscp, pcp]
      dscp_map:
        description:
          - DSCP (0 to 63) to priority (0 to 7), for example 26 to 3. Only the DSCPs that are named change.
          - Needs O(interfaces[].trust=dscp), declared here or before.
        type: dict
      pfc:
        description:
          - The priorities with PFC, all others are without it. An empty list switches PFC off.
          - Each needs a DSCP that maps to it, and no pause frames.
        type: list
        elements: int
      pause:
        description: 802.3x pause frames, which exclude PFC. Only the direction that is named changes.
        type: dict
        suboptions:
          rx: {description: Obey received pause frames., type: bool}
          tx: {description: Send pause frames., type: bool}
      ecn:
        description:
          - The priorities with congestion control (DCQCN), as notification point and as reaction point.
          - Only drivers of MLNX_OFED have this setting.
        type: list
        elements: int
      roce_mode: {description: The RoCE version that the RDMA CM uses by default., type: str, choices: [v1, v2]}
      roce_tos:
        description:
          - The ToS byte that the RDMA CM uses by default, 0 to 255. V(106) is DSCP 26 with ECT(0).
          - Its DSCP has to map to a priority with PFC, where there is one.
        type: int
      traffic_class:
        description:
          - The traffic class byte that the driver enforces on all RoCE traffic, also without the RDMA CM, 0 to 255;
            V(-1) for none.
          - Only drivers of MLNX_OFED have this setting. Its DSCP has to map to a priority with PFC, where there is one.
        type: int
      rings:
        description: Ring sizes, in descriptors. Only the direction that is named changes. A change interrupts traffic.
        type: dict
        suboptions:
          rx: {description: "Receive ring, in descriptors.", type: int}
          tx: {description: "Transmit ring, in descriptors.", type: int}
      buffer_sizes:
        description:
          - Sizes of the eight receive buffers, in bytes. As long as this is never set, the driver divides them.
          - A driver rounds sizes; declare what it shows, or the run ends with an error that names both.
        type: list
        elements: int
  tools:
    description:
      - The tools that read and set.
      - V(auto) takes V(ofed) where C(mlnx_qos) is installed, else V(inbox).
    type: str
    choices: [auto, ofed, inbox]
    default: auto
  state:
    description:
      - V(merged) makes the declared interfaces what is declared.
      - V(gathered) changes nothing and returns RV(gathered).
    type: str
    choices: [merged, gathered]
    default: merged
notes:
  - Priority and DSCP have to be those of the switch ports, hop by hop. Which ones IPU-Machines expect is not published.
seealso: [{module: ipu.pod.rnic_network}, {module: ipu.pod.rnic_info}, {module: ipu.pod.tor_switch}]
"""

EXAMPLES = r"""
- name: Mark RoCE v2 with DSCP 26, lossless in priority 3
  ipu.pod.rnic_roce:
    interfaces:
      - name: rnic0
        mac: "04:3f:72:00:01:02"
        pause: {rx: false, tx: false}
        trust: dscp
        dscp_map: {26: 3, 48: 6}
        pfc: [3]
        roce_mode: v2
        roce_tos: 106

- name: Read the present settings
  ipu.pod.rnic_roce:
    state: gathered
  register: roce
"""

RETURN = r"""
before:
  description:
    - The declared interfaces as they were, under C(interface), by declared name.
    - Each has C(device), C(rdma_device) and C(rdma_port) (null where there is no RDMA device), C(tools), the running
      settings under the names of the options (null for what driver or tools do not have; C(ecn) as notification
      points C(np) and reaction points C(rp)), the lines of C(script) and C(unit) (null for no file), and whether the
      unit C(starts) with the device.
  returned: when O(state=merged) and not refused
  type: dict
  sample:
    interface:
      rnic0: {device: rnic0, rdma_device: mlx5_0, tools: ofed, trust: pcp, pfc: [], script: null, starts: false}
after:
  description: The same as RV(before) after the change, read again from the server. In check mode what it would be.
  returned: with RV(before)
  type: dict
diff:
  description: The fields of RV(before) and RV(after) that differ.
  returned: with RV(before)
  type: dict
  sample:
    before: {interface: {rnic0: {pfc: []}}}
    after: {interface: {rnic0: {pfc: [3]}}}
plan:
  description:
    - The ordered steps, one per interface that has to change, each with action, kind, name, reason and risk, which is
      V(disruptive) where running settings change and V(none) where only the files do.
  returned: with RV(before)
  type: list
  elements: dict
  sample: [{action: update, kind: interface, name: rnic0, reason: "pfc is [], wanted [3]", risk: disruptive}]
done: {description: The steps done before the failed one., returned: when a step failed, type: list, elements: dict}
failed_step:
  description: The step that failed, with the reason as C(error), which says whether the old settings are back.
  returned: when a step failed
  type: dict
  sample: {action: update, kind: interface, name: rnic0, error: the old settings are back}
not_tried: {description: The steps after the one that failed., returned: when a step failed, type: list, elements: dict}
gathered:
  description:
    - Every NIC that may be declared, with its running settings, in the form of O(interfaces).
    - The interfaces that the server is managed through are left out, and so is what driver or tools do not have.
  returned: when O(state=gathered)
  type: list
  elements: dict
  sample: [{name: rnic0, mac: "04:3f:72:00:01:02", trust: dscp, dscp_map: {"26": 3}, pfc: [3]}]
lasting:
  description:
    - What the scripts of this module bring back after a restart as it is running, in the form of O(interfaces).
      Declaring that changes nothing.
  returned: when O(state=gathered)
  type: list
  elements: dict
  sample: [{name: rnic0, trust: dscp, dscp_map: {"26": 3}, pfc: [3]}]
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import run_program
from ansible_collections.ipu.pod.plugins.module_utils._plan import module as edge
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.ssh_addresses import ssh_addresses
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Sysfs
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import RoceClient
from ansible_collections.ipu.pod.plugins.module_utils._roce.declared import INTERFACES, roce_interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._roce.plan import gathered, lasting
from ansible_collections.ipu.pod.plugins.module_utils._roce.session import RoceSession

ARGUMENTS = {
    "interfaces": INTERFACES,
    "tools": {"type": "str", "choices": ["auto", "ofed", "inbox"], "default": "auto"},
    "state": {"type": "str", "choices": ["merged", "gathered"], "default": "merged"},
}


def main() -> None:
    """Gather, or converge on what is declared."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True, required_if=[("state", "merged", ["interfaces"])])
    try:
        sysfs, addresses, tools = Sysfs(), ssh_addresses(os.getpid()), module.params["tools"]
        client = RoceClient(run_program, Files(), addresses, sysfs.pci_addresses(), tools, sysfs.rdma_devices())
        if module.params["state"] == "gathered":
            server = client.survey_all()
            module.exit_json(changed=False, gathered=gathered(server), lasting=lasting(server))
        session = RoceSession(client, roce_interfaces_from(module.params["interfaces"]))
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    edge.run(module, session.read, session.plan, session.apply)


if __name__ == "__main__":
    main()
