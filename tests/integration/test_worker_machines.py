# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of two racks, each with a cluster of its own, run by docs/fleets/run.sh on two worker machines."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import Pod, running_pod
from tests.support.checkout import ROOT
from tests.support.processes import wait_until
from tests.support.simulated_pod import STATE
from tests.support.worker_machine import environment, events_of, image, reports_in, worker

RUN = ROOT / "docs" / "fleets" / "run.sh"
PODS = ("pod001", "pod002")
FIRST = "pod001-poplar1"
CONFIGURATION = "[inventory]\nenable_plugins = ipu.pod.pods, ansible.builtin.script\nunparsed_is_failed = true\n"


class Fleet:
    """The control node of the fleet, which has its pods.yml and sends jobs to worker machines."""

    def __init__(self, pod: Pod, site: Path, results: Path) -> None:
        self.pod, self.site = pod, site
        self._results = results

    def start(self, results: str, *jobs: tuple[str, str], site: Path | None = None) -> subprocess.Popen[str]:
        """Run site.yml as jobs, each with its limit and its worker."""
        words = [word for job in jobs for word in job]
        return subprocess.Popen(
            [str(RUN), str(site or self.site), "ipu.pod.site", str(self._results / results), *words],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, results: str, *jobs: tuple[str, str], site: Path | None = None) -> tuple[int, list[str]]:
        """The same to its end; its exit code and what it says."""
        started = self.start(results, *jobs, site=site)
        said, _ = started.communicate()
        return started.returncode, said.splitlines()

    def events(self, results: str, limit: str) -> list[dict[str, Any]]:
        return events_of(self._results / results / "artifacts" / limit)


def inventory_of_two_clusters(place: Path) -> None:
    """Two racks, each with a V-IPU controller on its Poplar server, a cluster and a vPOD."""
    shutil.copytree(ROOT / "inventories" / "sim_pod128", place)
    document = yaml.safe_load((place / "pods.yml").read_text())
    numbers = {pod: number for number, pod in enumerate(PODS, start=1)}
    for pod in PODS:
        del document["pods"][pod]["tor"]["ports"]
    document["controllers"] = {f"ctrl-{pod}": {"host": f"{pod}-poplar1"} for pod in PODS}
    document["clusters"] = {pod: {"controller": f"ctrl-{pod}", "pods": [pod], "topology": "torus"} for pod in PODS}
    document["vpods"] = {
        f"of-{pod}": {
            "cluster": pod,
            "ipus": 64,
            "vlan": 300 + number,
            "poplar_servers": [f"{pod}-poplar1"],
            "partitions": {f"train-{pod}": {"ipus": 64}},
        }
        for pod, number in numbers.items()
    }
    document["sim"]["controllers"] = {}
    (place / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))


@pytest.fixture(scope="module", name="site")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    inventory_of_two_clusters(site / "inventory")
    (site / "project").mkdir()
    (site / "project" / "ansible.cfg").write_text(CONFIGURATION)
    (site / "env").mkdir()
    (site / "env" / "extravars").write_text(f"podsim_state: {STATE}\n")
    return site


