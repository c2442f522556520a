# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management switch that pods.yml declares, made so by the role on the model that racks have; nothing is derived."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from tests.support.simulated_tor import running_tor

DOCUMENT: dict[str, Any] = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {
        "p": {
            "model": "bow-pod64",
            "tor": {"address": "127.0.0.2"},
            "management_switch": {
                "address": "127.0.0.1",
                "vlans": {"bmc": 10},
                "ports": {
                    "Et1": {"mode": "access", "vlan": "bmc", "description": "p-ipum1 BMC and gateway"},
                    "Ethernet48": {"mode": "trunk", "vlans": ["bmc"]},
                    "Et47": {"owner": "external"},
                },
            },
        }
    },
}
WANTED = desired(parse_declaration(DOCUMENT), {})["management_switches"]["p-mgmt"]
PLAY: list[dict[str, Any]] = [
    {
        "hosts": "management_switches",
        "gather_facts": False,
        "roles": ["ipu.pod.tor_switch"],
        "vars": {"tor_switch_vlans": WANTED["vlans"], "tor_switch_ports": WANTED["ports"]},
    }
]


def test_a_management_switch_becomes_what_is_declared_and_stays_so(tmp_path: Path) -> None:
    with running_tor(tmp_path, "--model", "DCS-7010T-48") as switch:
        switch.declare(DOCUMENT)
        switch.type("configure", "interface Ethernet47", "description somebody's", "switchport access vlan 1")
        first, second = (
            [ran["p-mgmt"] for ran in switch.tasks(PLAY) if "plan" in ran.get("p-mgmt", {})] for _turn in range(2)
        )
        assert ([result["changed"] for result in first], [result["changed"] for result in second]) == ([True], [False])
        config = (tmp_path / "running-config").read_text()
    assert "vlan 10\n   name bmc\n" in config
    assert "interface Ethernet1\n   description p-ipum1 BMC and gateway\n   switchport access vlan 10\n" in config
    assert "interface Ethernet48\n   switchport trunk allowed vlan 10\n   switchport mode trunk\n" in config
    assert "interface Ethernet47\n   description somebody's\n" in config
