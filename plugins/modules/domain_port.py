#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of a vPOD on a libvirt domain."""

from __future__ import annotations

DOCUMENTATION = r"""
module: domain_port
short_description: The RNIC port of a vPOD on a libvirt domain, plugged in as it runs
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Gives a libvirt domain on this hypervisor a network interface in the VLAN of a vPOD, as it runs and with its next
    starts. Other interfaces are not touched, and nothing is restarted.
  - The interface is a virtio port of the Open vSwitch bridge that the RNIC is in, with the VLAN as its tag, or a
    virtual function of the RNIC. libvirt keeps an alias on it, C(ua-ipu-VPOD), by which it is known again.
  - A port that Open vSwitch has in another VLAN is drift, and is plugged in again.
  - A domain has ports of one vPOD at most, since it would join two.
extends_documentation_fragment: ipu.pod._attributes
requirements:
  - root
  - C(virsh), of libvirt 5.2 or later, and C(ovs-vsctl) where there are no virtual functions
  - a guest that takes and gives back devices as it runs, which those of Debian, Ubuntu and RHEL do
options:
  domain: {description: Name of the domain., type: str, required: true}
  vpod: {description: Name of the vPOD., type: str, required: true}
  state:
    description: Whether the domain has the port. V(absent) needs nothing of the other options.
    type: str
    choices: [present, absent]
    default: present
  vlan: {description: "The vPOD's VLAN, 1 to 4094.", type: int}
  rnic: {description: Name of the RNIC that the port reaches the IPU-Machines through., type: str}
  mtu: {description: "Its MTU in bytes; V(0) for that of the bridge.", type: int, default: 0}
  addresses:
    description: The addresses that domains on this hypervisor may have. A port gets the first that none has, and its
      MAC address follows from it. A virtual function gets the one with its number.
    type: list
    elements: str
    default: []
  function: {description: Number of the virtual function. Without it the port is one of Open vSwitch., type: int}
  function_mac: {description: The MAC address of that function., type: str, default: ""}
  leaving:
    description: The vPODs whose ports the domain loses before, so that a look at what will be has them gone.
    type: list
    elements: str
    default: []
  leaving_domains:
    description: The domains that lose their ports before.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Plug a port of vPOD alice into a running domain
  ipu.pod.domain_port:
    domain: build1
    vpod: alice
    vlan: 101
    rnic: ens2f0
    mtu: 9000
    addresses: [10.5.1.192, 10.5.1.193]
"""

RETURN = r"""
address:
  description: The port's address. With O(state=absent) that of the port that there was; empty if there was none.
  returned: when not refused
  type: str
  sample: 10.5.1.192
mac: {description: Its MAC address., returned: when not refused, type: str, sample: "02:fe:0a:05:01:c0"}
runs: {description: Whether the domain runs., returned: when not refused, type: bool}
before:
  description: The domain's ports of vPODs, as it runs and as it is defined, by vPOD, with C(mac), C(vlan),
    C(mtu), and what each is plugged into as C(through).
  returned: when not refused
  type: dict
  sample:
    running_port: {}
    kept_port: {}
after:
  description: The same after the change, read again. In check mode what it would be. Null where it could not be read.
  returned: when not refused
  type: dict
diff: {description: The fields of RV(before) and RV(after) that differ., returned: when not refused, type: dict}
plan:
  description: The ordered steps, each with action, kind, name (the vPOD), reason and risk.
  returned: when not refused
  type: list
  elements: dict
  sample: [{action: create, kind: running_port, name: alice, reason: is missing, risk: none}]
done: {description: The steps done before the failed one., returned: when a step failed, type: list, elements: dict}
failed_step: {description: "The step that failed, with its C(error).", returned: when a step failed, type: dict}
not_tried: {description: The steps after the one that failed., returned: when a step failed, type: list, elements: dict}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._domain import planner
from ansible_collections.ipu.pod.plugins.module_utils._domain.hypervisor import Hypervisor
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs, run_program
from ansible_collections.ipu.pod.plugins.module_utils._plan import module as edge
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, Step

ARGUMENTS: dict[str, Any] = {
    "domain": {"type": "str", "required": True},
    "vpod": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "vlan": {"type": "int"},
    "rnic": {"type": "str"},
    "mtu": {"type": "int", "default": 0},
    "addresses": {"type": "list", "elements": "str", "default": []},
    "function": {"type": "int"},
    "function_mac": {"type": "str", "default": ""},
    "leaving": {"type": "list", "elements": "str", "default": []},
    "leaving_domains": {"type": "list", "elements": "str", "default": []},
}


def main() -> None:
    """Plug the port in, or unplug it."""
    module = AnsibleModule(
        ARGUMENTS, supports_check_mode=True, required_if=[("state", "present", ["vlan", "rnic", "addresses"])]
    )
    options, hypervisor = module.params, Hypervisor(Programs(run_program))
    domain, vpod = options["domain"], options["vpod"]
    try:
        found = hypervisor.look(domain)
        wanted = None
        if options["state"] == "present":
            wanted = planner.Wanted(
                vpod,
                options["vlan"],
                options["mtu"],
                options["addresses"],
                hypervisor.through(options["rnic"], options["function"]),
                options["function"],
                options["function_mac"],
                options["leaving"],
                options["leaving_domains"],
            )
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)

    def read() -> State:
        nonlocal found
        found = hypervisor.look(domain)
        return found.state

    def plan(_state: State) -> list[Step]:
        return planner.plan(wanted, found) if wanted else planner.plan_removal(vpod, found)

    def extra(outcome: Outcome) -> dict[str, Any]:
        if wanted is None:
            mac = outcome.before[planner.RUNNING].get(vpod, {}).get("mac", "")
            is_function = mac and options["function"] is not None
            address = options["addresses"][options["function"]] if is_function else planner.address_of(mac)
            return {"runs": found.runs, "mac": mac, "address": address}
        port = planner.fields_of(wanted, found)
        return {"runs": found.runs, "mac": port["mac"], "address": planner.address_in(wanted, port)}

    edge.run(module, read, plan, one_by_one(lambda step: hypervisor.carry_out(domain, step)), extra=extra)


if __name__ == "__main__":
    main()
