# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a partition is, and when it may go. Pure.

A partition is a machine's if the machine is there when the partition is seen for the first time, and its name is that
of the machine, or begins with it and a hyphen. It may go after two answers, some time apart and with no doubt between
them, that the machine is deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Dict, Mapping

from .._plan.steps import Fields

# Nova's words for a machine that is deleted, and ours where it knows no such machine.
NOT_FOUND = "NOT FOUND"
DELETED = ("DELETED", "SOFT_DELETED", NOT_FOUND)


@dataclass(frozen=True)
class Moment:
    """Seconds since a start of this host, which has an id: no clock that somebody sets makes time pass."""

    boot: str
    seconds: float


@dataclass(frozen=True)
class Record:
    """What is known of a partition since it was seen for the first time.

    Args:
        facts: how it was made, as V-IPU shows it. With other facts it is another partition.
        machine: the UUID of the machine that it is of; empty if of none.
        called: the machine's name.
        project: the id of the machine's project.
        deleted: when the machine was first said to be deleted.
    """

    facts: Fields
    machine: str = ""
    called: str = ""
    project: str = ""
    deleted: Moment | None = None


Records = Dict[str, Record]


@dataclass(frozen=True)
class Machine:
    """A machine in Nova's list of a project."""

    name: str
    status: str


@dataclass(frozen=True)
class Answers:
    """The whole answers of Nova in one round.

    Args:
        project: the id of the project that it was asked about.
        listed: the project's machines, by their UUIDs.
        statuses: what it said of single machines, by their UUIDs.
    """

    project: str
    listed: Mapping[str, Machine] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """The records as they are now, the partitions that may go, and what makes the answers doubtful, if anything."""

    records: Records
    removals: tuple[str, ...] = ()
    doubt: str = ""


def still_there(records: Mapping[str, Record], partitions: Mapping[str, Fields]) -> Records:
    """The records of partitions that are there, and not made again in another way."""
    return {name: record for name, record in records.items() if partitions.get(name) == record.facts}


def unanswered(records: Mapping[str, Record], listed: Mapping[str, Machine]) -> list[str]:
    """The recorded machines that are not listed as being there: of these Nova is asked by their UUIDs."""
    machines = sorted({record.machine for record in records.values() if record.machine})
    return [machine for machine in machines if machine not in listed or listed[machine].status in DELETED]


def decide(
    records: Mapping[str, Record], partitions: Mapping[str, Fields], answers: Answers | None, now: Moment, wait: float
) -> Decision:
    """Record what is seen for the first time, count the answers, and say which partitions may go.

    Args:
        records: those of the last round.
        partitions: the present ones of the vPOD with their facts; those that the operator has declared are left out.
        answers: None if anything about them was not as it should be.
        wait: how many seconds have to lie between the two answers.
    """
    known = still_there(records, partitions)
    doubt = "" if answers is None else _doubt(known, answers)
    if answers is None or doubt:
        return Decision({name: replace(record, deleted=None) for name, record in known.items()}, doubt=doubt)
    counted = {name: _counted(name, record, answers, now) for name, record in known.items()}
    new = {name: _first_seen(name, facts, answers) for name, facts in partitions.items() if name not in known}
    removals = tuple(sorted(name for name, record in counted.items() if _may_go(record, now, wait)))
    return Decision({**counted, **new}, removals)


def is_to_be_asked(records: Mapping[str, Record], partitions: Mapping[str, Fields]) -> bool:
    """Whether it matters what Nova says."""
    return not set(partitions) <= set(records) or any(record.machine for record in records.values())


def namesakes(partition: str, listed: Mapping[str, Machine]) -> list[str]:
    """The UUIDs of the machines, usually one, that a partition is called after: those with the longest such name."""
    by_name: dict[str, list[str]] = {}
    for uuid, machine in sorted(listed.items()):
        if machine.status not in DELETED and machine.name and f"{partition}-".startswith(f"{machine.name}-"):
            by_name.setdefault(machine.name, []).append(uuid)
    return by_name[max(by_name, key=len)] if by_name else []


def _doubt(records: Mapping[str, Record], answers: Answers) -> str:
    """Why the answers are not to be believed: one that is wrong about one machine may be about the others."""
    for name, record in sorted(records.items()):
        if record.machine and record.project != answers.project:
            return f"partition {name} is of a machine of another project with the same name"
    for machine in unanswered(records, answers.listed):
        if answers.statuses.get(machine) not in DELETED:
            return f"machine {machine} is not in the list, and is not deleted"
    return ""


def _counted(name: str, record: Record, answers: Answers, now: Moment) -> Record:
    if not record.machine or record.machine not in unanswered({name: record}, answers.listed):
        return replace(record, deleted=None)
    heirs = namesakes(name, answers.listed)
    if heirs and len(answers.listed[heirs[0]].name) >= len(record.called):
        # V-IPU does not say when a partition was made: it may be one that another machine has made in the same way.
        return _first_seen(name, record.facts, answers)
    return record if record.deleted and record.deleted.boot == now.boot else replace(record, deleted=now)


def _may_go(record: Record, now: Moment, wait: float) -> bool:
    return record.deleted is not None and record.deleted != now and now.seconds - record.deleted.seconds >= wait


def _first_seen(name: str, facts: Fields, answers: Answers) -> Record:
    machines = namesakes(name, answers.listed)
    if len(machines) != 1:
        return Record(facts)
    return Record(facts, machines[0], answers.listed[machines[0]].name, answers.project)
