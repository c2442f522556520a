# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job, as Slurm tells it. Pure.

Only fields that no user fills with free text are asked for, and they are read by their widths: what ``scontrol show
job`` prints could be made up by the name of a job.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping, Sequence

from .note import Note, note_from

# The licence that Slurm counts IPUs with, and the GRES that it counts partitions with.
LICENSE, GRES = "ipu", "vipu"

# squeue's names of the fields, and how wide they are: squeue fills them up, or cuts them off.
_FIELDS = {
    "JobID": 20,
    "ArrayJobID": 20,
    "ArrayTaskID": 20,
    "HetJobID": 20,
    "HetJobOffset": 20,
    "UserID": 20,
    "BatchFlag": 4,
    "Requeue": 4,
    "State": 20,
    "Partition": 200,
    "NodeList": 4000,
    "Licenses": 400,
    "admin_comment": 4000,
}
_NOTE = "admin_comment"
FORMAT = ",".join(f"{name}:{width}|" for name, width in _FIELDS.items())
# By their widths, since what users write can hold whatever could separate fields or lines. The note is ours, and has
# fewer characters than bytes.
_WIDTHS = [width for name, width in _FIELDS.items() if name != _NOTE]
_LINE = re.compile("".join(rf"(.{{{width}}})\|" for width in _WIDTHS) + r"([^\n]*)\|(?:\n|\Z)", re.DOTALL)
_NOTHING = ("N/A", "(null)", "")

_NODE = re.compile(r"^ +Nodes=(\S+) CPU_IDs=\S* Mem=\d+ GRES=(\S*)\s*$", re.MULTILINE)
# `vipu:4(CNT:2)` or `vipu:4:2`
_GRES = re.compile(rf"{GRES}:([^:(),]+)(?::|\(CNT:)(\d+)")
# As Slurm separates licences, all of them or one of them, and ends the name of one.
_LICENSES, _NAME_ENDS = re.compile("[,;|]"), re.compile("[:=*]")
_COUNT = re.compile(r"\s*\+?[0-9]{1,9}|")


@dataclass(frozen=True)
class Job:
    """A job.

    Args:
        name: what Slurm's programs call it: the number of a task of an array may mean the whole array.
        is_batch: whether Slurm keeps its script; otherwise somebody sits and waits for it.
        may_requeue: whether Slurm may put it back into the queue.
        state: in Slurm's words, for example ``RUNNING``.
        nodes: in Slurm's short form; of a job that is completing, those that still have to finish.
        licenses: how many of each Slurm has counted for it.
        note: what the Slurm controller has written on it.
    """

    id: int
    name: str
    uid: int
    is_batch: bool
    may_requeue: bool
    state: str
    partition: str
    nodes: str
    licenses: Mapping[str, int]
    note: Note

    @property
    def ipus(self) -> int:
        """How many IPUs Slurm has counted for it by licences."""
        return self.licenses.get(LICENSE, 0)

    @property
    def returns_to_queue(self) -> bool:
        """Whether it runs again by itself when its prolog fails."""
        return self.is_batch and self.may_requeue


def jobs_from(printed: str) -> tuple[list[Job], list[str]]:
    """The jobs that ``squeue --Format`` prints for :data:`FORMAT`, and a sentence for each that is not understood."""
    jobs, not_understood, start = [], [], 0
    while start < len(printed):
        line = _LINE.match(printed, start)
        end = line.end() if line else (printed.find("\n", start) + 1 or len(printed))
        try:
            if line:
                jobs.append(_job(line.groups()))
            elif printed[start:end].strip():
                raise ValueError("not so many fields")
        except ValueError as error:
            not_understood.append(_not_understood(printed[start:end], str(error)))
        start = end
    return jobs, not_understood


def _not_understood(line: str, why: str) -> str:
    number = line[: _FIELDS["JobID"]].strip()
    what = f"job {number}" if number.isdecimal() else repr(line.strip()[:80])
    return f"squeue printed something of {what} that is not understood: {why}"


def gres_from(shown: str) -> list[tuple[str, dict[str, int]]]:
    """Nodes, in short form, and how many of each type of the GRES a job has on each, in ``scontrol --details``.

    A line may be made up by the name of the job: whether the nodes are the job's is for the caller to see.
    """
    return [(nodes, {kind: int(count) for kind, count in _GRES.findall(gres)}) for nodes, gres in _NODE.findall(shown)]


def _job(columns: Sequence[str]) -> Job:
    for name, column in zip(_FIELDS, columns):
        if name != _NOTE and not column.endswith(" "):
            raise ValueError(f"{name} is cut off")
    values = [column.strip() for column in columns]
    fields = {name: "" if value in _NOTHING else value for name, value in zip(_FIELDS, values)}
    return Job(
        id=int(fields["JobID"]),
        name=_name(fields),
        uid=int(fields["UserID"]),
        is_batch=fields["BatchFlag"] == "1",
        may_requeue=fields["Requeue"] == "1",
        state=fields["State"],
        partition=fields["Partition"],
        nodes=fields["NodeList"],
        licenses=licenses_from(fields["Licenses"]),
        note=note_from(fields[_NOTE]),
    )


def _name(fields: Mapping[str, str]) -> str:
    if fields["ArrayTaskID"].isdecimal():
        return f"{fields['ArrayJobID']}_{fields['ArrayTaskID']}"
    if fields["HetJobID"].strip("0"):
        return f"{fields['HetJobID']}+{fields['HetJobOffset']}"
    return fields["JobID"]


def licenses_from(text: str) -> dict[str, int]:
    """How many of each licence: Slurm writes ``ipu:16,matlab:2``, and one where it says no number.

    Raises:
        ValueError: a number is none.
    """
    licenses: dict[str, int] = {}
    for entry in filter(None, map(str.strip, _LICENSES.split(text))):
        name, *counts = _NAME_ENDS.split(entry, maxsplit=1)
        if not all(map(_COUNT.fullmatch, counts)):
            raise ValueError(f"{entry[:80]!r} is no licence")
        licenses[name] = licenses.get(name, 0) + (int(counts[0] or 0) if counts else 1)
    return licenses
