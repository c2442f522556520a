# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of pods.yml: every refusal names the key path and the remedy, and all of them come at once."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

GOOD: dict[str, Any] = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {
        "pod001": {"model": "bow-pod64", "lrack": 1, "addressing": "multi-rack", "poplar_servers": 2},
        "pod002": {"model": "ipu-pod64", "lrack": 2, "addressing": "multi-rack"},
    },
    "controllers": {"ctrl001": {"host": "pod001-poplar1"}, "ctrl002": {"address": "10.9.0.1"}},
    "clusters": {
        "c001": {"controller": "ctrl001", "pods": ["pod001"], "topology": "torus"},
        "c002": {"controller": "ctrl002", "pods": ["pod002"]},
    },
    "vpods": {
        "alice": {
            "cluster": "c001",
            "ipus": 16,
            "vlan": 101,
            "poplar_servers": ["pod001-poplar1"],
            "users": ["alice"],
            "partitions": {"train": {"ipus": 16, "reconfigurable": True}},
        },
        "bob": {"cluster": "c001", "ipus": 4, "vlan": 102, "poplar_servers": ["pod001-poplar2"]},
    },
}


def problems(path: str, value: Any) -> list[str]:
    """The problems of the good document with ``value`` put at the dotted path (``...`` removes the key)."""
    document = copy.deepcopy(GOOD)
    *parents, key = path.split(".")
    place = document
    for parent in parents:
        place = place.setdefault(parent, {})
    if value is ...:
        del place[key]
    else:
        place[key] = value
    try:
        parse_declaration(document)
    except DeclarationError as error:
        return error.problems
    return []


def test_the_good_document_is_good() -> None:
    declaration = parse_declaration(GOOD)
    assert list(declaration.vpods) == ["alice", "bob"]
    assert declaration.vpods["alice"].partitions[0].reconfigurable


def test_pods_alone_is_enough() -> None:
    declaration = parse_declaration({"schema": 1, "pods": {"p": {"model": "bow-pod64"}}})
    assert (declaration.pods["p"].addressing, declaration.pods["p"].poplar_servers) == ("factory", 1)


