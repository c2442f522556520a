#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks by which containers have RNIC addresses of their own."""

from __future__ import annotations

DOCUMENTATION = r"""
module: container_networks
short_description: Macvlan networks of podman and Docker, by which containers have RNIC addresses of their own
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes macvlan networks in podman and in Docker, in whichever of them the server has, and removes those that it has
    made and that are no longer in the list. The list is the whole truth.
  - Networks of this module bear the label C(ipu.pod=network). Others are never changed; one that has a wanted name, or
    gives out addresses of a wanted range on the same interface, is refused with its name.
  - With O(networks[].function), the network is on a virtual function of the NIC, in mode passthru of macvlan. One
    container has it at a time, and has the MAC address of the function, as the NIC drops frames with another one.
  - A container has no default route by such a network, since nobody there is a router.
  - Where a server has both engines, each gives out half of a range, podman the first.
  - A network that a container has is neither removed nor made again.
extends_documentation_fragment: ipu.pod._attributes
requirements:
  - root
  - podman 4.0 or later, or Docker 20.10 or later
options:
  networks:
    description: The networks. An empty list removes all of this module.
    type: list
    elements: dict
    required: true
    suboptions:
      name: {description: Name of the network., type: str, required: true}
      interface: {description: The interface that its containers send through., type: str, required: true}
      subnet: {description: "IPv4 subnet of that interface, such as V(10.5.0.0/16).", type: str, required: true}
      range:
        description: The part of O(networks[].subnet) that containers on this server have addresses from, such as
          V(10.5.1.128/27). Two servers on one network need different ones.
        type: str
        required: true
      function:
        description: The number of the interface's virtual function that they send through instead.
        type: int
"""

EXAMPLES = r"""
- name: Let containers have addresses on the RNIC network
  ipu.pod.container_networks:
    networks:
      - {name: ipu-alice, interface: rnic0, subnet: 10.5.0.0/16, range: 10.5.1.128/27}

- name: Let one container at a time have virtual function 0, and its VLAN
  ipu.pod.container_networks:
    networks:
      - {name: ipu-bob, interface: rnic0, function: 0, subnet: 10.5.0.0/16, range: 10.5.1.224/30}

- name: Remove all networks of this module
  ipu.pod.container_networks:
    networks: []
"""

RETURN = r"""
before:
  description:
    - Under C(container_engine) the engines that are installed, each with the C(message) why it cannot be used.
    - The networks as they were, by C(ENGINE/NAME), under C(container_network) those of this module, each with
      C(driver), C(interface), C(subnet), C(range) and the C(containers) that have it.
    - Under C(foreign_network) all others, with the same fields, empty where they have none.
    - Under C(virtual_function) those of all NICs, each with its network C(device), empty where it has none here. Of a
      network that is on one, C(interface) is its name there, such as C(rnic0 vf 0).
  returned: when not refused
  type: dict
  sample:
    container_engine: {podman: {message: ""}}
    container_network:
      podman/ipu-alice:
        driver: macvlan
        interface: rnic0
        subnet: 10.5.0.0/16
        range: 10.5.1.128/27
        containers: []
    foreign_network: {}
    virtual_function: {}
after:
  description: The same as RV(before) after the change, read again. In check mode what it would be.
  returned: when not refused
  type: dict
diff: {description: The fields of RV(before) and RV(after) that differ., returned: when not refused, type: dict}
plan:
  description: The ordered steps, each with action, kind, name, reason and risk.
  returned: when not refused
  type: list
  elements: dict
  sample: [{action: create, kind: container_network, name: podman/ipu-alice, reason: is missing, risk: none}]
done: {description: The steps done before the failed one., returned: when a step failed, type: list, elements: dict}
failed_step: {description: "The step that failed, with its C(error).", returned: when a step failed, type: dict}
not_tried: {description: The steps after the one that failed., returned: when a step failed, type: list, elements: dict}
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._containers.engines import Engines
from ansible_collections.ipu.pod.plugins.module_utils._containers.networks import networks_from, plan
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs, run_program
from ansible_collections.ipu.pod.plugins.module_utils._plan import module as edge
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Sysfs

ARGUMENTS = {
    "networks": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "interface": {"type": "str", "required": True},
            "subnet": {"type": "str", "required": True},
            "range": {"type": "str", "required": True},
            "function": {"type": "int"},
        },
    },
}


def main() -> None:
    """Converge on what is declared."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    try:
        networks = networks_from(module.params["networks"])
    except Refused as error:
        module.fail_json(msg=str(error), changed=False)
    engines = Engines(Programs(run_program), Sysfs())
    edge.run(module, engines.read, partial(plan, networks), one_by_one(engines.carry_out))


if __name__ == "__main__":
    main()
