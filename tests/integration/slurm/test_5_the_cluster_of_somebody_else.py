# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Slurm cluster that was there before, with hooks, licences and rules of its own; and all of ours gone from it again.

Its partitions are those of the module before.
"""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tests.integration.slurm import events
from tests.integration.slurm.cluster import CONTROLLER, FOLDER, Slurm
from tests.integration.slurm.test_4_static import PARTITIONS, WAY

SLURM_CONF = """\
ClusterName=theirs
SlurmctldHost=ctrl001(10.3.1.200)
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/theirs
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
AuthInfo=cred_expire=5
Licenses=matlab:2
JobSubmitPlugins=lua
PrologSlurmctld=/etc/slurm/site/hook
EpilogSlurmctld=/etc/slurm/site/hook
Prolog=/etc/slurm/site/hook
Epilog=/etc/slurm/site/hook
NodeName=pod001-poplar1 NodeAddr=10.3.1.101 CPUs=8
NodeName=pod001-poplar2 NodeAddr=10.3.1.102 CPUs=8
NodeName=pod001-poplar[3-4] NodeAddr=10.3.1.[103-104] CPUs=8
PartitionName=all Nodes=ALL Default=YES
"""
GRES = {
    "NodeName=pod001-poplar1": "vipu:4:2",
    "NodeName=pod001-poplar2": "vipu:4:2,vipu:16:1",
    "NodeName=pod001-poplar[3-4]": "vipu:32:1",
}
HOOK = "#!/bin/sh\necho $SLURM_JOB_ID >>/var/log/slurm/site.$SLURM_SCRIPT_CONTEXT\n"
RULES = """\
function slurm_job_submit(job, partitions, uid)
   if job.name == "forbidden" then
      slurm.log_user("the site forbids this name")
      return slurm.ERROR
   end
   job.comment = "seen by the site"
   return slurm.SUCCESS
end

function slurm_job_modify(change, job, partitions, uid)
   return slurm.SUCCESS
end

return slurm.SUCCESS
"""
OURS = (
    "/usr/libexec/ipu-pod /usr/lib/ipu-pod /usr/bin/ipuinfo /etc/ipu-pod /run/ipu-pod /var/lib/ipu-pod/slurm "
    "/etc/slurm/ipu-pod.conf /etc/slurm/ipu-pod-gres.conf /etc/slurm/ipu-pod.lua /etc/slurm/job_submit.site.lua "
    "/etc/slurm/cli_filter.lua /etc/slurm/plugstack.conf.d/ipu-pod.conf /etc/systemd/system/ipu-pod-slurm-reap.timer"
)


def etc(slurm: Slurm, host: str) -> str:
    """All files with the configuration of Slurm on a host."""
    return slurm.root(
        "cd /etc/slurm && find . -type f | sort | xargs sha256sum; stat -c '%n %U %a' $(find . | sort)", host
    )


def write(slurm: Slurm, conf: str) -> None:
    """Their slurm.conf on each host."""
    for host in (CONTROLLER, *slurm.servers):
        slurm.root(f"printf %s {shlex.quote(conf)} >/etc/slurm/slurm.conf", host)


def with_gres() -> str:
    """Their slurm.conf with what the pod's partitions need."""
    conf = SLURM_CONF
    for node, gres in GRES.items():
        conf = conf.replace(f"{node} ", f"{node} Gres={gres} ")
    return conf


def nothing_of_ours_is_left(slurm: Slurm) -> None:
    for host in (CONTROLLER, *slurm.servers):
        assert slurm.root(f"ls -d {OURS} 2>/dev/null; true", host) == ""


