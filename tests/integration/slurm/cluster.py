# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm on the simulated pod, as its users and its administrators see it, and what V-IPU holds meanwhile."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.support.containers import ENVIRONMENT, Containers

CONTROLLER = "ctrl001"
USER, UID = "ann", 1500
FOLDER = "/tmp/jobs"
PROGRAM = "/usr/local/bin/ipu-program"
# A whole line of it: what a task prints comes in pieces.
REPORT = "'^{.*}$'"
REQUESTS = "/var/lib/vipu/requests.log"
# Enough for a machine that does other things, and a requeued job's wait; what takes longer never comes.
PATIENCE = 120
OVER = ("BOOT_FAIL", "CANCELLED", "COMPLETED", "FAILED", "NODE_FAIL", "TIMEOUT")


@dataclass(frozen=True)
class Job:
    """A job that was submitted."""

    id: int
    # Where what it prints is; that of a batch job is on its first server.
    output: str
    # The command that waits for it on the controller; a batch job has none.
    process: subprocess.Popen[str] | None = None


@dataclass(frozen=True)
class Partition:
    """A partition in V-IPU: its place, each IPU as address of the RNIC and number there, and its shape."""

    devices: tuple[tuple[str, int], ...]
    gcds: int
    replicas: int
    allocation: str


