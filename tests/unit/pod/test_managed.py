# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Managed devices, canaries, and the hosts that keep the locks."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import groups
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import STAGE_NAMES, group_of
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import unknown_places
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.managed import lock_hosts
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration

UNMANAGED = "ipu_pod_unmanaged"


def declared(pods: dict[str, dict[str, Any]], **parts: Any) -> Declaration:
    documents = {
        name: {"model": "bow-pod64", "lrack": number, "addressing": "multi-rack", **fields}
        for number, (name, fields) in enumerate(pods.items(), 1)
    }
    return parse_declaration({"schema": 1, "pods": documents, **parts})


def on_a_server(managed: list[str], **parts: Any) -> Declaration:
    """One pod whose controller runs on its first Poplar server."""
    return declared(
        {"p": {"managed": managed, "poplar_servers": 2}},
        controllers={"v": {"host": "p-poplar1"}},
        clusters={"c": {"controller": "v", "pods": ["p"]}},
        **parts,
    )


def unmanaged(declaration: Declaration) -> dict[str, list[str]]:
    return {
        name.removeprefix(UNMANAGED): hosts for name, hosts in groups(declaration).items() if name.startswith(UNMANAGED)
    }


def test_everything_is_managed_by_default() -> None:
    found = groups(declared({"p": {}}))
    assert {name: hosts for name, hosts in found.items() if name.startswith((UNMANAGED, "ipu_pod_stage"))} == {
        UNMANAGED: [],
        f"{UNMANAGED}_switches": [],
        f"{UNMANAGED}_servers": [],
        f"{UNMANAGED}_controllers": [],
        **{group_of(stage): [] for stage in STAGE_NAMES},
    }


def test_only_the_switch() -> None:
    declaration = declared({"p": {"managed": ["switch"], "management_switch": {"address": "10.4.1.9"}}})
    assert unmanaged(declaration) == {
        "": ["p-poplar1"],
        "_switches": [],
        "_servers": ["p-poplar1"],
        "_controllers": [],
    }


def test_both_switches_of_a_pod_are_one_layer() -> None:
    declaration = declared({"p": {"managed": ["servers"], "management_switch": {"address": "10.4.1.9"}}})
    assert unmanaged(declaration)["_switches"] == ["p-tor", "p-mgmt"]


def test_a_server_that_is_also_a_controller_is_one_of_them_at_a_time() -> None:
    assert unmanaged(on_a_server(["servers"])) == {
        "": ["p-tor"],
        "_switches": ["p-tor"],
        "_servers": [],
        "_controllers": ["p-poplar1"],
    }
    assert unmanaged(on_a_server(["controller"])) == {
        "": ["p-tor", "p-poplar2"],
        "_switches": ["p-tor"],
        "_servers": ["p-poplar1", "p-poplar2"],
        "_controllers": [],
    }


