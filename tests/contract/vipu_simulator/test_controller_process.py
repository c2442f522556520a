# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`vipu-server` and `podsim agent` as processes: storage, secure mode, faults, metrics."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path
from sys import executable
from typing import TYPE_CHECKING

import pytest

from podsim.vipu.agent import interface_address
from tests.support.processes import ENDS_WITHIN_SECONDS, end, wait_until

if TYPE_CHECKING:
    from conftest import Controller


def state_of(controller: Controller, name: str) -> str:
    return str(controller.admin("get", "partition", name, "--showjson").json["partition"]["ready_state"])


def test_storage_is_never_initialised_twice(idle: Controller) -> None:
    idle.storage.unlink()
    first = idle.server("--init")
    assert (first.returncode, first.stdout) == (0, "Initialised storage: vipu-server.json\n")
    before = idle.storage.read_bytes()
    again = idle.server("--init")
    assert again.returncode == 1
    assert "exists already: start without --init" in again.stderr
    assert idle.storage.read_bytes() == before


def test_storage_has_to_be_there_and_whole(idle: Controller) -> None:
    other = idle.server("--storage", "other.json")
    assert (other.returncode, other.stderr) == (
        1,
        "vipu-server: storage other.json does not exist: create it with --init\n",
    )
    idle.storage.write_text("{")
    assert "cannot be read" in idle.server().stderr


def test_a_port_in_use(controller: Controller) -> None:
    second = controller.server("--listen", "127.0.0.1", "--user-port", str(controller.user_port))
    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1:{controller.user_port}" in second.stderr


def test_restart_keeps_everything(idle: Controller) -> None:
    idle.start("--creation-time", "0")
    idle.create_cluster(4)
    idle.admin("create", "partition", "p", "--size", "4")
    before = [idle.admin("list", kind, "--showjson").json for kind in ("agents", "clusters", "partitions")]
    assert idle.stop() == 0
    idle.start()
    assert [idle.admin("list", kind, "--showjson").json for kind in ("agents", "clusters", "partitions")] == before


def test_request_log(idle: Controller) -> None:
    idle.start("--request-log", "requests.log")
    idle.admin("list", "agents")
    idle.admin("remove", "agent", "x")
    idle.user("list", "partitions")
    entries = [json.loads(line) for line in (idle.directory / "requests.log").read_text().splitlines()]
    assert [(entry["service"], entry["method"], entry["write"]) for entry in entries] == [
        ("podsim.AdminService", "ListAgents", False),
        ("podsim.AdminService", "RemoveAgent", True),
        ("virmgrpc.UserService", "ListPartitions", False),
    ]


def test_an_older_release_has_no_allocation_by_agents(idle: Controller) -> None:
    idle.start("--release", "1.17.0")
    idle.create_cluster(4)
    refused = idle.admin("create", "allocation", "a", "--agents", "ag0")
    assert "V-IPU 1.17.0 makes an allocation by --size only" in refused.err
    assert idle.admin("--server-version").out == f"version: 1.17.0\nhost: 127.0.0.1:{idle.admin_port}\n"


def test_both_apis_on_one_port(idle: Controller) -> None:
    idle.admin_port = idle.user_port
    idle.start()
    assert idle.admin("list", "agents").code == 0
    assert idle.user("list", "partitions").code == 0


