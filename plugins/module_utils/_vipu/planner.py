# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared V-IPU entities against what the controller holds, as ordered steps. Pure."""

from __future__ import annotations

from typing import Dict, Iterator, Mapping, Tuple

from .._plan.converge import Refused
from .._plan.steps import CREATE, State, Step, changed_fields, predict, reason_for
from .declared import Declared, Policy, Purge, creation_only, double_findings, readable, unwanted, wanted
from .entities import ACTIVE, ALLOCATION, CLUSTER, ERROR, KINDS, PARTITION, USER
from .fields import in_same_order
from .relations import relation_findings
from .removals import Dependents, blocked, removal_steps
from .rules import entity_findings

DECLARED_ABSENT = "is declared absent"
# What goes and why, by kind and name.
Reasons = Dict[Tuple[str, str], str]


def plan(declared: Declared, actual: State, policy: Policy = Policy()) -> list[Step]:  # noqa: B008  (immutable)
    """The steps that make ``actual`` what is declared: removals from children to parents, then creations.

    What is neither declared nor in the purge's scope is left alone.

    Raises:
        Refused: a rule is broken, or more would have to go than the policy allows. Says all that is wrong.
    """
    actual = {kind: actual.get(kind, {}) for kind in KINDS}
    declared_state = _in_cluster_order(wanted(declared), actual)
    differing = _differing(declared_state, actual)
    purged = _purged(declared, actual, policy.purge)
    problems = double_findings(declared) + list(_too_many(purged, policy.purge))
    if not policy.allow_recreate:
        problems += [
            f"{kind} {name}: {reason}; V-IPU cannot change it: declare what is there, remove it first, or set "
            "allow_recreate"
            for (kind, name), reason in differing.items()
        ]
    _refuse(problems)
    goes = {**_declared_absent(declared, actual), **purged, **differing}
    dependents = Dependents(actual)
    again = dependents.of(differing)
    goes.update({entity: reason for entity, reason in again.items() if entity not in goes})
    problems += blocked(goes, again, declared_state, dependents)
    removals = removal_steps(goes, actual, dependents)
    creations = list(_creations(declared_state, actual, goes))
    problems += _creation_problems(creations, predict(actual, removals + creations), policy)
    _refuse(problems)
    return removals + creations


def troubles(declared: Declared, state: State) -> dict[str, tuple[str, str]]:
    """Declared partitions that exist and do not work, by name: what is wrong, and the remedy."""
    found = {}
    for name in wanted(declared)[PARTITION]:
        fields = state[PARTITION].get(name, {})
        status = fields.get("status", ACTIVE)
        if status == ERROR:
            errors = "; ".join(fields.get("errors") or ["the controller does not say why"])
            remedy = "put that right, then reset the partition with vipu_action, or remove it"
            found[name] = (f"partition {name} is in {ERROR}: {errors}", remedy)
        elif status != ACTIVE:
            found[name] = (f"partition {name} is still {status}", "run again later, or raise wait_timeout")
    return found


def trouble(declared: Declared, state: State) -> str:
    """The same in a sentence; empty if all of them work."""
    return "; ".join(f"{what}; {remedy}" for what, remedy in troubles(declared, state).values())


def _refuse(problems: list[str]) -> None:
    if problems:
        raise Refused("; ".join(problems))


def _in_cluster_order(declared: State, actual: State) -> State:
    """The declared state with the agents of allocations in the order of their cluster, as the controller has them."""
    clusters = {**actual[CLUSTER], **declared[CLUSTER]}
    allocations = {}
    for name, fields in declared[ALLOCATION].items():
        place = {agent: index for index, agent in enumerate(clusters.get(fields["cluster"], {}).get("agents", ()))}
        agents = fields.get("agents")
        in_order = agents and sorted(agents, key=lambda agent: place.get(agent, len(place)))
        allocations[name] = {**fields, "agents": in_order} if in_order else fields
    return {**declared, ALLOCATION: allocations}


def _differing(declared: State, actual: State) -> Reasons:
    """Entities that exist with other fields than declared."""
    found: Reasons = {}
    for kind in KINDS:
        for name, fields in declared[kind].items():
            there = actual[kind].get(name)
            if there is not None:
                changes = changed_fields(there, in_same_order(kind, there, readable(kind, fields)))
                if changes:
                    found[kind, name] = reason_for(there, changes)
    return found


def _declared_absent(declared: Declared, actual: State) -> Reasons:
    absent = unwanted(declared)
    return {(kind, name): DECLARED_ABSENT for kind in KINDS for name in absent[kind] if name in actual[kind]}


def _purged(declared: Declared, actual: State, purge: Purge) -> Reasons:
    found: Reasons = {}
    for kind in (ALLOCATION, PARTITION):
        names = {entity["name"] for entity in declared.get(kind, ())}
        for name, fields in actual[kind].items():
            reason = "" if name in names else purge.reason(kind, name, fields)
            if reason:
                found[kind, name] = reason
    return found


def _too_many(purged: Reasons, purge: Purge) -> Iterator[str]:
    if len(purged) > purge.max_deletions:
        listed = ", ".join(f"{kind} {name}" for kind, name in sorted(purged))
        yield (
            f"purge: {len(purged)} deletions ({listed}) are more than max_deletions {purge.max_deletions}; raise it "
            "if they are all meant, or name in ignore what is to stay"
        )


def _creations(declared: State, actual: State, goes: Mapping[tuple[str, str], str]) -> Iterator[Step]:
    for kind in KINDS:
        for name, fields in declared[kind].items():
            again = (kind, name) in goes
            if again or name not in actual[kind]:
                reason = "was removed and is created again" if again else "is not there"
                after, once = readable(kind, fields), creation_only(kind, fields)
                yield Step(CREATE, kind, name, reason, after=after, once=once or None)


def _creation_problems(creations: list[Step], after: State, policy: Policy) -> list[str]:
    created: State = {}
    problems: list[str] = []
    for step in creations:
        fields = {**(step.after or {}), **(step.once or {})}
        created.setdefault(step.kind, {})[step.name] = fields
        problems += entity_findings(step.kind, step.name, fields, policy.rules)
        if step.kind == USER and not policy.keeps_keys:
            problems.append(
                f"user {step.name}: its access key is shown at creation only and would be lost; set key_directory or "
                "return_keys"
            )
    return problems or list(relation_findings(after, created))
