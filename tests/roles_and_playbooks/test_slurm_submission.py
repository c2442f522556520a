# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real Slurm with the role's job_submit.lua, cli_filter.lua and SPANK plugin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from shlex import quote

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.job import FORMAT, jobs_from
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import DeclaredPartition, Settings
from podsim.floor import image
from podsim.floor.facts import Software
from tests.roles_and_playbooks.slurm_cluster import NODES, RUN, USER, SlurmCluster
from tests.support.container_server import podman_in, skip_without_podman

DYNAMIC = Settings(
    way="dynamic",
    vpod="jobs",
    ipus=64,
    cluster="c001",
    allocation="jobs",
    api_host="10.3.1.200",
    api_port=8090,
    admin_port=8091,
    secure=False,
    vipu_config="",
    node_vipu_config="",
    node_certificates="",
    hand_over="environment",
    slurm_partitions=(),
    gres_types=("pod64",),
    default_ipus=64,
    mapping={},
    job_users=False,
    partitions=(),
    chained={},
    state="/var/lib/ipu-pod/slurm",
    run=RUN,
)
MAPPING = replace(
    DYNAMIC,
    way="mapping",
    slurm_partitions=("ipu",),
    mapping={node: tuple(f"{node}m{number}" for number in range(4)) for node in NODES},
    ipu_machines={f"{node}m{number}": f"{node}m{number}" for node in NODES for number in range(4)},
)
STATIC = replace(
    DYNAMIC,
    way="static",
    partitions=(
        *(DeclaredPartition(f"s4{node}", 4, 1, 1, (node,)) for node in NODES),
        DeclaredPartition("s16", 16, 2, 2, NODES[:2]),
    ),
)
RECONFIGURABLE = replace(
    DYNAMIC,
    way="reconfigurable",
    slurm_partitions=("ipu",),
    partitions=(DeclaredPartition("all", 64, 1, 1, (NODES[0],)),),
)
ONLY_IPU = replace(DYNAMIC, slurm_partitions=("ipu",))

