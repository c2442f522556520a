# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of ``ipuinfo``: who has which IPUs, which are free, who waits and why."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Collection, Dict, Iterable, Iterator, List, Mapping, Sequence, Tuple

from .._plan.converge import DeviceError
from .._plan.steps import State
from .._slurm_host.host_list import folded
from .._text.line import printable
from .._text.table import aligned
from .._vipu.cli import Controller, NotDone
from .._vipu.entities import ACTIVE, AGENT, PARTITION
from .._vipu.sizes import IPUS_PER_ILD, IPUS_PER_MACHINE, is_partition_size
from .hold_out import KINDS, UP, licences_away, machines_away, machines_of, partitions_away
from .job import Job
from .note import ALLOCATION as ALLOCATION_NAME
from .note import GCDS, IPUS, PARTITIONS, WAITS, number
from .note import PARTITION as PARTITION_NAME
from .settings import DYNAMIC, MAPPING, RECONFIGURABLE, STATIC, Settings
from .slurm import COMPLETING, HOLDING, Slurm

JSON = "--json"
NOTHING = "-"
# Slurm's words: a job that has not started, and that nothing keeps a job from starting.
WAITING, NO_REASON = ("PENDING", "CONFIGURING"), "None"
# The ways in which Slurm counts all IPUs by licences.
LICENSED = (DYNAMIC, RECONFIGURABLE)
HEADINGS = ("JOB", "USER", "STATE", "PARTITION", "IPUS", "GCDS", "NODES", "IPU-MACHINES, OR WHY IT WAITS")

# An IPU: its IPU-Machine and its number there.
Ipu = Tuple[str, int]
# The IPUs of each partition, by its name.
Places = Dict[str, List[Ipu]]


@dataclass(frozen=True)
class JobReport:
    """A job that has IPUs or waits for some; state, name and nodes as Slurm's programs write them.

    Args:
        allocation: its own allocation, if it has one.
        ipus: how many IPUs it has or asks for; None where nothing says it.
        gcds: over how many GCDs; None where it has no partition.
        ipu_machines: its IPU-Machines, as far as they are known.
        waits: why it waits; empty if it does not.
    """

    job: int
    name: str
    user: str
    state: str
    partitions: list[str]
    allocation: str
    ipus: int | None
    gcds: int | None
    nodes: str
    ipu_machines: list[str]
    waits: str


@dataclass(frozen=True)
class Report:
    """Everything.

    Args:
        ipus: how many IPUs jobs can have in all.
        free_ipus: how many no job has now, and jobs can have.
        largest_free_block: how many of them lie together, so that one partition can have them; None if unknown.
        held_out_ipus: how many no job can have now.
        held_out: why, as far as that is known.
        unmapped_ipus: how many belong to no node.
        not_understood: a sentence for each job of which Slurm says something that is not understood.
        unknown: what could not be asked, as a sentence; empty if all could.
    """

    vpod: str
    way: str
    ipus: int
    free_ipus: int
    largest_free_block: int | None
    held_out_ipus: int
    held_out: list[str]
    unmapped_ipus: int
    jobs: list[JobReport]
    not_understood: list[str]
    unknown: str


def report(settings: Settings, words: Sequence[str], slurm: Slurm, controller: Controller | None) -> str:
    """Return the output of ``ipuinfo``; ``controller`` is None where it may not be asked.

    Raises:
        DeviceError: Slurm does not answer.
    """
    found = read_report(settings, slurm, controller)
    return json.dumps(asdict(found), indent=2) if JSON in words else "\n".join(map(printable, lines_of(found)))


