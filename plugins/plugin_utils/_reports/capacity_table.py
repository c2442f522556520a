# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free capacity as text: each rack as a row of letters, and what fits or is in the way. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._text.table import aligned
from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_MACHINE

from .._pod.wording import listed, spans
from .table import wrapped
from .wording import counted

FREE, EXCLUDED = ".", "x"
IN_A_GROUP = 4

Answer = Mapping[str, Any]
Rack = Mapping[str, Any]


def capacity_table_of(answer: Answer) -> list[str]:
    """The lines of what :func:`capacity.capacity` answers, none of them longer than 100 columns."""
    return [
        *(line for name, cluster in answer["clusters"].items() for line in _cluster(name, cluster, answer["to_come"])),
        *(line for problem in answer["not_placed"] for line in wrapped(f"not placed: {problem}", "", "  ")),
        *(line for cluster in answer["fits"] for line in _fits(answer, cluster)),
    ]


def _cluster(name: str, cluster: Answer, to_come: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from wrapped(f"{name}: {cluster['free_ipus']} of {cluster['ipus']} IPUs free{_blocks(cluster)}", "", "  ")
    racks = cluster["racks"]
    below = " " * (4 + max(map(len, racks)))
    for line, rack in zip(aligned([_row(pod, rack) for pod, rack in racks.items()]), racks.values(), strict=True):
        yield f"  {line}"
        for text in _legend(rack, to_come):
            yield from wrapped(text, below, f"{below}  ")


def _row(pod: str, rack: Rack) -> tuple[str, str, str]:
    """A pod, who has its IPU-Machines, four by four, and their names."""
    letters = _letters(rack)
    row = "".join(letters[holder["name"]] if holder else FREE for holder in rack.values())
    groups = " ".join(row[first : first + IN_A_GROUP] for first in range(0, len(row), IN_A_GROUP))
    return pod, groups, spans(rack)


def _blocks(cluster: Answer) -> str:
    """The sizes of the free blocks, the largest first, each with how many there are."""
    sizes = Counter(len(block) * IPUS_PER_MACHINE for block in cluster["free_blocks"])
    listed = ", ".join(f"{count} of {size}" for size, count in sizes.items())
    return f", in blocks: {listed}" if listed else ""


def _letters(rack: Rack) -> dict[str, str]:
    """Who has something in a rack, each with a letter of its own, its first one if that is still to be had."""
    letters: dict[str, str] = {}
    for holder in filter(None, rack.values()):
        if holder["excluded"]:
            letters[holder["name"]] = EXCLUDED
        elif holder["name"] not in letters:
            wanted = [*holder["name"].lower(), *ascii_lowercase, *ascii_uppercase, *digits]
            letters[holder["name"]] = next(
                letter for letter in wanted if letter.isalnum() and letter not in (EXCLUDED, *letters.values())
            )
    return letters


def _legend(rack: Rack, to_come: Mapping[str, Sequence[str]]) -> Iterator[str]:
    letters = _letters(rack)
    holders = {holder["name"]: holder for holder in rack.values() if holder}
    for name, holder in holders.items():
        if holder["excluded"]:
            yield f"{EXCLUDED} {name}, excluded"
        else:
            jobs = "" if holder["job_ipus"] is None else f", {holder['job_ipus']} of them in Slurm jobs"
            coming = ", to come" if name in to_come else ""
            yield f"{letters[name]} {name}, {counted(holder['ipus'], 'IPU')}{jobs}{coming}"


def _fits(answer: Answer, cluster: str) -> Iterator[str]:
    asked, machines = counted(answer["asked"], "IPU"), answer["fits"][cluster]
    if machines is not None:
        yield from wrapped(f"{asked}: fits in {cluster} on {spans(machines)}", "", "  ")
        return
    yield from wrapped(f"{asked}: no, {cluster} has no free aligned block of that size", "", "  ")
    ways = [f"{way['sentence']}; {_way(way)}" for way in answer["ways"][cluster]]
    for text in ways or ["nothing that could be moved or removed would make room"]:
        yield from wrapped(text, "  ", "    ")


def _way(way: Answer) -> str:
    """How to get those in the way out of it."""
    moves = [f"moving {name} to {spans(machines)}" for name, machines in way["moves"].items()]
    removals = [f"removing {name}" for name in way["in_the_way"] if name not in way["moves"]]
    return f"{listed([*moves, *removals])} would make room"
