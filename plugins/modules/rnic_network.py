#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RDMA interfaces of a Poplar server, address and MTU."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rnic_network
short_description: RDMA interfaces of a Poplar server, address and MTU
description:
  - Gives the RNICs of a Poplar server their addresses and MTU, running and persistent.
  - Every interface gets one file, C(/etc/systemd/network/50-ipu-NAME.network). Both this file and what the kernel
    shows are compared with what is declared; one without the other is drift and is repaired.
  - Whatever is not declared is kept as the interface's own file says, or without one as it is running.
    It then stands in the file, too, so that a reboot keeps it.
  - An interface is changed as a whole or not at all. When systemd-networkd does not configure it in time, the old file
    and the old settings are put back, and the module fails with what happened.
  - The interface that carries the default route or the SSH connection in use is never changed, and neither is
    any interface below it.
  - Interfaces have no gateway and take none, neither by DHCP nor from IPv6 routers. Their IPv6 link-local address
    stays, and addresses stay when the carrier is lost, so that RoCE GIDs survive a flapping switch port.
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment:
  - ipu.pod._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
requirements:
  - root
  - systemd-networkd 245 or later, running
  - iproute2 with JSON output
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
          - With O(interfaces[].mac) it is only a label, which stands in the file's name.
        type: str
        required: true
      mac:
        description:
          - MAC address that finds the NIC, whatever the kernel calls it.
          - Without it, the NIC is found by O(interfaces[].name).
        type: str
      addresses:
        description:
          - All addresses of the interface with their prefix length; other addresses are taken away.
          - An empty list takes all addresses away. Not declared, addresses are kept.
        type: list
        elements: str
      mtu:
        description:
          - MTU in bytes, within what the NIC's driver takes. Not declared, it is kept.
        type: int
      description:
        description:
          - One line for people, which stands in the file. Not declared, it is kept; empty for none.
        type: str
  new_service:
    description:
      - The same run starts systemd-networkd. Only in check mode does this matter, the service may then be stopped.
        Otherwise a stopped service is refused.
    type: bool
    default: false
  backend:
    description:
      - Who configures the interfaces on this server.
    type: str
    choices: [networkd]
    default: networkd
  state:
    description:
      - V(merged) makes the declared interfaces what is declared.
      - V(gathered) changes nothing and returns RV(gathered).
    type: str
    choices: [merged, gathered]
    default: merged
notes:
  - An interface that another C(.network) file configures first is refused with the name of that file.
seealso:
  - name: systemd.network
    description: What the settings in the file mean.
    link: https://www.freedesktop.org/software/systemd/man/latest/systemd.network.html
"""

EXAMPLES = r"""
- name: Give both RNIC ports their address and jumbo frames
  ipu.pod.rnic_network:
    interfaces:
      - name: rnic0
        mac: "04:3f:72:00:01:02"
        addresses: [10.5.1.101/16]
        mtu: 9000
        description: IPU data plane
      - name: rnic1
        mac: "04:3f:72:00:01:03"
        mtu: 9000

- name: What is there now?
  ipu.pod.rnic_network:
    state: gathered
  register: rnics
"""

RETURN = r"""
before:
  description:
    - The declared interfaces as they were, under C(interface), by declared name.
    - Each has C(device), C(mac), C(up), C(mtu) in bytes and C(addresses) as they are running, C(network_file) as the
      path that systemd-networkd configures the device from (null for none), and C(file) as the settings in
      the interface's own file (null where there is no such file).
  returned: when O(state=merged) and the request was not refused
  type: dict
  sample:
    interface:
      rnic0:
        {device: rnic0, mac: "04:3f:72:00:01:02", up: true, mtu: 1500, addresses: [], network_file: null, file: null}
after:
  description:
    - The same as RV(before) after the change, read again from the server. In check mode what it would be.
  returned: when O(state=merged) and the request was not refused
  type: dict
  sample:
    interface:
      rnic0:
        device: rnic0
        mac: "04:3f:72:00:01:02"
        up: true
        mtu: 9000
        addresses: [10.5.1.101/16]
        network_file: /etc/systemd/network/50-ipu-rnic0.network
        file: [Link.MTUBytes=9000, "Match.MACAddress=04:3f:72:00:01:02", Network.Address=10.5.1.101/16]
diff:
  description: RV(before) and RV(after), each with only the fields that differ.
  returned: when O(state=merged) and the request was not refused
  type: dict
  sample:
    before: {interface: {rnic0: {mtu: 1500}}}
    after: {interface: {rnic0: {mtu: 9000}}}
plan:
  description: The ordered steps, one per interface that has to change.
  returned: when O(state=merged) and the request was not refused
  type: list
  elements: dict
  contains:
    action:
      description: Always V(update).
      type: str
      returned: always
    kind:
      description: Always V(interface).
      type: str
      returned: always
    name:
      description: The declared name.
      type: str
      returned: always
    reason:
      description: What differs, in words.
      type: str
      returned: always
    risk:
      description: V(disruptive) where running settings change, V(none) where only the file does.
      type: str
      returned: always
  sample:
    - {action: update, kind: interface, name: rnic0, reason: "mtu is 1500, wanted 9000", risk: disruptive}
done:
  description: The steps that were carried out before the one that failed.
  returned: when a step failed
  type: list
  elements: dict
  sample: []
failed_step:
  description: The step that failed, with the reason as C(error). Its interface has its old settings again.
  returned: when a step failed
  type: dict
  sample: {action: update, kind: interface, name: rnic0, error: the old settings are back}
not_tried:
  description: The steps after the one that failed.
  returned: when a step failed
  type: list
  elements: dict
  sample: []
gathered:
  description:
    - Every NIC that may be declared, with its running settings, in the form of O(interfaces).
    - The interfaces that the server is managed through are left out.
  returned: when O(state=gathered)
  type: list
  elements: dict
  sample:
    - {name: rnic0, mac: "04:3f:72:00:01:02", addresses: [10.5.1.101/16], mtu: 9000}
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files
from ansible_collections.ipu.pod.plugins.module_utils._plan import module as edge
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.connection import ssh_addresses
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.networkd import Networkd
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import gathered
from ansible_collections.ipu.pod.plugins.module_utils._rnic.session import Session

ARGUMENTS = {
    "interfaces": {
        "type": "list",
        "elements": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "mac": {"type": "str"},
            "addresses": {"type": "list", "elements": "str"},
            "mtu": {"type": "int"},
            "description": {"type": "str"},
        },
    },
    "new_service": {"type": "bool", "default": False},
    "backend": {"type": "str", "choices": ["networkd"], "default": "networkd"},
    "state": {"type": "str", "choices": ["merged", "gathered"], "default": "merged"},
}


def main() -> None:
    """Gather, or converge on what is declared."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True, required_if=[("state", "merged", ["interfaces"])])

    def run(argv: list[str]) -> tuple[int, str, str]:
        status, output, errors = module.run_command(argv, handle_exceptions=False, environ_update={"LC_ALL": "C"})
        return status, output, errors

    may_be_stopped = module.check_mode and module.params["new_service"]
    backend = Networkd(run, Files(), ssh_addresses(os.getpid()), may_be_stopped)
    try:
        if module.params["state"] == "gathered":
            module.exit_json(changed=False, gathered=gathered(backend.survey([])))
        session = Session(backend, interfaces_from(module.params["interfaces"]))
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    edge.run(module, session.read, session.plan, session.apply)


if __name__ == "__main__":
    main()