def test_secure_mode(idle: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    idle.storage.unlink()
    printed = idle.server("--init", "--secure", "--default-user-id", "john").stdout.splitlines()
    assert printed[:4] == [
        "Initialised storage: vipu-server.json",
        "Generated server TLS certificates in the directory: vipu-certs/server",
        "Generated client TLS certificates in the directory: vipu-certs/client",
        "Default user is: john",
    ]
    key = printed[4].removeprefix("Access Key is: ")
    assert key not in idle.storage.read_text()
    idle.start("--secure", "--creation-time", "0")
    monkeypatch.setenv("VIPU_CLI_TLS_CERTS", str(idle.directory / "vipu-certs" / "client"))
    anonymous = idle.admin("list", "agents")
    assert (anonymous.code, "user id or access key is wrong" in anonymous.err) == (1, True)
    with monkeypatch.context() as john:
        john.setenv("VIPU_CLI_API_USER_ID", "john")
        john.setenv("VIPU_CLI_API_ACCESS_KEY", key)
        idle.create_cluster(4)
        idle.admin("create", "allocation", "a", "--size", "4")
        idle.admin("create", "allocation", "b", "--size", "4")
        idle.admin("create", "partition", "p", "--size", "4", "--allocation", "b")
        alices = idle.admin("create", "user", "alice", "--allocations", "a", "--showjson").json["access_key"]
    monkeypatch.setenv("VIPU_CLI_API_USER_ID", "alice")
    monkeypatch.setenv("VIPU_CLI_API_ACCESS_KEY", alices)
    assert "user 'alice' is not an administrator" in idle.admin("list", "agents").err
    assert [a["id"] for a in idle.user("list", "allocations", "--showjson").json["allocations"]] == ["a"]
    assert idle.user("list", "partitions", "--showjson").json == {"partitions": []}
    assert "allocation 'b' is unknown" in idle.user("create", "partition", "q", "--size", "1", "--allocation", "b").err
    assert "partition 'p' is unknown" in idle.user("remove", "partition", "p").err
    assert idle.user("create", "partition", "q", "--size", "1").code == 0


def test_without_a_certificate_nobody_gets_in(idle: Controller) -> None:
    idle.server("--tls-init")
    idle.start("--secure", "--default-user-id", "john")
    assert idle.greeting[0] == "Default user is: john\n"
    refused = idle.admin("list", "agents")
    assert refused.code == 1
    assert "no answer from" in refused.err


def test_faults(idle: Controller) -> None:
    faults = idle.directory / "faults.json"
    idle.start("--faults", "faults.json", "--creation-time", "0", "--reset-time", "0", "--auto-reset-delay", "0.5")
    idle.create_cluster(4)
    faults.write_text(json.dumps({"fail_partition": {"p": 1}, "refuse": {"CreateAllocation": "disk full"}}))
    assert "failed: disk full." in idle.admin("create", "allocation", "a", "--size", "4").err
    failed = idle.admin("create", "partition", "p", "--size", "4")
    assert failed.code == 1
    assert "partition 'p' ended in PS_ERROR: IPU-Link training failed" in failed.err
    wait_until(lambda: state_of(idle, "p") == "PS_ACTIVE")
    faults.write_text(json.dumps({"crash_on_write": 1}))
    before = idle.storage.read_bytes()
    assert idle.admin("create", "allocation", "a", "--size", "4").code == 1
    assert idle.process
    assert idle.process.wait(ENDS_WITHIN_SECONDS) == 70
    assert idle.storage.read_bytes() == before
    faults.unlink()
    idle.start("--faults", "faults.json")
    assert idle.admin("create", "allocation", "a", "--size", "16").code == 1  # p lies there, outside of any
    assert state_of(idle, "p") == "PS_ACTIVE"


def test_an_agent_is_a_process_that_can_go(controller: Controller, port: int, other_port: int) -> None:
    program = Path(executable).with_name("podsim")
    arguments = [
        "--listen",
        f"127.0.0.1:{port}",
        "--id",
        "m1",
        "--rnic-interface",
        "lo",
        "--metrics-port",
        str(other_port),
    ]
    agent = subprocess.Popen([program, "agent", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert agent.stdout
        assert agent.stdout.readline() == f"agent m1 listens on 127.0.0.1:{port}\n"
        open_url = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        with open_url(f"http://127.0.0.1:{other_port}/metrics", timeout=5) as reply:
            assert 'vipu_agent_up{agent="m1"} 1' in reply.read().decode().splitlines()
        controller.admin("create", "agent", "ag1", "--host", "127.0.0.1", "--port", str(port))
        controller.admin("create", "cluster", "c", "--agents", "ag1")
        controller.admin("create", "partition", "p", "--size", "4")
        config = controller.admin("get", "partition", "p", "--gcd", "0", "--ipuof-configs").json
        assert config["devices"][0]["ip"] == "127.0.0.1"
    finally:
        assert end(agent) == 0
        assert agent.stdout
        agent.stdout.close()
    wait_until(lambda: state_of(controller, "p") == "PS_ERROR")
    assert "Down" in controller.admin("list", "agents").out
    assert controller.admin("test", "cluster", "c").code == 1
    assert "use --force" in controller.admin("remove", "partition", "p").err
    assert controller.admin("remove", "partition", "p", "--force").code == 0


def test_interface_address() -> None:
    assert interface_address("lo") == "127.0.0.1"
    assert interface_address("nowhere0") == ""


def test_discovery(idle: Controller, port: int, other_port: int) -> None:
    idle.start("--autodiscovery-listen-interfaces", "lo", "--discovery-port", str(port))
    arguments = ["--listen", f"127.0.0.1:{other_port}", "--id", "m1", "--metrics-port", "0"]
    program = Path(executable).with_name("podsim")
    agent = subprocess.Popen(
        [program, "agent", *arguments, "--announce", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: "| m1" in idle.admin("discover", "agent").out)
    finally:
        end(agent)
    header = " Host      | Port  | Network Interface | Time Since Last Seen | Agent Auto-Add ID"
    assert idle.admin("discover", "agents").out.splitlines()[0] == header


def test_discovery_is_off_unless_asked_for(controller: Controller) -> None:
    assert "auto-discovery is off" in controller.admin("discover", "agent").err


def test_controller_metrics(idle: Controller, port: int) -> None:
    idle.start("--metrics-port", str(port))
    idle.create_agents(1)
    open_url = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    with open_url(f"http://127.0.0.1:{port}/metrics", timeout=5) as reply:
        lines = reply.read().decode().splitlines()
    assert {"vipu_agents 1", "vipu_agents_up 1", "# EOF"} <= set(lines)
