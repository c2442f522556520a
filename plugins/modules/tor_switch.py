#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: tor_switch
short_description: VLANs and ports of a pod's Arista ToR switch
version_added: 1.0.0
author:
  - The ipu.pod authors (@ipu-pod)
description:
  - Makes the declared VLANs and ports of a top-of-rack switch with Arista EOS what they should be, in one configuration
    session, and touches nothing else.
  - The session is committed with a timer. The module then reads the switch in a new request, compares what it has with
    the plan and everything else with what it had before, and only then confirms the commit and saves the configuration.
    If the switch can no longer be reached, it goes back to the old configuration by itself.
  - Over eAPI, a run with nothing to change costs the switch two requests, any other eight.
extends_documentation_fragment:
  - ipu.pod._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  vlans:
    description: The VLANs that should exist. VLANs that are not listed stay as they are.
    type: list
    elements: dict
    default: []
    suboptions:
      vlan_id:
        description: The VLAN's number, V(1) to V(4094).
        type: int
        required: true
      name:
        description:
          - Its name, 1 to 32 characters without spaces.
          - If not given, a VLAN keeps its name, and a new one gets the name that EOS gives it, for example V(VLAN0101).
        type: str
  ports:
    description:
      - The ports that should be as described. Ports that are not listed stay as they are, and so does each setting that
        is not given.
      - A routed port (C(no switchport)) is refused.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: An Ethernet port or port channel, in any of EOS's spellings, such as V(Ethernet9/1) or V(Et9/1).
        type: str
        required: true
      owner:
        description:
          - Whose port this is, V(pod), V(vpod NAME) or V(external).
          - An external port belongs to somebody else, such as OpenStack Neutron or a person. It is never touched,
            whatever else is said about it here.
        type: str
        default: pod
      description:
        description: What the port is for, in one line. An empty text removes the description.
        type: str
      mode:
        description: Whether the port carries one VLAN without tags or several with tags.
        type: str
        choices: [access, trunk]
      vlan:
        description: The VLAN of the port while it is an access port, V(1) to V(4094).
        type: int
      native_vlan:
        description:
          - The VLAN of frames without a tag while the port is a trunk, V(1) to V(4094).
          - Other than V(1), which is EOS's default, it has to be among the allowed VLANs.
        type: int
      allowed_vlans:
        description:
          - The VLANs that the port carries while it is a trunk, as numbers and ranges such as V(100-110).
          - They are added to the list that a trunk already has. A port that is no trunk yet, or a trunk that carries
            every VLAN, gets exactly this list.
        type: list
        elements: str
      mtu:
        description:
          - The largest frame payload, V(68) to V(9214) bytes. EOS's default for switched ports is V(9214).
          - V(1500), EOS's default for routed ports, cannot be set on a switched port and is refused.
        type: int
      enabled:
        description: Whether the port is up (C(no shutdown)).
        type: bool
  state:
    description:
      - V(merged) makes the switch what is declared.
      - V(gathered) changes nothing and returns all VLANs and ports as they are, as options of this module.
      - V(rendered) needs no connection and returns the configuration lines for all that is declared.
    type: str
    choices: [merged, gathered, rendered]
    default: merged
  confirm_within:
    description:
      - Seconds from the commit until the switch undoes it, if it was not confirmed by then.
      - V(10) to V(3600), long enough for reading the running-config once.
    type: int
    default: 120
notes:
  - Runs on the control node over the connection C(ansible.netcommon.httpapi) (eAPI) or C(ansible.netcommon.network_cli)
    (SSH), with C(ansible_network_os) set to C(arista.eos.eos).
  - The user needs the right to configure. Where that takes C(enable), set C(ansible_become) and
    C(ansible_become_method=enable).
  - Refuses to change a switch on which somebody else has a configuration session open or a commit timer running.
seealso:
  - module: arista.eos.eos_config
"""

EXAMPLES = r"""
- name: A tenant's VLAN, on an IPU-Machine and on a Poplar server that keeps its other VLANs
  ipu.pod.tor_switch:
    vlans:
      - vlan_id: 101
        name: vpod-alice
    ports:
      - name: Ethernet9/1
        owner: vpod alice
        description: pod001-ipum1 RNIC
        mode: access
        vlan: 101
        mtu: 9214
        enabled: true
      - name: Et25/1
        owner: vpod alice
        description: pod001-poplar1 rnic0
        mode: trunk
        allowed_vlans: [101, 200-203]
        mtu: 9214
      - name: Ethernet1/1
        owner: external

- name: What the switch has now
  ipu.pod.tor_switch:
    state: gathered
  register: tor