def read_report(settings: Settings, slurm: Slurm, controller: Controller | None) -> Report:
    """Ask Slurm, then V-IPU if it may be asked."""
    people = slurm.owners_and_reasons()
    understood, not_understood = slurm.jobs()
    concerned = [job for job in understood if job.note or job.ipus]
    jobs = sorted(concerned, key=lambda job: (not _has_ipus(job), job.id))
    nodes = {job.id: slurm.hosts(job.nodes) if settings.way == MAPPING else [] for job in jobs}
    answer = _ask(settings, controller, jobs)
    # Slurm learns each minute of what V-IPU says now.
    known_to_slurm = 0 if settings.way == STATIC else slurm.held_out()
    held_out = max(known_to_slurm, answer.held_out)
    return Report(
        vpod=settings.vpod,
        way=settings.way,
        ipus=settings.ipus,
        free_ipus=(
            max(0, slurm.free_licenses() - (held_out - known_to_slurm))
            if settings.way in LICENSED
            else _free_ipus(settings, jobs, nodes, held_out, answer.room)
        ),
        largest_free_block=answer.block,
        held_out_ipus=held_out,
        held_out=answer.away,
        unmapped_ipus=_unmapped_ipus(settings) if settings.way == MAPPING else 0,
        jobs=[
            _job(job, *people.get(job.id, (str(job.uid), "")), _machines(settings, job, nodes[job.id], answer.places))
            for job in jobs
        ],
        not_understood=not_understood,
        unknown=answer.unknown,
    )


@dataclass(frozen=True)
class _VipuAnswer:
    """V-IPU's answer; with what it is where V-IPU did not answer.

    Args:
        places: where partitions are.
        away: why some IPUs cannot be had.
        held_out: how many licences are to be held out for that.
        block: the largest free block.
        room: partitions that are there, and how many IPUs are in none; None where that is not known.
        unknown: what could not be asked.
    """

    unknown: str
    places: Places = field(default_factory=dict)
    away: list[str] = field(default_factory=list)
    held_out: int = 0
    block: int | None = None
    room: tuple[Collection[str], int] | None = None


