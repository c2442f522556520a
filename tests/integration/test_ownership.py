# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ownership and blast radius on the simulated POD64: --limit, the lock beside the controller, the record of runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.processes import kill_with_all_below
from tests.simulated_pod import PROGRAMS, PROJECT

INVENTORY = PROJECT / "inventories" / "sim_two_servers"
SERVERS = [f"pod001-poplar{n}" for n in range(1, 3)]
LOCK, RECORD = "/var/lib/ipu-pod/pod001.lock", "/var/lib/ipu-pod/runs.jsonl"


def vpod(vlan: int, servers: list[str]) -> dict[str, Any]:
    return {"cluster": "c001", "ipus": 16, "vlan": vlan, "poplar_servers": servers}


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulated pod's, to be declared otherwise."""
    folder = tmp_path_factory.mktemp("inventory")
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    declare(folder, {})
    return folder


def declare(inventory: Path, vpods: dict[str, Any], managed: list[str] | None = None) -> None:
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["sim"] = str(INVENTORY / document["sim"])
    document["vpods"] = vpods
    if managed:
        document["pods"]["pod001"]["managed"] = managed
    (inventory / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))


@pytest.fixture(scope="module")
def pod(fresh_pod: Any, inventory: Path) -> Any:
    """The vPOD demo lies behind the place of one that has gone, so that placing it anew would move it."""
    first_machines = [f"pod001-ipum{n}" for n in range(1, 5)]
    declare(inventory, {"gone": vpod(102, []) | {"ipu_machines": first_machines}, "demo": vpod(101, SERVERS)})
    run = fresh_pod.playbook("site", inventory=inventory)
    assert (run.code, run.messages) == (0, "")
    fresh_pod.inside("ctrl001", "vipu-admin -P 8091 remove allocation gone")
    declare(inventory, {"demo": vpod(101, SERVERS)})
    by_hand(fresh_pod)
    return fresh_pod


def by_hand(pod: Any) -> None:
    """Something for a run to do, on the switch and on a server."""
    pod.switch("configure", "interface Ethernet13/1", "mtu 9000", "description by hand")
    pod.inside("pod001-poplar2", "rm -f /etc/vipu/vipu-cli.hcl")


def test_a_limit_gives_the_subset_of_the_plan_and_places_nothing_anew(pod: Any, inventory: Path) -> None:
    def dry_run(*options: str) -> Any:
        run = pod.playbook("site", "--check", *options, inventory=inventory)
        assert (run.code, run.messages) == (0, "")
        return run

    first = dry_run()
    # Once demo lay at the first machines, all their ports would change.
    assert first.foretold == {("pod001-tor", "Ethernet13/1"), ("pod001-poplar2", "/etc/vipu/vipu-cli.hcl")}
    assert not [line for line in first.told if "Left out" in line]
    for limit, hosts in {
        "pod001-poplar1": ["pod001-poplar1"],
        "vpod_demo": SERVERS,
        "switches": ["pod001-tor"],
    }.items():
        run = dry_run("--limit", limit)
        assert run.foretold == {(host, name) for host, name in first.foretold if host in hosts}
        left_out = [host for host in ("pod001-tor", *SERVERS, "ctrl001") if host not in hosts]
        assert f"Left out by --limit: {', '.join(left_out)}" in run.told


def last_record(pod: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(pod.inside("ctrl001", f"tail -n 1 {RECORD}"))
    return record


@pytest.fixture
def at_work(pod: Any, inventory: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of site.yml that has something to do, and has just taken the lock and recorded that."""
    by_hand(pod)
    process = subprocess.Popen(
        [f"{PROGRAMS}/ansible-playbook", "-i", str(inventory), "playbooks/site.yml"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while last_record(pod).get("process") != process.pid:
        assert process.poll() is None
        time.sleep(0.2)
    yield process
    kill_with_all_below(process)
    assert process.stdout
    process.stdout.close()


def test_of_two_runs_at_once_one_is_refused_and_the_other_is_recorded(
    pod: Any, inventory: Path, at_work: subprocess.Popen[str]
) -> None:
    code, said = pod.say("site", inventory=inventory)
    assert code == 2
    assert f"(process {at_work.pid}, site.yml) since 2" in said
    assert "pod001 is held by" in said
    printed, _ = at_work.communicate()
    assert at_work.returncode == 0, printed
    assert pod.inside("ctrl001", f"ls {LOCK} 2>&1; stat -c %a {RECORD}").endswith("600\n")
    started, ended = [json.loads(line) for line in pod.inside("ctrl001", f"tail -n 2 {RECORD}").splitlines()]
    assert (started["event"], started["process"], ended["event"]) == ("started", at_work.pid, "ended")
    assert {(step["device"], step["kind"]) for step in ended["steps"]} >= {("pod001-tor", "port")}
    assert f"{started['host']}  site.yml  pod001         done" in pod.say("runs", inventory=inventory)[1]


def test_the_lock_of_a_killed_run_is_taken_over(pod: Any, inventory: Path, at_work: subprocess.Popen[str]) -> None:
    kill_with_all_below(at_work)
    code, said = pod.say("vpods", inventory=inventory)
    assert code == 0, said
    assert f"(process {at_work.pid}, site.yml)" in said
    assert "which is dead" in said
    assert "did not end" in pod.say("runs", inventory=inventory)[1]


def test_with_only_the_switch_managed_nothing_else_is_touched(pod: Any, inventory: Path) -> None:
    declare(inventory, {"demo": vpod(101, SERVERS)}, managed=["switch"])
    pod.switch("configure", "interface Ethernet13/1", "switchport access vlan 1")
    hosts = {host: files for host, files in pod.fingerprint().items() if not host.endswith("-config")}
    run = pod.playbook("site", "-e", "pod_lock_own_directory=/tmp/ipu-pod-test", inventory=inventory)
    shutil.rmtree("/tmp/ipu-pod-test")
    assert (run.code, run.messages) == (0, "")
    assert run.changed["pod001-tor"] == 1
    assert {host: files for host, files in pod.fingerprint().items() if not host.endswith("-config")} == hosts
    left_out = f"Not managed by pods.yml: Poplar servers {', '.join(SERVERS)}; V-IPU controllers on ctrl001"
    assert left_out in run.told
