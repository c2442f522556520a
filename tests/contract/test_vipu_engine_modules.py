# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules as Ansible runs them: their options reach the engine, keys reach nobody else, one writer at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._vipu.lock import lock_of, only_writer
from tests.support.checkout import COLLECTIONS, PROGRAMS
from tests.support.loopback import HOST, free_port, started
from tests.support.processes import end


class Host:
    """A controller host with one agent; modules run on it through `ansible`."""

    def __init__(self, directory: Path, admin_port: int, agent_port: int) -> None:
        self.directory = directory
        self.admin_port = admin_port
        self.agent = {"name": "a1", "host": HOST, "port": agent_port}
        self.shown = ""

    def run(self, module: str, *options: str, **arguments: Any) -> dict[str, Any]:
        """Runs a module and returns its result; `shown` is all that a terminal gets to see."""
        given = {"api_port": self.admin_port, "program": f"{PROGRAMS}/vipu-admin", **arguments}
        command = [f"{PROGRAMS}/ansible", "localhost", "-i", "localhost,", "-c", "local", "-vvv", *options]
        command += ["-e", f"ansible_python_interpreter={sys.executable}", "-m", f"ipu.pod.{module}"]
        environment = {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
            "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1",
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
        }
        done = subprocess.run(
            [*command, "-a", json.dumps(given)],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.shown = done.stdout + done.stderr
        result: dict[str, Any] = json.JSONDecoder().raw_decode(done.stdout.partition("=> ")[2])[0]
        return result


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    directory = tmp_path_factory.mktemp("host")
    found = Host(directory, free_port(), free_port())
    subprocess.run([f"{PROGRAMS}/vipu-server", "--init"], cwd=directory, check=True, capture_output=True)
    ports = ["--user-port", str(free_port()), "--admin-port", str(found.admin_port), "--metrics-port", "0"]
    agent = ["--metrics-port", "0", "--listen", f"{HOST}:{found.agent['port']}", "--id", "a1", "--rnic", "10.5.1.1"]
    processes = [
        started([f"{PROGRAMS}/vipu-server", "--listen", HOST, *ports], directory, found.admin_port),
        started([f"{PROGRAMS}/podsim", "agent", *agent], directory, found.agent["port"]),
    ]
    yield found
    for process in processes:
        end(process)


def test_one_kind_after_the_other(host: Host) -> None:
    slices: dict[str, dict[str, Any]] = {
        "vipu_agent": {"agents": [host.agent]},
        "vipu_cluster": {"clusters": [{"name": "c", "agents": ["a1"]}]},
        "vipu_allocation": {"allocations": [{"name": "alice", "cluster": "c", "size": 4}]},
        "vipu_partition": {"partitions": [{"name": "train", "allocation": "alice", "size": 4, "relocatable": True}]},
    }
    for module, arguments in slices.items():
        assert host.run(module, **arguments)["changed"], host.shown
        assert not host.run(module, "--check", **arguments)["changed"], host.shown
    everything = {option: value for arguments in slices.values() for option, value in arguments.items()}
    assert not host.run("vipu_state", **everything)["changed"]
    assert host.run("vipu_state", purge={"partitions_of": ["alice"]})["msg"].startswith("purge: 1 deletions")


def test_a_key_that_goes_into_a_file_is_seen_nowhere_else(host: Host) -> None:
    keys = host.directory / "keys"
    result = host.run("vipu_user", "--diff", users=[{"name": "eve"}], key_directory=str(keys))
    assert result["changed"]
    key = (keys / "eve.key").read_text().strip()
    assert len(key) > 8
    assert key not in host.shown
    # vipu-admin leaves a file with the key where it runs.
    assert not list(host.directory.rglob("*.vipu-cli.hcl"))


def test_a_key_file_that_is_missing_for_a_user_who_is_there_is_named(host: Host) -> None:
    keys, users = host.directory / "lost", [{"name": "carol"}]
    wanted = {"users": users, "key_directory": str(keys)}

    def warned() -> bool:
        return "user carol is on the controller, but" in " ".join(host.shown.split())

    for options in (("--check",), (), ()):
        host.run("vipu_user", *options, **wanted)
        assert not warned()
    (keys / "carol.key").unlink()
    for options in (("--check",), ()):
        assert not host.run("vipu_user", *options, **wanted)["changed"]
        assert warned(), host.shown
    assert host.run("vipu_user", users=users)["changed"] is False
    assert not warned()


def test_a_key_is_returned_only_where_that_was_asked_for(host: Host) -> None:
    result = host.run("vipu_user", users=[{"name": "mallory"}], return_keys=True)
    assert len(result["access_keys"]["mallory"]) > 8
    assert "access_keys" not in host.run("vipu_user", users=[{"name": "mallory"}], return_keys=True)


def test_a_second_writer_stops_with_the_name_of_the_first(host: Host) -> None:
    with only_writer(lock_of(host.admin_port), "somebody's run"):
        assert "for somebody's run, is changing this V-IPU controller" in host.run("vipu_agent")["msg"]
        assert not host.run("vipu_agent", "--check")["changed"]


def test_an_action_has_its_own_check_mode(host: Host) -> None:
    pod = {"agents": [host.agent], "clusters": [{"name": "c", "agents": ["a1"]}]}
    tenant = {"allocations": [{"name": "alice", "cluster": "c", "size": 4}]}
    host.run("vipu_state", partitions=[{"name": "train", "allocation": "alice", "size": 4}], **pod, **tenant)
    action = {"action": "reset_partition", "name": "train"}
    assert "unknown counts as in use" in host.run("vipu_action", "--check", **action)["msg"]
    predicted = host.run("vipu_action", "--check", in_use=[], **action)
    assert predicted["changed"]
    assert "after" not in predicted
    done = host.run("vipu_action", in_use=[], **action)
    assert (done["plan"], done["after"]["status"]) == (predicted["plan"], "ACTIVE")
    assert host.run("vipu_action", action="remove_partition", name="train", in_use=[])["after"] is None
    assert "Cabling" in host.run("vipu_action", action="test_cluster", name="c", in_use=[])["report"]