def test_the_simulators_section_is_not_looked_at() -> None:
    parse_declaration({**GOOD, "sim": "anything"})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("schema", 2, "schema: 2 is not known; use 1"),
        ("schema", ..., "schema: is missing; it has to be declared"),
        (
            "pods.pod001.model",
            "bow-pod65",
            "pods.pod001.model: 'bow-pod65' is not known (did you mean bow-pod64?); use one of bow-pod64, ipu-pod64",
        ),
        ("pods.pod001.model", ..., "pods.pod001.model: is missing; it has to be declared"),
        ("pods.pod001.model", None, "pods.pod001.model: has no value; it has to be declared"),
        ("vpods.bob.cluster", None, "vpods.bob.cluster: has no value; it has to be declared"),
        ("pods.pod001.tor", {"ports": {"Etx9": {}}}, "pods.pod001.tor.ports.Etx9: 'Etx9' is not a port such as"),
        ("pods.pod001.colour", "red", "pods.pod001.colour: is not a known key; known are"),
        ("pods.pod001.lrack", 0, "pods.pod001.lrack: 0 is not a whole number from 1 to 254"),
        ("pods.pod001.lrack", True, "pods.pod001.lrack: true is not a whole number"),
        (
            "pods.pod001.lrack",
            2,
            "pods.pod002.lrack: 10.4.2.1 of pod002-tor is also the management_address of pod001-tor",
        ),
        ("pods.pod001.poplar_servers", 5, "pods.pod001.poplar_servers: 5 is not a whole number from 1 to 4"),
        ("pods.pod001.tor", {"ipu_machine_order": "up"}, "use one of ascending, descending"),
        ("pods.pod001.tor", {"address": "10.4.1"}, "pods.pod001.tor.address: '10.4.1' is not an IPv4 address"),
        ("pods.pod001.rnic", {"mtu": 99999}, "pods.pod001.rnic.mtu: 99999 is not a whole number from 1280 to 9216"),
        ("pods.pod001.names", {"tor_switch": "{rack}-tor"}, "is not a template of {pod}, {lrack} and {n}"),
        ("pods.pod001.names", {"ipu_machine": "machine"}, "'machine' is already the name of a device of pod001"),
        ("pods.tor_switches", {"model": "bow-pod64", "lrack": 9}, "is the name of a group that always exists"),
        ("pods", {}, "pods: holds no pod"),
        ("pods.pod001.overrides", {"pod001-ipum17": {}}, "'pod001-ipum17' is no device of pod001"),
        (
            "pods.pod001.overrides",
            {"pod001-ipum3": {"gateway_address": "10.2.1.4"}},
            "pods.pod001.overrides.pod001-ipum3.gateway_address: 10.2.1.4 of pod001-ipum3 is also the gateway_address "
            "of pod001-ipum4; use a free address",
        ),
        (
            "pods.pod001.overrides",
            {"pod001-ipum3": {"switch_port": "Et9"}},
            "pods.pod001.overrides.pod001-ipum3.switch_port: Ethernet9/1 of pod001-ipum3 is already the port of "
            "pod001-ipum1; give each its own port",
        ),
        ("pods.pod001.overrides", {"pod001-ipum3": {"switch_port": "9/1"}}, "is not a switch port such as Ethernet9/1"),
        ("pods.pod001.overrides", {"pod001-ipum3": {"switch_ports": ["Et9"]}}, "write switch_port"),
        ("pods.pod001.overrides", {"pod001-poplar1": {"switch_port": "Et9"}}, "write switch_ports: [...]"),
        ("controllers.ctrl001", {}, "controllers.ctrl001: needs either host (a Poplar server) or address"),
        ("controllers.ctrl001.host", "nobody", "controllers.ctrl001.host: 'nobody' is no Poplar server"),
        ("controllers.ctrl001.user_port", 8091, "controllers.ctrl001.admin_port: 8091 is the user port too"),
        ("controllers.ctrl002.address", "10.3.1.101", "controllers.ctrl002.address: 10.3.1.101 of ctrl002 is also"),
        ("clusters.c001.controller", "x", "clusters.c001.controller: 'x' is no declared controller; known are ctrl001"),
        ("clusters.c001.pods", ["pod009"], "clusters.c001.pods: 'pod009' is no declared pod"),
        ("clusters.c002.pods", ["pod001"], "clusters.c002.pods: 'pod001' is already in clusters.c001"),
        ("clusters.c001.pods", ["pod001", "pod001"], "clusters.c001.pods[1]: 'pod001' is listed twice; keep one"),
        (
            "controllers.ctrl001.mode",
            "secure",
            "vpods.bob.users: is missing; controller ctrl001 is secure, so name who may use the vPOD",
        ),
        ("vpods.alice.ipuof", "magic", "vpods.alice.ipuof: 'magic' is not known; use one of"),
        ("vpods.alice.ipus", 12, "vpods.alice.ipus: 12 IPUs do not exist as a vPOD; use 4, 8, 16, 32, 64"),
        ("vpods.alice.cluster", "x", "vpods.alice.cluster: 'x' is no declared cluster; known are c001, c002"),
        ("vpods.alice.vlan", 4095, "vpods.alice.vlan: 4095 is not a whole number from 2 to 4094"),
        ("vpods.bob.vlan", 101, "vpods.bob.vlan: VLAN 101 is also vpods.alice.vlan; give each its own"),
        (
            "pods.pod001.vlans",
            {"storage": 101},
            "vpods.alice.vlan: VLAN 101 is also pods.pod001.vlans.storage; give each its own",
        ),
        ("pods.pod001.vlans", [101], "pods.pod001.vlans: a list is not a mapping; write name: value"),
        ("vpods.bob.users", "ann", "vpods.bob.users: 'ann' is not a list; write [ann]"),
        ("vpods.bob.users", ["a b"], "vpods.bob.users[0]: 'a b' is not a V-IPU name of letters, digits"),
        ("vpods.bob", [], "vpods.bob: a list is not a mapping; write key: value"),
        ("clusters.c001.topology", "ring", "clusters.c001.topology: 'ring' is not known; use one of mesh, torus"),
        ("clusters.c001.looped", "yes", "clusters.c001.looped: 'yes' is neither true nor false"),
        ("vpods.bob.poplar_servers", ["x"], "vpods.bob.poplar_servers: 'x' is no declared Poplar server"),
        (
            "vpods.bob.poplar_servers",
            ["pod001-poplar1"],
            "vpods.bob.poplar_servers: 'pod001-poplar1' already belongs to vpods.alice; remove it from one",
        ),
        ("vpods.bob.ipus", 64, "vpods: those of cluster c001 need 80 IPUs, but it has 64; make them smaller"),
        ("vpods.bob.ipu_machines", ["pod002-ipum1"], "is no declared IPU-Machine of cluster c001"),
        ("vpods.alice.ipu_machines", ["pod001-ipum1"], "1 IPU-Machines are 4 IPUs, but ipus is 16; make them agree"),
        (
            "vpods.alice.partitions.train.ipus",
            32,
            "vpods.alice.partitions.train.ipus: 32 IPUs are more than the 16 of vPOD alice; "
            "use at most 16 or enlarge vpods.alice.ipus",
        ),
        ("vpods.alice.partitions.train.ipus", 12, "12 IPUs do not exist as a partition; use 1, 2, 4, 8, 16, 32, 64"),
        ("vpods.alice.partitions.more", {"ipus": 1}, "together they need 17 IPUs, but the vPOD has 16"),
        ("vpods.alice.partitions.train.gcds", 2, "a reconfigurable partition has one GCD, not 2"),
        ("vpods.alice.partitions.train.replicas", 3, "16 IPUs cannot be split into 3 equal replicas"),
        (
            "vpods.alice.partitions.train.routing",
            "ring",
            "vpods.alice.partitions.train.routing: 'ring' is not known; use one of dnc, swnc, btnc, ringswnc",
        ),
        (
            "vpods.alice.partitions.train.gw_routing",
            "dnc",
            "vpods.alice.partitions.train.gw_routing: 'dnc' is not known; use one of default, ring, swring",
        ),
        (
            "vpods.alice.partitions.train.sync_type",
            "c2",
            "vpods.alice.partitions.train.sync_type: 'c2' is not known; use one of c2-compatible, pod-native-default, "
            "pod-native-replicated-pipeline",
        ),
        (
            "vpods.alice.partitions.train.sync_type",
            "pod-native-default",
            "vpods.alice.partitions.train.sync_type: a reconfigurable partition has sync type c2-compatible, not "
            "pod-native-default; leave it out",
        ),
        (
            "vpods.alice.partitions.train.relocatable",
            "yes",
            "vpods.alice.partitions.train.relocatable: 'yes' is neither true nor false",
        ),
        (
            "vpods.alice.partitions.train.disable_auto_reset",
            1,
            "vpods.alice.partitions.train.disable_auto_reset: 1 is neither true nor false",
        ),
        ("controllers.ctrl001.strict_sizes", "on", "controllers.ctrl001.strict_sizes: 'on' is neither true nor false"),
        (
            "controllers.ctrl001.any_replica_size",
            0,
            "controllers.ctrl001.any_replica_size: 0 is neither true nor false",
        ),
        (
            "vpods.alice.partitions.train.replicas",
            2,
            "vpods.alice.partitions.train.replicas: 2 replicas of 8 IPUs each do not exist; a replica has 1, 2 or 4 "
            "IPUs: leave replicas out for one per GCD, or set controllers.ctrl001.any_replica_size",
        ),
        (
            "vpods.alice.partitions.train",
            {"ipus": 16, "gcds": 8, "replicas": 4},
            "vpods.alice.partitions.train.replicas: 4 replicas cannot be spread over 8 GCDs; use a multiple of 8",
        ),
        ("vpods.alice.partitions.train.poplar_servers", ["pod001-poplar2"], "is not a server of this vPOD"),
        (
            "vpods.bob.partitions",
            {"train": {"ipus": 4}},
            "the controller knows this name from vpods.alice.partitions.train",
        ),
    ],
)
def test_one_sentence_names_place_and_remedy(path: str, value: Any, message: str) -> None:
    found = problems(path, value)
    assert [problem for problem in found if message in problem], found


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (
            {"ipus": 32},
            "vpods.carol.partitions.p.ipus: 32 is not in the guide's list (1, 2, 4, 8, 16, 64 and multiples of 64); "
            "unset controllers.ctrl002.strict_sizes to use it",
        ),
        (
            {"ipus": 64, "gcds": 2},
            "vpods.carol.partitions.p.gcds: GCDs of 32 IPUs are not in the guide's list; unset "
            "controllers.ctrl002.strict_sizes to use them",
        ),
    ],
)
def test_a_strict_controller_takes_the_guides_sizes_only(partition: dict[str, Any], message: str) -> None:
    document = copy.deepcopy(GOOD)
    document["vpods"]["carol"] = {"cluster": "c002", "ipus": 64, "partitions": {"p": partition}}
    parse_declaration(document)
    document["controllers"]["ctrl002"]["strict_sizes"] = True
    with pytest.raises(DeclarationError) as caught:
        parse_declaration(document)
    assert caught.value.problems == [message]


