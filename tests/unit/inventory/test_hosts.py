# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The derived inventory: addresses in both schemes, ports in both orders, overrides, groups."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import canonical_port
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import groups, host_variables, pod_groups


def variables(**pod: Any) -> dict[str, dict[str, Any]]:
    return host_variables(parse_declaration({"schema": 1, "pods": {"pod001": {"model": "bow-pod64", **pod}}}))


def test_factory_addresses() -> None:
    hosts = variables(poplar_servers=2)
    assert hosts["pod001-ipum10"]["bmc_address"] == "10.1.1.10"
    assert hosts["pod001-ipum10"]["gateway_address"] == "10.1.2.10"
    assert hosts["pod001-ipum10"]["rnic_address"] == "10.1.5.10"
    assert hosts["pod001-ipum10"]["rnic_prefix"] == 24
    assert hosts["pod001-poplar2"]["management_address"] == "10.1.3.102"
    assert hosts["pod001-poplar2"]["rnic_address"] == "10.1.5.102"
    assert hosts["pod001-tor"]["management_address"] == "10.1.4.1"


def test_multi_rack_addresses() -> None:
    hosts = variables(lrack=17, addressing="multi-rack")
    machine = hosts["pod001-ipum16"]
    assert (machine["bmc_address"], machine["gateway_address"]) == ("10.1.17.16", "10.2.17.16")
    assert (machine["rnic_address"], machine["rnic_prefix"]) == ("10.5.17.16", 16)
    assert hosts["pod001-poplar1"]["management_address"] == "10.3.17.101"


def test_a_device_is_reached_at_its_management_address_and_a_machine_at_its_gateway() -> None:
    hosts = variables()
    assert hosts["pod001-ipum1"]["ansible_host"] == "10.1.2.1"
    assert hosts["pod001-poplar1"]["ansible_host"] == "10.1.3.101"
    assert hosts["pod001-tor"]["ansible_host"] == "10.1.4.1"


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [("ascending", "Ethernet9/1", "Ethernet24/1"), ("descending", "Ethernet24/1", "Ethernet9/1")],
)
def test_ports_of_the_machines(order: str, first: str, last: str) -> None:
    hosts = variables(tor={"ipu_machine_order": order})
    assert (hosts["pod001-ipum1"]["switch_port"], hosts["pod001-ipum16"]["switch_port"]) == (first, last)


def test_ports_of_the_servers() -> None:
    hosts = variables(poplar_servers=4)
    assert hosts["pod001-poplar1"]["switch_ports"] == ["Ethernet25/1", "Ethernet26/1"]
    assert hosts["pod001-poplar4"]["switch_ports"] == ["Ethernet31/1", "Ethernet32/1"]
    assert hosts["pod001-poplar4"]["switch_port"] == "Ethernet31/1"


def test_no_two_devices_share_an_address_or_port() -> None:
    hosts = variables(poplar_servers=4)
    addresses = [value for facts in hosts.values() for key, value in facts.items() if key.endswith("_address")]
    ports = [port for facts in hosts.values() for port in facts.get("switch_ports", [facts.get("switch_port")]) if port]
    assert len(set(addresses)) == len(addresses) == 16 * 3 + 4 * 2 + 1
    assert len(set(ports)) == len(ports) == 16 + 4 * 2


def test_overrides_by_name() -> None:
    hosts = variables(overrides={"pod001-ipum3": {"gateway_address": "10.1.2.33", "switch_port": "Et8"}})
    assert hosts["pod001-ipum3"]["ansible_host"] == "10.1.2.33"
    assert hosts["pod001-ipum3"]["switch_port"] == "Ethernet8/1"
    assert hosts["pod001-ipum4"]["gateway_address"] == "10.1.2.4"


def test_names_by_template() -> None:
    hosts = variables(lrack=3, names={"ipu_machine": "lr{lrack}-ipum{n}", "tor_switch": "{pod}-sw2"})
    assert {"lr3-ipum16", "pod001-poplar1", "pod001-sw2"} < set(hosts)
    assert hosts["lr3-ipum16"]["switch"] == "pod001-sw2"


