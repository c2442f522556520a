#!/usr/bin/python
# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take, renew and release the lock of a pod."""

from __future__ import annotations

DOCUMENTATION = r"""
module: pod_lock
short_description: Locks of pods, so that one run at a time changes a pod
description:
  - Takes, renews or releases the locks of pods for this run of a playbook. A lock is a file C(POD.lock) that names its
    holder, control node, process and time. A lock that another run holds is refused.
  - The lock of a run on the same control node holds as long as its process lives. The lock of a run elsewhere is a
    lease. It holds for O(lease) minutes after it was last renewed.
  - A lock whose holder is dead, or whose lease has ended, is taken over with a warning.
  - In check mode it only warns of locks that other runs hold.
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
extends_documentation_fragment: ipu.pod._attributes
attributes:
  diff_mode: {support: none}
options:
  pods: {description: "Names of the pods. All of them are locked, or none.", type: list, elements: str, required: true}
  state:
    description:
      - V(held) takes the locks, or renews those that this run has.
      - V(renewed) renews the locks, and fails where this run has one no more.
      - V(free) releases those that this run has.
    type: str
    choices: [held, renewed, free]
    default: held
  directory: {description: Where the locks are. Made when it is needed., type: path, default: /var/lib/ipu-pod}
  lease: {description: "How long a lock holds without being renewed, in minutes.", type: int, default: 60}
  maximum_age:
    description: How long a run may hold a lock altogether, in minutes. Then O(state=renewed) leaves the lease as it is.
    type: int
    default: 1440
  run: {description: This run. Filled in on the control node., type: dict}
  gone: {description: Runs known to be dead. Filled in on the control node., type: list, elements: str, default: []}
notes:
  - Has to be run through its action plugin, as a task of a playbook does.
"""

EXAMPLES = r"""
- name: Take the lock of pod001
  ipu.pod.pod_lock:
    pods: [pod001]
  delegate_to: ctrl001

- name: Renew the lock of pod001 before something is removed
  ipu.pod.pod_lock:
    pods: [pod001]
    state: renewed
  delegate_to: ctrl001

- name: Release the lock of pod001
  ipu.pod.pod_lock:
    pods: [pod001]
    state: free
  delegate_to: ctrl001
"""

RETURN = r"""
locks:
  description:
    - The locks that are held now, pod name to C(user), C(host), C(process), C(playbook), C(since), C(renewed) and
      C(lease) in minutes, and what tells the process from others. On a refusal those that are in the way.
  returned: always
  type: dict
  sample:
    pod001: {user: alice, host: control1, process: 4711, playbook: site.yml, since: "2026-11-21T14:02:11Z"}
taken:
  description: The pods whose locks were not this run's before. Without those that were renewed.
  returned: success
  type: list
  elements: str
"""

import socket
import time
from typing import Any, Iterable

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ipu.pod.plugins.module_utils._host.store import Store
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._runs.lock import Lock, held, hold, lock_name, lock_of, renew
from ansible_collections.ipu.pod.plugins.module_utils._runs.run import Run, run_from

ARGUMENTS = {
    "pods": {"type": "list", "elements": "str", "required": True},
    "state": {"type": "str", "choices": ["held", "renewed", "free"], "default": "held"},
    "directory": {"type": "path", "default": "/var/lib/ipu-pod"},
    "lease": {"type": "int", "default": 60},
    "maximum_age": {"type": "int", "default": 1440},
    "run": {"type": "dict"},
    "gone": {"type": "list", "elements": "str", "default": []},
}


def main() -> None:
    """Take, renew or give back."""
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    store = Store(module.params["directory"])
    try:
        if module.params["run"] is None:
            raise Refused(
                "run: pod_lock does not know who it is for; write a task of a playbook, with ipu.pod.pod_lock"
            )
        run = run_from(module.params["run"])
        if module.check_mode:
            _predict(module, store, run)
        with store.alone():
            there = {pod: lock_of(pod, store) for pod in module.params["pods"]}
            if module.params["state"] == "held":
                _hold(module, store, run, there)
            if module.params["state"] == "renewed":
                _renew(module, store, run, there)
            _free(module, store, run, there)
    except (Refused, DeviceError) as error:
        module.fail_json(msg=str(error), changed=False, locks={})


def _predict(module: AnsibleModule, store: Store, run: Run) -> None:
    """Warn of other holders. A user who may only read may not see them, which is no reason to fail."""
    found: dict[str, Lock | None] = {}
    for pod in module.params["pods"]:
        try:
            found[pod] = lock_of(pod, store)
        except (Refused, DeviceError) as error:
            module.warn(f"Who holds {pod} is not known: {error}")
    for lock in found.values():
        if lock and not lock.is_of(run):
            module.warn(held(lock))
    wants = module.params["state"] != "free"
    differs = any(wants != bool(lock and lock.is_of(run)) for lock in found.values())
    module.exit_json(changed=differs, locks=_public(found.values()), taken=[])


def _hold(module: AnsibleModule, store: Store, run: Run, there: dict[str, Lock | None]) -> None:
    mine: list[Lock] = []
    for pod, lock in there.items():
        try:
            path = _place(store, pod)
            got, warning = hold(pod, lock, run, module.params["lease"], time.time(), module.params["gone"], path)
        except Refused as error:
            others = [lock for lock in there.values() if lock and not lock.is_of(run)]
            module.fail_json(msg=str(error), changed=False, locks=_public(others))
        if warning:
            module.warn(warning)
        mine.append(got)
    _write(store, mine)
    taken = [pod for pod, lock in there.items() if not (lock and lock.is_of(run))]
    module.exit_json(changed=bool(taken), locks=_public(mine), taken=taken)


def _renew(module: AnsibleModule, store: Store, run: Run, there: dict[str, Lock | None]) -> None:
    lease, maximum_age = module.params["lease"], module.params["maximum_age"]
    mine = [renew(pod, lock, run, lease, maximum_age, time.time(), _place(store, pod)) for pod, lock in there.items()]
    _write(store, mine)
    module.exit_json(changed=False, locks=_public(mine), taken=[])


def _place(store: Store, pod: str) -> str:
    """Where a pod's lock is, for a person."""
    return f"{store.path(lock_name(pod))} on {socket.gethostname()}"


def _write(store: Store, locks: Iterable[Lock]) -> None:
    for lock in locks:
        store.write(lock_name(lock.pod), lock.text(), 0o644)


def _free(module: AnsibleModule, store: Store, run: Run, there: dict[str, Lock | None]) -> None:
    mine = [lock for lock in there.values() if lock and lock.is_of(run)]
    for lock in mine:
        store.remove(lock_name(lock.pod))
    others = [lock for lock in there.values() if lock not in mine]
    module.exit_json(changed=bool(mine), locks=_public(others), taken=[])


def _public(locks: Iterable[Lock | None]) -> dict[str, dict[str, Any]]:
    return {lock.pod: lock.public() for lock in locks if lock}


if __name__ == "__main__":
    main()