- name: Replaying it changes nothing
  ipu.pod.tor_switch:
    vlans: "{{ tor.gathered.vlans }}"
    ports: "{{ tor.gathered.ports }}"

- name: The configuration lines, to look at or to paste
  ipu.pod.tor_switch:
    state: rendered
    vlans:
      - {vlan_id: 101, name: vpod-alice}
  delegate_to: localhost
"""

RETURN = r"""
before:
  description: The declared VLANs and our declared ports before, by kind and name. A VLAN that is not there is missing.
  type: dict
  returned: state is merged
  sample:
    vlan: {}
    port:
      Ethernet9/1:
        description: ""
        mtu: 9214
        enabled: true
        vlan: 1
        native_vlan: 1
        allowed_vlans: [1-4094]
        mode: access
after:
  description:
    - The same after the change, as read from the switch. In check mode as it would be.
    - V(null) if the switch could not be read any more after a failure.
  type: dict
  returned: state is merged
diff:
  description: The fields that differ, RV(before) and RV(after).
  type: dict
  returned: state is merged
plan:
  description: The steps from before to after, in order. All of them happen in one commit.
  type: list
  elements: dict
  returned: state is merged
  contains:
    action:
      description: V(create) or V(update).
      type: str
    kind:
      description: V(vlan) or V(port).
      type: str
    name:
      description: The VLAN's number or the port's full name.
      type: str
    reason:
      description: What is different from what is declared; for a port, after its owner.
      type: str
    risk:
      description: V(disruptive) where frames that pass today may stop passing, otherwise V(none).
      type: str
commands:
  description: The EOS configuration lines, executed, or in check mode not executed.
  type: list
  elements: str
  returned: state is merged or rendered
  sample: [vlan 101, name vpod-alice, interface Ethernet9/1, switchport access vlan 101]
session:
  description: The name of the configuration session; V(null) if none was opened.
  type: str
  returned: state is merged
  sample: ipu-pod-4711-20250131T120000Z
gathered:
  description: All VLANs and ports of the switch, as the options O(vlans) and O(ports). Ports that this module does not
    configure, such as routed ones, are external.
  type: dict
  returned: state is gathered
  contains:
    vlans:
      description: As O(vlans).
      type: list
      elements: dict
    ports:
      description: As O(ports).
      type: list
      elements: dict
done:
  description: The steps that were carried out.
  type: list
  elements: dict
  returned: on failure during the change
failed_step:
  description: The step that failed, with the error.
  type: dict
  returned: on failure during the change
not_tried:
  description: The steps that were not tried.
  type: list
  elements: dict
  returned: on failure during the change
"""

import os
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.module import run
from ansible_collections.ipu.pod.plugins.module_utils._tor.change import Change
from ansible_collections.ipu.pod.plugins.module_utils._tor.connection import sender
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import Declared, declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import render
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import read_running_config

VLAN_OPTIONS = {
    "vlan_id": {"type": "int", "required": True},
    "name": {"type": "str"},
}

PORT_OPTIONS = {
    "name": {"type": "str", "required": True},
    "owner": {"type": "str", "default": "pod"},
    "description": {"type": "str"},
    "mode": {"type": "str", "choices": ["access", "trunk"]},
    "vlan": {"type": "int"},
    "native_vlan": {"type": "int"},
    "allowed_vlans": {"type": "list", "elements": "str"},
    "mtu": {"type": "int"},
    "enabled": {"type": "bool"},
}


def merge(module: AnsibleModule, declared: Declared) -> None:
    """Make the switch what is declared."""
    session = f"ipu-pod-{os.getpid()}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    change = Change(declared, sender(module._socket_path), session, module.params["confirm_within"])

    def extra(_outcome: Outcome) -> dict[str, Any]:
        opened = change.commands and not module.check_mode
        return {"commands": change.commands, "session": session if opened else None}

    run(module, change.read, change.plan, change.apply, extra=extra)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "vlans": {"type": "list", "elements": "dict", "default": [], "options": VLAN_OPTIONS},
            "ports": {"type": "list", "elements": "dict", "default": [], "options": PORT_OPTIONS},
            "state": {"type": "str", "choices": ["merged", "gathered", "rendered"], "default": "merged"},
            "confirm_within": {"type": "int", "default": 120},
        },
        supports_check_mode=True,
    )
    state = module.params["state"]
    try:
        declared = declare(module.params["vlans"], module.params["ports"])
        if state == "rendered":
            module.exit_json(changed=False, commands=render(declared))
        if state == "gathered":
            running = parse(read_running_config(sender(module._socket_path)))
            module.exit_json(changed=False, gathered=gathered(running))
        merge(module, declared)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)


if __name__ == "__main__":
    main()
