# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's nodes each have IPU-Machines of their own, on a secure V-IPU controller: jobs get allocations and users."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.slurm import events
from tests.integration.slurm.cluster import CONTROLLER, USER, Job, Slurm
from tests.support.checkout import ROOT
from tests.support.playbook_run import LOUD
from tests.support.secret_spellings import SHOW_KEYS, secrets_in

WAY = events.Way(
    asks="--ipus=16",
    ipus=16,
    names=("p{}",),
    spread="--ipus=32 -n2",
    servers=2,
    without=False,
)
MACHINES_OF_A_SERVER = 4
INVENTORY = ROOT / "inventories" / "sim_slurm_mapping"


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    return INVENTORY


@pytest.fixture(scope="module")
def slurm(pod: Any) -> Slurm:
    """The pod's Slurm."""
    found = Slurm(pod, "--config /etc/vipu/vipu-admin.hcl -P 8091")
    found.prepare()
    run = pod.playbook("slurm", *LOUD)
    assert (run.code, run.messages) == (0, "")
    # Slurm has got the administrator's key.
    keys = set(found.root(SHOW_KEYS).split())
    assert keys
    assert secrets_in(json.dumps(run.document), keys) == []
    return found


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("event", events.COMMON, ids=events.title)
def test_everyday_life(slurm: Slurm, event: events.Event) -> None:
    event(slurm, WAY)


def machines_of(slurm: Slurm, job: Job) -> list[str]:
    """The IPU-Machines of a job's allocation."""
    answer = json.loads(slurm.administer(f"--showjson get allocation c{job.id}"))
    return sorted(answer["allocation"]["spec"]["agent_ids"], key=lambda name: int(name.removeprefix("pod001-ipum")))


@pytest.mark.usefixtures("at_rest")
def test_a_job_has_the_machines_of_its_server_and_nobody_elses(slurm: Slurm) -> None:
    jobs = [slurm.batch(f"{WAY.asks} -w {server}") for server in slurm.servers]
    slurm.wait_for("RUNNING", *jobs)
    for number, job in enumerate(jobs):
        first = number * MACHINES_OF_A_SERVER + 1
        assert machines_of(slurm, job) == [f"pod001-ipum{first + each}" for each in range(MACHINES_OF_A_SERVER)]
        events.has_its_ipus(slurm, WAY, job)
    theirs = f"/run/ipu-pod/slurm/{jobs[0].id}/vipu.hcl"
    (server, other) = slurm.servers[:2]
    own = f"su {USER} -c 'vipu --config {theirs} %s'"
    assert f"p{jobs[0].id}" in slurm.root(own % "list partitions", server)
    assert f"p{jobs[1].id}" not in slurm.root(own % "list partitions", server)
    slurm.root(f"! {own % f'remove partition p{jobs[1].id}'} 2>/dev/null", server)
    slurm.root(f"[ ! -e {theirs} ]", other)
    slurm.release(*jobs)
    assert slurm.ends(*jobs) == ["COMPLETED"] * len(jobs)


@pytest.mark.usefixtures("at_rest")
def test_the_key_of_a_jobs_user_is_seen_by_the_jobs_owner_alone(slurm: Slurm) -> None:
    job = slurm.batch(WAY.asks)
    slurm.wait_for("RUNNING", job)
    (server,) = slurm.shown("%N", job)
    slurm.reports(job)
    config = f"/run/ipu-pod/slurm/{job.id}/vipu.hcl"
    (key,) = re.findall(r'api-access-key="([^"]+)"', slurm.root(f"cat {config}", server))
    assert slurm.root(f"stat -c '%U %a' {config}", server).split() == [USER, "400"]
    slurm.root(f"! su nobody -s /bin/sh -c 'cat {config}' 2>/dev/null", server)
    shown = slurm.says(f"scontrol show job {job.id}")[1]
    assert key not in shown
    (sealed,) = re.findall(r"access=(MUNGE\S+)", shown)
    slurm.refusal(f"echo '{sealed}' | unmunge")
    # The key is not looked for by a command: its words would be in the journal, too.
    for host in (CONTROLLER, server):
        kept = slurm.root("journalctl --no-pager --output=verbose", host)
        kept += slurm.root("grep -rahoE '[[:print:]]{8,}' /var/log/slurm /var/lib/slurm", host)
        assert key not in kept
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


@pytest.mark.usefixtures("at_rest")
def test_without_a_size_a_job_has_an_allocation_and_makes_its_partitions_itself(slurm: Slurm) -> None:
    make = 'vipu --config $IPU_POD_VIPU_CONFIG create partition mine --size 4 && echo {\\"task\\": 0} && sleep 600'
    job = slurm.batch("-N1", make)
    slurm.wait_for("RUNNING", job)
    slurm.reports(job)
    partition = slurm.partitions()["mine"]
    assert (len(partition.devices), partition.allocation) == (4, f"c{job.id}")
    slurm.cancel(job)
    assert slurm.ends(job) == ["CANCELLED"]


@pytest.mark.usefixtures("at_rest")
def test_what_jobs_have_is_no_drift(slurm: Slurm) -> None:
    job = slurm.batch(WAY.asks)
    slurm.wait_for("RUNNING", job)
    before = machines_of(slurm, job)
    run = slurm.pod.playbook("site")
    assert (run.code, run.messages) == (0, "")
    assert run.changed == dict.fromkeys(run.changed, 0)
    assert machines_of(slurm, job) == before
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


