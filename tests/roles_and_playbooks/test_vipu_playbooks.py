# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/gather.yml and playbooks/probe.yml, run as a person would, against a simulated controller."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import PROGRAMS
from tests.support.playbook_run import JSON_OUTPUT, environment_in, run_playbook
from tests.support.simulated_controller import running_agents, running_controller, vipu_admin

MACHINES = {f"pod001-ipum{n}": f"127.45.0.{n}" for n in range(1, 17)}
LAB = "127.45.1.1"
USER_PORT, ADMIN_PORT = 18090, 18091

PODS_YML = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {
        "pod001": {
            "model": "bow-pod64",
            "overrides": {name: {"gateway_address": address} for name, address in MACHINES.items()},
        }
    },
    "controllers": {"ctrl001": {"address": "127.0.0.1", "user_port": USER_PORT, "admin_port": ADMIN_PORT}},
}


@pytest.fixture(scope="module")
def agents() -> Iterator[None]:
    with running_agents({**MACHINES, "lab": LAB}):
        yield


@pytest.fixture
def place(tmp_path: Path) -> Path:
    inventory = tmp_path / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    (inventory / "pods.yml").write_text(yaml.safe_dump(PODS_YML, sort_keys=False))
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    (inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(local))
    return tmp_path


@pytest.fixture
def controller(place: Path) -> Iterator[Path]:
    options = ["--creation-time", "0.05", "--poll-interval", "0.05", "--request-log", "requests.jsonl"]
    with running_controller(place, USER_PORT, ADMIN_PORT, *options):
        yield place


