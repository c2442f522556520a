#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the state of a Poplar server's NICs."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rnic_info
short_description: Link, GIDs, counters and firmware of a Poplar server's NICs
description:
  - Returns what the NICs of a server look like right now. Changes nothing.
  - What a driver does not tell is null or left out, never an error.
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes.reads
requirements:
  - ethtool, iproute2 with JSON output
options:
  minimum_firmware: {description: The firmware version that a NIC should have at least., type: str, default: 16.26.1040}
  minimum_speed: {description: "The least speed that a link should have, in Mbit/s.", type: int, default: 0}
seealso: [{module: ipu.pod.rnic_roce}, {module: ipu.pod.rnic_network}]
"""

EXAMPLES = r"""
- name: Look at the NICs
  ipu.pod.rnic_info:
  register: nics

- name: Check that the firmware is new enough
  ansible.builtin.assert:
    that: nics.nics | selectattr('firmware.verdict', 'eq', 'older') | length == 0
"""

RETURN = r"""
nics:
  description: Every NIC of the server, the management interface included.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: The kernel's name of the interface., type: str}
    mac: {description: MAC address., type: str}
    up: {description: Whether it is switched on., type: bool}
    carrier: {description: Whether there is a link to the other end of the cable., type: bool}
    speed: {description: Speed of the link in Mbit/s; null without a link., type: int}
    speed_verdict: {description: "V(ok) from O(minimum_speed) on, V(slower), or V(unknown) without link.", type: str}
    mtu: {description: MTU in bytes., type: int}
    addresses: {description: Global addresses with prefix length., type: list, elements: str}
    rdma_device: {description: The RDMA device on it; null where there is none., type: str}
    gids:
      description: The GIDs in use, each with C(index), C(gid), C(type) and the C(interface) that it belongs to.
      type: list
      elements: dict
    counters:
      description:
        - C(priorities), by priority, has C(rx_bytes), C(rx_packets), C(rx_pause), C(rx_discards) and the same for
          C(tx). C(pause) has the counters of 802.3x pause frames. What the driver does not count is left out.
      type: dict
    firmware:
      description:
        - C(version), null where the driver does not tell, and C(verdict), V(ok) for O(minimum_firmware) or later,
          V(older) or V(unknown).
      type: dict
  sample:
    - name: ens2f0
      mac: "04:3f:72:00:01:02"
      up: true
      carrier: true
      speed: 100000
      speed_verdict: ok
      mtu: 9000
      addresses: [10.5.1.101/16]
      rdma_device: mlx5_0
      gids:
        - {index: 3, gid: "0000:0000:0000:0000:0000:ffff:0a05:0165", type: "RoCE v2", interface: ens2f0}
      counters: {priorities: {"3": {rx_packets: 0, rx_pause: 0}}, pause: {rx_pause_ctrl_phy: 0}}
      firmware: {version: 16.26.1040, verdict: ok}
minimum:
  description: What the verdicts compare with, C(firmware) and C(speed) in Mbit/s.
  returned: always
  type: dict
  sample: {firmware: 16.26.1040, speed: 100000}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import run_program
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._roce.inspection import Inspection

ARGUMENTS = {
    "minimum_firmware": {"type": "str", "default": "16.26.1040"},
    "minimum_speed": {"type": "int", "default": 0},
}


def main() -> None:
    """Look and tell."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    firmware, speed = module.params["minimum_firmware"], module.params["minimum_speed"]
    try:
        nics = Inspection(run_program, Files(), firmware, speed).nics()
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    module.exit_json(changed=False, nics=nics, minimum={"firmware": firmware, "speed": speed})


if __name__ == "__main__":
    main()