@pytest.fixture(scope="module", name="fleet")
def _fleet(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    for pod in running_pod(site / "inventory"):
        yield Fleet(pod, site, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module", name="first")
def _first(fleet: Fleet) -> tuple[int, list[str]]:
    """The bring-up of both clusters, on a worker machine each."""
    return fleet.run("first", *((pod, worker(f"worker-{pod}")) for pod in PODS))


def test_two_workers_bring_up_a_cluster_each_and_one_report_says_what_was_done(
    fleet: Fleet, first: tuple[int, list[str]]
) -> None:
    code, said = first
    assert code == 0, said
    assert [line for line in said if not line.startswith(" ")] == [
        "8/14 Configure V-IPU controllers and allocations",
        "9/14 Configure ToR switches",
        "10/14 Configure Poplar servers",
        "11/14 Create users and partitions",
        "13/14 Configure V-IPU clients and IPUoF",
        *(line for line in said if line.startswith(PODS)),
        "2 jobs done",
    ]
    for pod in PODS:
        assert f"  {pod}-poplar1: partition train-{pod} added" in said
        (end,) = [line for line in said if line.startswith(f"{pod}: ")]
        assert " steps on 2 devices done and verified; " in end
        (line,) = fleet.pod.inside(f"{pod}-poplar1", "tail -n1 /var/lib/ipu-pod/runs.jsonl").splitlines()
        assert f"worker-{pod}" in fleet.pod.inside(f"{pod}-poplar1", "cat /var/lib/ipu-pod/runs.jsonl")
        assert json.loads(line)["result"] == "done"


def test_each_event_has_the_lines_that_its_job_reports(fleet: Fleet, first: tuple[int, list[str]]) -> None:
    _code, said = first
    for pod in PODS:
        reports = reports_in(fleet.events("first", pod))
        assert len(reports) == 6
        for event in reports:
            lines = event["event_data"]["res"]["lines"]
            assert [line.strip() for line in event["stdout"].splitlines()] == lines
            assert all(line.startswith("Left out by --limit") or any(line in each for each in said) for line in lines)


@pytest.mark.usefixtures("first")
def test_a_second_run_changes_nothing_also_with_an_inventory_as_awx_hands_it_over(fleet: Fleet, tmp_path: Path) -> None:
    site = tmp_path / "awx"
    shutil.copytree(fleet.site, site)
    (site / "inventory").rename(site / "project" / "inventory")
    # As AWX updates an inventory from a project; it keeps groups with hosts, and variables.
    export = "cd /runner/project && ansible-inventory -i inventory --list --export"
    asked = ("podman", "run", "--rm", "--network=none", "--user=root", f"--volume={site}:/runner", image())
    listed = subprocess.run(
        [*asked, "sh", "-c", export], check=True, capture_output=True, text=True, env=environment()
    ).stdout
    (site / "inventory").mkdir()
    (site / "inventory" / "hosts").write_text(f"#!/bin/sh\ncat <<'END'\n{listed}\nEND\n")
    (site / "inventory" / "hosts").chmod(0o755)
    code, said = fleet.run("awx", *((pod, worker(f"worker-{pod}")) for pod in PODS), site=site)
    assert code == 0, said
    assert [line.partition(";")[0] for line in said] == [*(f"{pod}: nothing changed" for pod in PODS), "2 jobs done"]


@pytest.mark.usefixtures("first")
def test_the_lock_of_a_pod_holds_across_worker_machines(fleet: Fleet) -> None:
    fleet.pod.inside(FIRST, "ip link set rnic0 mtu 1500")
    started = fleet.start("held", ("pod001", worker("worker-1")))
    lock = "test -e /var/lib/ipu-pod/pod001.lock && echo held || true"
    wait_until(lambda: fleet.pod.inside(FIRST, lock) == "held\n")
    subprocess.run(["podman", "pause", "worker-1"], check=True, env=environment(), capture_output=True)
    try:
        code, said = fleet.run("refused", ("pod001", worker("worker-2")), ("pod002", worker("worker-3")))
    finally:
        subprocess.run(["podman", "unpause", "worker-1"], check=True, env=environment(), capture_output=True)
        first, _ = started.communicate()
    assert code == 2
    assert any(line.startswith("pod001:   pod001 is held by root on worker-1 (process ") for line in said), said
    assert next(line for line in said if line.startswith("pod002: ")).startswith("pod002: nothing changed; ")
    assert said[-1] == "1 of 2 jobs failed: pod001"
    assert started.returncode == 0, first
    assert first.splitlines()[:2] == ["10/14 Configure Poplar servers", f"  {FIRST}: rnic0 mtu 1500 -> 9000"]


@pytest.mark.usefixtures("first")
def test_a_worker_that_does_not_answer_is_a_job_that_has_failed(fleet: Fleet) -> None:
    code, said = fleet.run("silent", ("pod001", "cat >/dev/null"))
    assert (code, said) == (2, ["pod001: the worker has not answered", "1 of 1 job failed: pod001"])
    code, said = fleet.run("silent", ("pod001", "cat >/dev/null"))
    assert (code, said[0].endswith("has results of another run; name another directory")) == (2, True)