def playbook(name: str, place: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    only = ("--limit", "localhost:vipu_controllers")
    return run_playbook(name, *only, inventory=place / "inventory", directory=place, **changes)


def admin(place: Path, words: str) -> None:
    vipu_admin(place, ADMIN_PORT, words)


def writes(place: Path) -> list[str]:
    log = [json.loads(line) for line in (place / "requests.jsonl").read_text().splitlines()]
    return [request["method"] for request in log if request["write"]]


@pytest.mark.usefixtures("agents")
def test_gather_writes_what_reproduces_the_controller(controller: Path) -> None:
    for name, address in MACHINES.items():
        admin(controller, f"create agent {name} --host {address}")
    admin(controller, f"create cluster c001 --agents {','.join(MACHINES)} --topology torus")
    admin(controller, "create allocation alice --size 16")
    admin(controller, "create allocation bob --size 4")
    admin(controller, "create partition train --size 8 --allocation alice --num-gcds 2")
    admin(controller, "create partition serve --size 4 --allocation alice --reconfigurable")
    admin(controller, "create partition odd --size 4 --allocation bob --sync-type pod-native-replicated-pipeline")
    admin(controller, f"create agent lab --host {LAB}")
    admin(controller, "create cluster lab --agents lab")
    written_by_hand = len(writes(controller))
    done = playbook("gather", controller)
    assert done.returncode == 0, done.stdout + done.stderr
    gathered: dict[str, Any] = yaml.safe_load((controller / "gathered" / "pods.yml").read_text())
    assert gathered["clusters"] == {"c001": {"controller": "ctrl001", "pods": ["pod001"], "topology": "torus"}}
    assert gathered["vpods"]["alice"] == {
        "cluster": "c001",
        "ipus": 16,
        "ipu_machines": list(MACHINES)[:4],
        "partitions": {
            "train": {"ipus": 8, "gcds": 2, "routing": "dnc"},
            "serve": {"ipus": 4, "reconfigurable": True, "routing": "dnc"},
        },
    }
    odd = {"ipus": 4, "routing": "dnc", "sync_type": "pod-native-replicated-pipeline"}
    assert gathered["vpods"]["bob"]["partitions"] == {"odd": odd}
    assert gathered["pods"] == PODS_YML["pods"]
    left = yaml.safe_load((controller / "gathered" / "ctrl001.vipu_state.yml").read_text())
    assert left["agents"] == [{"name": "lab", "host": LAB, "port": 8080}]
    assert [cluster["name"] for cluster in left["clusters"]] == ["lab"]
    assert "cluster lab is not in pods.yml: its agents are not the IPU-Machines" in " ".join(done.stdout.split())
    assert len(writes(controller)) == written_by_hand


def test_gather_of_an_empty_controller_says_so(controller: Path) -> None:
    done = playbook("gather", controller)
    assert done.returncode == 0, done.stdout + done.stderr
    assert yaml.safe_load((controller / "gathered" / "pods.yml").read_text())["vpods"] == {}
    assert "pods.yml says all that is there." in done.stdout


def test_gather_names_a_controller_that_does_not_answer(place: Path) -> None:
    done = playbook("gather", place)
    assert done.returncode != 0
    assert f"the V-IPU controller at localhost:{ADMIN_PORT}: `vipu-admin --showjson list agents` failed" in done.stdout


def test_probe_records_and_compares(controller: Path) -> None:
    done = playbook("probe", controller)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((controller / "probe" / "ctrl001.json").read_text())
    assert (record["program_release"], record["server_release"]) == ("1.18.0", "1.18.0")
    assert record["differences"] == []
    assert record["problems"] == []
    assert {"known", "since", "installed"} <= record["commands"][0].keys()
    assert "--num-gcds" in record["help"]["create partition"]
    probed = (controller / "probe", controller / "probe" / "ctrl001.json")
    assert [path.stat().st_mode & 0o777 for path in probed] == [0o700, 0o600], "for nobody else to read"
    assert writes(controller) == []


def test_probe_of_an_older_release_says_what_it_lacks(controller: Path) -> None:
    done = playbook("probe", controller, PODSIM_VIPU_RELEASE="1.17.0")
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((controller / "probe" / "ctrl001.json").read_text())
    assert record["program_release"] == "1.17.0"
    assert record["differences"] == [
        "`create allocation --agents` is assumed from V-IPU 1.18.0 on, but not installed",
    ]


def test_probe_fails_on_an_answer_that_is_not_understood_and_names_the_command(place: Path) -> None:
    programs = place / "programs"
    programs.mkdir()
    (programs / "vipu-admin").write_text("#!/bin/sh\necho '{\"agents\": null}'\n")
    (programs / "vipu-admin").chmod(0o755)
    done = playbook("probe", place, PATH=f"{programs}{os.pathsep}{environment_in(place)['PATH']}")
    assert done.returncode != 0
    assert "`vipu-admin --showjson list agents` printed something that is not understood" in done.stdout
    assert "`vipu-admin --version` printed something that is not understood" in done.stdout
    record = json.loads((place / "probe" / "ctrl001.json").read_text())
    assert record["json"]["agents"] is None


@pytest.mark.usefixtures("agents")
def test_vipu_info_reads_the_same_by_both_transports(controller: Path) -> None:
    admin(controller, f"create agent a --host {MACHINES['pod001-ipum1']}")
    admin(controller, "create cluster c --agents a")
    admin(controller, "create allocation x --size 4")
    admin(controller, "create partition p --size 4 --num-gcds 2 --allocation x")
    asked = "partition_status=true ipu_attributes=true ipuof_configurations=p"
    ways = {
        "admin": f"api_port={ADMIN_PORT}",
        "user": f"api_port={USER_PORT} end_point=user",
        "grpc": f"api_port={USER_PORT} transport=grpc",
    }
    found = {
        way: ansible_module(controller, "ipu.pod.vipu_info", f"{asked} {options}") for way, options in ways.items()
    }
    assert found["admin"]["agents"]["a"]["status"] == "Up"
    assert found["admin"]["users"] == {}
    assert "agents" not in found["user"]
    assert found["user"]["allocations"] == found["admin"]["allocations"]
    for returned in ("release", "partitions", "partition_status", "ipuof_configurations", "ipu_attributes"):
        assert found["grpc"][returned] == found["user"][returned] == found["admin"][returned]
    assert len(found["grpc"]["ipuof_configurations"]["p"]) == 2


def test_only_a_controller_that_listens_knows_who_announced_itself(controller: Path) -> None:
    off = ansible_module(controller, "ipu.pod.vipu_info", f"api_port={ADMIN_PORT} discovered_agents=true", code=2)
    assert "`vipu-admin discover agent` failed: discover agent: failed: auto-discovery is off" in off["msg"]
    for way in ("end_point=user", "transport=grpc"):
        options = f"api_port={USER_PORT} discovered_agents=true {way}"
        assert ansible_module(controller, "ipu.pod.vipu_info", options, code=2)["msg"] == (
            "discovered_agents: only the admin end-point knows them; leave transport and end_point out"
        )


def ansible_module(place: Path, module: str, options: str, code: int = 0) -> dict[str, Any]:
    """The result of a module on the controller's host."""
    done = subprocess.run(
        [f"{PROGRAMS}/ansible", "-i", str(place / "inventory"), "ctrl001", "-m", module, "-a", options],
        cwd=place,
        env={**environment_in(place), **JSON_OUTPUT, "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    result: dict[str, Any] = json.loads(done.stdout)["plays"][0]["tasks"][0]["hosts"]["ctrl001"]
    return result
