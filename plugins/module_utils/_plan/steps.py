# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a plan, and the state that they lead to. Pure: no Ansible, no input or output.

A state is ``{kind: {name: {field: value}}}`` with plain values, for example
``{"agent": {"pod001-ipum1": {"host": "10.2.1.1", "port": 8080}}}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Sequence

Fields = Dict[str, Any]
State = Dict[str, Dict[str, Fields]]

CREATE, UPDATE, REMOVE, RECREATE = "create", "update", "remove", "recreate"

NO_RISK, DISRUPTIVE, DESTRUCTIVE, TENANT_OUTAGE = "none", "disruptive", "destructive", "tenant outage"


@dataclass(frozen=True)
class Step:
    """One thing to do to one named thing.

    ``before`` and ``after`` are the whole fields of the thing (None: it is not there). Fields that nobody can know
    before the step has run are left out of ``after``. ``once`` is sent with the step and can never be read back.
    """

    action: str
    kind: str
    name: str
    reason: str
    risk: str = NO_RISK
    before: Fields | None = None
    after: Fields | None = None
    once: Fields | None = None

    def public(self) -> dict[str, str]:
        """The step as modules return it in ``plan``."""
        return {"action": self.action, "kind": self.kind, "name": self.name, "reason": self.reason, "risk": self.risk}


def changed_fields(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> Fields:
    """The wanted fields that differ from what is there. A wanted value of None means "keep what is there"."""
    return {field: value for field, value in wanted.items() if value is not None and before.get(field) != value}


def reason_for(before: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """One readable sentence part per changed field: ``mtu is 1500, wanted 9000``."""
    return ", ".join(f"{field} is {before.get(field)!r}, wanted {changes[field]!r}" for field in sorted(changes))


def predict(actual: State, steps: Sequence[Step]) -> State:
    """The state after the steps have been carried out on ``actual``, which is left as it is."""
    state = {kind: {name: dict(fields) for name, fields in names.items()} for kind, names in actual.items()}
    for step in steps:
        names = state.setdefault(step.kind, {})
        if step.after is None:
            names.pop(step.name, None)
        else:
            names[step.name] = dict(step.after)
    return state


def diff_of(steps: Sequence[Step]) -> dict[str, State]:
    """Before and after of what the steps touch, each with only the fields that differ, in Ansible's diff form."""
    before: State = {}
    after: State = {}
    for step in steps:
        old, new = step.before or {}, step.after or {}
        fields = [field for field in {**old, **new} if field not in old or field not in new or old[field] != new[field]]
        if step.before is not None:
            before.setdefault(step.kind, {})[step.name] = {field: old[field] for field in fields if field in old}
        if step.after is not None:
            after.setdefault(step.kind, {})[step.name] = {field: new[field] for field in fields if field in new}
    return {"before": before, "after": after}
