#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: tor_switch
short_description: VLANs, ports and lossless Ethernet of a pod's Arista ToR switch
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes the declared VLANs, ports and quality of service of a switch with Arista EOS what they should be, in one
    configuration session, and touches nothing else.
  - The session is committed with a timer. The module then looks at the switch over a fresh connection, compares what it
    has with the plan, everything else with what it had before, and what it sees at its ports with what it saw there
    before, see O(checks). Only then it confirms the commit and saves the configuration. If anything is wrong it rolls
    the change back, and if the switch can no longer be reached, the switch rolls it back by itself.
  - It saves only what is yours. Where the running-config also has lines of others that are not saved, it saves nothing,
    because that would keep them for good, and says so in RV(not_saved). What is yours, in force and not saved, such as
    after a run that was killed before it could save, is a step, and saved by the next run.
  - Quality of service and MTU are only ever changed where they are declared, whatever the O(state). A port that is
    shut down is opened only where C(enabled) is declared.
  - Over eAPI, a run with nothing to change costs the switch two requests, any other eight, and more only while links
    settle or with O(canary).
extends_documentation_fragment: [ipu.pod._attributes, ipu.pod._tor_switch]
options:
  state:
    description:
      - V(merged) makes the switch what is declared, and keeps what is not.
      - V(replaced) also gives the settings that are not given EOS's defaults, of the listed VLANs, ports, profiles and
        queues, except for MTU, quality of service and C(enabled) of ports.
      - V(overridden) does the same, and removes the VLANs of O(scope) that are not listed, and gives the ports of
        O(scope) that are not listed EOS's defaults.
      - V(gathered) changes nothing and returns RV(gathered).
      - V(rendered) needs no connection and returns the configuration lines for all that is declared.
      - V(confirmed) finishes a change that was made with O(confirm=false), see O(pending).
    type: str
    choices: [merged, replaced, overridden, gathered, rendered, confirmed]
    default: merged
  scope:
    description:
      - What O(state=overridden), and only that, may clear. No external port ever is.
      - A VLAN that an external port, or an interface of its own (C(interface Vlan101)), still uses is refused.
    type: dict
    suboptions:
      vlans: {description: "VLANs, such as V(100-199). V(1) always stays.", type: list, elements: str, default: []}
      ports: {description: Names of ports., type: list, elements: str, default: []}
  owned:
    description:
      - All that is yours on the switch, where O(vlans) and O(ports) are only a part of it. It is not changed, and may
        be saved together with them.
    type: dict
    suboptions:
      vlans: {description: In the form of O(vlans)., type: list, elements: dict, default: []}
      ports: {description: In the form of O(ports)., type: list, elements: dict, default: []}
  canary:
    description:
      - Names of some of the declared ports. They are changed, checked and confirmed first, in a session of their own,
        with the VLANs and profiles that they need, and everything else follows only if that went well.
    type: list
    elements: str
    default: []
  confirm:
    description:
      - Whether this call also checks and confirms the commit.
      - With V(false) it commits with the timer running and returns RV(pending). The caller may then send ARP probes to
        idle machines, or ping them from the servers, and has to call again with O(state=confirmed) before
        O(confirm_within) is over. A O(canary) is checked and confirmed all the same.
    type: bool
    default: true
  confirm_within:
    description:
      - Seconds from the commit until the switch rolls it back, if it was not confirmed by then.
      - V(10) to V(3600), and more than O(checks.settle_within).
    type: int
    default: 120
  pending:
    description:
      - With O(state=confirmed), RV(pending) of the call with O(confirm=false). Nothing is done where that is empty.
    type: dict
  run_key:
    description:
      - A secret with which RV(pending) recognises the lines of others without showing them. The action plugin sets it
        to one of this run of ansible-playbook and this switch, so O(pending) is confirmed by the run that has it.
    type: str
    default: ""
  not_probed:
    description:
      - With O(state=confirmed), ports to whose machines no ARP probe could be sent. No MAC address has to be learned
        there again. All other checks hold.
    type: list
    elements: str
    default: []
  checks:
    description:
      - Pre-commit checks beside those that always run, namely that the switch has what was planned, that nothing of
        somebody else has appeared or vanished, and that each port which forwarded frames does so in its VLANs; one
        that the change does not touch may have lost its link.
      - Only neighbours and MAC addresses that were seen before the change are required after it.
    type: dict
    suboptions:
      lldp:
        description:
          - Every LLDP neighbour that was seen before at a changed port, at a member of a changed port channel, or at a
            management port is there again, except at ports that the change disables or on which it turns LLDP off.
          - Neighbours at other ports do not count; whoever is root on them may turn LLDP off at any time.
        type: bool
        default: true
      macs:
        description:
          - Every MAC address that was learned at a port before is learned there again, or at the port channel that the
            port joined.
          - An address may be missing where the change does not touch its port and the port is still in the address's
            VLAN. It has then aged out by itself. It may also be missing where the change disables its port or takes its
            VLAN from a trunk.
        type: bool
        default: true
      errors:
        description:
          - No changed port has more than 10 new errors, or gets more than 1000 PFC frames a second. A port that is
            paused all the time gets about 3000.
        type: bool
        default: true
      settle_within:
        description: Seconds that links, neighbours and addresses have to come back. It is over when all are there.
        type: int
        default: 30
