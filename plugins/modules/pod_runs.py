#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record and read the runs on pods."""

from __future__ import annotations

DOCUMENTATION = r"""
module: pod_runs
short_description: Record and read the runs on pods
description:
  - Keeps a record of the runs of playbooks on pods in the file C(runs.jsonl), which only its owner can read. It has one
    JSON object a line, one when a run starts and one when it ends.
  - A run without an end failed or was killed, or is still at work if it holds a lock of M(ipu.pod.pod_lock).
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes
attributes:
  diff_mode: {support: none}
  idempotent: {support: partial, details: "A run starts once, but can end again."}
options:
  state:
    description:
      - V(started) writes that this run has started, once.
      - V(ended) writes that it has come to its end, and how.
      - V(gathered) only reads.
    type: str
    choices: [started, ended, gathered]
    default: gathered
  pods: {description: Names of the pods that the run may change., type: list, elements: str, default: []}
  limit: {description: What the run was limited to., type: str, default: ""}
  steps: {description: "What the run has done. Without it, that is not known.", type: list, elements: dict}
  result:
    description: How the run has ended; V(not verified) where nothing has shown yet that what it has done works.
    type: str
    choices: [done, partly done, not verified]
    default: done
  of_plan:
    description: Whether O(steps) and O(result) are those of the plan of M(ipu.pod.decide).
    type: bool
    default: false
  directory: {description: "Where the record is, beside the locks.", type: path, default: /var/lib/ipu-pod}
  keep: {description: How many runs are kept., type: int, default: 1000}
  run: {description: This run. Filled in on the control node., type: dict}
notes:
  - Has to be run through its action plugin, as a task of a playbook does.
"""

EXAMPLES = r"""
- name: Read the latest runs
  ipu.pod.pod_runs:
    keep: 20
  register: found
  delegate_to: ctrl001

- name: Show the latest runs
  ansible.builtin.debug:
    msg: "{{ found.table }}"
"""

RETURN = r"""
runs:
  description: The latest runs, the last one last.
  returned: O(state=gathered)
  type: list
  elements: dict
  contains:
    user: {description: Who started it., type: str}
    host: {description: On which control node., type: str}
    process: {description: Its process there., type: int}
    playbook: {description: What was run., type: str}
    pods: {description: The pods that it could change., type: list, elements: str}
    limit: {description: What it was limited to., type: str}
    started: {description: "When, in UTC.", type: str}
    ended: {description: "When, in UTC, or null.", type: str}
    result: {description: "C(at work), C(did not end), or as O(result).", type: str}
    steps:
      description:
        - What it changed, each with C(device), C(layer), C(action), C(kind), C(name), C(reason) and C(risk). Null where
          that is not known.
      type: list
      elements: dict
table: {description: The same as lines for a person., returned: O(state=gathered), type: list, elements: str}
"""

import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.store import Store
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._runs.lock import lock_of
from ansible_collections.ipu.pod.plugins.module_utils._runs.records import (
    ENTIRELY_DONE,
    FILE,
    OUTCOMES,
    Record,
    end,
    latest,
    records_from,
    runs_of,
    start,
    table_of,
    text_of,
)
from ansible_collections.ipu.pod.plugins.module_utils._runs.run import Run, moment, run_from

ARGUMENTS = {
    "state": {"type": "str", "choices": ["started", "ended", "gathered"], "default": "gathered"},
    "pods": {"type": "list", "elements": "str", "default": []},
    "limit": {"type": "str", "default": ""},
    "steps": {"type": "list", "elements": "dict"},
    "result": {"type": "str", "choices": list(OUTCOMES), "default": ENTIRELY_DONE},
    # The control node alone knows the plan: the action plugin turns this into steps and a result.
    "of_plan": {"type": "bool", "default": False},
    "directory": {"type": "path", "default": "/var/lib/ipu-pod"},
    "keep": {"type": "int", "default": 1000},
    "run": {"type": "dict"},
}


def main() -> None:
    """Write, or read."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    store = Store(module.params["directory"])
    try:
        if module.params["state"] == "gathered":
            _gather(module, store)
        if module.params["run"] is None:
            raise Refused("run: pod_runs does not know which it is; write a task of a playbook, with ipu.pod.pod_runs")
        run = run_from(module.params["run"])
        if module.check_mode:
            module.exit_json(changed=_written(module, _records(store), run) != _records(store))
        with store.alone():
            before = _records(store)
            after = _written(module, before, run)
            if after != before:
                store.write(FILE, text_of(after), 0o600)
        module.exit_json(changed=after != before)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False)


def _gather(module: AnsibleModule, store: Store) -> None:
    records = latest(_records(store), module.params["keep"])
    pods = {pod for record in records for pod in record.get("pods", [])}
    locks = [lock_of(pod, store) for pod in sorted(pods)]
    runs = runs_of(records, [lock.holder.identity for lock in locks if lock])
    module.exit_json(changed=False, runs=runs, table=table_of(runs))


def _written(module: AnsibleModule, records: list[Record], run: Run) -> list[Record]:
    now = moment(time.time())
    if module.params["state"] == "started":
        after = start(records, run, module.params["pods"], module.params["limit"], now)
    else:
        after = end(records, run, module.params["steps"], now, module.params["result"])
    return latest(after, module.params["keep"])


def _records(store: Store) -> list[Record]:
    return records_from(store.read(FILE) or "", store.path(FILE))


if __name__ == "__main__":
    main()
