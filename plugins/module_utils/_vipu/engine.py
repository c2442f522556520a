# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of every V-IPU module that makes changes: one read, one plan, one step after the other, one read.

Never two steps at once: whether a controller takes admin commands side by side is not published, and a failure has to
say exactly what was done.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Sequence

from .._plan.converge import DeviceError, Outcome, Refused, converge, one_by_one
from .._plan.module import run
from .._plan.steps import CREATE, State, Step
from .access import AccessKeys
from .connection import controller_of
from .declared import Declared, Policy, relevant_kinds, unmanaged, wanted
from .entities import ALLOCATION, PARTITION, USER
from .lock import lock_of, only_writer
from .options import declared_by, policy_of
from .planner import plan, trouble
from .settle import read_settled


@dataclass
class Engine:
    """Makes one controller hold what is declared.

    ``wait_timeout`` is how long declared partitions may be on their way, in seconds. With ``may_be_missing``, a
    controller that does not answer counts as empty. ``predicted`` is what earlier steps would have led to, by kind,
    which is not read.
    """

    controller: Any
    declared: Declared
    policy: Policy
    keys: AccessKeys
    wait_timeout: float
    may_be_missing: bool = False
    predicted: State | None = None

    def __post_init__(self) -> None:
        self._made_by_size: set[str] = set()

    def read(self) -> State:
        """The state, with declared partitions no longer on their way."""
        kinds = relevant_kinds(self.declared, self.policy)
        predicted = self.predicted or {}
        return {**self._read(kinds), **{kind: predicted[kind] for kind in kinds if kind in predicted}}

    def _read(self, kinds: Sequence[str]) -> State:
        try:
            return read_settled(self.controller, kinds, list(wanted(self.declared)[PARTITION]), self.wait_timeout)
        except DeviceError:
            if self.may_be_missing:
                return {kind: {} for kind in kinds}
            raise

    def plan(self, actual: State) -> list[Step]:
        """The ordered steps."""
        return plan(self._expected(), actual, self.policy)

    def _expected(self) -> Declared:
        """The declared entities, without the agents of allocations that could only be made by size."""
        if not self._made_by_size:
            return self.declared
        allocations = [
            {key: value for key, value in each.items() if key != "agents" or each["name"] not in self._made_by_size}
            for each in self.declared[ALLOCATION]
        ]
        return {**self.declared, ALLOCATION: allocations}

    def carry_out(self, step: Step) -> None:
        """Do one step."""
        if (step.action, step.kind) == (CREATE, USER):
            self.keys.receive(step.name, lambda: str(self.controller.create_user(step.name, step.after)))
            return
        self.controller.carry_out(step)
        names_agents = (step.action, step.kind) == (CREATE, ALLOCATION) and (step.after or {}).get("agents")
        if names_agents and not self.controller.allocates_by_agents():
            self._made_by_size.add(step.name)

    def verify(self, state: State) -> str:
        """The problems of declared partitions that exist; empty if there are none."""
        return trouble(self.declared, state)

    def converge(self, check_mode: bool) -> Outcome:
        """The whole course, or in check mode what it would be."""
        return converge(self.read, self.plan, one_by_one(self.carry_out), check_mode, self.verify)


def run_module(module: Any, kinds: Sequence[str]) -> None:
    """Do what an ``AnsibleModule`` with the options for these kinds asks, and end it."""
    params, declared = module.params, declared_by(module.params)
    keys = AccessKeys(params.get("key_directory") or "", bool(params.get("return_keys")))
    engine = Engine(
        controller_of(module),
        declared,
        policy_of(params),
        keys,
        params["wait_timeout"],
        may_be_missing=module.check_mode and params["new_controller"],
        predicted=params["predicted"] if module.check_mode else None,
    )

    def extra(outcome: Outcome) -> dict[str, Any]:
        for sentence in keys.lost(_kept_users(declared, outcome)):
            module.warn(sentence)
        found: dict[str, Any] = {"unmanaged": unmanaged(declared, outcome.after or outcome.before, kinds)}
        return dict(found, access_keys=keys.kept) if keys.kept else found

    lock = only_writer(lock_of(params["api_port"]), module._name, params["lock_timeout"])
    try:
        with contextlib.nullcontext() if module.check_mode else lock:
            run(module, engine.read, engine.plan, one_by_one(engine.carry_out), engine.verify, extra)
    except Refused as error:
        module.fail_json(msg=str(error), changed=False)


def _kept_users(declared: Declared, outcome: Outcome) -> list[str]:
    """The declared users that were there before and still are, so that nobody gets to see their keys now."""
    created = {step.name for step in outcome.steps if (step.action, step.kind) == (CREATE, USER)}
    return [name for name in wanted(declared)[USER] if name in outcome.before.get(USER, {}) and name not in created]
