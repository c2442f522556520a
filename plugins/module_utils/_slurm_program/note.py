# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note on a job, in its AdminComment: what the Slurm controller has given it. Users cannot write there. Pure.

It reads ``ipu.pod ipus=16 gcds=4 partition=slurm_4711``.
"""

from __future__ import annotations

from typing import Dict, Mapping

Note = Dict[str, str]

MARK = "ipu.pod"

IPUS, GCDS, REPLICAS = "ipus", "gcds", "replicas"
PARTITION, PARTITIONS, ALLOCATION, ACCESS = "partition", "partitions", "allocation", "access"
# Why the job waits: a sentence, so it goes to the end.
WAITS = "waits"


def note_from(comment: str) -> Note:
    """The note in an AdminComment; empty where there is none."""
    mark, _space, rest = comment.rstrip().partition(" ")
    if mark != MARK:
        return {}
    rest, waits, why = f" {rest}".partition(f" {WAITS}=")
    note = dict(word.split("=", 1) for word in rest.split() if "=" in word)
    return {**note, WAITS: why} if waits else note


def text_of(note: Mapping[str, str]) -> str:
    """The note as it stands in the AdminComment."""
    words = [f"{key}={value}" for key, value in note.items() if key != WAITS]
    why = [f"{WAITS}={' '.join(note[WAITS].split())}"] if WAITS in note else []
    return " ".join([MARK, *words, *why])


def number(note: Mapping[str, str], key: str) -> int | None:
    """A whole number in the note; None where there is none."""
    value = note.get(key, "")
    return int(value) if value.isdecimal() and value.isascii() else None
