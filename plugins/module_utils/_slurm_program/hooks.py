# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""PrologSlurmctld and EpilogSlurmctld, the hooks on the Slurm controller, and the reaper of what an epilog left."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Callable

from .._plan.converge import DeviceError
from .._text.line import one_line
from .._vipu.cli import NotDone
from .directory import Directory
from .entities import NoRoom
from .job import Job
from .note import WAITS
from .slurm import COMPLETING, HOLDING, Slurm
from .ways import Way

# Exit codes. A job whose prolog fails goes back into the queue if it is a batch job; otherwise it ends.
DONE, FAILED = 0, 1

# How long in seconds: between two looks for room, at Slurm; for jobs that are on their way out; for room, where a job
# would be lost without; for processes to end.
LOOK_FOR_ROOM, LOOK_AT_SLURM = 2.0, 0.5
LEAVING_LIMIT, ROOM_LIMIT, PROCESSES_LIMIT = 30.0, 600.0, 600.0
# A reason, as it stands in a note: longer ones would come back cut off.
LONGEST_REASON = 1000

Log = Callable[[str], None]


@dataclass(frozen=True)
class Hooks:
    """Both hooks, and what a timer runs each minute; ``log`` takes one readable line for each event."""

    way: Way
    slurm: Slurm
    directory: Directory
    log: Log
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep

    def prolog(self, number: int) -> int:
        """Give the job its IPUs. Returns the exit code; Slurm ends this process when the job is cancelled."""
        with self.directory.job(number):
            start = self.clock()
            while True:
                job = self.slurm.job(number)
                if job is None or job.state not in HOLDING:
                    return FAILED
                try:
                    return self._give(job)
                except NoRoom as error:
                    self._say_why(job, str(error), f"; waits for room, {ROOM_LIMIT / 60:g} minutes at most")
                    if not self._waits_on(job, self.clock() - start):
                        return FAILED
                    self.wait(LOOK_FOR_ROOM)
                except DeviceError as error:
                    # Its owner did not type the command that failed.
                    self._say_why(job, error.answer if isinstance(error, NotDone) else str(error))
                    return FAILED

    def epilog(self, number: int) -> int:
        """Take back what the job had, when its processes have ended. Returns the exit code.

        Raises:
            DeviceError: it failed; :meth:`reap` tries again.
        """
        with self.directory.job(number):
            job = self.slurm.job(number)
            if job is not None and not self.way.concerns(job):
                return DONE
            self._wait_for_processes(number)
            if self.way.give_back(number):
                self.log(f"job {number}: gave its IPUs back")
            return DONE

    def reap(self) -> None:
        """Take back what jobs hold that Slurm no longer knows, since it does not run an epilog again that fails.

        Raises:
            DeviceError: something could not be taken back; the rest was.
        """
        # In this order: whatever is held now and whose job is gone afterwards is really left behind.
        held = self.way.held()
        left = sorted(held - self.slurm.job_numbers()) if held else []
        failures = []
        for number in left:
            with self.directory.job(number):
                try:
                    self.way.give_back(number)
                except DeviceError as error:
                    failures.append(f"job {number}: {error}")
                else:
                    self.log(f"job {number}: took back what it had left behind")
        if failures:
            raise DeviceError("; ".join(failures))

    def _give(self, job: Job) -> int:
        note = self.way.take(job)
        if note is None:
            return DONE
        try:
            self.slurm.write_note(job, note)
        except DeviceError:
            self.way.give_back(job.id)
            raise
        self.log(f"job {job.id}: has {note.get('partition') or note.get('allocation')} with {note['ipus']} IPUs")
        return DONE

    def _waits_on(self, job: Job, waited: float) -> bool:
        """Whether a job that finds no room, and so has its nodes in vain, may wait for longer."""
        if job.returns_to_queue:
            return waited < LEAVING_LIMIT and self._somebody_leaves()
        # Whoever sits before an interactive job would lose it if this failed.
        if waited < ROOM_LIMIT:
            return True
        why = f"there was no room for its IPUs in {ROOM_LIMIT / 60:g} minutes; submit it again, or with sbatch"
        self.log(f"job {job.id} ends: {why}")
        self._tell(job, f"this job ends: {why}")
        return False

    def _tell(self, job: Job, sentence: str) -> None:
        """Tell whoever sits before an interactive job."""
        if not job.is_batch:
            with suppress(DeviceError):
                self.slurm.tell(job, sentence)

    def _say_why(self, job: Job, said: str, outlook: str = "") -> None:
        """Log why the job does not start, once for each reason, and notify its owner: on the job, or right away."""
        why = one_line(said, LONGEST_REASON)
        if job.note.get(WAITS) == why:
            return
        self.log(f"job {job.id} does not start: {why}")
        with suppress(DeviceError):
            self.slurm.write_note(job, {**job.note, WAITS: why})
            self._tell(job, why + outlook)

    def _somebody_leaves(self) -> bool:
        """Whether something is still held for a job that has given its nodes and licences back."""
        return not self.way.held() <= self.slurm.job_numbers(HOLDING)

    def _wait_for_processes(self, number: int) -> None:
        """Slurm runs this while the job's processes may still be there; it lists the nodes that have not finished."""
        until = self.clock() + PROCESSES_LIMIT
        while self.clock() < until:
            job = self.slurm.job(number)
            if job is None or job.state != COMPLETING or not job.nodes:
                return
            self.wait(LOOK_AT_SLURM)
        self.log(f"job {number}: its nodes have not finished after {PROCESSES_LIMIT:g} s; takes its IPUs back even so")
