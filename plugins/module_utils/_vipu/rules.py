# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a V-IPU controller would refuse, found before anything is sent. Pure."""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping

from .._plan.steps import State
from .._pod import sizes
from .entities import AGENT, ALLOCATION, CLUSTER, KINDS, PARTITION, plural, referred

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


def findings(after: State, changed: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """One sentence for everything wrong in what is about to be.

    Args:
        after: the whole state that the plan would lead to.
        changed: kind to the names that the plan creates; the rest of ``after`` is somebody else's business.
    """
    for kind in KINDS:
        for name in changed.get(kind, {}):
            fields = after[kind].get(name)
            if fields is None:
                continue
            if not NAME.fullmatch(name):
                yield f"{kind} {name!r}: a name has letters, digits, '.', '_' and '-', at most 64 of them"
            if kind == ALLOCATION:
                yield from _allocation(name, fields)
            if kind == PARTITION:
                yield from _partition(name, fields)
    yield from _dangling(after)
    yield from _shared_agents(after, changed)
    yield from _overfull(after, changed)


def _allocation(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    size = fields["size"]
    if not sizes.is_allocation_size(size):
        yield f"allocation {name}: {size} IPUs do not exist as an allocation; use {sizes.ALLOCATION_SIZES}"
    agents = fields.get("agents")
    if agents is not None and len(agents) * sizes.IPUS_PER_MACHINE != size:
        yield f"allocation {name}: {len(agents)} agents have {len(agents) * sizes.IPUS_PER_MACHINE} IPUs, not {size}"


def _partition(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    for field, message in sizes.partition_findings(
        fields["size"], fields.get("gcds"), fields.get("replicas"), bool(fields.get("reconfigurable"))
    ):
        yield f"partition {name}: {'size' if field == 'ipus' else field}: {message}"


def _dangling(after: State) -> Iterator[str]:
    for kind in KINDS:
        for name, fields in after[kind].items():
            for field, other, wanted in referred(kind, fields):
                if wanted not in after[other]:
                    yield (
                        f"{kind} {name}: {field} names {other} {wanted!r}, which is neither on the controller nor "
                        f"declared; declare it under {plural(other)} or correct the name"
                    )


def _shared_agents(after: State, changed: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for kind in (CLUSTER, ALLOCATION):
        owners: dict[str, str] = {}
        for name, fields in after[kind].items():
            for agent in fields.get("agents") or ():
                other = owners.setdefault(agent, name)
                if other != name and (name in changed.get(kind, {}) or other in changed.get(kind, {})):
                    yield f"{kind} {name}: agent {agent} is already in {kind} {other}; {AGENT}s belong to one {kind}"


def _overfull(after: State, changed: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for allocation in sorted({str(after[PARTITION][name]["allocation"]) for name in changed.get(PARTITION, {})}):
        if allocation not in after[ALLOCATION]:
            continue
        inside = {
            name: fields["size"] for name, fields in after[PARTITION].items() if fields["allocation"] == allocation
        }
        size = after[ALLOCATION][allocation]["size"]
        if sum(inside.values()) > size:
            listed = ", ".join(f"{name} ({ipus})" for name, ipus in sorted(inside.items()))
            yield (
                f"allocation {allocation}: its partitions {listed} need {sum(inside.values())} IPUs, "
                f"but it has {size}; enlarge it or remove one"
            )
