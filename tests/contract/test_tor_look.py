# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""tor_look in a play, over both connections: what the other modules say, in three requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE
from tests.support.loopback import closed_port, free_port
from tests.support.simulated_tor import Tor, over, running_tor

MAC = {"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1"}
DECLARED: dict[str, Any] = {
    "vlans": [{"vlan_id": 101, "name": "vpod-alice"}],
    "ports": [{"name": "Et9/1", "mode": "access", "vlan": 101, "qos_profile": "ROCE"}],
    "qos": REFERENCE,
}
CABLING = ("cabling", "table")
OF_ANSIBLE = ("action", "changed", "invocation", "_ansible_no_log")


def declare(tor: Tor, **variables: Any) -> None:
    pod = {"model": "ipu-pod64", "tor": {"address": "127.0.0.1"}}
    tor.declare({"plugin": "ipu.pod.pods", "schema": 1, "pods": {"p": pod}}, **variables)


def results(tor: Tor, *tasks: dict[str, Any], options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    ran = tor.tasks([{"hosts": "tor_switches", "gather_facts": False, "tasks": list(tasks)}], *options)
    return [hosts["p-tor"] for hosts in ran if "p-tor" in hosts]


@pytest.mark.parametrize("connection", ["httpapi", "network_cli"])
def test_a_look_says_what_the_other_modules_say(connection: str, tmp_path: Path) -> None:
    ssh_port = free_port()
    variables = over(connection, ssh_port)
    with running_tor(tmp_path, "--ssh", f"127.0.0.1:{ssh_port}") as tor:
        declare(tor, **variables)
        tor.observe(macs=[MAC])
        tor.type("configure", "username joe secret sha512 $6$abc", "vlan 7", "name key", "end")
        _made, info, gathered, look = results(
            tor,
            {"ipu.pod.tor_switch": DECLARED},
            {"ipu.pod.tor_info": {}},
            {"ipu.pod.tor_switch": {"state": "gathered"}},
            {"ipu.pod.tor_look": {}},
        )
    assert look["changed"] is False
    parts = look["parts"]
    assert parts["gathered"] == gathered["gathered"]
    assert parts["info"] == {name: info[name] for name in info if name in parts["info"]}
    assert info.keys() - parts["info"].keys() == {*CABLING, *OF_ANSIBLE}
    assert parts["sessions"] == {"busy": {}, "left_over": [], "timer": None}
    text = parts["running_config"]["text"]
    assert "vlan 101\n   name vpod-alice\n" in text
    assert "vlan 7\n   name key\n" in text
    assert "$6$abc" not in json.dumps(look)


def test_a_look_says_what_keeps_ports_and_vlans_from_working(tmp_path: Path) -> None:
    with running_tor(tmp_path) as tor:
        declare(tor)
        tor.type("configure", "vlan 7", "state suspend", "interface Ethernet12/1", "shutdown", "end")
        tor.observe(errdisabled={"Ethernet10/1": "bpduguard"}, blocked={"MST0": ["Ethernet11/1"]})
        (look,) = results(tor, {"ipu.pod.tor_look": {}})
    status = look["parts"]["status"]
    ports = ("Ethernet9/1", "Ethernet10/1", "Ethernet11/1", "Ethernet12/1")
    assert [status["links"][port] for port in ports] == ["connected", "errdisabled", "connected", "disabled"]
    assert status["vlans"] == {"1": "active", "7": "suspended"}
    assert [port in status["members"]["1"] for port in ports] == [True, False, True, False]
    assert (status["members"]["7"], status["blocked"]) == ([], {"MST0": ["Ethernet11/1"]})


def test_a_look_costs_three_requests_and_changes_nothing(tmp_path: Path) -> None:
    with running_tor(tmp_path) as tor:
        declare(tor)
        before = (tor.directory / "running-config").read_text()
        for options in ((), ("--check",)):
            tor.requests()
            (look,) = results(tor, {"ipu.pod.tor_look": {}}, options=options)
            assert len(tor.requests()) == 3
            assert [name for name, part in look["parts"].items() if part.keys() == {"message"}] == []
        assert (tor.directory / "running-config").read_text() == before


def test_a_look_tells_who_is_changing_the_switch(tmp_path: Path) -> None:
    with running_tor(tmp_path) as tor:
        declare(tor)
        tor.type("configure session joe", "vlan 9", "commit timer 00:10:00")
        tor.type("configure session ann")
        (look,) = results(tor, {"ipu.pod.tor_look": {}})
    sessions = look["parts"]["sessions"]
    assert sessions["busy"] == {"ann": "pending", "joe": "pendingCommitTimer"}
    assert 500 < sessions["timer"] <= 600


def test_a_switch_that_is_not_there_is_an_error_and_not_an_empty_look(tmp_path: Path) -> None:
    with running_tor(tmp_path) as tor, closed_port() as port:
        declare(tor, ansible_httpapi_port=port)
        (look,) = results(tor, {"ipu.pod.tor_look": {}})
    assert look["failed"]
    assert look["msg"].startswith("the switch could not be asked: ")
    assert "\n" not in look["msg"]


@pytest.mark.parametrize("connection", ["httpapi", "network_cli"])
def test_a_connection_to_a_switch_ends_with_its_task(connection: str, tmp_path: Path) -> None:
    ssh_port = free_port()
    variables = over(connection, ssh_port)
    left = {
        "ansible.builtin.find": {"paths": [str(tmp_path / "connections")], "file_type": "any"},
        "delegate_to": "localhost",
        "vars": {"ansible_connection": "local"},
    }
    asked = [{f"ipu.pod.{module}": {}} for module in ("look", "tor_look", "tor_info", "tor_switch")]
    with running_tor(tmp_path, "--ssh", f"127.0.0.1:{ssh_port}") as tor:
        declare(tor, **variables)
        play = {
            "hosts": "tor_switches",
            "gather_facts": False,
            "tasks": [task for each in asked for task in (each, left)],
        }
        ran = tor.tasks([play], ANSIBLE_PERSISTENT_CONTROL_PATH_DIR=str(tmp_path / "connections"))
    results = [hosts["p-tor"] for hosts in ran]
    assert not [result["msg"] for result in results if result.get("failed")]
    assert results[0]["outcome"] == "answered"
    assert [result["files"] for result in results[1::2]] == [[]] * len(asked)