REFUSED = {
    "no such size": (DYNAMIC, "--ipus=12", "no partition of 12 IPUs here; use one of 1, 2, 4, 8, 16, 32, 64"),
    "too many": (DYNAMIC, "--ipus=128", "no partition of 128 IPUs here"),
    "odd tasks": (DYNAMIC, "--ipus=16 -n 3", "can have 1, 2, 4, 8, 16 GCDs; use one of these with -n"),
    "odd nodes": (DYNAMIC, "--ipus=16 -N 3", "--ipus=16 for 3 tasks"),
    "large replicas": (DYNAMIC, "--ipus=64 --num-replicas=4", "64 IPUs in 1 GCDs can have 16, 32, 64 replicas"),
    "odd replicas": (DYNAMIC, "--ipus=16 -n4 --num-replicas=3", "16 IPUs in 4 GCDs can have 4, 8, 16 replicas"),
    "replicas alone": (DYNAMIC, "--num-replicas=4", "--num-replicas needs --ipus=N"),
    "no number": (DYNAMIC, "--ipus=many", '"many" is no positive number; write for example --ipus=4'),
    "zero": (DYNAMIC, "--ipus=0", '"0" is no positive number'),
    "a licence": (DYNAMIC, "-L ipu:16", "licence ipu is not for -L; ask for IPUs with --ipus=N"),
    "a licence among others": (DYNAMIC, "--ipus=4 -L 'other:2,ipu'", "licence ipu is not for -L"),
    "a licence with a sign": (DYNAMIC, "-L 'other;ipu*3'", "licence ipu is not for -L"),
    "a licence as Slurm 23.11 writes it": (ONLY_IPU, "-p cpu -L ipu=64", "licence ipu is not for -L"),
    "either licence": (DYNAMIC, "--ipus=4 -L 'other:1|ipu:4'", "licence ipu is not for -L"),
    "one of several licences": (DYNAMIC, "--ipus=4 -L 'other:1|more:1'", "IPUs cannot be added to licences of which"),
    "no such model": (DYNAMIC, "--ipus=4 --gres=vipu:pod16", "does not exist here; leave it out, or use one of pod64"),
    "a model without a name": (DYNAMIC, "--ipus=4 --gres=vipu", "--gres=vipu: that model does not exist here"),
    "only a model": (DYNAMIC, "--gres=vipu:pod64", "names a model, not how many IPUs; add --ipus=N"),
    "no models": (replace(DYNAMIC, gres_types=()), "--ipus=4 --gres=vipu:pod64", "--gres=vipu does not exist here"),
    "another Slurm partition": (ONLY_IPU, "--ipus=4 -p cpu", "run in Slurm partition ipu and in no other; use -p ipu"),
    "either Slurm partition": (ONLY_IPU, "--ipus=4 -p cpu,ipu", "in no other"),
    "mapping: half a node": (MAPPING, "--ipus=8", "a job has the 16 IPUs of each of its nodes, and 1, 2, 4 nodes can"),
    "mapping: more than there is": (MAPPING, "--ipus=128", "1, 2, 4 nodes can be had together; use 16 for each"),
    "mapping: too many nodes": (MAPPING, "--ipus=16 -N 2", "so these are 1 nodes; use -N 1, or leave it out"),
    "mapping: too few nodes": (MAPPING, "--ipus=64 -N 2", "so these are 4 nodes; use -N 4"),
    "mapping: three nodes": (MAPPING, "--ipus=48", "1, 2, 4 nodes can be had together; use 16 for each"),
    "mapping: an allocation of three nodes": (MAPPING, "-N 3", "V-IPU has no block of so many; use one of 1, 2, 4"),
    "mapping: an allocation of many nodes": (MAPPING, "-N 5-8", "cannot have the IPUs of 5 nodes"),
    "mapping: counted features": (MAPPING, "-N 2 -C new*1", "-C new*1 cannot be joined"),
    "mapping: either feature of all": (MAPPING, "--ipus=32 -C '[new|old]'", "write it with & or | alone"),
    "mapping: several named nodes": (MAPPING, "--ipus=32 -w node[2-3]", "-w node[2-3]: the nodes of a job are neighb"),
    "mapping: two named nodes": (MAPPING, "-N 2 -w node1,node3", "name one of them, and Slurm finds the others"),
    "mapping: odd tasks": (MAPPING, "--ipus=32 -n 3", "--ipus=32 for 3 tasks"),
    "mapping: another Slurm partition": (MAPPING, "--ipus=16 -p cpu", "use -p ipu"),
    "mapping: either Slurm partition": (MAPPING, "-p cpu,ipu", "in no other"),
    "mapping: a model": (MAPPING, "--ipus=16 --gres=vipu:4:1", "--gres=vipu does not exist here"),
    "static: no count": (STATIC, "--gres=vipu:4", "write --gres=vipu:4:1 for one of 4 IPUs"),
    "static: nothing": (STATIC, "--gres=vipu", "write --gres=vipu:IPUS:1"),
    "static: no such size": (STATIC, "--gres=vipu:8:1", "no partition of 8 IPUs here; use one of 4, 16"),
    "static: too few nodes": (STATIC, "--gres=vipu:16:1 -N 1", "are on 2 nodes; use -N 2"),
    "static: twice": (STATIC, "--gres=vipu:16:2", "has 2 nodes, and a job can have one such; write --gres=vipu:16:1"),
    "static: with another": (STATIC, "--gres=vipu:16:1,vipu:4:1", "is the only one of its job"),
    "static: a licence": (STATIC, "-L ipu:16", "ask for IPUs with --gres=vipu:IPUS:1"),
    "reconfigurable: two nodes": (RECONFIGURABLE, "-N 2", "has one GCD, on one Poplar server; use -N 1"),
    "reconfigurable: too many": (RECONFIGURABLE, "--ipus=65", "share a partition of 64 IPUs; use at most 64"),
    "reconfigurable: another Slurm partition": (RECONFIGURABLE, "--ipus=4 -p cpu", "use -p ipu"),
}
NOTHING = {"Licenses": "(null)", "AdminComment": ""}
ACCEPTED = {
    "the guide's": (
        *(DYNAMIC, "--ipus=2 --ntasks=1 --num-replicas=1 --gres=vipu:pod64"),
        {"Licenses": "ipu:2", "AdminComment": "ipu.pod ipus=2 gcds=1 replicas=1", "NumTasks": "1"},
    ),
    "two GCDs": (DYNAMIC, "--ipus=2 -n 2", {"Licenses": "ipu:2", "AdminComment": "ipu.pod ipus=2 gcds=2"}),
    "a GCD for each node": (DYNAMIC, "--ipus=64 -N 4", {"AdminComment": "ipu.pod ipus=64 gcds=4", "NumNodes": "4-4"}),
    "tasks of each node": (DYNAMIC, "--ipus=16 -N 2 --ntasks-per-node=2", {"AdminComment": "ipu.pod ipus=16 gcds=4"}),
    "other licences": (DYNAMIC, "--ipus=16 -L other:2", {"Licenses": "other:2,ipu:16"}),
    "a counted model": (DYNAMIC, "--ipus=4 --gres=vipu:pod64:1", {"Licenses": "ipu:4"}),
    "no IPUs": (DYNAMIC, "-n 3 -L other", {"Licenses": "other", "AdminComment": ""}),
    "an array": (DYNAMIC, "--ipus=4 --array=1-3", {"Licenses": "ipu:4", "AdminComment": "ipu.pod ipus=4 gcds=1"}),
    "the default Slurm partition": (ONLY_IPU, "--ipus=4", {"Licenses": "ipu:4"}),
    "no IPUs elsewhere": (ONLY_IPU, "-p cpu,ipu", NOTHING),
    "mapping: whole nodes": (
        *(MAPPING, "--ipus=32 -n 2"),
        {"Licenses": "ipu:32", "AdminComment": "ipu.pod ipus=32 gcds=2", "NumNodes": "2-2", "OverSubscribe": "NO"},
    ),
    "mapping: neighbours": (MAPPING, "--ipus=32", {"Features": "[ipu_block2_1|ipu_block2_2]"}),
    "mapping: neighbours of a kind": (
        *(MAPPING, "--ipus=32 -w node2 -C 'new|old'"),
        {"Features": "[ipu_block2_1|ipu_block2_2]&(new|old)"},
    ),
    "mapping: one node": (MAPPING, "--ipus=16 -C new -w node2", {"Features": "new", "ReqNodeList": "node2"}),
    "mapping: all nodes": (MAPPING, "--ipus=64 -w node[1-4]", {"Features": "(null)", "NumNodes": "4-4"}),
    "mapping: as many nodes": (MAPPING, "--ipus=32 -N 1-3", {"AdminComment": "ipu.pod ipus=32 gcds=2"}),
    "mapping: an allocation": (
        *(MAPPING, "--oversubscribe"),
        {"AdminComment": "ipu.pod", "OverSubscribe": "NO", "NumNodes": "1-1"},
    ),
    "mapping: an allocation of several nodes": (
        *(MAPPING, "-N 2-3"),
        {"AdminComment": "ipu.pod", "NumNodes": "2-2", "Features": "[ipu_block2_1|ipu_block2_2]"},
    ),
    "mapping: elsewhere": (MAPPING, "-p cpu", {**NOTHING, "OverSubscribe": "OK"}),
    "static: one": (STATIC, "--gres=vipu:4:1", {**NOTHING, "AdminComment": "ipu.pod"}),
    "static: several": (STATIC, "--gres=vipu:4:2 -N 1", {"AdminComment": "ipu.pod", "NumNodes": "1-1"}),
    "static: several nodes": (STATIC, "--gres=vipu:16:1", {"AdminComment": "ipu.pod", "NumNodes": "2-2"}),
    "static: no GRES": (STATIC, "-N 2", NOTHING),
    "reconfigurable: all": (
        *(RECONFIGURABLE, "-n 4"),
        {"Licenses": "ipu:64", "AdminComment": "ipu.pod ipus=64", "NumNodes": "1-1"},
    ),
    "reconfigurable: some": (RECONFIGURABLE, "--ipus=16", {"Licenses": "ipu:16", "AdminComment": "ipu.pod ipus=16"}),
    "reconfigurable: elsewhere": (RECONFIGURABLE, "-p cpu -N 2", NOTHING),
}
CHANGES = {
    "its licences": "Licenses=",
    "its licences with others": "Licenses=other:1",
    "its IPUs": "Licenses=ipu:64",
    "its IPUs as Slurm 23.11 writes them": "Licenses=ipu=64",
    "its GRES": "Gres=vipu:4:1",
    "its tasks": "NumTasks=4",
    "its nodes": "NumNodes=2",
}
IPU_JOB = "gcds=2\nIPUOF_VIPU_API_PARTITION_ID=slurm_1\nIPUOF_VIPU_API_GCD_ID=%g\nIPU_POD_IPUS=16\nIPU_POD_X=%g-%g\n"
FORGED = "IPUOF_CONFIG_PATH=/tmp/mine IPUOF_VIPU_API_PARTITION_ID=other IPUOF_VIPU_API_GCD_ID=7 IPU_POD_A=1 IPU_POD_B=2"
SLEEP = "--wrap 'sleep 60'"
# What Slurm's own programs take for the option, and what they do not.
FORGED_OPTIONS = {
    "SLURM_SPANK__SLURM_SPANK_OPTION_ipu_ipus=64": "ipu:64 ipu.pod ipus=64 gcds=1",
    "_SLURM_SPANK_OPTION_ipu_ipus=64 SPANK__SLURM_SPANK_OPTION_ipu_ipus=64": "(null) (null)",
}
SHOW = "env | grep -a ^IPU | sort | tr '\\n' ' '; echo"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    skip_without_podman()
    folder = tmp_path_factory.mktemp("slurm")
    podman = podman_in(folder)
    tag = image.tag((Software.SLURM,))
    if not podman.images(tag):
        pytest.skip(
            "needs the simulated pod's image with Slurm; `podsim image inventories/sim_slurm/pods.yml` makes it"
        )
    cluster = SlurmCluster(podman, folder)
    try:
        cluster.start(tag)
        yield cluster
    finally:
        cluster.stop()


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_in_one_sentence_what_would_be_right(cluster: SlurmCluster, case: str) -> None:
    settings, options, sentence = REFUSED[case]
    cluster.use(settings)
    number, result = cluster.submitted(f"{options} {SLEEP}")
    assert sentence in result.text
    assert result.code != 0
    assert number == ""


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_accepted_is_written_where_users_cannot_write(cluster: SlurmCluster, case: str) -> None:
    settings, options, expected = ACCEPTED[case]
    cluster.use(settings)
    number, result = cluster.submitted(f"{options} {SLEEP}")
    assert number, result.text
    job = cluster.job(number)
    assert {field: job[field] for field in expected} == expected
    assert job["Comment"] == "seen"
    assert cluster.sh(f"scancel {number}").code == 0