def test_replicas_may_have_any_size_where_the_controllers_owner_says_so() -> None:
    document = copy.deepcopy(GOOD)
    document["controllers"]["ctrl001"]["any_replica_size"] = True
    document["vpods"]["alice"]["partitions"]["train"]["replicas"] = 2
    assert parse_declaration(document).vpods["alice"].partitions[0].replicas == 2


def test_all_problems_at_once() -> None:
    document = copy.deepcopy(GOOD)
    document["pods"]["pod001"]["model"] = "x"
    document["pods"]["pod002"]["poplar_servers"] = 9
    document["vpods"]["bob"]["vlan"] = "tenant"
    with pytest.raises(DeclarationError) as caught:
        parse_declaration(document)
    assert len(caught.value.problems) == 3


def test_two_factory_racks_clash_in_one_sentence() -> None:
    pods = {name: {"model": "bow-pod64"} for name in ("a", "b")}
    with pytest.raises(DeclarationError) as caught:
        parse_declaration({"schema": 1, "pods": pods})
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(
        "pods.b.addressing: 10.1.4.1 of b-tor is also the management_address of a-tor"
    )


@pytest.mark.parametrize("document", [None, [], "pods", {"schema": 1, "pods": []}, {"schema": 1, "pods": {"p": None}}])
def test_a_document_of_another_shape_is_refused(document: Any) -> None:
    with pytest.raises(DeclarationError):
        parse_declaration(document)


