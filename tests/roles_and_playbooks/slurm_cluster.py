# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Slurm in one container without a network: munged, slurmctld, four slurmd, and what Slurm loads of the role."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import Settings
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.lua import lua_of
from podsim.floor.errors import FloorError
from podsim.floor.podman import Podman
from tests.support.checkout import ROOT
from tests.support.containers import Containers

FILES = ROOT / "roles" / "slurm" / "files"
NODES = tuple(f"node{number}" for number in range(1, 5))
RUN = "/run/ipu-pod/slurm"
USER = "alice"
SITE_LUA = """
function slurm_job_submit(job, partitions, uid)
   if job.name == "unwanted" then
      slurm.log_user("the site does not want it")
      return slurm.ERROR
   end
   job.comment = "seen by the site"
   return slurm.SUCCESS
end
function slurm_job_modify(change, job, partitions, uid)
   if change.comment == "unwanted" then
      return slurm.ESLURM_INVALID_TIME_LIMIT
   end
   return slurm.SUCCESS
end
return slurm.SUCCESS
"""
SITE_FILTER = """
function slurm_cli_setup_defaults(options, early) return slurm.SUCCESS end
function slurm_cli_pre_submit(options, offset)
   if options.type == "salloc" then
      slurm.log_info("filtered by the site")
   end
   return slurm.SUCCESS
end
function slurm_cli_post_submit(offset, job, step) return slurm.SUCCESS end
return slurm.SUCCESS
"""
CONFIGURATION = {
    "slurm.conf": """
ClusterName=cluster
SlurmctldHost=controller(127.0.0.1)
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/spool/slurmd/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1
JobSubmitPlugins=lua
CliFilterPlugins=lua
Licenses=ipu:64,other:4
GresTypes=vipu
NodeName=DEFAULT CPUs=64 Gres=vipu:4:2,vipu:16:1
NodeName=node1 NodeHostname=controller NodeAddr=127.0.0.1 Port=17001 Feature=ipu_block2_1,old
NodeName=node2 NodeHostname=controller NodeAddr=127.0.0.1 Port=17002 Feature=ipu_block2_1,new
NodeName=node[3-4] NodeHostname=controller NodeAddr=127.0.0.1 Port=[17003-17004] Feature=ipu_block2_2,new
PartitionName=ipu Nodes=ALL Default=YES OverSubscribe=YES State=UP
PartitionName=cpu Nodes=ALL OverSubscribe=YES State=UP
""",
    "gres.conf": "Name=vipu Type=4 Count=2 Flags=CountOnly\nName=vipu Type=16 Count=1 Flags=CountOnly\n",
    "plugstack.conf": f"required /tmp/spank_ipu.so options=ipus,num-replicas run={RUN}\n",
    "job_submit.site.lua": SITE_LUA,
    "cli_filter.site.lua": SITE_FILTER,
    **{name: (FILES / name).read_text() for name in ("job_submit.lua", "cli_filter.lua")},
}
# Slurm looks up 127.0.0.1 only where there is another address, too.
START = f"""set -e
timeout 60 sh -c 'until systemctl is-system-running --wait; do sleep 0.05; done'
ip link add one type veth peer name other
ip address add 198.18.0.1/24 dev one
ip link set one up
ip link set other up
echo 127.0.0.1 controller >> /etc/hosts
useradd --create-home {USER}
mkdir -p /run/munge /var/lib/slurm/slurmctld /var/spool/slurmd /var/log/slurm {RUN}
chown slurm /var/lib/slurm/slurmctld /var/log/slurm
chown munge /run/munge
head -c 128 /dev/urandom > /etc/munge/munge.key
chown munge /etc/munge/munge.key
chmod 0400 /etc/munge/munge.key
gcc -std=c11 -Wall -Wextra -Werror -O2 -shared -fPIC -o /tmp/spank_ipu.so /files/spank_ipu.c
su -s /bin/sh munge -c munged
slurmctld
for node in {" ".join(NODES)}; do slurmd -N $node; done
until [ "$(sinfo --noheader --partition=ipu --states=idle --format=%D)" = {len(NODES)} ]; do sleep 0.05; done
"""
FIELD = re.compile(r"(\w[\w/:]*)=(\S*)")
ADMIN_COMMENT = re.compile(r" AdminComment=(.*?) (?=[A-Z]\w*=|$)")