def test_srun_and_salloc_ask_as_sbatch_does(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    show = "scontrol show job --oneliner \\$SLURM_JOB_ID"
    for program in ("srun -n 2", "salloc -n 2"):
        asked = cluster.sh(f'{program} --ipus=16 --gres=vipu:pod64 sh -c "{show}"', USER)
        assert "Licenses=ipu:16 " in asked.text
        assert "AdminComment=ipu.pod ipus=16 gcds=2 " in asked.text
        assert "does not exist here; leave it out" in cluster.sh(f"{program} --ipus=4 --gres=vipu:x true", USER).text
        assert "names a model" in cluster.sh(f"{program} --gres=vipu:pod64 true", USER).text
        assert "no partition of 12 IPUs" in cluster.sh(f"{program} --ipus=12 true", USER).text


def test_forged_options_and_comments_get_what_is_counted_or_nothing(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    options = "--comment='ipu.pod ipus=64 partition=all' --job-name='x Licenses=ipu:64'"
    for environment, counted in FORGED_OPTIONS.items():
        number, result = cluster.submitted(f"{options} {SLEEP}", environment)
        assert number, result.text
        listed = cluster.sh(f"squeue --noheader --jobs={number} --Format=licenses:20,admin_comment:40").text
        assert " ".join(listed.split()) == counted
        assert "denied" in cluster.sh(f"scontrol update JobId={number} AdminComment='ipu.pod ipus=8'", USER).text
        assert "denied" in cluster.sh(f"scontrol update JobId={number} Licenses=ipu:8", USER).text
        cluster.sh(f"scancel {number}")


def test_what_squeue_prints_of_a_job_is_read_as_it_is(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    other, _result = cluster.submitted(f"-L other:1 {SLEEP}")
    ours, _result = cluster.submitted(f"--ipus=16 -L other:2 {SLEEP}")
    plain, _result = cluster.submitted(SLEEP)
    listed = cluster.sh(f"squeue --noheader --all --jobs={other},{ours},{plain} --Format='{FORMAT}'").text
    jobs, not_understood = jobs_from(listed)
    assert not_understood == []
    assert {str(job.id): (job.ipus, job.note) for job in jobs} == {
        other: (0, {}),
        ours: (16, {"ipus": "16", "gcds": "1"}),
        plain: (0, {}),
    }
    cluster.sh(f"scancel {other} {ours} {plain}")


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_job_has_of_the_ipus_stays(cluster: SlurmCluster, change: str) -> None:
    cluster.use(DYNAMIC)
    number, _result = cluster.submitted(f"--ipus=16 -n 2 {SLEEP}")
    before = cluster.job(number)
    result = cluster.sh(f"scontrol update JobId={number} {CHANGES[change]}", USER)
    assert "denied" in result.text
    assert cluster.job(number) == before
    cluster.sh(f"scancel {number}")


def test_the_owner_of_a_running_job_cannot_give_its_licences_back(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    number, _result = cluster.submitted(f"--ipus=16 {SLEEP}")
    cluster.sh(
        f'scontrol release {number}; until [ -n "$(squeue --noheader --states=R -j {number})" ]; do sleep 0.05; done'
    )
    assert cluster.sh(f"scontrol update JobId={number} Licenses=", USER).code != 0
    assert "Used=16" in cluster.sh("scontrol show licenses ipu").text
    cluster.sh(f"scancel {number}")


def test_other_jobs_and_other_things_can_be_changed(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    ours, _result = cluster.submitted(f"--ipus=16 {SLEEP}")
    other, _result = cluster.submitted(f"-L other:1 {SLEEP}")
    assert cluster.sh(f"scontrol update JobId={ours} TimeLimit=5 JobName=new Features=new", USER).code == 0
    assert cluster.sh(f"scontrol update JobId={other} Licenses=other:2 NumTasks=4", USER).code == 0
    assert cluster.sh(f"scontrol update JobId={other} Licenses=other:2,ipu:4", USER).code != 0
    assert cluster.sh(f"scontrol update JobId={other} Gres=vipu:4:1", USER).code != 0
    # Root and Slurm's own user, as whom the hooks run.
    assert cluster.sh(f"scontrol update JobId={ours} Licenses=ipu:8").code == 0
    assert cluster.sh(f"scontrol update JobId={ours} Licenses=ipu:4 AdminComment=mine", "slurm").code == 0
    job = cluster.job(ours)
    assert (job["Licenses"], job["AdminComment"]) == ("ipu:4", "mine")
    cluster.sh(f"scancel {ours} {other}")


def test_a_job_does_not_move_into_or_out_of_the_ipus_slurm_partition(cluster: SlurmCluster) -> None:
    cluster.use(MAPPING)
    inside, _result = cluster.submitted(f"-p ipu {SLEEP}")
    outside, _result = cluster.submitted(f"-p cpu {SLEEP}")
    for number, partition in ((inside, "cpu"), (outside, "ipu")):
        assert "denied" in cluster.sh(f"scontrol update JobId={number} Partition={partition}", USER).text
    assert cluster.sh(f"scontrol update JobId={inside} OverSubscribe=yes", USER).code != 0
    cluster.use(ONLY_IPU)
    assert cluster.sh(f"scontrol update JobId={outside} Partition=ipu", USER).code == 0
    cluster.sh(f"scancel {inside} {outside}")


def test_a_job_gets_neighbours_and_waits_for_them(cluster: SlurmCluster) -> None:
    cluster.use(MAPPING)
    show = "echo $SLURM_JOB_NODELIST"
    assert cluster.output_of(show, options="--ipus=32").strip() == "node[1-2]"
    assert cluster.output_of(show, options="--ipus=32 -C new").strip() == "node[3-4]"
    assert cluster.output_of(show, options="--ipus=32 -C 'new|old'").strip() == "node[1-2]"
    assert cluster.output_of(show, options="-N 2 -w node4").strip() == "node[3-4]"
    busy, _result = cluster.submitted(f"-w node2 {SLEEP}")
    cluster.sh(
        f'scontrol release {busy}; until [ -n "$(squeue --noheader --states=R -j {busy})" ]; do sleep 0.05; done'
    )
    assert cluster.output_of(show, options="--ipus=32").strip() == "node[3-4]"
    number, _result = cluster.submitted(f"--ipus=32 -w node1 --wrap '{show}'")
    cluster.sh(f"scontrol release {number}")
    # While this one runs, that one has been looked at.
    assert cluster.output_of(show, options="-w node3").strip() == "node3"
    assert cluster.job(number)["JobState"] == "PENDING"
    cluster.sh(f"scancel {busy}")
    assert cluster.output_at_end_of(number).strip() == "node[1-2]"


@pytest.mark.parametrize("change", ["Features=new", "Features=", "ReqNodeList=node[2-3]"])
def test_the_owner_of_a_job_cannot_tear_its_nodes_apart(cluster: SlurmCluster, change: str) -> None:
    cluster.use(MAPPING)
    number, _result = cluster.submitted(f"--ipus=32 {SLEEP}")
    assert "denied" in cluster.sh(f"scontrol update JobId={number} {change}", USER).text
    assert cluster.job(number)["Features"] == "[ipu_block2_1|ipu_block2_2]"
    cluster.sh(f"scancel {number}")


def test_the_sites_own_functions_come_first(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    number, result = cluster.submitted(f"--ipus=12 -J unwanted {SLEEP}")
    assert "the site does not want it" in result.text
    assert "12 IPUs" not in result.text
    number, _result = cluster.submitted(f"--ipus=16 {SLEEP}")
    assert "time limit is invalid" in cluster.sh(f"scontrol update JobId={number} Comment=unwanted", USER).text
    cluster.sh(f"scancel {number}")


def test_the_sites_own_filter_comes_first(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    assert "filtered by the site" in cluster.sh("salloc --ipus=1 true", USER).text


def test_what_an_ipu_job_submits_is_none_by_itself(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    submit = "sbatch --hold --parsable --wrap true"
    for script in (submit, f"srun {submit}"):
        number = cluster.output_of(script, "gcds=1\n", "--ipus=4").split()[-1]
        assert cluster.job(number)["Licenses"] == "(null)"


def test_a_step_that_asks_for_ipus_hears_that_its_job_keeps_what_it_has(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    file, step = "gcds=1\nIPU_POD_IPUS=4\n", "srun -n 2 --ipus=64 sh -c 'echo $IPU_POD_IPUS'"
    told = "ipu: --ipus=64 changes nothing here: this job keeps its 4 IPUs; submit a new one for that"
    output = cluster.output_of(step, file, "--ipus=4 -n 2")
    assert (output.count(told), output.split().count("4")) == (1, 3)
    # Who asks for what the job has, or for nothing, is told nothing.
    assert "ipu:" not in cluster.output_of("srun --ipus=4 true; srun true", file, "--ipus=4")
    # The shell of salloc is no task of the job.
    # As root, since only what root has written counts.
    inside = f"printf {file!r} > {RUN}/$SLURM_JOB_ID.env; {step}"
    assert told in cluster.sh(f"salloc --ipus=4 -n 2 sh -c {quote(inside)}").text
    assert "this job has no IPUs; submit a new one" in cluster.output_of("srun --ipus=4 true", options="-n 1")


def test_a_heterogeneous_job_has_no_ipus(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    _number, result = cluster.submitted(f"--ipus=4 : -n 1 {SLEEP}")
    assert "the parts of a heterogeneous job cannot have IPUs" in result.text


def test_broken_settings_let_no_job_in(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    cluster.sh("echo 'return 1 +' > /etc/slurm/ipu-pod.lua")
    number, result = cluster.submitted(f"--ipus=4 {SLEEP}")
    assert "slurmctld's log has why" in result.text
    assert number == ""
    assert "ipu-pod.lua:" in cluster.sh("grep ipu.pod /var/log/slurm/slurmctld.log | tail -n 1").text


def test_each_task_has_the_variables_of_its_gcd(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    output = cluster.output_of(f"{SHOW}; srun -l sh -c {SHOW!r}", IPU_JOB, "-N 2 -n 4", FORGED)
    gcds = [
        f"IPUOF_VIPU_API_GCD_ID={gcd} IPUOF_VIPU_API_PARTITION_ID=slurm_1 IPU_POD_IPUS=16 IPU_POD_X={gcd}-{gcd}"
        for gcd in (0, 1)
    ]
    batch, *tasks = output.splitlines()
    assert batch.strip() == gcds[0]
    assert sorted(task.strip() for task in tasks) == [f"{rank}: {gcds[rank % 2]}" for rank in range(4)]


def test_a_job_without_ipus_has_none_of_their_variables(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    assert cluster.output_of(f"{SHOW}; srun sh -c {SHOW!r}", environment=FORGED).split() == []


def test_a_job_with_an_allocation_keeps_the_variables_that_its_user_made(cluster: SlurmCluster) -> None:
    cluster.use(DYNAMIC)
    output = cluster.output_of(SHOW, "gcds=1\nIPU_POD_ALLOCATION=c1\n", environment=FORGED)
    expected = (
        "IPUOF_CONFIG_PATH=/tmp/mine IPUOF_VIPU_API_GCD_ID=7 IPUOF_VIPU_API_PARTITION_ID=other IPU_POD_ALLOCATION=c1"
    )
    assert output.strip() == expected


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("refused\n", "this job got no IPUs here"),
        ("", "is not understood"),
        ("gcds=0\n", "is not understood"),
        ("gcds=1\nIPUOF\n", "is not understood"),
        ("IPUOF_VIPU_API_PARTITION_ID=p\n", "is not understood"),
    ],
)
def test_a_job_does_not_start_with_a_file_that_says_nothing(cluster: SlurmCluster, file: str, message: str) -> None:
    cluster.use(DYNAMIC)
    output = cluster.output_of("echo started", file or " \n")
    assert message in output
    assert "started" not in output


@pytest.mark.parametrize(
    "forge",
    [
        f"chown {USER}",
        "chmod 0666",
        "chmod 0664",
        "rm -f #; mkdir #",
        "rm -f #; ln -s /etc/passwd #",
        "rm -f #; mkfifo #",
    ],
)
def test_only_a_file_of_root_counts(cluster: SlurmCluster, forge: str) -> None:
    cluster.use(DYNAMIC)
    number, _result = cluster.submitted("--wrap 'echo started'")
    file = f"{RUN}/{number}.env"
    command = forge.replace("#", file) if "#" in forge else f"{forge} {file}"
    cluster.sh(f"echo gcds=1 > {file}; {command}")
    result = cluster.output_of_held(number)
    assert "is not a file of root that only root can write" in result
    assert "started" not in result
