# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules for one entity by itself: names, sizes, limits. Pure.

The rules between entities are in :mod:`.relations`. Alignment is the controller's business.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import sizes
from .entities import AGENT, ALLOCATION, CLUSTER, PARTITION, USER
from .fields import C2_COMPATIBLE

# What begins with a dash would be an option of the programs, which are not known to end their options with "--".
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
AGENTS_PER_ILD = sizes.IPUS_PER_ILD // sizes.IPUS_PER_MACHINE


@dataclass(frozen=True)
class Rules:
    """The strictness of the rules for sizes.

    ``strict_sizes`` follows the guide's lists to the letter, which leave out 32 IPUs for partitions and GCDs.
    ``any_replica_size`` lets replicas have any number of IPUs instead of 1, 2 or 4.
    """

    strict_sizes: bool = False
    any_replica_size: bool = False


def entity_findings(kind: str, name: str, fields: Mapping[str, Any], rules: Rules) -> Iterator[str]:
    """One sentence for everything wrong in an entity that is about to be created."""
    if not NAME.fullmatch(name):
        yield (
            f"{kind} {name!r}: a name has letters, digits, '.', '_' and '-', at most 64 of them, and begins with a "
            "letter or a digit"
        )
    for finding in FINDINGS[kind](fields, rules):
        yield f"{kind} {name}: {finding}"


def doubles(names: Sequence[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def sync_findings(reconfigurable: bool, sync_type: str | None) -> Iterator[tuple[str, str]]:
    """Field and sentence for a sync type that no V-IPU controller would accept."""
    if reconfigurable and sync_type not in (None, C2_COMPATIBLE):
        yield ("sync_type", f"a reconfigurable partition has sync type {C2_COMPATIBLE}, not {sync_type}; leave it out")


def _agent(fields: Mapping[str, Any], _rules: Rules) -> Iterator[str]:
    if not fields["host"]:
        yield "host is empty; give the management address or name of the IPU-Machine's gateway"
    port = fields.get("port", 1)
    if not 1 <= port <= 65535:
        yield f"port: {port} is no TCP port; use 1 to 65535, usually 8080"


def _cluster(fields: Mapping[str, Any], _rules: Rules) -> Iterator[str]:
    agents, domains = fields["agents"], fields.get("ipu_link_domains", 1)
    yield from _listed_twice("agents", agents)
    if not agents:
        yield "agents is empty; list at least one agent"
    elif domains < 1 or len(agents) % domains:
        yield (
            f"ipu_link_domains: {len(agents)} agents cannot be split into {domains} equal IPU-Link domains; use a "
            f"divisor of {len(agents)}"
        )
    elif len(agents) // domains > AGENTS_PER_ILD:
        yield (
            f"ipu_link_domains: {len(agents) // domains} agents in one IPU-Link domain are more than "
            f"{AGENTS_PER_ILD}; use at least {-(-len(agents) // AGENTS_PER_ILD)} domains"
        )


def _allocation(fields: Mapping[str, Any], _rules: Rules) -> Iterator[str]:
    size, agents = fields["size"], fields.get("agents")
    if not sizes.is_allocation_size(size):
        yield f"size: {size} IPUs do not exist as an allocation; use {sizes.ALLOCATION_SIZES}"
    if agents is not None:
        yield from _listed_twice("agents", agents)
        ipus = len(agents) * sizes.IPUS_PER_MACHINE
        if ipus != size:
            yield f"agents: {len(agents)} agents have {ipus} IPUs, not {size}; correct the list or the size"


def _user(fields: Mapping[str, Any], _rules: Rules) -> Iterator[str]:
    yield from _listed_twice("allocations", fields.get("allocations") or [])


def _partition(fields: Mapping[str, Any], rules: Rules) -> Iterator[str]:
    size, gcds, replicas = fields["size"], fields.get("gcds"), fields.get("replicas")
    reconfigurable = bool(fields.get("reconfigurable"))
    findings = list(sizes.partition_findings(size, gcds, replicas, reconfigurable))
    if rules.strict_sizes:
        findings += sizes.strict_findings(size, gcds)
    if not rules.any_replica_size:
        findings += sizes.replica_findings(size, gcds, replicas)
    findings += sync_findings(reconfigurable, fields.get("sync_type"))
    for field, message in findings:
        yield f"{'size' if field == 'ipus' else field}: {message}"
    if fields.get("index", 0) < 0:
        yield f"index: {fields['index']} is no place; places are counted from 0"


def _listed_twice(field: str, names: list[str]) -> Iterator[str]:
    for name in doubles(names):
        yield f"{field}: {name} is listed twice; keep one"


FINDINGS: Mapping[str, Callable[[Mapping[str, Any], Rules], Iterator[str]]] = {
    AGENT: _agent,
    CLUSTER: _cluster,
    ALLOCATION: _allocation,
    USER: _user,
    PARTITION: _partition,
}