@dataclass(frozen=True)
class Result:
    """The result of a command: its exit status, and all that it printed."""

    code: int
    text: str


class SlurmCluster:
    """The cluster; its nodes share the container and so its files."""

    def __init__(self, podman: Podman, folder: Path) -> None:
        self._podman = podman
        self._folder = folder
        self._container = f"ipu-slurm-{os.getpid()}"
        self._containers = Containers()

    def start(self, tag: str) -> None:
        """Start it from an image of the simulated pod with Slurm; takes two seconds."""
        etc = self._folder / "slurm"
        etc.mkdir()
        for name, text in CONFIGURATION.items():
            (etc / name).write_text(text)
        self._podman.run(
            *("run", "--detach", "--name", self._container, "--hostname", "controller", "--network", "none"),
            *("--systemd", "always", "--cap-add", "NET_ADMIN"),
            *("--volume", f"{etc}:/etc/slurm", "--volume", f"{FILES}:/files:ro", tag),
        )
        self._podman.run("exec", self._container, "sh", "-c", START)

    def stop(self) -> None:
        """Remove it."""
        with contextlib.suppress(FloorError):
            self._podman.run("rm", "--force", "--time", "0", self._container)

    def use(self, settings: Settings) -> None:
        """Have jobs examined by these settings from now on."""
        (self._folder / "slurm" / "ipu-pod.lua").write_text(lua_of(settings))

    def sh(self, script: str, user: str = "root") -> Result:
        """The result of a shell script, which may take a minute."""
        inside = self._containers.enter(self._container)
        done = subprocess.run(
            [*inside, "runuser", "-u", user, "--", "timeout", "60", "sh", "-c", f"cd /tmp; {script}"],
            capture_output=True,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            check=False,
        )
        return Result(done.returncode, done.stdout + done.stderr)

    def job(self, number: str) -> dict[str, str]:
        """Slurm's fields of a job."""
        shown = self.sh(f"scontrol show job --oneliner {number}").text
        comment = ADMIN_COMMENT.search(shown)
        return {**dict(FIELD.findall(shown)), "AdminComment": comment[1].strip() if comment else ""}

    def submitted(self, options: str, environment: str = "") -> tuple[str, Result]:
        """Submit a job that is held; the options end with its script. Returns its number, if any, and what was said."""
        result = self.sh(f"{environment} sbatch --hold --parsable --output=/tmp/%j.out {options}", USER)
        number = re.search(r"^\d+$", result.text, re.MULTILINE)
        return (number[0] if number else "", result)

    def output_of(self, script: str, file: str = "", options: str = "", environment: str = "") -> str:
        """The output of a batch job, on whose nodes the role's file has this content; without one, it is no IPU job."""
        self.sh(f"echo {quote(script)} | sed '1i #!/bin/sh' > job.sh", USER)
        number, result = self.submitted(f"{options} job.sh", environment)
        assert number, result.text
        if file:
            self.sh(f"printf %s {quote(file)} > {RUN}/{number}.env")
        return self.output_of_held(number)

    def output_of_held(self, number: str) -> str:
        """Let a held job begin. What it has printed when it is over."""
        return self.sh(f"scontrol release {number}").text + self.output_at_end_of(number)

    def output_at_end_of(self, number: str) -> str:
        """The output of a job, once it is over."""
        ended = f'until [ -z "$(squeue --noheader --jobs={number})" ]; do sleep 0.05; done'
        return self.sh(f"{ended}; cat /tmp/{number}.out").text
