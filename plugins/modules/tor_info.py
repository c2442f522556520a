#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the configuration of a switch and what it sees at its ports."""

from __future__ import annotations

DOCUMENTATION = r"""
module: tor_info
short_description: Read what a switch is and sees, and check its cabling
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Reads VLANs, ports and quality of service of a switch with Arista EOS as options of M(ipu.pod.tor_switch), its LLDP
    neighbours, learned MAC addresses, and the counters of PFC, ECN and errors.
  - Compares the devices that it recognises at the ports with declared cables, if O(cables) are given.
  - Costs the switch three requests over eAPI. A switch that has no counters for PFC or ECN is asked up to six times.
extends_documentation_fragment: ipu.pod._attributes.reads
options:
  cables:
    description: Which device should be on which port.
    type: list
    elements: dict
    default: []
    suboptions:
      port: {description: "The port, in any of EOS's spellings.", type: str, required: true}
      device: {description: The device's name over LLDP. A domain behind it does not matter., type: str, required: true}
      mac:
        description:
          - The MAC address of the device's RNIC at this port, where it is known.
          - Recognises a device that does not speak LLDP, once it has sent a frame.
        type: str
notes:
  - Runs on the control node over the same connections as M(ipu.pod.tor_switch).
seealso: [{module: ipu.pod.tor_switch}]
"""

EXAMPLES = r"""
- name: Read the switch
  ipu.pod.tor_info:
  register: tor

- name: Show ports that had to pause
  ansible.builtin.debug:
    msg: "{{ tor.pause_frames | dict2items | selectattr('value.rx', 'gt', 0) | map(attribute='key') }}"

- name: Check the cables of the rack
  ipu.pod.tor_info:
    cables:
      - {port: Ethernet9/1, device: pod001-ipum1, mac: '0c:42:a1:00:01:01'}
      - {port: Ethernet25/1, device: pod001-poplar1}
  register: tor
  failed_when: tor.cabling | selectattr('verdict', 'equalto', 'wrong') | length > 0
"""

RETURN = r"""
vlans: {description: As the option C(vlans) of M(ipu.pod.tor_switch)., type: list, elements: dict, returned: success}
ports:
  description: The ports, as the option C(ports) of M(ipu.pod.tor_switch). Ports it does not configure are external.
  type: list
  elements: dict
  returned: success
qos: {description: "Quality of service, as the option C(qos) of M(ipu.pod.tor_switch).", type: dict, returned: success}
vlan_members:
  description: VLAN to the ports that are in it now, as C(show vlan) says. Ports without link may be left out.
  type: dict
  returned: success
  sample: {'101': [Ethernet9/1, Ethernet10/1]}
neighbours:
  description: Port to its LLDP neighbours, each with C(device) and C(port), as they call themselves.
  type: dict
  returned: success
  sample: {Ethernet25/1: [{device: pod001-poplar1, port: ens2f0}]}
macs:
  description: Port or port channel to the MAC addresses learned there, each with its VLAN.
  type: dict
  returned: success
  sample: {Ethernet9/1: [{mac: '0c:42:a1:00:01:01', vlan: 101}]}
errors:
  description: Port to its error counters since they were cleared, under EOS's names.
  type: dict
  returned: success
  sample: {Ethernet9/1: {inErrors: 0, fcsErrors: 0, symbolErrors: 0, outErrors: 0}}
pause_frames:
  description: Port to the PFC frames received (C(rx)) and sent (C(tx)). V(null) if the switch does not count them.
  type: dict
  returned: success
  sample: {Ethernet9/1: {rx: 0, tx: 12}}
ecn_marks:
  description: Port to queue to the packets marked there. V(null) if the switch does not count them.
  type: dict
  returned: success
  sample: {Ethernet9/1: {'3': 0}}
cabling:
  description:
    - For each port with a cable, and each on which a device of another cable was recognised, C(port), C(declared), a
      list of what was C(seen), and the C(verdict).
    - V(right). V(wrong) for a declared device that belongs to another port. V(missing) where nothing was seen.
      V(unknown) for something that says nothing of itself that is declared.
  type: list
  elements: dict
  returned: success
  sample: [{port: Ethernet9/1, declared: pod001-ipum1, seen: [pod001-ipum1], verdict: right}]
table: {description: RV(cabling) as lines for a person., type: list, elements: str, returned: success}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor import observed
from ansible_collections.ipu.pod.plugins.module_utils._tor.cabling import cabling, declare_cables
from ansible_collections.ipu.pod.plugins.module_utils._tor.connection import sender
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import ask, read_running_config

CABLE_OPTIONS = {
    "port": {"type": "str", "required": True},
    "device": {"type": "str", "required": True},
    "mac": {"type": "str"},
}


def read(module: AnsibleModule) -> dict[str, Any]:
    """Return the results of the module."""
    try:
        cables = declare_cables(module.params["cables"])
    except ValueError as error:
        raise Refused(f"cables: {error}") from error
    send = sender(module._socket_path)
    running = parse(read_running_config(send))
    seen = observed.observed(ask(send, observed.ALWAYS, observed.COUNTERS))
    return {**gathered(running), **vars(seen), **cabling(cables, seen, running.ports)}


def main() -> None:
    """Read and return."""
    module = AnsibleModule(
        argument_spec={"cables": {"type": "list", "elements": "dict", "default": [], "options": CABLE_OPTIONS}},
        supports_check_mode=True,
    )
    try:
        result = read(module)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
