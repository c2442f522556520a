# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients that others wrote for EOS work unmodified: pyeapi, NAPALM and the arista.eos modules."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import napalm
import pyeapi
import pytest

from tests.contract.eos_simulator.ansible_play import play
from tests.contract.eos_simulator.conftest import PASSWORD, USER, RunningSwitch

Start = Callable[..., RunningSwitch]


@pytest.fixture
def node(switch: RunningSwitch) -> Any:
    """The switch as a pyeapi node."""
    return pyeapi.connect(
        transport="http", host="127.0.0.1", port=switch.port, username=USER, password=PASSWORD, return_node=True
    )


def test_pyeapi_reads_and_configures(node: Any) -> None:
    assert node.version_number == "4.28.3"
    vlans = node.api("vlans")
    assert vlans.create(10)
    assert vlans.set_name(10, "alice")
    assert vlans.get(10)["name"] == "alice"
    ports = node.api("switchports")
    assert ports.set_mode("Ethernet9/1", "trunk")
    assert ports.set_trunk_allowed_vlans("Ethernet9/1", "10,20")
    assert ports.get("Ethernet9/1")["trunk_allowed_vlans"] == "10,20"
    assert node.api("interfaces").get("Ethernet9/1")["shutdown"] is False


def test_pyeapi_sessions(node: Any) -> None:
    node.configure_session()
    node.config(["vlan 30", "name bob"])
    assert "+   name bob" in node.diff()
    assert node.enable("show vlan")[0]["result"]["vlans"].keys() == {"1"}
    node.commit()
    assert node.enable("show vlan")[0]["result"]["vlans"]["30"]["name"] == "bob"


def test_pyeapi_gets_the_error_shape(node: Any) -> None:
    with pytest.raises(pyeapi.eapilib.CommandError) as refused:
        node.config(["vlan 10", "nonsense"])
    assert refused.value.error_code == 1002
    assert "Invalid input (at token 0: 'nonsense')" in str(refused.value)


def test_pyeapi_falls_back_to_text(node: Any) -> None:
    assert node.enable("show running-config all")[0]["encoding"] == "text"


@contextlib.contextmanager
def napalm_device(switch: RunningSwitch, **options: Any) -> Iterator[Any]:
    """The switch as an open NAPALM device."""
    driver = napalm.get_network_driver("eos")
    device = driver("127.0.0.1", USER, PASSWORD, optional_args=options or {"transport": "http", "port": switch.port})
    device.open()
    yield device
    device.close()


@pytest.fixture
def device(switch: RunningSwitch) -> Iterator[Any]:
    """A new switch as an open NAPALM device."""
    with napalm_device(switch) as device:
        yield device


def test_napalm_reads(device: Any) -> None:
    assert device.get_facts()["hostname"] == "tor1"
    assert device.get_interfaces()["Ethernet9/1"]["is_enabled"] is True
    assert device.get_vlans()["1"]["name"] == "default"
    assert device.get_lldp_neighbors() == {}
    assert device.get_mac_address_table() == []
    assert "interface Ethernet9/1" in device.get_config()["running"]


def test_napalm_sees_the_neighbours(start_switch: Start, tmp_path: Path) -> None:
    observed = {
        "neighbours": {"Ethernet9/1": {"device": "ipum1", "port": "rnic0", "mac": "0c:42:a1:00:00:01"}},
        "macs": [{"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1"}],
    }
    (tmp_path / "observed").write_text(json.dumps(observed))
    with napalm_device(start_switch("--observed", str(tmp_path / "observed"))) as device:
        assert device.get_lldp_neighbors() == {"Ethernet9/1": [{"hostname": "ipum1", "port": "rnic0"}]}
        [detail] = device.get_lldp_neighbors_detail()["Ethernet9/1"]
        assert (detail["remote_system_name"], detail["remote_port"]) == ("ipum1", "rnic0")
        assert detail["remote_chassis_id"] == "0C:42:A1:00:00:01"
        [address] = device.get_mac_address_table()
        assert (address["mac"], address["interface"], address["vlan"]) == ("0C:42:A1:00:00:01", "Ethernet9/1", 1)