notes:
  - Runs on the control node over the connection C(ansible.netcommon.httpapi) (eAPI) or C(ansible.netcommon.network_cli)
    (SSH), with C(ansible_network_os) set to C(arista.eos.eos).
  - The user needs the right to configure. Where that takes C(enable), set C(ansible_become) and
    C(ansible_become_method=enable).
  - Refuses to change a switch on which somebody else has a configuration session open or a commit timer running. A
    session that a run of this module left behind is aborted by the next run that changes something, once its process is
    gone.
seealso: [{module: arista.eos.eos_config}]
"""

EXAMPLES = r"""
- name: Add a tenant's VLAN to an IPU-Machine, and to a Poplar server that keeps its other VLANs
  ipu.pod.tor_switch:
    vlans:
      - {vlan_id: 101, name: vpod-alice}
    ports:
      - {name: Ethernet9/1, owner: vpod alice, description: pod001-ipum1 RNIC, mode: access, vlan: 101, mtu: 9214}
      - {name: Et25/1, owner: vpod alice, mode: trunk, allowed_vlans: [101, 200-203], mtu: 9214}
      - {name: Ethernet1/1, owner: external}

- name: Configure lossless Ethernet on one canary first, then on the others
  ipu.pod.tor_switch:
    qos:
      profiles:
        - name: ROCE
          trust: dscp
          queues:
            - queue: 3
              priority: none
              bandwidth_percent: 95
              bandwidth_guaranteed_kbps: 100
              ecn: {minimum_kbytes: 256, maximum_kbytes: 512}
          no_drop: [3]
          watchdog: true
      watchdog: {timeout: 0.2, recovery_time: 0.2, polling_interval: 0.1, action: drop}
    ports:
      - {name: Et9/1, qos_profile: ROCE, qos_trust: dscp}
      - {name: Et10/1, qos_profile: ROCE, qos_trust: dscp}
    canary: [Et9/1]

- name: Join both RNIC ports of a Poplar server in one channel
  ipu.pod.tor_switch:
    ports:
      - {name: Port-Channel25, owner: vpod alice, mode: trunk, native_vlan: 101, allowed_vlans: [101, 200-203]}
      - {name: Et25/1, owner: vpod alice, channel_group: 25, lacp: active}
      - {name: Et26/1, owner: vpod alice, channel_group: 25, lacp: active}

- name: Keep exactly these VLANs from 100 to 199
  ipu.pod.tor_switch:
    state: overridden
    scope: {vlans: [100-199]}
    vlans: [{vlan_id: 101, name: vpod-alice}]

- name: Commit a change with a timer
  ipu.pod.tor_switch:
    vlans: [{vlan_id: 102, name: vpod-bob}]
    confirm: false
  register: change

- name: Confirm the change
  ipu.pod.tor_switch:
    state: confirmed
    pending: "{{ change.pending }}"

- name: Read the present configuration
  ipu.pod.tor_switch:
    state: gathered
  register: tor

