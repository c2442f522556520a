# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The grammar of `vipu-admin` and `vipu`, where they find their controller, and what they print."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from podsim.vipu import cli, cli_output, cli_settings

if TYPE_CHECKING:
    from conftest import Controller

BAD_LINES = {
    "": "a verb and an entity are missing",
    "list": "a verb and an entity are missing",
    "delete agent x": "unknown verb 'delete'",
    "list foo": "unknown entity 'foo' for 'list'",
    "update partition x": "unknown verb 'update'",
    "list agents --bogus": "unknown flag: --bogus",
    "list agents -x": "unknown flag: -x",
    "list agents --force": "unknown flag: --force",
    "list agents x": "list agent takes no id, not 1",
    "get agent": "get agent takes one id, not 0",
    "create agent x": "create agent needs --host",
    "create agent x --host": "flag needs an argument: --host",
    "create partition x --size four": "invalid argument 'four' for --size: use a whole number",
    "create partition x --size 4 --reconfigurable=yes": "flag takes no argument: --reconfigurable",
    "create partition x --size 4 --routing round": "invalid argument 'round' for --routing: use dnc, swnc",
    "get partition x --gcd 0": "--gcd needs --ipuof-configs",
    "list agents --config /nowhere.hcl": "configuration file /nowhere.hcl does not exist",
    "list agents --api-port 0": "api-port '0' is not a port",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_what_is_not_understood(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.admin_main(line.split()) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert BAD_LINES[line] in printed.err
    assert len(printed.err.splitlines()) == 1


def test_users_have_no_admin_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.user_main(["create", "agent", "x", "--host", "h"]) == 1
    assert "unknown entity 'agent' for 'create'" in capsys.readouterr().err


def test_an_older_release_lacks_allocations_by_agents(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(cli.RELEASE_VARIABLE, "1.17.0")
    assert cli.admin_main(["create", "allocation", "a", "--agents", "ag0"]) == 1
    assert cli.admin_main(["--version"]) == 0
    printed = capsys.readouterr()
    assert "unknown flag: --agents" in printed.err
    assert printed.out == "version: 1.17.0\n"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.admin_main(["create", "allocation", "--help"]) == 0
    assert "--agents <list>" in capsys.readouterr().out
    assert cli.user_main(["--help"]) == 0
    assert "list ipu-attrs" in capsys.readouterr().out


def test_unreachable_controller(capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()
    assert cli.admin_main(["list", "agents", "-H", "127.0.0.1", "-P", "1"]) == 1
    assert time.monotonic() - begin < 5
    assert capsys.readouterr().err == "vipu-admin: no V-IPU controller at 127.0.0.1:1: Connection refused\n"


def test_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = tmp_path / "vipu-cli.hcl"
    monkeypatch.setattr(cli_settings, "SYSTEM_FILE", system)
    assert cli_settings.settings({}, {}, 8091)[:2] == ("localhost", 8091)
    system.write_text('api-host="file"\napi-port="1"\n# a comment\n')
    assert cli_settings.settings({}, {}, 8091)[:2] == ("file", 1)
    environment = {"VIPU_CLI_API_HOST": "environment", "VIPU_CLI_API_PORT": "2"}
    assert cli_settings.settings({}, environment, 8091)[:2] == ("environment", 2)
    assert cli_settings.settings({"api-host": "flag", "api-port": 3}, environment, 8091)[:2] == ("flag", 3)
    system.write_text("api-host=unquoted\n")
    with pytest.raises(cli_settings.SettingsError, match="line 1 is not understood"):
        cli_settings.settings({}, {}, 8091)


def test_published_partition_table() -> None:
    spec = {
        "cluster_id": "c64_1-16",
        "ipus": [{}] * 64,
        "ipulink_routing_type": "IRT_RINGSWNC",
        "gw_routing_type": "GRT_UNDEFINED",
        "num_ipulink_segments": 1,
        "num_gcds": 1,
    }
    text = cli_output.partitions_text([{"id": "p64", "spec": spec, "ready_state": "PS_ACTIVE"}], admin=False)
    assert text.splitlines() == [
        " Partition   | Cluster  | ILDs | GW Routing | ILD Routing | Size | GCDs | State",
        "---------------------------------------------------------------------------------",
        " p64         | c64_1-16 | 1    | DEFAULT    | RINGSWNC    | 64   | 1    | ACTIVE",
        "---------------------------------------------------------------------------------",
    ]


def test_published_allocation_table() -> None:
    allocations = [
        {"id": "alloc-1", "spec": {"agent_ids": ["ag0", "ag1", "ag2", "ag3"]}},
        {"id": "alloc-2", "spec": {"agent_ids": ["ag4", "ag5"]}},
    ]
    assert cli_output.allocations_text(allocations).splitlines() == [
        "---------------------------------",
        " Allocation ID | Agents",
        "---------------------------------",
        " alloc-1       | ag0 ag1 ag2 ag3",
        " alloc-2       | ag4 ag5",
        "---------------------------------",
    ]


def test_published_attributes_table() -> None:
    attributes = {
        "board ipu index": "1",
        "board serial number": "0024.0002.8203921",
        "board type": "M2000",
        "clock": "1330MHz",
        "hexopt active size (bytes)": "0",
    }
    entry = {"agent": "ag0", "ipu_attributes": {"0": {"attributes": attributes}}}
    # The published table goes on where ours ends, so its columns may be wider.
    assert [" ".join(line.split()) for line in cli_output.attributes_text([entry]).splitlines()] == [
        "Agent | IPU | Attribute | Value",
        "-" * 62,
        "ag0 | 0 | board ipu index | 1",
        "| | board serial number | 0024.0002.8203921",
        "| | board type | M2000",
        "| | clock | 1330MHz",
        "| | hexopt active size (bytes) | 0",
        "-" * 62,
    ]


def test_published_agent_block() -> None:
    rows = {
        "Agent ID": "ag10",
        "Host": "10.1.2.10",
        "Port": "8080",
        "Status": "Up",
        "Exporter": "http://10.1.2.10:2112/metrics",
        "Platform": "ipum-p2",
        "Manufacturer": "Graphcore",
        "Discovery Mode": "DM_GCDA",
        "Virm version": "master-1189-1493e2a",
        "Runtime version": "1.0.48",
        "Board serial number": "8203921-0007",
        "Part number": "GC-ADA2-00-ES1 Rev. C",
        "GWSW Version": "2.0.5",
        "IPUoF server version": "v1.3.3",
        "HDF Version": "1.0.1",
        "HDF Hash": "1275acb46311f7a46e05f721d73d180c44975e7e",
        "Num of IPUs": "4",
    }
    assert cli_output.block(rows).splitlines() == [
        "-----------------------------------------------------------------",
        " Agent ID             | ag10",
        " Host                 | 10.1.2.10",
        " Port                 | 8080",
        " Status               | Up",
        " Exporter             | http://10.1.2.10:2112/metrics",
        " Platform             | ipum-p2",
        " Manufacturer         | Graphcore",
        " Discovery Mode       | DM_GCDA",
        " Virm version         | master-1189-1493e2a",
        " Runtime version      | 1.0.48",
        " Board serial number  | 8203921-0007",
        " Part number          | GC-ADA2-00-ES1 Rev. C",
        " GWSW Version         | 2.0.5",
        " IPUoF server version | v1.3.3",
        " HDF Version          | 1.0.1",
        " HDF Hash             | 1275acb46311f7a46e05f721d73d180c44975e7e",
        " Num of IPUs          | 4",
        "-----------------------------------------------------------------",
    ]
    text = cli_output.agent_text(rows, [["0", "3", "d", "2.4.4", "ipu21", "1472"]])
    assert "\n IPU | PCI | Device | Firmware | Architecture | Num Tiles\n" in text


def test_an_agent_says_all_that_is_published(controller: Controller) -> None:
    controller.create_agents(1)
    shown = controller.admin("get", "agent", "ag0").out.splitlines()
    labels = [line.partition("|")[0].strip() for line in shown[1:18]]
    assert labels == [
        *("Agent ID", "Host", "Port", "Status", "Exporter", "Platform", "Manufacturer", "Discovery Mode"),
        *("Virm version", "Runtime version", "Board serial number", "Part number", "GWSW Version"),
        *("IPUoF server version", "HDF Version", "HDF Hash", "Num of IPUs"),
    ]


def test_agents(controller: Controller) -> None:
    port = str(controller.agent_ports[0])
    created = controller.admin("create", "agent", "ag1", "--host", "127.0.0.1", "--port", port)
    assert created.out == "create agent (ag1): success.\n"
    shown = controller.admin("get", "agent", "ag1").out.splitlines()
    assert shown[0] == "-" * 65
    assert shown[4] == " Status               | Up"
    assert shown[5] == " Exporter             | http://127.0.0.1:2112/metrics"
    agent = controller.admin("get", "agents", "ag1", "--showjson").json["agent"]
    assert agent == controller.admin("--showjson", "list", "agents").json["agents"][0]
    assert agent["status"]["num_ipus"] == 4
    assert controller.admin("remove", "agent", "ag1").out == "remove agent (ag1): success.\n"
    again = controller.admin("remove", "agent", "ag1")
    assert (again.code, again.out) == (1, "")
    assert again.err == "remove agent (ag1): failed: agent 'ag1' is unknown.\n"


def test_json_is_printed_as_the_real_tools_do(controller: Controller) -> None:
    assert controller.admin("list", "partitions", "--showjson").out == '{\n  "partitions":  []\n}\n'


def test_an_agent_that_does_not_answer_is_not_created(controller: Controller) -> None:
    before = controller.storage.read_bytes()
    refused = controller.admin("create", "agent", "ag1", "--host", "127.0.0.1", "--port", "1")
    assert refused.code == 1
    said = "agent 'ag1' at 127.0.0.1:1 does not answer: is it running and reachable? (no answer from 127.0.0.1:1: "
    assert said in refused.err
    assert "Connection refused" in refused.err
    assert controller.storage.read_bytes() == before


def test_something_else_that_answers_is_not_an_agent(controller: Controller) -> None:
    port = str(controller.admin_port)
    refused = controller.admin("create", "agent", "ag1", "--host", "127.0.0.1", "--port", port)
    assert refused.code == 1
    assert f"agent 'ag1' at 127.0.0.1:{port} does not answer: is it running and reachable? (" in refused.err


def test_partitions_and_their_files(controller: Controller, home: Path) -> None:
    controller.create_cluster(4)
    controller.admin("create", "allocation", "a", "--size", "16")
    created = controller.user("create", "partition", "p", "--allocation", "a", "--size", "8", "--num-gcds", "2")
    assert created.out.startswith("Please be patient. This operation can take several seconds\n")
    assert created.out.endswith("\ncreate partition (p): success.\n")
    files = sorted(path.name for path in (home / ".ipuof.conf.d").iterdir())
    assert files == ["p_gcd0_ipuof.conf", "p_gcd1_ipuof.conf"]
    bare = controller.user("get", "partition", "p", "--gcd", "1", "--ipuof-configs")
    assert bare.out == (home / ".ipuof.conf.d" / files[1]).read_text()
    assert bare.json["devices"][0]["ip"] == "10.5.1.2"
    assert list(bare.json["devices"][0])[:5] == ["ip", "server_port", "rdma_port", "device_id", "ipulink_segment_id"]
    headed = controller.user("get", "partition", "p", "--ipuof-configs").out
    assert headed.splitlines()[1] == "{"
    for shown in (controller.user, controller.admin):
        assert shown("get", "partition", "p", "--showjson").json["partition"]["ready_state"] == "PS_ACTIVE"
    controller.user("remove", "partition", "p")
    assert not list((home / ".ipuof.conf.d").iterdir())


def test_users_see_the_same_json_on_both_ports(controller: Controller) -> None:
    controller.create_cluster(4)
    controller.admin("create", "allocation", "a", "--size", "16")
    controller.admin("create", "partition", "p", "--size", "2", "--reconfigurable")
    for line in (["list", "partitions"], ["list", "allocations"], ["get", "partition", "p"], ["list", "ipu-attrs"]):
        assert controller.user(*line, "--showjson").out == controller.admin(*line, "--showjson").out


def test_cluster_and_user(controller: Controller, home: Path) -> None:
    controller.create_cluster(4, "--topology", "torus")
    cluster = controller.admin("get", "cluster", "c1", "--showjson").json["cluster"]
    assert cluster["spec"] == {
        "agent_ids": ["ag0", "ag1", "ag2", "ag3"],
        "topology": "torus",
        "num_ipulink_domains": 1,
        "cluster_topology": "",
    }
    assert controller.admin("test", "cluster", "c1").code == 0
    assert len(controller.admin("create", "allocation", "--options", "--size", "8", "--showjson").json["options"]) == 2
    controller.admin("create", "allocation", "a", "--size", "4")
    lines = controller.admin("create", "user", "alice", "--allocations", "a").out.splitlines()
    assert lines[0].startswith("create user (alice): success. Access key is '")
    assert lines[1] == "vipu configuration file for the user 'alice' written: alice.vipu-cli.hcl"
    assert (home / "alice.vipu-cli.hcl").stat().st_mode & 0o777 == 0o600
    user = controller.admin("get", "user", "alice", "--showjson").json["user"]
    assert user == {"id": "alice", "spec": {"allocation_ids": ["a"], "admin": False}}