@pytest.mark.parametrize("sign", ["{{ lookup('pipe', 'id') }}", "{%raw%}", "{#", "a{{b}}"])
def test_a_declared_text_is_never_a_template(sign: str) -> None:
    ports = {"Et30": {"description": sign}}
    pod = {"model": "bow-pod64", "vlans": {sign.replace(" ", ""): 100}, "tor": {"ports": ports}}
    pod["rnic"] = {"vlan": 5, "vlan_name": sign.replace(" ", "")}
    with pytest.raises(DeclarationError) as refused:
        parse_declaration({"schema": 1, "pods": {"p": pod}})
    places = {"p.tor.ports.Et30.description", "p.rnic.vlan_name", f"p.vlans.{sign.replace(' ', '')}"}
    assert {problem.path for problem in refused.value.found} == {f"pods.{place}" for place in places}
    assert all("what is declared is never a template" in problem for problem in refused.value.problems)


@pytest.mark.parametrize("name", ["--force", "-x", "..", ".", "_a"])
def test_a_v_ipu_name_that_looks_like_an_option_or_a_folder_is_refused(name: str) -> None:
    vpod = {"cluster": "c", "ipus": 16, "users": [name], "partitions": {name: {"ipus": 16}}}
    document = {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64"}},
        "controllers": {"k": {"address": "10.1.3.200"}},
        "clusters": {"c": {"controller": "k", "pods": ["p"]}},
        "vpods": {"v": vpod, name: {**vpod, "users": [], "partitions": {}}},
    }
    with pytest.raises(DeclarationError) as refused:
        parse_declaration(document)
    wanted = {"vpods.v.users[0]", f"vpods.v.partitions.{name}", f"vpods.{name}"}
    assert {problem.path for problem in refused.value.found} == wanted
    assert all("that begins with a letter or a digit" in problem for problem in refused.value.problems)
