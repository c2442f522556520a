#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test a cluster, reset a partition, remove a partition by force: what is done once, and is no state."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vipu_action
short_description: Test a V-IPU cluster, reset a partition or remove one by force
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
description:
  - Does one thing once. It is no state, so each run does it again.
  - Refused while IPUs that it affects are in use. The module cannot see that itself; the caller says it in O(in_use),
    and unknown counts as in use.
extends_documentation_fragment: [ipu.pod._attributes, ipu.pod._vipu, ipu.pod._vipu.admin]
attributes:
  check_mode: {support: full, details: "Refuses as a real run does, and returns what it would do."}
  diff_mode: {support: none, details: An action is no difference of state. RV(plan) describes it.}
  idempotent: {support: none, details: An action is done each time.}
options:
  action:
    description:
      - V(test_cluster) tests versions, cabling and links of a cluster, and changes nothing that lasts.
      - V(reset_partition) trains the links of a partition anew and waits until it is C(ACTIVE).
      - V(remove_partition) removes a partition by force, whatever state it and its agents are in.
    type: str
    choices: [test_cluster, reset_partition, remove_partition]
    required: true
  name: {description: The cluster or partition., type: str, required: true}
  in_use: {description: "The partitions in use, V([]) for none. Without it that is unknown.", type: list, elements: str}
  even_in_use: {description: Do it even where IPUs may be in use. What runs there is lost., type: bool, default: false}
  wait_timeout: {description: "How long it may take, in seconds.", type: int, default: 120}
  lock_timeout:
    description: How long to wait, in seconds, for another run that changes the same controller from this host.
    type: int
    default: 0
seealso: [{module: ipu.pod.vipu_state}]
"""

EXAMPLES = r"""
- name: Test the cabling before the first tenant comes
  ipu.pod.vipu_action:
    action: test_cluster
    name: c001
    in_use: []

- name: Bring a partition back that ended in ERROR
  ipu.pod.vipu_action:
    action: reset_partition
    name: train
    in_use: "{{ partitions_with_queue_pairs }}"
"""

RETURN = r"""
plan:
  description: The one step, with action, kind, name, reason and risk.
  type: list
  elements: dict
  returned: success
  sample: [{action: reset, kind: partition, name: train, reason: is asked for, risk: tenant outage}]
before: {description: The cluster or partition before., type: dict, returned: success}
after:
  description: The cluster or partition after, null where it is gone. Not returned in check mode.
  type: dict
  returned: success, not in check mode
report: {description: What C(vipu-admin) says of it., type: str, returned: after V(test_cluster)}
"""

import contextlib
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._vipu.actions import (
    ACTIONS,
    REMOVE_PARTITION,
    RESET_PARTITION,
    TEST_CLUSTER,
    Use,
    step_of,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import (
    CONNECTION_OPTIONS,
    WAIT_TIMEOUT,
    controller_of,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import ALLOCATION, CLUSTER, PARTITION
from ansible_collections.ipu.pod.plugins.module_utils._vipu.lock import lock_of, only_writer

OPTIONS = dict(
    CONNECTION_OPTIONS,
    action={"type": "str", "choices": list(ACTIONS), "required": True},
    name={"type": "str", "required": True},
    in_use={"type": "list", "elements": "str"},
    even_in_use={"type": "bool", "default": False},
    wait_timeout={"type": "int", "default": WAIT_TIMEOUT},
    lock_timeout={"type": "int", "default": 0},
)


def act(module: AnsibleModule, controller: Controller) -> dict[str, Any]:
    """Do it, or in check mode find out what would be done. Returns the module's result."""
    action, name, kinds = module.params["action"], module.params["name"], (CLUSTER, ALLOCATION, PARTITION)
    use = Use(module.params["in_use"], module.params["even_in_use"])
    step = step_of(action, name, controller.read(kinds), use)
    result = {"changed": action != TEST_CLUSTER, "plan": [step.public()], "before": step.before}
    if not module.check_mode:
        result.update(carry_out(action, step, controller))
        result["after"] = controller.read((step.kind,))[step.kind].get(name)
    return result


def carry_out(action: str, step: Step, controller: Controller) -> dict[str, Any]:
    """Do the one step. Returns what it adds to the result."""
    if action == RESET_PARTITION:
        controller.reset_partition(step.name)
    elif action == REMOVE_PARTITION:
        controller.remove_partition_by_force(step.name)
    else:
        passed, report = controller.test_cluster(step.name)
        failed = {"failed": True, "msg": f"cluster {step.name} did not pass its test; see report"}
        return {"report": report, **({} if passed else failed)}
    return {}


def main() -> None:
    """Read, refuse or do."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    lock = lock_of(module.params["api_port"])
    what = f"vipu_action {module.params['action']} {module.params['name']}"
    try:
        with contextlib.nullcontext() if module.check_mode else only_writer(lock, what, module.params["lock_timeout"]):
            result = act(module, controller_of(module))
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
