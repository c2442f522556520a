# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The licences that are held out, since their IPUs cannot be had: IPU-Machines that are down, partitions of others.

An IPU that is away for two reasons counts twice, so these are rather too many than too few.
"""

from __future__ import annotations

from typing import Collection, Iterator, Sequence, Tuple

from .._plan.steps import State
from .._slurm_host.host_list import folded
from .._vipu.cli import Controller
from .._vipu.entities import AGENT, ALLOCATION, PARTITION
from .._vipu.sizes import IPUS_PER_MACHINE
from . import dynamic, mapping
from .settings import DYNAMIC, MAPPING, STATIC, Settings
from .slurm import Slurm

KINDS = (AGENT, ALLOCATION, PARTITION)
# Of agents, without regard to capitals.
UP = "up"

# A number of IPUs, and why they cannot be had.
Away = Tuple[int, str]


def hold_out(settings: Settings, controller: Controller, slurm: Slurm) -> str:
    """Hold out what cannot be had now. Returns what has changed, empty if nothing has.

    Raises:
        DeviceError: no answer; what is held out stays.
    """
    if settings.way == STATIC:
        # It has no licences.
        return ""
    state = controller.read(KINDS)
    away = [*machines_away(settings, state), *partitions_away(settings, state)]
    wanted, before = licences_away(settings, len(machines_of(settings, state)), away), slurm.held_out()
    if wanted == before:
        return ""
    slurm.hold_out(wanted)
    why = "; ".join(why for _ipus, why in away) or "all of them can be had"
    return f"holds out {wanted} of {settings.ipus} IPUs, {before} before: {why}"


def machines_away(settings: Settings, state: State) -> Iterator[Away]:
    """The vPOD's IPU-Machines that no job can have."""
    if settings.way != MAPPING and settings.allocation not in state[ALLOCATION]:
        yield 0, f"allocation {settings.allocation}: not there"
    by_reason: dict[str, list[str]] = {}
    for machine in machines_of(settings, state):
        by_reason.setdefault(_reason(settings, state, machine), []).append(machine)
    for reason, machines in by_reason.items():
        if reason:
            yield len(machines) * IPUS_PER_MACHINE, f"{folded(machines)}: {reason}"


def _reason(settings: Settings, state: State, machine: str) -> str:
    """Why no job can have an IPU-Machine; empty if one can."""
    status: str = state[AGENT].get(machine, {"status": "not there"})["status"]
    if status.lower() != UP:
        return status
    for name, fields in state[ALLOCATION].items():
        if settings.way == MAPPING and machine in fields["agents"] and not mapping.NAME.fullmatch(name):
            return f"in allocation {name}"
    return ""


def machines_of(settings: Settings, state: State) -> Sequence[str]:
    """The vPOD's IPU-Machines, ILD by ILD."""
    if settings.way == MAPPING:
        there = [machine for machines in settings.mapping.values() for machine in machines]
    else:
        there = state[ALLOCATION].get(settings.allocation, {"agents": []})["agents"]
    order = list(settings.ipu_machines.values())
    return sorted(there, key=lambda machine: order.index(machine) if machine in order else len(order))


def partitions_away(settings: Settings, state: State, jobs: Collection[int] | None = None) -> Iterator[Away]:
    """The partitions in the vPOD that are no job's. What jobs make in their own allocations is theirs.

    ``jobs`` are those that have IPUs now; without them, a partition that is called as a job's is a job's.
    """
    declared = {partition.name for partition in settings.partitions}
    for name, fields in state[PARTITION].items():
        job = dynamic.NAME.fullmatch(name) if settings.way == DYNAMIC else None
        is_a_jobs = job and (jobs is None or int(job[1]) in jobs)
        if fields["allocation"] == settings.allocation != "" and name not in declared and not is_a_jobs:
            yield fields["size"], f"partition {name}: no job's, with {fields['size']} IPUs"


def licences_away(settings: Settings, machines: int, away: Sequence[Away]) -> int:
    """How many licences to hold out: all but those whose IPUs are left of the vPOD with so many IPU-Machines."""
    left = machines * IPUS_PER_MACHINE - sum(ipus for ipus, _why in away)
    return max(0, min(settings.ipus, settings.ipus - left))