@pytest.mark.usefixtures("at_rest")
def test_a_job_of_several_servers_gets_neighbours_that_v_ipu_allocates_as_one(slurm: Slurm) -> None:
    busy = slurm.batch(f"{WAY.asks} -w {slurm.servers[1]}")
    slurm.wait_for("RUNNING", busy)
    large = slurm.batch(WAY.spread)
    slurm.wait_for("RUNNING", large)
    assert machines_of(slurm, large) == [f"pod001-ipum{number}" for number in range(9, 17)]
    another = slurm.batch(WAY.spread)
    slurm.release(busy)
    slurm.wait_for("RUNNING", another)
    assert machines_of(slurm, another) == [f"pod001-ipum{number}" for number in range(1, 9)]
    for job in (large, another):
        slurm.reports(job, WAY.servers)
    slurm.release(large, another)
    assert slurm.ends(busy, large, another) == ["COMPLETED"] * 3


def excluding(folder: Path, *machines: str) -> Path:
    """The inventory, where some IPU-Machines are excluded."""
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["pods"]["pod001"]["excluded"] = list(machines)
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    (folder / "slurm.toml").symlink_to(INVENTORY / "slurm.toml")
    (folder / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
    return folder


@pytest.mark.usefixtures("at_rest")
def test_the_server_of_a_machine_that_is_excluded_takes_no_jobs_and_what_the_site_drains_is_the_sites(
    slurm: Slurm, tmp_path: Path
) -> None:
    sites, damaged, other = slurm.servers[:3]
    slurm.root(f"scontrol update NodeName={sites} State=DRAIN Reason=fan")
    jobs = [slurm.batch(f"{WAY.asks} -w {server}") for server in (damaged, other)]
    slurm.wait_for("RUNNING", *jobs)
    waiting = slurm.batch(f"{WAY.asks} -w {damaged}")
    left_out = ("pod001-ipum2", "pod001-ipum6", "pod001-ipum7")
    run = slurm.pod.playbook("slurm", inventory=excluding(tmp_path, *left_out))
    assert (run.code, run.messages) == (0, "")
    assert run.changed == {**dict.fromkeys(run.changed, 0), CONTROLLER: 1}
    line = f"degraded: {damaged} takes no jobs, as pod001-ipum6..7 of its IPU-Machines is excluded"
    assert line in json.dumps(run.document)
    slurm.release(*jobs)
    assert slurm.ends(*jobs) == ["COMPLETED"] * 2
    assert drained(slurm, damaged) == "drained ipu.pod: excluded pod001-ipum6..7"
    large = slurm.batch(WAY.spread)
    slurm.wait_for("RUNNING", large)
    assert machines_of(slurm, large)[0] == "pod001-ipum9"
    slurm.reports(large, WAY.servers)
    slurm.release(large)
    repaired = slurm.pod.playbook("slurm")
    assert (repaired.code, repaired.messages, repaired.changed) == (0, "", run.changed)
    slurm.wait_for("RUNNING", waiting)
    assert drained(slurm, sites) == "drained fan"
    slurm.root(f"scontrol update NodeName={sites} State=RESUME")
    slurm.release(waiting)
    assert slurm.ends(waiting, large) == ["COMPLETED"] * 2


def drained(slurm: Slurm, server: str) -> str:
    """The state of a server, and why it has it."""
    return slurm.root(f"sinfo -h -N -n {server} -o '%T %E'").strip()


@pytest.mark.usefixtures("at_rest")
def test_a_refusal_names_the_possible_number_of_ipus(slurm: Slurm) -> None:
    assert "16 IPUs of each of its nodes" in slurm.refusal("sbatch --ipus=8 --wrap=true")
    assert "use -N 2" in slurm.refusal("sbatch --ipus=32 -N1 --wrap=true")


@pytest.mark.usefixtures("at_rest")
def test_another_mapping_waits_for_the_jobs_of_the_nodes(slurm: Slurm) -> None:
    first, *others, last = slurm.servers
    its_own = {
        server: [f"pod001-ipum{MACHINES_OF_A_SERVER * number + each}" for each in range(1, MACHINES_OF_A_SERVER + 1)]
        for number, server in enumerate(slurm.servers)
    }
    swapped = {**its_own, first: its_own[last], last: its_own[first]}
    job = slurm.batch(f"{WAY.asks} -w {first}")
    slurm.wait_for("RUNNING", job)
    with ThreadPoolExecutor() as pool:
        run = pool.submit(slurm.pod.playbook, "slurm_layout", "-e", json.dumps({"slurm_mapping": swapped}))
        slurm.until(f"sinfo -h -n {first} -o %T | grep -q draining", "no server is drained")
        later = slurm.batch(f"{WAY.asks} -w {first}")
        assert machines_of(slurm, job) == its_own[first]
        slurm.release(job)
        assert (run.result().code, run.result().messages) == (0, "")
    slurm.wait_for("RUNNING", later)
    assert machines_of(slurm, later) == its_own[last]
    events.has_its_ipus(slurm, WAY, later)
    assert slurm.root(f"sinfo -h -N -n {','.join(others)} -o %T").split() == ["idle"] * len(others)
    slurm.release(later)
    assert slurm.ends(job, later) == ["COMPLETED"] * 2
