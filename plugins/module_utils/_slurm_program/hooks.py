# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""PrologSlurmctld and EpilogSlurmctld: the hooks on the Slurm controller."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Callable

from .._plan.converge import DeviceError
from .._vipu.cli import NotDone
from .directory import Directory
from .entities import NoRoom
from .job import Job
from .note import WAITS
from .slurm import COMPLETING, HOLDING, Slurm
from .ways import Way

# Exit codes. A job whose prolog fails goes back into the queue if it is a batch job; otherwise it ends.
DONE, FAILED = 0, 1

# How long in seconds: between two looks for room, at Slurm; for jobs that are on their way out; for processes to end.
LOOK_FOR_ROOM, LOOK_AT_SLURM = 2.0, 0.5
LEAVING_LIMIT, PROCESSES_LIMIT = 30.0, 600.0

Log = Callable[[str], None]


class Hooks:
    """Both hooks.

    Args:
        way: how jobs get IPUs.
        slurm: the Slurm cluster.
        directory: where locks are.
        log: takes one readable line for each event.
        clock: tells the time in seconds.
        wait: waits so many seconds.
    """

    def __init__(
        self,
        way: Way,
        slurm: Slurm,
        directory: Directory,
        log: Log,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._way = way
        self._slurm = slurm
        self._directory = directory
        self._log = log
        self._clock = clock
        self._wait = wait

    def prolog(self, number: int) -> int:
        """Give the job its IPUs. Returns the exit code; Slurm ends this process when the job is cancelled."""
        with self._directory.job(number):
            until = self._clock() + LEAVING_LIMIT
            while True:
                job = self._slurm.job(number)
                if job is None or job.state not in HOLDING:
                    return FAILED
                try:
                    return self._give(job)
                except NoRoom as error:
                    self._say_why(job, str(error))
                    # Whoever sits before an interactive job would lose it if this failed.
                    if job.returns_to_queue and not (self._clock() < until and self._somebody_leaves()):
                        return FAILED
                    self._wait(LOOK_FOR_ROOM)
                except DeviceError as error:
                    # Its owner did not type the command that failed.
                    self._say_why(job, error.answer if isinstance(error, NotDone) else str(error))
                    return FAILED

    def epilog(self, number: int) -> int:
        """Take back what the job had, when its processes have ended. Returns the exit code.

        Raises:
            DeviceError: it failed; :mod:`.reaper` tries again.
        """
        with self._directory.job(number):
            job = self._slurm.job(number)
            if job is not None and not self._way.concerns(job):
                return DONE
            self._wait_for_processes(number)
            if self._way.give_back(number):
                self._log(f"job {number}: gave its IPUs back")
            return DONE

    def _give(self, job: Job) -> int:
        note = self._way.take(job)
        if note is None:
            return DONE
        try:
            self._slurm.write_note(job, note)
        except DeviceError:
            self._way.give_back(job.id)
            raise
        self._log(f"job {job.id}: has {note.get('partition') or note.get('allocation')} with {note['ipus']} IPUs")
        return DONE

    def _say_why(self, job: Job, why: str) -> None:
        """Tell why the job does not start, once for each reason, and its owner too: on the job, or right away."""
        if job.note.get(WAITS) == " ".join(why.split()):
            return
        self._log(f"job {job.id} does not start: {why}")
        with suppress(DeviceError):
            self._slurm.write_note(job, {**job.note, WAITS: why})
            if not job.is_batch:
                self._slurm.tell(job, why)

    def _somebody_leaves(self) -> bool:
        """Whether something is still held for a job that has given its nodes and licences back."""
        return not self._way.held() <= self._slurm.job_numbers(HOLDING)

    def _wait_for_processes(self, number: int) -> None:
        """Slurm runs this while the job's processes may still be there; it lists the nodes that have not finished."""
        until = self._clock() + PROCESSES_LIMIT
        while self._clock() < until:
            job = self._slurm.job(number)
            if job is None or job.state != COMPLETING or not job.nodes:
                return
            self._wait(LOOK_AT_SLURM)
        self._log(f"job {number}: its nodes have not finished after {PROCESSES_LIMIT:g} s; takes its IPUs back even so")