def test_napalm_over_ssh(start_switch: Start) -> None:
    switch = start_switch("--ssh", "127.0.0.1:0")
    with napalm_device(switch, transport="ssh", port=switch.ssh_port) as device:
        assert device.get_facts()["hostname"] == "tor1"
        device.load_merge_candidate(config="vlan 10")
        device.commit_config(revert_in=60)
        assert device.has_pending_commit()
        device.confirm_commit()
        assert "10" in device.get_vlans()


def test_napalm_merges_and_rolls_back(device: Any, switch: RunningSwitch) -> None:
    switch.run("write memory")
    device.load_merge_candidate(config="vlan 10\n   name alice\n")
    assert "+vlan 10" in device.compare_config()
    device.commit_config()
    assert device.get_vlans()["10"]["name"] == "alice"
    device.rollback()
    assert "10" not in device.get_vlans()


def test_napalm_replaces(device: Any, switch: RunningSwitch) -> None:
    switch.run("write memory", "configure", "vlan 99", "router bgp 65000", "neighbor 10.0.0.1 remote-as 65001")
    config = device.get_config(retrieve="running")["running"].replace("vlan 99", "vlan 98")
    device.load_replace_candidate(config=config)
    assert {line for line in device.compare_config().splitlines() if line[0] in "+-"} == {"-vlan 99", "+vlan 98"}
    device.discard_config()
    assert "99" in device.get_vlans()


def test_napalm_confirms_a_timed_commit(device: Any, switch: RunningSwitch) -> None:
    switch.run("write memory")
    device.load_merge_candidate(config="vlan 10")
    device.commit_config(revert_in=60)
    assert device.has_pending_commit()
    device.confirm_commit()
    assert not device.has_pending_commit()
    assert "10" in device.get_vlans()


TASKS: list[dict[str, Any]] = [
    {"arista.eos.eos_facts": {"gather_subset": ["all"], "gather_network_resources": ["all"]}},
    {
        "arista.eos.eos_vlans": {
            "config": [{"vlan_id": 10, "name": "alice"}, {"vlan_id": 20, "state": "suspend"}],
            "state": "merged",
        }
    },
    {
        "arista.eos.eos_interfaces": {
            "config": [{"name": "Ethernet9/1", "description": "ipum1", "enabled": True, "mtu": 9000}]
        }
    },
    {
        "arista.eos.eos_l2_interfaces": {
            "config": [
                {"name": "Ethernet9/1", "access": {"vlan": 10}},
                {
                    "name": "Ethernet25/1",
                    "mode": "trunk",
                    "trunk": {"native_vlan": 20, "trunk_allowed_vlans": ["10", "20"]},
                },
            ]
        }
    },
    {
        "arista.eos.eos_config": {
            "lines": ["priority-flow-control on", "priority-flow-control priority 3 no-drop"],
            "parents": "interface Ethernet9/1",
            "save_when": "changed",
        }
    },
]


@pytest.mark.parametrize(("connection", "secret"), [("httpapi", ""), ("network_cli", "s3cr3t")])
def test_arista_eos_modules(start_switch: Start, connection: str, secret: str) -> None:
    switch = start_switch("--ssh", "127.0.0.1:0", *(("--enable-password", secret) if secret else ()))
    first, second = play(switch, connection, TASKS, TASKS, secret=secret)
    assert [task["changed"] for task in first] == [False, True, True, True, True]
    assert [task["changed"] for task in second] == [False] * 5
    assert first[0]["ansible_facts"]["ansible_net_hostname"] == "tor1"
    running = (switch.directory / "running").read_text()
    for block in (
        "interface Ethernet9/1\n   description ipum1\n   mtu 9000\n   switchport access vlan 10\n"
        "   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n",
        "interface Ethernet25/1\n   switchport trunk native vlan 20\n   switchport trunk allowed vlan 10,20\n"
        "   switchport mode trunk\n",
        "vlan 10\n   name alice\n!\nvlan 20\n   state suspend\n",
    ):
        assert block in running
    # Above both stands which one it is.
    configuration = running[running.index("hostname ") :]
    assert (switch.directory / "running.startup").read_text().endswith("!\n" + configuration)


def test_network_cli_sees_a_refusal(start_switch: Start) -> None:
    switch = start_switch("--ssh", "127.0.0.1:0")
    wrong = {"arista.eos.eos_config": {"lines": ["vlan 5000"]}, "ignore_errors": True}
    [[refused]] = play(switch, "network_cli", [wrong])
    assert "Invalid input" in refused["msg"]
    assert switch.section("^vlan") == ""