class Slurm:
    """Slurm and V-IPU of a running pod; `administrator` are the words with which vipu-admin finds its controller."""

    def __init__(self, pod: Any, administrator: str = "-P 8091") -> None:
        self.pod = pod
        self.servers: list[str] = list(pod.sim["poplar_servers"])
        self._administrator = administrator
        self._number = 0
        self._containers = Containers()

    def prepare(self) -> None:
        """A user and their program on every host, and a V-IPU controller that notes what it is asked."""
        program = str(Path(__file__).with_name("ipu_program.py"))
        for host in (CONTROLLER, *self.servers):
            subprocess.run(["podman", "cp", program, f"podsim-{host}:{PROGRAM}"], check=True)
            self.pod.inside(
                host, f"chmod 755 {PROGRAM}; useradd --uid {UID} --create-home {USER}; install -d -m 1777 {FOLDER}"
            )
        unit, drop_in = "/etc/systemd/system/vipu-server.service", "/run/systemd/system/vipu-server.service.d"
        self.pod.inside(
            CONTROLLER,
            f"mkdir -p {drop_in}; printf '[Service]\\nExecStart=\\n%s --request-log {REQUESTS}\\n' "
            f'"$(grep ^ExecStart= {unit})" > {drop_in}/log.conf; '
            "systemctl daemon-reload; systemctl restart vipu-server",
        )
        self.vipu_answers()

    def root(self, command: str, host: str = CONTROLLER) -> str:
        """The output of a command of the administrator, which has to succeed."""
        done = self._done(command, host)
        assert done.returncode == 0, f"{host}: {command}: {done.stdout}{done.stderr}"
        return done.stdout

    def says(self, command: str) -> tuple[int, str]:
        """The exit code of a user's command on the controller's host, and all that it says."""
        done = self._done(command, CONTROLLER, USER)
        return done.returncode, (done.stdout + done.stderr).strip()

    def _done(self, command: str, host: str, user: str = "root") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._on(host, user, command), capture_output=True, text=True, env=ENVIRONMENT, check=False
        )

    def _on(self, host: str, user: str, command: str) -> list[str]:
        """The command line that runs a shell command on a host as a user."""
        inside = self._containers.enter(f"podsim-{host}")
        return [*inside, "runuser", "-u", user, "--", "bash", "-c", f"cd {FOLDER} && {command}"]

    def refusal(self, command: str) -> str:
        """The message of a user's command, which has to fail."""
        code, text = self.says(command)
        assert code != 0, f"{command} was not refused: {text}"
        return text

    def batch(self, options: str, command: str = f"srun {PROGRAM} --hold") -> Job:
        """A job from a script."""
        code, text = self.says(f"sbatch --parsable --output={FOLDER}/%j.out {options} --wrap={shlex.quote(command)}")
        assert code == 0, text
        # The last line: a warning may stand before it.
        number = int(text.splitlines()[-1])
        return Job(number, f"{FOLDER}/{number}.out")

    def script(self, text: str, options: str = "") -> Job:
        """A job from a script as somebody has written it; its output is where Slurm puts it."""
        self._number += 1
        file = f"{FOLDER}/script{self._number}.batch"
        code, answer = self.says(f"printf %s {shlex.quote(text)} >{file} && sbatch --parsable {options} {file}")
        assert code == 0, answer
        number = int(answer.splitlines()[-1])
        return Job(number, f"{FOLDER}/slurm-{number}.out")

    def array(self, size: int, options: str, command: str = f"srun {PROGRAM} --hold") -> list[Job]:
        """A job array; its jobs."""
        first = self.batch(f"--array=0-{size - 1} {options}", command)
        self.until(f"[ $(squeue -h -r -j {first.id} | wc -l) = {size} ]", f"array {first.id} is not whole")
        self.until(
            f"[ $(squeue -h -j {first.id} -t RUNNING | wc -l) = {size} ]", f"array {first.id} does not run as a whole"
        )
        numbers = sorted(int(word) for word in self.root(f"squeue -h -j {first.id} -o %A").split())
        return [Job(number, f"{FOLDER}/{number}.out") for number in numbers]

    def srun(self, options: str, command: str = f"{PROGRAM} --hold") -> Job:
        """A job that somebody waits for at a terminal."""
        return self._interactive(f"srun {options}", command)

    def salloc(self, options: str, command: str = f"srun {PROGRAM} --hold") -> Job:
        """An allocation of resources in which somebody works."""
        return self._interactive(f"salloc {options}", command)

    def _interactive(self, how: str, command: str) -> Job:
        self._number += 1
        name, output = f"interactive{self._number}", f"{FOLDER}/interactive{self._number}.out"
        line = f"exec {how} --job-name={name} {command} >{output} 2>&1"
        process = subprocess.Popen(
            self._on(CONTROLLER, USER, line),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=ENVIRONMENT,
        )
        self.until(f"[ $(squeue -h -a -t all -n {name} | wc -l) = 1 ]", f"{how} made no job")
        return Job(int(self.root(f"squeue -h -a -t all -n {name} -o %A")), output, process)

    def release(self, *jobs: Job) -> None:
        """Tell programs that hold their job that they may end; of several tasks, all have to hold it already."""
        for job in jobs:
            host = CONTROLLER if job.process else self._batch_host(job)
            self.until(f"grep -q {REPORT} {job.output}", f"job {job.id} has not said anything", host)
        self.root(f"scancel --signal=USR1 {_spaced(jobs)}")

    def cancel(self, *jobs: Job) -> None:
        """Cancel jobs, as their user."""
        code, text = self.says(f"scancel {_spaced(jobs)}")
        assert code == 0, text

    def reports(self, job: Job, tasks: int = 1) -> list[dict[str, Any]]:
        """The reports of the tasks of a running or ended job, in order."""
        host = CONTROLLER if job.process else self._batch_host(job)
        self.until(f"[ $(grep -c {REPORT} {job.output}) = {tasks} ]", f"job {job.id} has not said enough", host)
        lines = [line for line in self.root(f"cat {job.output}", host).splitlines() if line.startswith("{")]
        return sorted((json.loads(line) for line in lines), key=lambda report: int(report["task"]))

    def output_of(self, job: Job) -> str:
        """All that a job has printed so far."""
        return self.root(f"cat {job.output}", CONTROLLER if job.process else self._batch_host(job))

    def _batch_host(self, job: Job) -> str:
        self.until(
            f"squeue -h -a -t all -j {job.id} -o '%A %B' | grep -q '^{job.id} pod'", f"job {job.id} does not run"
        )
        return self.shown("%B", job)[0]

    def shown(self, what: str, *jobs: Job) -> list[str]:
        """The output of squeue for jobs, in the letters of its --format; for an array task, that of the whole array."""
        text = self.root(f"squeue -h -a -r -t all -j {_listed(jobs)} -o '%A {what}'")
        found = dict(line.split(maxsplit=1) for line in text.splitlines())
        return [found[str(job.id)].strip() for job in jobs]

    def wait_for(self, state: str, *jobs: Job) -> None:
        """Wait until all of some jobs are in a state."""
        seen = f"squeue -h -a -t all -j {_listed(jobs)} -o %T | sort -u"
        self.until(f'[ "$({seen})" = {state} ]', f"{_listed(jobs)} are not {state}")

    def ends(self, *jobs: Job) -> list[str]:
        """How jobs have ended, once they have."""
        over = f"/^({'|'.join(OVER)})$/"
        seen = f"squeue -h -a -t all -j {_listed(jobs)} -o %T"
        self.until(f"{seen} | awk '!{over} {{left = 1}} END {{exit left || !NR}}'", f"{_listed(jobs)} do not end")
        for job in jobs:
            if job.process:
                job.process.wait(PATIENCE)
        return self.shown("%T", *jobs)

    def until(self, condition: str, failure: str, host: str = CONTROLLER, patience: int = PATIENCE) -> None:
        """Wait for a shell command to succeed on a host; one that never does is a failure."""
        done = self._done(f"timeout {patience} sh -c {shlex.quote(f'until {condition}; do sleep 0.1; done')}", host)
        if done.returncode != 0:
            pytest.fail(f"{failure}\n{self.diagnosis()}")

    def until_it(self, question: Callable[[], Any], wanted: Any, failure: str) -> None:
        """Wait until a question has the wanted answer."""
        deadline = time.monotonic() + PATIENCE
        while (answer := question()) != wanted:
            if time.monotonic() > deadline:
                pytest.fail(f"{failure}:\n{answer}\ninstead of\n{wanted}\n{self.diagnosis()}")
            time.sleep(0.2)

    def diagnosis(self) -> str:
        """The state and the logs that help to understand a failure."""
        slurm = "squeue -a -t all -o '%A %u %j %T %r %N %W' | tail -30; sinfo -R; scontrol show licenses"
        logs = "journalctl --no-pager -n 40 -t ipu-pod-slurm; tail -n 40 /var/log/slurm/slurmctld.log"
        return self.root(f"({slurm}; scontrol show job | grep AdminComment; {logs}) 2>&1; true")

    def partitions(self) -> dict[str, Partition]:
        """The partitions in V-IPU that are there."""
        rnics = {name: machine["rnic"]["lease"].split("/")[0] for name, machine in self.pod.sim["ipu_machines"].items()}
        found = {}
        for partition in self._vipu("partitions"):
            spec = partition["spec"]
            numbers = [ipu["topology_id"] for ipu in spec["ipus"]]
            agents = self._agents[spec["cluster_id"]]
            devices = tuple((rnics[agents[number // 4]], number % 4) for number in numbers)
            found[partition["id"]] = Partition(
                devices, spec["num_gcds"], spec["num_replicas"], spec.get("allocation_id", "")
            )
        return found

    @cached_property
    def _agents(self) -> dict[str, list[str]]:
        """Those of each cluster, which no job changes."""
        return {cluster["id"]: cluster["spec"]["agent_ids"] for cluster in self._vipu("clusters")}

    @staticmethod
    def switch(machine: str, *, on: bool) -> None:
        """Switch an IPU-Machine on or off."""
        command = ["start"] if on else ["stop", "--time", "0"]
        subprocess.run(["podman", *command, f"podsim-{machine}"], check=True, capture_output=True)

    def administer(self, command: str) -> str:
        """The output of the V-IPU administrator's program for a command."""
        return self.root(f"vipu-admin {self._administrator} {command}")

    def _vipu(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.administer(f"--showjson list {kind}"))[kind]
        return found

    def left(self) -> dict[str, Any]:
        """Everything that a job may change and has to leave as it was."""
        return {
            **{kind: sorted(each["id"] for each in self._vipu(kind)) for kind in ("allocations", "users")},
            "partitions": {name: partition.devices for name, partition in self.partitions().items()},
            "jobs": self.root("squeue -h -a -o '%A %T %r'"),
            "licences": self.root("scontrol show licenses --oneliner"),
            "reservations": self.root("scontrol show reservations --oneliner"),
            "servers": self.root("sinfo -h -N -o '%N %T %E'"),
            "claims": self.root("cat /var/lib/ipu-pod/slurm/claims.json 2>/dev/null || echo -n {}"),
            "handed over": {
                server: self.root("find /run/ipu-pod/slurm -mindepth 1 2>/dev/null; true", server)
                for server in self.servers
            },
        }

    def is_left_as(self, before: dict[str, Any]) -> None:
        """Nothing is left behind by jobs that are over; those of a test that has failed are ended."""
        self.root(f"scancel --user={USER}")
        self.until('[ -z "$(squeue -h -a)" ]', "jobs are left")
        self.until_it(
            lambda: {what: now for what, now in self.left().items() if now != before[what]}, {}, "something is left"
        )

    def take_back_what_is_left(self) -> None:
        """Run now the service that a timer starts every minute."""
        self.root("systemctl start ipu-pod-slurm-reap.service")

    @contextmanager
    def vipu_does_not_answer(self) -> Iterator[None]:
        """The V-IPU controller takes requests and does nothing; afterwards it does what it was asked."""
        self.root("systemctl kill --signal=STOP vipu-server")
        try:
            yield
        finally:
            self.root("! systemctl --quiet is-active vipu-server || systemctl kill --signal=CONT vipu-server")

    def vipu_dies(self) -> None:
        """The V-IPU controller is no longer there."""
        self.root("systemctl kill --signal=KILL vipu-server; systemctl stop vipu-server")

    def vipu_is_back(self) -> None:
        """The V-IPU controller is started."""
        self.root("systemctl start vipu-server")

    def vipu_answers(self) -> None:
        """Wait until the V-IPU controller has started."""
        asked = f"vipu-admin {self._administrator} list clusters >/dev/null 2>&1"
        self.until(asked, "the V-IPU controller does not answer")

    def requests(self) -> list[str]:
        """The methods that the V-IPU controller was asked for since it started."""
        return [json.loads(line)["method"] for line in self.root(f"cat {REQUESTS}").splitlines()]


def _listed(jobs: Collection[Job]) -> str:
    return ",".join(str(job.id) for job in jobs)


def _spaced(jobs: Sequence[Job]) -> str:
    return " ".join(str(job.id) for job in jobs)
