# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's programs as the hooks see them: jobs in memory, printed as squeue and scontrol of Slurm 22.05 print them."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.slurm import Slurm

WIDTHS = (*([20] * 6), 4, 4, 20, 200, 4000, 400, 4000)
NODES = tuple(f"pod001-poplar{number}" for number in range(1, 5))


def line_of(*fields: str) -> str:
    """A line of squeue, which fills each field up to its width or cuts it off."""
    return "".join(f"{value:<{width}.{width}}|" for value, width in zip(fields, WIDTHS, strict=True)) + "\n"


@dataclass
class FakeJob:
    """A job; ``nodes`` are written out here, where Slurm has a short form."""

    id: int
    ipus: int = 0
    nodes: tuple[str, ...] = NODES[:1]
    state: str = "CONFIGURING"
    batch: bool = True
    requeue: bool = True
    uid: int = 1000
    partition: str = "ipu"
    licenses: str = ""
    note: str = ""
    name: str = "wrap"
    array: tuple[int, int] | None = None
    gres: dict[str, str] = field(default_factory=dict)
    """Node to what it has there, for example ``vipu:4(CNT:1)``."""

    def line(self) -> str:
        array, task = (str(number) for number in self.array) if self.array else (str(self.id), "N/A")
        licenses = self.licenses or (f"ipu:{self.ipus}" if self.ipus else "(null)")
        fields = (
            *(str(self.id), array, task, "N/A", "N/A", str(self.uid), str(int(self.batch)), str(int(self.requeue))),
            *(self.state, self.partition, ",".join(self.nodes), licenses, self.note or "(null)"),
        )
        return line_of(*fields)


@dataclass
class FakeSlurm:
    """The cluster; ``commands`` is what was asked of it, except for reads."""

    jobs: dict[int, FakeJob] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)
    spelled_out: list[str] = field(default_factory=list)
    """Lists of nodes."""
    refused: set[str] = field(default_factory=set)
    """First words of commands that fail."""
    now: float = 0.0
    silent_until: float = 0.0
    """Until then slurmctld does not answer."""

    def add(self, job: FakeJob) -> FakeJob:
        self.jobs[job.id] = job
        return job

    @property
    def client(self) -> Slurm:
        return Slurm(self.run, lambda: self.now, self.wait)

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def run(self, argv: list[str], text: str) -> tuple[int, str, str]:
        if self.now < self.silent_until and argv[0] in ("squeue", "scontrol", "scancel"):
            return 1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
        if " ".join(argv[:2]) in self.refused:
            return 1, "", "it is refused"
        if argv[0] == "squeue":
            return self._squeue(argv)
        if argv[0] in ("munge", "unmunge"):
            return 0, self._munge(argv, text), ""
        if argv[:2] == ["scontrol", "show"]:
            return 0, self._hosts(argv[-1]) if argv[2] == "hostnames" else self._shown(self._named(argv[-1])), ""
        self.commands.append(argv)
        if argv[:2] == ["scontrol", "update"]:
            self._named(argv[2].removeprefix("JobId=")).note = argv[3].removeprefix("AdminComment=")
        return 0, "", ""

    def _squeue(self, argv: list[str]) -> tuple[int, str, str]:
        options = dict(option.removeprefix("--").partition("=")[::2] for option in argv[1:])
        if "jobs" not in options and "Format" in options:
            return 0, "".join(job.line() for job in self.jobs.values()), ""
        if "jobs" not in options:
            states = options.get("states", "").split(",") if "states" in options else None
            found = [job for job in self.jobs.values() if states is None or job.state in states]
            return 0, "".join(f"{job.id}\n" for job in found), ""
        number = int(options["jobs"])
        found = [job for job in self.jobs.values() if number in (job.id, (job.array or (0,))[0])]
        if not found:
            return 1, "", "slurm_load_jobs error: Invalid job id specified"
        return 0, "".join(job.line() for job in found), ""

    def _named(self, name: str) -> FakeJob:
        array, _sign, task = name.partition("_")
        if task:
            return next(job for job in self.jobs.values() if job.array == (int(array), int(task)))
        return self.jobs[int(name)]

    def _hosts(self, nodes: str) -> str:
        self.spelled_out.append(nodes)
        return nodes.replace(",", "\n")

    def _shown(self, job: FakeJob) -> str:
        nodes = "".join(f"     Nodes={node} CPU_IDs=0-1 Mem=0 GRES={gres}\n" for node, gres in job.gres.items())
        return f"JobId={job.id} JobName={job.name}\n   UserId=alice({job.uid})\n{nodes}   AdminComment={job.note}\n"

    def _munge(self, argv: list[str], text: str) -> str:
        if argv == ["munge", "--restrict-uid=0"]:
            return f"MUNGE:{base64.b64encode(text.encode()).decode()}:\n"
        assert argv == ["unmunge", "--metadata=/dev/null"]
        return base64.b64decode(text.split(":")[1]).decode()
