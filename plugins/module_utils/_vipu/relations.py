# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules between entities: references, sharing, room, IPU-Link domains. Pure.

Only what is about to be created is judged; the rest of the state is somebody else's business.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Iterator, Mapping

from .._plan.steps import Fields, State
from .entities import AGENT, ALLOCATION, CLUSTER, KINDS, PARTITION, plural
from .fields import referred
from .sizes import IPUS_PER_MACHINE

Created = Mapping[str, Mapping[str, Fields]]


def relation_findings(after: State, created: Created) -> Iterator[str]:
    """One sentence for everything in ``created`` that would not fit together in the state ``after`` the plan."""
    dangling = list(_dangling(after, created))
    yield from dangling
    # What refers to nothing has no relations to judge.
    if not dangling:
        yield from _same_machine(after, created)
        yield from _shared_agents(after, created)
        yield from _outside_the_cluster(after, created)
        yield from _overfull_clusters(after, created)
        yield from _overfull_allocations(after, created)
        yield from _cut_gcds(after, created)


def _dangling(after: State, created: Created) -> Iterator[str]:
    for kind in KINDS:
        for name, fields in created.get(kind, {}).items():
            for field, other, wanted in referred(kind, fields):
                if wanted not in after[other]:
                    yield (
                        f"{kind} {name}: {field} names {other} {wanted!r}, which is neither on the controller nor "
                        f"declared; declare it under {plural(other)} or correct the name"
                    )


def _same_machine(after: State, created: Created) -> Iterator[str]:
    if not created.get(AGENT):
        return
    owners: dict[tuple[str, int], str] = {}
    for name, fields in after[AGENT].items():
        host, port = fields["host"], fields.get("port", 0)
        other = owners.setdefault((host, port), name)
        if other != name and {name, other} & created[AGENT].keys():
            yield f"agent {name}: {host}:{port} is already agent {other}; correct the host or leave one out"


def _shared_agents(after: State, created: Created) -> Iterator[str]:
    for kind in (CLUSTER, ALLOCATION):
        if not created.get(kind):
            continue
        owners: dict[str, str] = {}
        for name, fields in after[kind].items():
            for agent in fields.get("agents") or ():
                other = owners.setdefault(agent, name)
                if other != name and {name, other} & created[kind].keys():
                    yield f"{kind} {name}: agent {agent} is already in {kind} {other}; an agent belongs to one {kind}"


def _outside_the_cluster(after: State, created: Created) -> Iterator[str]:
    for name, fields in created.get(ALLOCATION, {}).items():
        cluster = fields["cluster"]
        members = set(after[CLUSTER][cluster]["agents"])
        for agent in fields.get("agents") or ():
            if agent not in members:
                yield f"allocation {name}: agent {agent} is not in cluster {cluster}; use agents of that cluster"


def _overfull_clusters(after: State, created: Created) -> Iterator[str]:
    inside = _sizes_by(ALLOCATION, "cluster", after)
    for cluster in sorted({fields["cluster"] for fields in created.get(ALLOCATION, {}).values()}):
        ipus = len(after[CLUSTER][cluster]["agents"]) * IPUS_PER_MACHINE
        yield from _overfull(CLUSTER, cluster, ipus, inside[cluster], plural(ALLOCATION))


def _overfull_allocations(after: State, created: Created) -> Iterator[str]:
    inside = _sizes_by(PARTITION, "allocation", after)
    for allocation in sorted({fields["allocation"] for fields in created.get(PARTITION, {}).values()}):
        ipus = after[ALLOCATION][allocation]["size"]
        yield from _overfull(ALLOCATION, allocation, ipus, inside[allocation], plural(PARTITION))


def _overfull(kind: str, name: str, ipus: int, inside: Mapping[str, int], what: str) -> Iterator[str]:
    needed = sum(inside.values())
    if needed > ipus:
        listed = ", ".join(f"{child} ({size})" for child, size in sorted(inside.items()))
        yield f"{kind} {name}: its {what} {listed} need {needed} IPUs, but it has {ipus}; enlarge it or remove one"


def _sizes_by(kind: str, field: str, state: State) -> Mapping[str, Mapping[str, int]]:
    """Parent to the sizes of its children."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for name, fields in state[kind].items():
        found[fields[field]][name] = fields["size"]
    return found


def _cut_gcds(after: State, created: Created) -> Iterator[str]:
    """A GCD lies in one IPU-Link domain, however large the partition."""
    for name, fields in created.get(PARTITION, {}).items():
        cluster = after[ALLOCATION][fields["allocation"]]["cluster"]
        ipus, gcds, size = _ipus_per_ild(after[CLUSTER][cluster]), fields.get("gcds") or 1, fields["size"]
        if size // gcds > ipus:
            yield (
                f"partition {name}: gcds: a GCD lies in one IPU-Link domain, and those of cluster {cluster} have "
                f"{ipus} IPUs; use at least {-(-size // ipus)} GCDs"
            )


def _ipus_per_ild(cluster: Mapping[str, Any]) -> int:
    return len(cluster["agents"]) * IPUS_PER_MACHINE // int(cluster.get("ipu_link_domains", 1))
