# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""container_networks with the podman of this host, on an interface and with a configuration of its own."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkout import PROGRAMS
from tests.support.container_server import skip_without_podman
from tests.support.playbook_run import JSON_OUTPUT, environment_in

ALICE = {"name": "ipu-alice", "interface": "rnic0", "subnet": "10.5.0.0/16", "range": "10.5.1.128/27"}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    skip_without_podman()
    (tmp_path / "networks").mkdir()
    (tmp_path / "containers.conf").write_text(f'[network]\nnetwork_config_dir = "{tmp_path}/networks"\n')
    return tmp_path


def results(folder: Path, *runs: tuple[list[dict[str, str]], bool]) -> list[dict[str, Any]]:
    """What each run returns, with networks and whether it is one in check mode; all on a machine with RNICs."""
    tasks = [
        {
            "ipu.pod.container_networks": {"networks": networks},
            "check_mode": check_mode,
            "ignore_errors": True,
        }
        for networks, check_mode in runs
    ]
    variables = {"ansible_python_interpreter": sys.executable}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": variables, "tasks": tasks}
    (folder / "play.yml").write_text(json.dumps([play]))
    make = "ip link set lo up && for each in 0 1; do ip link add rnic$each type veth peer name peer$each; done"
    ansible = shlex.join([f"{PROGRAMS}/ansible-playbook", "-i", "localhost,", f"{folder}/play.yml"])
    # With no Docker on the way, whatever this host has.
    environment = {**environment_in(folder), **JSON_OUTPUT, "CONTAINERS_CONF": f"{folder}/containers.conf"}
    done = subprocess.run(
        ["unshare", "--net", "sh", "-ec", f"{make} && {ansible}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [task["hosts"]["localhost"] for task in json.loads(done.stdout)["plays"][0]["tasks"]]


def actions(result: dict[str, Any]) -> list[str]:
    return [step["action"] for step in result["plan"]]


def test_podman_has_the_network_as_predicted_once_and_no_longer(folder: Path) -> None:
    other = {**ALICE, "interface": "rnic1"}
    dry, made, again, changed, gone = results(
        folder, ([ALICE], True), ([ALICE], False), ([ALICE], False), ([other], False), ([], False)
    )
    assert [actions(each) for each in (dry, made, again, changed, gone)] == [
        ["create"],
        ["create"],
        [],
        ["recreate"],
        ["remove"],
    ]
    networks = [each["container_network"] for each in (dry["after"], made["after"], again["before"])]
    assert networks == [networks[0]] * 3
    assert gone["after"]["container_network"] == {}
    assert list((folder / "networks").glob("ipu-*")) == []


def test_what_podman_says_is_told(folder: Path) -> None:
    (failed,) = results(folder, ([{**ALICE, "interface": "rnic7"}], False))
    assert failed["msg"].endswith("Error: parent interface rnic7 does not exist")
    assert failed["changed"] is False
