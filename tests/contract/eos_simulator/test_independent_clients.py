# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients that others wrote for EOS work unmodified: pyeapi, NAPALM and the arista.eos modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import napalm
import pyeapi
import pytest

from .conftest import PASSWORD, USER, RunningSwitch


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


@pytest.fixture
def device(switch: RunningSwitch) -> Any:
    """The switch as an open NAPALM device."""
    driver = napalm.get_network_driver("eos")
    device = driver("127.0.0.1", USER, PASSWORD, optional_args={"transport": "http", "port": switch.port})
    device.open()
    yield device
    device.close()


def test_napalm_reads(device: Any) -> None:
    assert device.get_facts()["hostname"] == "tor1"
    assert device.get_interfaces()["Ethernet9/1"]["is_enabled"] is True
    assert device.get_vlans()["1"]["name"] == "default"
    assert device.get_lldp_neighbors() == {}
    assert device.get_mac_address_table() == []
    assert "interface Ethernet9/1" in device.get_config()["running"]


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


PLAY: list[dict[str, Any]] = [
    {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
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
        ],
    }
]


def test_arista_eos_modules(switch: RunningSwitch) -> None:
    first, second = (_play(switch, PLAY) for _ in range(2))
    assert first == [False, True, True, True, True]
    assert second == [False] * 5
    assert switch.section("interface Ethernet9/1$") == (
        "interface Ethernet9/1\n   description ipum1\n   mtu 9000\n   switchport access vlan 10\n"
        "   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"
    )
    assert switch.section("interface Ethernet25/1$") == (
        "interface Ethernet25/1\n   switchport trunk native vlan 20\n   switchport trunk allowed vlan 10,20\n"
        "   switchport mode trunk\n"
    )
    assert switch.section("^vlan") == "vlan 10\n   name alice\nvlan 20\n   state suspend\n"
    sessions = switch.run("show configuration sessions")[0]["sessions"]
    assert [session["state"] for session in sessions.values()] == ["completed"]


def _play(switch: RunningSwitch, play: list[dict[str, Any]]) -> list[bool]:
    """Run a play against the switch; whether each of its tasks changed anything."""
    inventory = {
        "all": {
            "hosts": {
                "tor1": {
                    "ansible_host": "127.0.0.1",
                    "ansible_connection": "ansible.netcommon.httpapi",
                    "ansible_network_os": "arista.eos.eos",
                    "ansible_httpapi_port": switch.port,
                    "ansible_user": USER,
                    "ansible_password": PASSWORD,
                    "ansible_become": True,
                    "ansible_become_method": "ansible.netcommon.enable",
                    "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                }
            }
        }
    }
    home = switch.directory / "home"
    home.mkdir(exist_ok=True)
    files = {"inventory.json": inventory, "play.json": play}
    for name, content in files.items():
        (home / name).write_text(json.dumps(content))
    (home / "ansible.cfg").write_text("[defaults]\n")
    environment = {**os.environ, "HOME": str(home), "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}
    environment |= {"ANSIBLE_CONFIG": str(home / "ansible.cfg")}
    playbook = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [playbook, "-i", "inventory.json", "play.json"],
        cwd=home,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tasks = json.loads(done.stdout)["plays"][0]["tasks"]
    return [task["hosts"]["tor1"]["changed"] for task in tasks]