def test_a_controller_of_two_pods_is_managed_or_not() -> None:
    with pytest.raises(DeclarationError) as caught:
        declared(
            {"a": {}, "b": {"managed": ["switch", "servers"]}},
            controllers={"v": {"address": "10.9.0.1"}},
            clusters={"c": {"controller": "v", "pods": ["a", "b"]}},
        )
    assert caught.value.problems == [
        "pods.b.managed: leaves the controller out, but v is also that of a; say the same of all pods of a controller"
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"managed": ["tor"]}, "pods.p.managed[0]: 'tor' is not known; use one of switch, servers, controller"),
        ({"managed": ["switch", "switch"]}, "pods.p.managed[1]: 'switch' is listed twice; keep one"),
        ({"canary": ["p-ipum1"]}, "pods.p.canary: 'p-ipum1' is no switch or Poplar server of p; use p-tor, p-poplar1"),
    ],
)
def test_refusals(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        declared({"p": fields})
    assert caught.value.problems == [message]


def test_a_group_that_always_exists_is_no_name_of_a_pod() -> None:
    with pytest.raises(DeclarationError, match="the name of a group that always exists"):
        declared({"ipu_pod_unmanaged": {}})


def test_canaries_go_first_then_their_pods_then_the_others() -> None:
    pods: dict[str, dict[str, Any]] = {"a": {"poplar_servers": 2}, "b": {"poplar_servers": 2}, "c": {}}
    pods["b"]["canary"] = ["b-poplar2"]
    found = groups(declared(pods))
    assert found["poplar_servers"] == ["b-poplar2", "b-poplar1", "a-poplar1", "a-poplar2", "c-poplar1"]
    assert found["tor_switches"] == found["switches"] == ["b-tor", "a-tor", "c-tor"]


def test_without_canaries_the_order_is_that_of_the_file() -> None:
    assert groups(declared({"b": {}, "a": {}}))["tor_switches"] == ["b-tor", "a-tor"]


ALICE = {"alice": {"cluster": "c", "ipus": 4}}


@pytest.mark.parametrize("state", ["present", "absent"])
def test_the_host_of_a_dedicated_controller_is_changed_under_the_locks_of_its_clusters_pods(state: str) -> None:
    alice = {"cluster": "c", "state": state, "controller_address": "10.9.0.2", "vlan": 101, "ipus": 4}
    pods: dict[str, dict[str, Any]] = {"a": {}, "b": {}}
    clusters = {"c": {"controller": "v", "pods": ["a"]}, "d": {"controller": "w", "pods": ["b"]}}
    controllers = {"v": {"address": "10.9.0.1"}, "w": {"address": "10.9.0.3"}}
    vpods = {"alice": {**alice, "controller": "dedicated"}}
    declaration = declared(pods, controllers=controllers, clusters=clusters, vpods=vpods)
    assert lock_hosts(declaration, ["alice-controller"]) == {"v": ["a"]}
    assert unmanaged(declaration)["_controllers"] == []
    vpods = {"alice": {"cluster": "c", "state": "absent", "controller_address": "10.9.0.2"}}
    pods["a"]["managed"] = ["switch", "servers"]
    only_read = declared(pods, controllers=controllers, clusters=clusters, vpods=vpods)
    assert unmanaged(only_read)["_controllers"] == ["v", "alice-controller"]
    assert lock_hosts(only_read, ["alice-controller"]) == {}


def test_where_a_vpod_of_an_unmanaged_controller_lies_only_its_allocation_says() -> None:
    declaration = on_a_server(["switch"], vpods=ALICE)
    assert unknown_places(declaration, {"p-poplar1": {"alice": ["p-ipum7"]}}) == []
    assert "could not be read" in unknown_places(declaration, {})[0]
    assert "has no allocation of that name" in unknown_places(declaration, {"p-poplar1": {"bob": ["p-ipum1"]}})[0]


def test_pins_say_it_too() -> None:
    vpods = {"alice": {**ALICE["alice"], "ipu_machines": ["p-ipum3"]}}
    assert unknown_places(on_a_server(["switch"], vpods=vpods), {}) == []


def test_a_managed_controller_gets_the_allocation_by_this_run() -> None:
    declaration = on_a_server(["switch", "controller"], vpods=ALICE)
    assert unknown_places(declaration, {"p-poplar1": {}}) == []
    assert "could not be read" in unknown_places(declaration, {})[0]


def test_the_managed_controller_keeps_the_lock_else_a_managed_server_else_the_control_node() -> None:
    assert lock_hosts(on_a_server(["controller"]), ["p-poplar1"]) == {"p-poplar1": ["p"]}
    assert lock_hosts(declared({"p": {"managed": ["switch", "servers"]}}), ["p-tor"]) == {"p-poplar1": ["p"]}
    assert lock_hosts(declared({"p": {}}), ["p-tor"]) == {"p-poplar1": ["p"]}
    assert lock_hosts(on_a_server(["switch"]), ["p-tor"]) == {"localhost": ["p"]}


def test_a_run_holds_the_pods_that_it_may_change() -> None:
    declaration = declared(
        {"a": {}, "b": {}, "c": {"managed": ["switch"]}},
        controllers={"v": {"address": "10.9.0.1"}},
        clusters={"ab": {"controller": "v", "pods": ["a", "b"]}},
    )
    assert lock_hosts(declaration, ["a-poplar1", "a-ipum1"]) == {"v": ["a"]}
    assert lock_hosts(declaration, ["v"]) == {"v": ["a", "b"]}
    assert lock_hosts(declaration, ["b-tor", "c-tor"]) == {"v": ["b"], "localhost": ["c"]}
    assert lock_hosts(declaration, ["localhost", "b-ipum1", "c-poplar1"]) == {}


def test_a_cloud_is_changed_under_the_locks_of_the_pods_of_its_vpods() -> None:
    cloud = {"physical_network": "rnic", "control_network": "control", "control_sources": ["10.6.0.0/16"]}
    server = {"poplar_servers": 1, "hypervisors": ["p-poplar1"], "virtual_functions": 0, "rnic": {"vlan": 100}}
    other = {"poplar_servers": 1, "hypervisors": ["q-poplar1"], "virtual_functions": 0, "rnic": {"vlan": 100}}
    vpod = {"cluster": "c", "ipus": 4, "vlan": 101}
    alice = {**vpod, "poplar_servers": ["p-poplar1"], "cloud": {"name": "cloud001"}}
    declaration = declared(
        {"p": server, "q": other},
        controllers={"v": {"host": "p-poplar1"}, "w": {"host": "q-poplar1"}},
        clusters={"c": {"controller": "v", "pods": ["p"]}, "d": {"controller": "w", "pods": ["q"]}},
        vpods={"alice": alice, "gone": {**vpod, "vlan": 102, "cluster": "d", "state": "absent"}},
        clouds={"cloud001": cloud, "cloud002": cloud},
    )
    assert lock_hosts(declaration, ["cloud001"]) == {"p-poplar1": ["p"], "q-poplar1": ["q"]}
    assert lock_hosts(declaration, ["cloud002"]) == {"q-poplar1": ["q"]}


def test_a_cloud_without_vpods_is_changed_under_the_locks_of_all_pods() -> None:
    cloud = {"physical_network": "rnic", "control_network": "control", "control_sources": ["10.6.0.0/16"]}
    assert lock_hosts(on_a_server(["switch", "servers", "controller"], clouds={"c1": cloud}), ["c1"]) == {
        "p-poplar1": ["p"]
    }