- name: Replay it, which changes nothing
  ipu.pod.tor_switch:
    vlans: "{{ tor.gathered.vlans }}"
    ports: "{{ tor.gathered.ports }}"
    qos: "{{ tor.gathered.qos }}"

- name: Render the configuration lines, to look at or to paste
  ipu.pod.tor_switch:
    state: rendered
    vlans: [{vlan_id: 101, name: vpod-alice}]
  delegate_to: localhost
"""

RETURN = r"""
before:
  description:
    - What is declared or in the scope, as it was, by kind and name. What is not there is missing.
    - The kinds are V(vlan), V(vni), V(port), and where they are declared V(dscp), V(traffic_class), V(pfc_watchdog),
      V(qos_profile) and V(qos_queue). Where something of it is in force and not saved, there is also
      V(startup_config) with the name V(startup-config).
  type: dict
  returned: state is merged, replaced or overridden
  sample: {vlan: {}, port: {Ethernet9/1: {description: "", mtu: 9214, enabled: true, mode: access, vlan: 1}}}
after:
  description:
    - The same after the change, as read from the switch. In check mode as it would be.
    - V(null) if the switch could not be read any more after a failure.
  type: dict
  returned: with RV(before)
diff: {description: "The fields that differ, RV(before) and RV(after).", type: dict, returned: with RV(before)}
plan:
  description: The steps from before to after, in order. All of them happen in one commit, or in two with O(canary).
  type: list
  elements: dict
  returned: with RV(before)
  contains:
    action: {description: "V(create), V(update) or V(remove).", type: str}
    kind: {description: "The kind of thing, as in RV(before).", type: str}
    name: {description: "The VLAN's number, the port's full name, the profile's name and queue, and so on.", type: str}
    reason: {description: "What is different from what is declared; for a port, after its owner.", type: str}
    risk:
      description:
        - V(disruptive) where frames that pass today may stop passing.
        - V(tenant outage) where they are a tenant's, whose VLAN is called C(vpod-NAME), and where a VLAN goes that
          ports beside the scope still use.
        - V(destructive) where an unused VLAN is removed. Otherwise V(none).
      type: str
commands:
  description: The EOS configuration lines, executed, or in check mode not executed.
  type: list
  elements: str
  returned: state is merged, replaced, overridden or rendered
  sample: [vlan 101, name vpod-alice, interface Ethernet9/1, switchport access vlan 101]
session:
  description:
    - The name of the configuration session, with user, host and process of the control node and the time. V(null) if
      none was opened. The canary's has C(_canary) added.
  type: str
  returned: state is not gathered or rendered
  sample: ipu-pod_root_control_4711_20250131T120000Z
session_diff:
  description:
    - The switch's own diff of the session. Empty if none was opened.
    - What this module can declare is shown whole, of other lines the first two words.
  type: str
  returned: with RV(before)
not_saved:
  description:
    - Why what is declared is in force, but not saved, and what to do; also a warning. Empty where it is saved.
    - Of lines of others it has the headers of their blocks, or their first two words.
  type: str
  returned: state is merged, replaced, overridden or confirmed
  sample: ""
pending:
  description:
    - What O(state=confirmed) has to be given in O(pending), in the same run, before O(confirm_within) is over.
    - V(null) if there is nothing to confirm.
  type: dict
  returned: with RV(before)
gathered:
  description:
    - All O(vlans), O(ports) and O(qos), as far as it is not EOS's default, of the switch. Ports that this module does
      not configure, such as routed ones, are external. What can be kept but not declared is left out.
  type: dict
  returned: state is gathered