@pytest.fixture(scope="module")
def theirs(declared: Any, slurm: Slurm) -> dict[str, str]:
    """The new cluster goes, another one is there; what its hosts have."""
    declared.change(**PARTITIONS)
    declared.done("slurm_removed")
    nothing_of_ours_is_left(slurm)
    write(slurm, SLURM_CONF)
    for host in (CONTROLLER, *slurm.servers):
        # Its jobs have the same numbers again, so that nothing printed by others may be left.
        slurm.root(
            f"mkdir -p /etc/slurm/site; printf %s {shlex.quote(HOOK)} >/etc/slurm/site/hook; "
            f"chmod 755 /etc/slurm/site/hook; systemctl stop slurmctld slurmd; find {FOLDER} -mindepth 1 -delete; "
            "install -d -o slurm /var/lib/slurm/theirs /var/lib/slurm/slurmd /var/log/slurm",
            host,
        )
    slurm.root(f"printf %s {shlex.quote(RULES)} >/etc/slurm/job_submit.lua; systemctl start munge slurmctld")
    for server in slurm.servers:
        slurm.root("systemctl start munge slurmd", server)
    slurm.until("[ $(sinfo -h -N -t idle | wc -l) = 4 ]", "their cluster does not come up")
    return {host: etc(slurm, host) for host in (CONTROLLER, *slurm.servers)}


def test_a_missing_setting_in_their_configuration_is_reported_and_nothing_changed(
    declared: Any, slurm: Slurm, theirs: dict[str, str]
) -> None:
    run = declared.run("slurm", slurm_way="static", slurm_cluster={})
    assert run.code != 0
    assert "the line of NodeName=pod001-poplar1 has to say Gres=vipu:4:2; change it there" in run.messages
    assert {host: etc(slurm, host) for host in theirs} == theirs


@pytest.fixture(scope="module")
def ready(slurm: Slurm, theirs: dict[str, str]) -> dict[str, str]:
    """They have followed that."""
    write(slurm, with_gres())
    return {host: etc(slurm, host) for host in theirs}


def test_their_files_get_an_include_and_their_rules_go_first(
    declared: Any, slurm: Slurm, ready: dict[str, str]
) -> None:
    assert ready
    declared.done("slurm", slurm_way="static", slurm_cluster={})
    for host in (CONTROLLER, *slurm.servers):
        assert slurm.root("cat /etc/slurm/slurm.conf", host) == with_gres() + "include /etc/slurm/ipu-pod.conf\n"
    assert slurm.root("cat /etc/slurm/job_submit.site.lua") == RULES
    again = declared.done("slurm", slurm_way="static", slurm_cluster={})
    assert again.changed == dict.fromkeys(again.changed, 0)
    assert "the site forbids this name" in slurm.refusal("sbatch -J forbidden --wrap=true")


@pytest.mark.usefixtures("ready", "at_rest")
@pytest.mark.parametrize(
    "event",
    [
        events.jobs_of_every_kind_run_side_by_side_and_the_next_waits,
        events.a_job_over_several_servers_has_a_gcd_on_each,
        events.a_job_without_ipus_has_none,
    ],
    ids=events.title,
)
def test_everyday_life(slurm: Slurm, event: events.Event) -> None:
    event(slurm, WAY)


@pytest.mark.usefixtures("ready", "at_rest")
def test_their_hooks_run_with_their_licences_and_comments(slurm: Slurm) -> None:
    job = slurm.batch(f"{WAY.asks} -L matlab:1")
    slurm.wait_for("RUNNING", job)
    events.has_its_ipus(slurm, WAY, job)
    assert slurm.shown("%k", job) == ["seen by the site"]
    (server,) = slurm.shown("%N", job)
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]
    contexts = {CONTROLLER: ("prolog_slurmctld", "epilog_slurmctld"), server: ("prolog_slurmd", "epilog_slurmd")}
    for host, names in contexts.items():
        for name in names:
            slurm.until(f"grep -qx {job.id} /var/log/slurm/site.{name}", f"their {name} did not run", host)


@pytest.mark.usefixtures("ready", "at_rest")
def test_nothing_is_taken_away_under_a_job(declared: Any, slurm: Slurm) -> None:
    job = slurm.batch(WAY.asks)
    slurm.wait_for("RUNNING", job)
    run = declared.run("slurm_removed")
    assert run.code != 0
    assert f"Jobs {job.id} have IPUs or wait for some; end them first" in run.messages
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


def test_afterwards_all_is_as_it_was(declared: Any, slurm: Slurm, ready: dict[str, str]) -> None:
    declared.done("slurm_removed")
    nothing_of_ours_is_left(slurm)
    assert {host: etc(slurm, host) for host in ready} == ready
