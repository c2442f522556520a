# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change in the middle of which something breaks, as a seed has it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from random import Random
from typing import Any, Protocol

from tests.integration.chaos.declarations import Document, first, following
from tests.integration.chaos.faults import FAULTS, Fault
from tests.integration.chaos.run import Run, WatchedRun
from tests.integration.chaos.stages import STAGES, VERIFY

# Which fault meets which stage, seed after seed; those of one kind do not follow each other.
CELLS = [(kind, stage) for kind in FAULTS for stage in STAGES]
Random(0).shuffle(CELLS)
# How many tasks of its stage come before it.
TASKS_BEFORE = (0, 0, 1, 2, 3, 5, 8)
TICK_SECONDS = 0.2


@dataclass(frozen=True)
class Seed:
    """The meaning of a number: what is declared before and after, by which edit, and what breaks where."""

    number: int
    before: Document
    after: Document
    edit: str
    kind: str
    device: str
    stage: str
    tasks_before: int

    def __str__(self) -> str:
        return (
            f"seed {self.number}: {self.edit}; {self.kind}, {self.device}, in stage {self.stage} + {self.tasks_before}"
        )


def seeds(document: Document) -> Iterator[Seed]:
    """All seeds on this pod, in their order; a seed begins where the one before it has ended."""
    after = first(document)
    for number in count():
        kind, stage = CELLS[number % len(CELLS)]
        chance = Random(f"what breaks in {number}")
        before, (after, edit) = after, following(after, stage, Random(number))
        device, tasks_before = chance.choice(FAULTS[kind][1]), chance.choice(TASKS_BEFORE)
        if stage == VERIFY:
            # It has no stage behind it.
            tasks_before = min(tasks_before, 2)
        yield Seed(number, before, after, edit, kind, device, stage, tasks_before)


def seed_of(number: int, document: Document) -> Seed:
    """The seed of a number on this pod."""
    return next(islice(seeds(document), number, None))


class Moment:
    """Waits for the moment in a run when it is to happen: so many tasks into a stage, or at once when that has ended.

    In a run that has nothing to do in the stage, it is the verification.
    """

    def __init__(self, stage: str, tasks_before: int) -> None:
        self.met = ""
        self._stage, self._left, self._begun = stage, tasks_before, False

    def has_come(self, stage: str) -> bool:
        """Whether it is before the next task, which is in this stage; it comes once."""
        if self.met:
            return False
        self._begun |= stage == self._stage
        if self._begun and (stage != self._stage or self._left == 0):
            self.met = self._stage
        elif self._begun:
            self._left -= 1
        elif stage == VERIFY:
            self.met = VERIFY
        return bool(self.met)


class Start(Protocol):
    """Starts the run of a seed, on this control node or on another one."""

    def __call__(self, *, before_task: Callable[[str], None] = ..., is_another: bool = ...) -> WatchedRun:
        """Returns it when it has begun."""


class Disaster:
    """Starts the run of a seed, lets it happen, and waits for the end of all of it.

    Attributes:
        moment: when it has happened.
        faults: what has broken.
        runs: the run, and that of another control node; they have ended.
    """

    def __init__(self, seed: Seed, pod: Any, start: Start) -> None:
        self.moment = Moment(seed.stage, seed.tasks_before)
        self.faults: list[Fault] = []
        self._seed, self._pod, self._start = seed, pod, start
        self._started: list[WatchedRun] = []
        with self._ended_in_time():
            self._started.append(start(before_task=self._before_task))
            # A list grows while one goes through it: another one may begin in the meantime.
            self.runs: list[Run] = [run.end() for run in self._started]

    def _before_task(self, stage: str) -> None:
        if self.moment.has_come(stage):
            self._happen()

    def _happen(self) -> None:
        seed = self._seed
        maker = FAULTS[seed.kind][0]
        if maker:
            self.faults.append(maker(self._pod, seed.device, Random(seed.number)))
        elif seed.kind == "control node killed":
            self._started[0].kill()
        else:
            self._started.append(self._start(is_another=True))

    @contextmanager
    def _ended_in_time(self) -> Iterator[None]:
        """Within, a fault that lasts some seconds ends after these; all have ended behind it."""
        over = threading.Event()

        def work() -> None:
            while not over.wait(TICK_SECONDS):
                for fault in self.faults:
                    fault.pass_time(TICK_SECONDS)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            for fault in self.faults:
                fault.over()
