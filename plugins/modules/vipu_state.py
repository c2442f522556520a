#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents, clusters, allocations and partitions of a V-IPU controller, in one call."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_state
short_description: Agents, clusters, allocations and partitions of a V-IPU controller
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Makes a V-IPU controller hold the declared entities, all kinds in one call. Reads everything once, works out an
    ordered plan, carries it out through C(vipu-admin), and reads everything again.
  - Entities that are not declared are left alone; tenants and Slurm make partitions of their own.
  - V-IPU has no command that changes an entity. One that is there with other fields is refused, never re-created.
  - Sizes, names, references and room are checked before anything is sent.
  - Runs on a host with C(vipu-admin), one writer at a time.
extends_documentation_fragment:
  - ipu.pod._attributes
  - ipu.pod._vipu
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  agents:
    description: V-IPU agents, one per IPU-Machine.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the agent.
        type: str
        required: true
      host:
        description: Management address or name of the IPU-Machine's gateway. Needed unless O(agents[].state=absent).
        type: str
      port:
        description: TCP port of the agent.
        type: int
        default: 8080
      state:
        description: Whether the agent is registered.
        type: str
        choices: [present, absent]
        default: present
  clusters:
    description: Clusters of agents.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the cluster.
        type: str
        required: true
      agents:
        description: Its agents in ILD-major order. Needed unless O(clusters[].state=absent).
        type: list
        elements: str
      topology:
        description: Topology of the IPU-Links. Without it the controller chooses.
        type: str
        choices: [mesh, torus]
      ipu_link_domains:
        description: Number of IPU-Link domains, in other words racks.
        type: int
        default: 1
      looped:
        description: Whether the GW-Links between the IPU-Link domains form a loop.
        type: bool
      state:
        description: Whether the cluster exists.
        type: str
        choices: [present, absent]
        default: present
  allocations:
    description: Allocations of whole IPU-Machines.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the allocation.
        type: str
        required: true
      cluster:
        description: Cluster that it takes its IPU-Machines from. Needed unless O(allocations[].state=absent).
        type: str
      size:
        description: Number of IPUs, 4, 8, 16, 32, 64 or a multiple of 64. Needed unless O(allocations[].state=absent).
        type: int
      agents:
        description:
          - The agents that it is expected to have. The controller picks them by size; if it picked others, that is
            reported as a failure.
        type: list
        elements: str
      state:
        description: Whether the allocation exists.
        type: str
        choices: [present, absent]
        default: present
  partitions:
    description: Partitions inside allocations.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Id of the partition.
        type: str
        required: true
      allocation:
        description: Allocation that it lies in. Needed unless O(partitions[].state=absent).
        type: str
      size:
        description:
          - Number of IPUs, 1, 2, 4, 8, 16, 32, 64 or a multiple of 64. Needed unless O(partitions[].state=absent).
        type: int
      gcds:
        description: Number of graph compile domains. Without it the controller makes one.
        type: int
      replicas:
        description: Number of replicas over all graph compile domains. Without it the controller makes one per GCD.
        type: int
      reconfigurable:
        description: Whether several applications may share it. At most 64 IPUs and one GCD.
        type: bool
        default: false
      state:
        description: Whether the partition exists.
        type: str
        choices: [present, absent]
        default: present
  new_controller:
    description:
      - The same run installs the controller. Only in check mode does this matter, the controller may then be missing
        and is taken to hold nothing. Otherwise a controller that does not answer is an error.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: One IPU-Machine with a tenant of 4 IPUs
  ipu.pod.vipu_state:
    agents:
      - {name: pod001-ipum1, host: 10.2.1.1}
    clusters:
      - {name: c001, agents: [pod001-ipum1]}
    allocations:
      - {name: alice, cluster: c001, size: 4}
    partitions:
      - {name: train, allocation: alice, size: 4, reconfigurable: true}
"""

RETURN = r"""
before:
  description: All entities before, by kind and name.
  type: dict
  returned: success
after:
  description:
    - All entities after. In check mode what they would be, without the fields that only the controller can tell
      (C(status) of agents; C(topology) and C(looped) of clusters; C(gcds), C(replicas) and C(status) of partitions).
  type: dict
  returned: success
plan:
  description: The ordered steps, each with action, kind, name, reason and risk.
  type: list
  elements: dict
  returned: success
  sample:
    - {action: create, kind: agent, name: pod001-ipum1, reason: is not there, risk: none}
done:
  description: The steps that were carried out before one failed.
  type: list
  elements: dict
  returned: failure
failed_step:
  description: The step that failed, with the controller's words in C(error).
  type: dict
  returned: failure
not_tried:
  description: The steps after it.
  type: list
  elements: dict
  returned: failure
"""

import contextlib
from typing import Any, Sequence

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._plan.module import run
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import CONNECTION_OPTIONS, controller_of
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, empty_state, plural
from ansible_collections.ipu.pod.plugins.module_utils._vipu.lock import only_writer
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan

STATE = {"type": "str", "choices": ["present", "absent"], "default": "present"}
NAME = {"type": "str", "required": True}


def entities(needed: Sequence[str], **fields: dict[str, Any]) -> dict[str, Any]:
    """The option for one kind of entity; the needed fields may be left out of absent ones."""
    return {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": dict(fields, name=NAME, state=STATE),
        "required_if": [("state", "present", needed)],
    }


OPTIONS = dict(
    CONNECTION_OPTIONS,
    agents=entities(("host",), host={"type": "str"}, port={"type": "int", "default": 8080}),
    clusters=entities(
        ("agents",),
        agents={"type": "list", "elements": "str"},
        topology={"type": "str", "choices": ["mesh", "torus"]},
        ipu_link_domains={"type": "int", "default": 1},
        looped={"type": "bool"},
    ),
    allocations=entities(
        ("cluster", "size"),
        cluster={"type": "str"},
        size={"type": "int"},
        agents={"type": "list", "elements": "str"},
    ),
    partitions=entities(
        ("allocation", "size"),
        allocation={"type": "str"},
        size={"type": "int"},
        gcds={"type": "int"},
        replicas={"type": "int"},
        reconfigurable={"type": "bool", "default": False},
    ),
    new_controller={"type": "bool", "default": False},
)


def main() -> None:
    """Read, plan, apply, read again."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    controller = controller_of(module)
    declared = {kind: module.params[plural(kind)] for kind in KINDS}

    def read() -> State:
        try:
            return controller.read()
        except DeviceError:
            if module.check_mode and module.params["new_controller"]:
                return empty_state()
            raise

    with contextlib.nullcontext() if module.check_mode else only_writer():
        run(module, read, lambda actual: plan(declared, actual), one_by_one(controller.carry_out))


if __name__ == "__main__":
    main()