def test_the_fixed_groups_always_exist() -> None:
    declaration = parse_declaration({"schema": 1, "pods": {"pod-1": {"model": "bow-pod64"}}})
    assert groups(declaration)["vipu_controllers"] == []
    assert [len(groups(declaration)[name]) for name in ("tor_switches", "poplar_servers", "ipu_machines")] == [1, 1, 16]
    assert len(pod_groups(declaration)["pod_1"]) == 18


def test_groups_of_clusters_and_vpods_and_the_vlans_that_the_file_alone_tells() -> None:
    declaration = parse_declaration(
        {
            "schema": 1,
            "pods": {"p": {"model": "bow-pod64", "poplar_servers": 2, "rnic": {"vlan": 100}}},
            "controllers": {"v": {"host": "p-poplar1"}},
            "clusters": {"c": {"controller": "v", "pods": ["p"]}},
            "vpods": {
                "team-a": {
                    "cluster": "c",
                    "ipus": 4,
                    "vlan": 101,
                    "poplar_servers": ["p-poplar2"],
                    "ipu_machines": ["p-ipum5"],
                }
            },
        }
    )
    assert groups(declaration)["cluster_c"][:2] == ["p-poplar1", "p-ipum1"]
    assert groups(declaration)["vpod_team_a"] == ["p-poplar2", "p-ipum5"]
    assert groups(declaration)["vipu_controllers"] == ["p-poplar1"]
    hosts = host_variables(declaration)
    assert [hosts[name]["rnic_vlan"] for name in ("p-poplar1", "p-poplar2", "p-ipum5", "p-ipum6")] == [
        100,
        101,
        101,
        100,
    ]


def test_a_controller_with_a_host_of_its_own() -> None:
    document = {"schema": 1, "pods": {"p": {"model": "bow-pod64"}}, "controllers": {"v": {"address": "10.9.9.9"}}}
    assert host_variables(parse_declaration(document))["v"]["ansible_host"] == "10.9.9.9"


@pytest.mark.parametrize("spelling", ["Et9", "et9/1", "Ethernet9/1", "ethernet9"])
def test_one_port_has_one_name(spelling: str) -> None:
    assert canonical_port(spelling) == "Ethernet9/1"


def test_a_cloud_is_worked_on_from_the_control_node() -> None:
    cloud = {"physical_network": "rnic", "control_network": "control", "control_sources": ["10.6.0.0/16"]}
    pods = {"pod001": {"model": "bow-pod64"}}
    declaration = parse_declaration({"schema": 1, "pods": pods, "clouds": {"cloud001": cloud}})
    assert groups(declaration)["clouds"] == ["cloud001"]
    assert host_variables(declaration)["cloud001"] == {
        "cloud_entry": "cloud001",
        "ansible_connection": "local",
        "ansible_become": False,
    }


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_dedicated_controller_may_have_a_host_of_its_own(state: str) -> None:
    own = {"controller": "dedicated", "controller_address": "10.3.1.220"}
    files = {"ipuof": "files", "partitions": {"train": {"ipus": 4}}}
    alice = {"cluster": "c", "ipus": 4, "vlan": 101, "state": state, **own, **files}
    declaration = parse_declaration(
        {
            "schema": 1,
            "pods": {"p": {"model": "bow-pod64"}},
            "controllers": {"v": {"host": "p-poplar1"}},
            "clusters": {"c": {"controller": "v", "pods": ["p"]}},
            "vpods": {"alice": alice, "bob": {"cluster": "c", "ipus": 4, "vlan": 102, "controller": "dedicated"}},
        }
    )
    hosts = host_variables(declaration)
    assert hosts["alice-controller"] == {
        "management_address": "10.3.1.220",
        "ansible_host": "10.3.1.220",
        "vipu_dedicated_vpods": ["alice"],
        **({"vipu_ipuof_partitions": ["train"]} if state == "present" else {}),
    }
    assert "vipu_ipuof_partitions" not in hosts["p-poplar1"]
    assert hosts["p-poplar1"]["vipu_dedicated_vpods"] == ["bob"]
    assert groups(declaration)["vipu_controllers"] == ["alice-controller", "p-poplar1"]