def _ask(settings: Settings, controller: Controller | None, jobs: Sequence[Job]) -> _VipuAnswer:
    if controller is None:
        return _VipuAnswer("V-IPU cannot be asked from here; this is what Slurm knows")
    try:
        kinds = [kind for kind in KINDS if kind in controller.kinds]
        state = controller.read(kinds)
        places = dict(_places(settings, controller, state))
    except DeviceError as error:
        return _VipuAnswer(f"{error}; this is what Slurm knows")
    machines = [*machines_away(settings, state)] if AGENT in kinds else []
    away = [*machines, *partitions_away(settings, state, {job.id for job in jobs if job.state in HOLDING})]
    there = {name: fields for name, fields in state[PARTITION].items() if fields["allocation"] == settings.allocation}
    ipus = len(machines_of(settings, state)) * IPUS_PER_MACHINE
    return _VipuAnswer(
        "",
        places,
        [why for _ipus, why in away],
        0 if settings.way == STATIC else licences_away(settings, ipus // IPUS_PER_MACHINE, away),
        _largest_block(settings, state, places),
        (there, ipus - sum(fields["size"] for fields in there.values())),
    )


def _places(settings: Settings, controller: Controller, state: State) -> Iterator[tuple[str, list[Ipu]]]:
    """Where the vPOD's partitions are, as far as they are up."""
    for name, fields in state[PARTITION].items():
        if fields["allocation"] != settings.allocation or fields["status"] != ACTIVE:
            continue
        # One may just have gone.
        with suppress(NotDone):
            gcds = [controller.ipuof_configuration(name, gcd) for gcd in range(fields["gcds"])]
            devices = [device for gcd in gcds for device in gcd["devices"]]
            yield name, [(settings.ipu_machines.get(each["ip"], each["ip"]), each["device_id"]) for each in devices]


def _largest_block(settings: Settings, state: State, places: Places) -> int | None:
    """How many IPUs the largest partition could have that could be made now; None if it is not known."""
    there = [name for name, fields in state[PARTITION].items() if fields["allocation"] == settings.allocation]
    if settings.way != DYNAMIC or not set(there) <= set(places):
        return None
    machines = machines_of(settings, state)
    taken = {ipu for partition in places.values() for ipu in partition}
    if not {machine for machine, _number in taken} <= set(machines):
        return None
    down = {machine for machine, agent in state.get(AGENT, {}).items() if agent["status"].lower() != UP}
    is_free = [
        machine not in down and (machine, number) not in taken
        for machine in machines
        for number in range(IPUS_PER_MACHINE)
    ]
    return largest_block(is_free)


def largest_block(is_free: Sequence[bool]) -> int:
    """The size of the largest partition that fits into these IPUs of an allocation, in their order."""
    for size in filter(is_partition_size, range(len(is_free), 0, -1)):
        step = min(size, IPUS_PER_ILD)
        if any(all(is_free[start : start + size]) for start in range(0, len(is_free) - size + 1, step)):
            return size
    return 0


def _free_ipus(
    settings: Settings,
    jobs: Sequence[Job],
    nodes: Mapping[int, Sequence[str]],
    held_out: int,
    room: tuple[Collection[str], int] | None,
) -> int:
    """Where Slurm does not count all IPUs: those of partitions, or of nodes, that no job has."""
    if settings.way == STATIC:
        return sum(_free_partitions(settings, jobs, room))
    busy = {node for job in jobs for node in nodes[job.id]}
    # What belongs to no node is held out, too.
    mapped_out = max(0, held_out - _unmapped_ipus(settings))
    return max(0, _mapped_ipus(settings, [node for node in settings.mapping if node not in busy]) - mapped_out)


def _free_partitions(
    settings: Settings, jobs: Sequence[Job], room: tuple[Collection[str], int] | None
) -> Iterator[int]:
    """The IPUs of each declared partition that no job has, and that is there or can be made."""
    taken = {name for job in jobs for name in _partitions(job)}
    there, left = room or ([partition.name for partition in settings.partitions], 0)
    for partition in settings.partitions:
        if partition.name not in taken and partition.name in there:
            yield partition.ipus
        elif partition.name not in taken and partition.ipus <= left:
            left -= partition.ipus
            yield partition.ipus


def _unmapped_ipus(settings: Settings) -> int:
    return settings.ipus - _mapped_ipus(settings, settings.mapping)


def _mapped_ipus(settings: Settings, nodes: Iterable[str]) -> int:
    return sum(len(settings.mapping[node]) for node in nodes) * IPUS_PER_MACHINE


def _job(job: Job, user: str, reason: str, machines: list[str]) -> JobReport:
    partitions = _partitions(job)
    waits = job.note.get(WAITS, "" if reason == NO_REASON else reason)
    return JobReport(
        job=job.id,
        name=job.name,
        user=user,
        state=job.state,
        partitions=partitions,
        allocation=job.note.get(ALLOCATION_NAME, "") if _has_ipus(job) else "",
        ipus=number(job.note, IPUS) or job.ipus or None,
        gcds=number(job.note, GCDS),
        nodes=job.nodes,
        ipu_machines=machines,
        waits=waits if job.state in WAITING and not partitions else "",
    )


def _has_ipus(job: Job) -> bool:
    """Whether its note is about now: a job that is queued again keeps it."""
    return job.state in (*HOLDING, COMPLETING)


def _partitions(job: Job) -> list[str]:
    names = job.note.get(PARTITIONS) or job.note.get(PARTITION_NAME) or ""
    return names.split(",") if names and _has_ipus(job) else []


def _machines(settings: Settings, job: Job, nodes: Sequence[str], places: Places) -> list[str]:
    mapped = [machine for node in nodes for machine in settings.mapping.get(node, ())]
    placed = [machine for name in _partitions(job) for machine, _ipu in places.get(name, ())]
    return list(dict.fromkeys([*mapped, *placed]))


def lines_of(found: Report) -> list[str]:
    """The report for people: a table, and what it comes to."""
    table = aligned([HEADINGS, *map(_row, found.jobs)])
    return [*(table if found.jobs else ["No job has IPUs or waits for some."]), "", *_sums(found)]


def _row(job: JobReport) -> Sequence[str]:
    return (
        str(job.job) if job.name == str(job.job) else f"{job.job} ({job.name})",
        job.user,
        job.state,
        ",".join(job.partitions) or job.allocation or NOTHING,
        str(job.ipus or NOTHING),
        str(job.gcds or NOTHING),
        job.nodes or NOTHING,
        job.waits or folded(job.ipu_machines) or NOTHING,
    )


def _sums(found: Report) -> Iterator[str]:
    block = f", {found.largest_free_block} of them in one block" if found.largest_free_block else ""
    yield f"vPOD {found.vpod}, {found.way}: {found.free_ipus} of {found.ipus} IPUs are free{block}"
    if found.held_out_ipus:
        yield f"held out: {found.held_out_ipus} IPUs that no job can have"
    yield from (f"  {why}" for why in found.held_out)
    if found.unmapped_ipus:
        yield f"unmapped: {found.unmapped_ipus} IPUs that belong to no node"
    yield from found.not_understood
    if found.unknown:
        yield found.unknown
