# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters of preflight on variables as the inventory and the role leave them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.filter.cross import declared_mismatches_of, seen_mismatches_of
from ansible_collections.ipu.pod.plugins.filter.pods import desired_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.hosts import groups, host_variables

DOCUMENT = {
    "schema": 1,
    "pods": {
        "p": {
            "model": "bow-pod64",
            "rnic": {"interface": "rnic0", "vlan": 101, "mtu": 9000},
            "tor": {"mtu": 9214, "roce": "reference"},
        }
    },
}
DECLARATION = parse_declaration(DOCUMENT)
GROUPS = groups(DECLARATION)
DESIRED = desired_of(DOCUMENT, {})
MAC = "04:3f:72:00:01:02"


def answers(**port: Any) -> dict[str, dict[str, Any]]:
    """What the tasks of the role register on a pod as declared, but for one port."""
    nic = {"name": "rnic0", "mac": MAC, "up": True, "carrier": True, "speed": 100_000, "speed_verdict": "ok"}
    interface = {"name": "rnic0", "mac": MAC, "mtu": 9000, "addresses": ["10.1.5.101/24"]}
    tor = DESIRED["tor_switches"]["p-tor"]
    ports = [{**each, **(port if each["name"] == "Ethernet25/1" else {})} for each in tor["ports"]]
    return {
        "p-poplar1": {
            "preflight_nics": {"nics": [{**nic, "firmware": {"verdict": "unknown"}}], "minimum": {}},
            "preflight_network": {"gathered": [interface]},
            "preflight_roce": {"failed": False, "msg": "this server has neither mlnx_qos nor dcb"},
        },
        "p-tor": {"preflight_switch": {"ports": ports, "vlans": tor["vlans"], "qos": tor["qos"], "neighbours": {}}},
    }


def variables(**more: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: {**fields, **more.get(name, {})} for name, fields in host_variables(DECLARATION).items()}


def test_a_pod_as_declared() -> None:
    assert declared_mismatches_of(variables(), GROUPS, DESIRED) == []
    assert seen_mismatches_of(variables(**answers()), GROUPS, DESIRED) == []


def test_a_port_that_is_not_as_declared_and_the_run_that_repairs_it() -> None:
    hosts = variables(**answers(mtu=1500))
    [said] = seen_mismatches_of(hosts, GROUPS, DESIRED, [])
    assert said.startswith("p-poplar1 rnic0 (MTU 9000) and p-tor Ethernet25/1 (MTU 1500): ")
    assert seen_mismatches_of(hosts, GROUPS, DESIRED, ["switches"]) == []


def test_the_addresses_of_pods_yml_are_the_plan() -> None:
    hosts = variables(**answers())
    hosts["p-poplar1"]["preflight_network"]["gathered"][0]["addresses"] += ["10.1.5.3/24"]
    [said] = seen_mismatches_of(hosts, GROUPS, DESIRED, [])
    assert said.startswith("p-poplar1 rnic0 (10.1.5.3) and p-ipum3 (10.1.5.3 is its rnic_address in pods.yml): ")


@pytest.mark.parametrize("skipped", ["preflight_switch", "preflight_nics", "preflight_network"])
def test_a_device_that_was_skipped_is_passed_over(skipped: str) -> None:
    hosts = variables(**answers(mtu=1500))
    for fields in hosts.values():
        fields.update({skipped: {"skipped": True}} if skipped in fields else {})
    assert seen_mismatches_of(hosts, GROUPS, DESIRED, []) == []


def test_variables_of_the_role() -> None:
    vlan = {"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "vlan_id": 300}
    hosts = variables(**{"p-poplar1": {"poplar_server_more_interfaces": [vlan]}})
    [said] = declared_mismatches_of(hosts, GROUPS, DESIRED)
    assert "VLAN 300 with tag on rnic0.300 by poplar_server_more_interfaces" in said
