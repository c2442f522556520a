# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm through its own programs, and MUNGE, which it authenticates with. Knows no Ansible: it is given ``run``."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Callable, Collection, List, Tuple

from .._plan.converge import DeviceError, Refused
from .._slurm_host.host_list import count_of
from .job import FORMAT, LICENSE, Job, gres_from, jobs_from, licenses_from
from .note import Note, text_of

# Runs a program, with this text as its input: exit status, output and errors.
Run = Callable[[List[str], str], Tuple[int, str, str]]

_ALL_JOBS = ["squeue", "--noheader", "--all"]
# Slurm's words for a job that has its nodes and licences and does not give them back yet, and for one that does.
HOLDING = ("CONFIGURING", "RUNNING", "SUSPENDED")
COMPLETING = "COMPLETING"

# unmunge's exit status for a credential that this host has decoded before, and for one that is old: both are genuine.
_GENUINE = (0, 15, 17)
_NO_SUCH_JOB = "Invalid job id"
# What holds out licences: a reservation that nobody uses.
RESERVATION = "ipu-pod-out"
_NO_SUCH_RESERVATION = "not found"
_OWNER_AND_REASON = re.compile(r"^([0-9]{1,10})\|([^|\n]*)\|(.*)$", re.MULTILINE)
_WORD = re.compile(r"\b(\w+)=(\S+)")
# A slurmctld that is started anew is back in less than this, in seconds.
_NO_CONTACT = "Unable to contact slurm controller"
PATIENCE = 60.0
_LOOK_AGAIN = 1.0


@dataclass(frozen=True)
class Slurm:
    """The Slurm cluster that this host belongs to."""

    run: Run
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep

    def job(self, number: int) -> Job | None:
        """The job with that number; None where Slurm has forgotten it.

        Raises:
            DeviceError: Slurm does not answer, or not in its own words.
        """
        argv = [*_ALL_JOBS, "--states=all", f"--jobs={number}", f"--Format={FORMAT}"]
        code, output, errors = self._answer(argv)
        if code != 0 and _NO_SUCH_JOB in errors:
            return None
        if code != 0:
            raise _failed(argv, output, errors, code)
        # The number of an array stands for all its tasks.
        jobs, not_understood = jobs_from(output)
        job = next((job for job in jobs if job.id == number), None)
        if job is None and not_understood:
            raise DeviceError(not_understood[0])
        return job

    def job_numbers(self, states: Collection[str] = ()) -> set[int]:
        """The numbers of all jobs that are in these states; without any, of those that have not ended."""
        wanted = [f"--states={','.join(states)}"] if states else []
        return {int(line) for line in self._call([*_ALL_JOBS, *wanted, "--format=%A"]).split()}

    def hosts(self, nodes: str) -> list[str]:
        """The names that Slurm's short form of a list of nodes stands for."""
        return self._call(["scontrol", "show", "hostnames", nodes]).split() if nodes else []

    def gres(self, job: Job) -> dict[str, dict[str, int]]:
        """Node to how many of each type of the GRES the job has there.

        Raises:
            DeviceError: what is shown is not one line for each of its nodes, so that one of them is not Slurm's.
        """
        shown = gres_from(self._call(["scontrol", "show", "job", "--details", job.name]))
        hosts, found = self.hosts(job.nodes), {}
        # Counted first: what a name makes up could be a billion nodes.
        with suppress(Refused):
            if sum(count_of(nodes) for nodes, _counts in shown) == len(hosts):
                found = {node: counts for nodes, counts in shown for node in self.hosts(nodes)}
        if sorted(found) != sorted(hosts):
            raise DeviceError(f"scontrol shows other nodes than those of job {job.id}; has it a name of several lines?")
        return found

    def write_note(self, job: Job, note: Note) -> None:
        """Put the note on the job, in place of the one that is there."""
        self._call(["scontrol", "update", f"JobId={job.name}", f"AdminComment={text_of(note)}"])

    def tell(self, job: Job, sentence: str) -> None:
        """Show a sentence to whoever sits before an interactive job."""
        self._call(["scontrol", "notify", str(job.id), sentence])

    def put_back(self, job: Job) -> None:
        """End the job's present run: back into the queue if it may, otherwise for good."""
        self._call(["scontrol", "requeue", job.name] if job.returns_to_queue else ["scancel", job.name])

    def jobs(self) -> tuple[list[Job], list[str]]:
        """All jobs that have not ended, an array's tasks that wait as one, and what of them is not understood."""
        return jobs_from(self._call([*_ALL_JOBS, f"--Format={FORMAT}"]))

    def owners_and_reasons(self) -> dict[int, tuple[str, str]]:
        """Number of a job that has not ended to its user, and why Slurm does not start it."""
        found = _OWNER_AND_REASON.findall(self._call([*_ALL_JOBS, "--format=%A|%u|%r"]))
        return {int(number): (user, why) for number, user, why in found}

    def free_licenses(self) -> int:
        """How many of ours no job has, and are not held out."""
        counts = dict(_WORD.findall(self._call(["scontrol", "show", "licenses", LICENSE, "--oneliner"])))
        return max(0, int(counts.get("Total", 0)) - int(counts.get("Used", 0)) - int(counts.get("Reserved", 0)))

    def held_out(self) -> int:
        """How many of our licences are held out."""
        argv = ["scontrol", "show", "reservation", RESERVATION, "--oneliner"]
        code, output, errors = self._answer(argv)
        if code != 0 and _NO_SUCH_RESERVATION not in output + errors:
            raise _failed(argv, output, errors, code)
        licenses = dict(_WORD.findall(output)).get("Licenses", "")
        return licenses_from(licenses).get(LICENSE, 0)

    def hold_out(self, count: int) -> None:
        """Hold out so many of our licences from now on; what jobs have they keep."""
        name = f"ReservationName={RESERVATION}"
        if not count:
            self._call(["scontrol", "delete", name])
        elif self.held_out():
            self._call(["scontrol", "update", name, f"Licenses={LICENSE}:{count}"])
        else:
            what = [f"Licenses={LICENSE}:{count}", "Flags=LICENSE_ONLY", "Users=root"]
            self._call(["scontrol", "create", "reservation", name, *what, "StartTime=now", "Duration=infinite"])

    def for_root_alone(self, secret: str) -> str:
        """The secret so that only root on a host of this cluster can read it."""
        return self._call(["munge", "--restrict-uid=0"], secret).strip()

    def secret_of(self, sealed: str) -> str:
        """The secret in what :meth:`for_root_alone` has made."""
        argv = ["unmunge", "--metadata=/dev/null"]
        code, output, errors = self.run(argv, sealed)
        if code not in _GENUINE:
            raise _failed(argv, "", errors, code)
        return output

    def _call(self, argv: list[str], text: str = "") -> str:
        code, output, errors = self._answer(argv, text)
        if code != 0:
            raise _failed(argv, output, errors, code)
        return output

    def _answer(self, argv: list[str], text: str = "") -> tuple[int, str, str]:
        until = self.clock() + PATIENCE
        while True:
            code, output, errors = self.run(argv, text)
            if code == 0 or _NO_CONTACT not in errors or self.clock() >= until:
                return code, output, errors
            self.wait(_LOOK_AGAIN)


def _failed(argv: list[str], output: str, errors: str, code: int) -> DeviceError:
    message = " ".join((errors or output).split()) or f"exit status {code}"
    return DeviceError(f"{' '.join(argv[:2])}: {message}")