done: {description: The steps carried out., type: list, elements: dict, returned: on failure during the change}
failed_step: {description: "The step that failed, with the error.", type: dict, returned: on failure during the change}
not_tried: {description: The steps not tried., type: list, elements: dict, returned: on failure during the change}
"""

import getpass
import os
import socket
import time
from typing import Any, Sequence

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.module import run
from ansible_collections.ipu.pod.plugins.module_utils._tor.change import NOT_SAVED, SYSTEM_CLOCK, Change
from ansible_collections.ipu.pod.plugins.module_utils._tor.checks import Checks
from ansible_collections.ipu.pod.plugins.module_utils._tor.commands import render
from ansible_collections.ipu.pod.plugins.module_utils._tor.confirmation import confirm_if_right
from ansible_collections.ipu.pod.plugins.module_utils._tor.connection import sender, way_to
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import Declared, declare, port_names
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.options import ARGUMENT_SPEC, CONFIRMED, GATHERED, RENDERED
from ansible_collections.ipu.pod.plugins.module_utils._tor.pending import pending_of
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import read_running_config, save
from ansible_collections.ipu.pod.plugins.module_utils._tor.session_name import Owner
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import Unsaved


def change(module: AnsibleModule, declared: Declared) -> None:
    """Make the switch what is declared."""
    send, reachable = way_to(module._socket_path)
    host = socket.gethostname()
    session = Owner(getpass.getuser(), host, os.getpid(), int(time.time())).session
    checks = Checks(**module.params["checks"])
    confirms = module.params["confirm"]
    one = Change(
        declared,
        send,
        session,
        module.params["confirm_within"],
        checks,
        confirms,
        host,
        reachable,
        owned=module.params["owned"] and declared_of(module.params, module.params["owned"]),
        key=module.params["run_key"],
    )

    def extra(outcome: Outcome) -> dict[str, Any]:
        # What is pending is saved, or not, by the call that confirms it.
        left = Unsaved() if one.pending else one.unsaved(outcome.steps if module.check_mode else ())
        return {
            "not_saved": told(module, left.problem, left.remedy),
            "commands": one.commands,
            "session": session if one.commands and not module.check_mode else None,
            "session_diff": "\n".join(one.session_diffs),
            "pending": one.pending and one.pending.plain(),
        }

    run(module, one.read, one.plan, one.apply, extra=extra)


def confirm(module: AnsibleModule) -> None:
    """Finish what a call with ``confirm: false`` left pending."""
    if not module.params["pending"]:
        module.exit_json(changed=False, session=None)
    not_probed = port_names("not_probed", module.params["not_probed"])
    pending = pending_of(module.params["pending"]).without_addresses_at(not_probed)
    if module.check_mode:
        module.exit_json(changed=True, session=pending.session)
    key = module.params["run_key"]
    send, reachable = way_to(module._socket_path)
    _seen, text = confirm_if_right(send, reachable, SYSTEM_CLOCK, pending, key)
    mismatch, left = pending.mismatch(parse(text), key), Unsaved(**pending.unsaved)
    if left.may_be_saved and not mismatch:
        try:
            save(send)
        except DeviceError as error:
            module.fail_json(msg=f"{NOT_SAVED}: {error}", changed=True, session=pending.session)
    problem = f"{NOT_SAVED}: {mismatch}" if mismatch else left.problem
    module.exit_json(changed=True, session=pending.session, not_saved=told(module, problem, left.remedy))


def told(module: AnsibleModule, problem: str, remedy: str) -> str:
    """Return a problem that does not end the run with its remedy, after a warning of it; empty where there is none."""
    sentence = f"{problem}; {remedy}" if problem else ""
    if sentence:
        module.warn(sentence)
    return sentence


def declared_of(options: dict[str, Any], part: dict[str, Any], canary: Sequence[str] = ()) -> Declared:
    """The ``vlans`` and ``ports`` of a part of the options, with what else these say."""
    return declare(part["vlans"], part["ports"], options["qos"], options["state"], options["scope"], canary)


def main() -> None:
    """Run the module."""
    required = [("state", CONFIRMED, ("pending",))]
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, required_if=required, supports_check_mode=True)
    options = module.params
    state = options["state"]
    try:
        if state == CONFIRMED:
            confirm(module)
        if state == GATHERED:
            running = parse(read_running_config(sender(module._socket_path)))
            module.exit_json(changed=False, gathered=gathered(running))
        declared = declared_of(options, options, options["canary"])
        if state == RENDERED:
            module.exit_json(changed=False, commands=render(declared))
        change(module, declared)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)


if __name__ == "__main__":
    main()
