# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions, from looks and variables as the inventory has them. The rules are in tests/unit/link_checks."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.contradictions import (
    claims_of,
    contradictions,
    declared_contradictions,
    seen_server,
    too_early,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import host_variables
from tests.support.problems import problems_of

DOCUMENT: dict[str, Any] = {
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
TENANCY = tenancy_of(DECLARATION, {}, {})
MAC = "04:3f:72:00:01:02"
STORAGE = {"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "vlan_id": 300}

Looks = dict[str, Any]


def looks(port: Any = None, **settings: Any) -> Looks:
    """Looks at a pod as declared, but for one port, and for variables of its server."""
    nic = {"name": "rnic0", "mac": MAC, "up": True, "carrier": True, "speed": 100_000, "speed_verdict": "ok"}
    interface = {"name": "rnic0", "mac": MAC, "mtu": 9000, "addresses": ["10.1.5.101/24"]}
    tor = TENANCY.wanted["tor_switches"]["p-tor"]
    ports = [{**each, **((port or {}) if each["name"] == "Ethernet25/1" else {})} for each in tor["ports"]]
    server = {
        "nics": {"nics": [{**nic, "firmware": {"verdict": "unknown"}}], "minimum": {}},
        "network": {"gathered": [interface]},
        "roce": {"message": "this server has neither mlnx_qos nor dcb"},
    }
    info = {"ports": ports, "vlans": tor["vlans"], "qos": tor["qos"], "neighbours": {}}
    return {
        "p-poplar1": {"outcome": "answered", "settings": settings, "parts": server},
        "p-tor": {"outcome": "answered", "settings": {}, "parts": {"info": info}},
    }


def found(there: Looks, *parts: str, declaration: Any = DECLARATION) -> list[str]:
    return contradictions(declaration, TENANCY, there, parts)


def test_a_pod_as_declared() -> None:
    assert found(looks()) == []
    assert found({}) == []


def test_a_port_that_is_not_as_declared_and_the_run_that_repairs_it() -> None:
    [line] = found(looks({"mtu": 1500}))
    assert line.startswith("p-poplar1 rnic0 (MTU 9000) and p-tor Ethernet25/1 (MTU 1500): ")
    assert found(looks({"mtu": 1500}), "switches") == []
    assert found(looks({"mtu": 1500}), "servers", "vpods", "controllers") == [line]


def test_the_addresses_of_pods_yml_are_the_plan() -> None:
    there = looks()
    there["p-poplar1"]["parts"]["network"]["gathered"][0]["addresses"] += ["10.1.5.3/24"]
    [line] = found(there)
    assert line.startswith("p-poplar1 rnic0 (10.1.5.3) and p-ipum3 (10.1.5.3 is its rnic_address in pods.yml): ")


@pytest.mark.parametrize(("host", "part"), [("p-tor", "info"), ("p-poplar1", "nics"), ("p-poplar1", "network")])
def test_a_part_that_was_not_read_is_passed_over(host: str, part: str) -> None:
    there = looks({"mtu": 1500})
    there[host]["parts"][part] = {"message": "it would not say"}
    assert found(there) == []
    del there[host]
    assert found(there) == []


@pytest.mark.parametrize("managed", [["switch", "controller"], ["servers", "controller"]])
def test_what_is_not_managed_is_not_judged_by_what_was_seen(managed: list[str]) -> None:
    declaration = parse_declaration({**DOCUMENT, "pods": {"p": {**DOCUMENT["pods"]["p"], "managed": managed}}})
    assert found(looks({"mtu": 1500}), declaration=declaration) == []


def test_lossless_settings_are_those_that_were_read() -> None:
    there = looks()
    there["p-poplar1"]["parts"]["roce"] = {"gathered": [{"name": "rnic0", "trust": "dscp", "pfc": [4]}]}
    [line] = found(there)
    assert line.startswith("p-poplar1 rnic0 (PFC on priority 4) and p-tor Ethernet25/1 (PFC on priority 3): ")
    assert seen_server(there["p-tor"]) is seen_server(None) is None


def test_variables_of_the_role() -> None:
    [line] = found(looks(poplar_server_more_interfaces=[STORAGE]))
    assert "VLAN 300 with tag on rnic0.300 by poplar_server_more_interfaces" in line
    assert declared_contradictions(DECLARATION, {"p-poplar1": {"poplar_server_more_interfaces": [STORAGE]}}) == [line]
    assert declared_contradictions(DECLARATION, {}) == []


def test_addresses_that_pods_yml_gives_are_claimed_once_by_each_device() -> None:
    claims = claims_of(host_variables(DECLARATION), DECLARATION)
    assert len({(claim.address, claim.host) for claim in claims}) == len(claims)
    of_server = [claim.address for claim in claims if claim.host == "p-poplar1"]
    assert "10.1.5.101" in of_server
    assert {claim.host for claim in claims} == {"p-poplar1", *(f"p-ipum{n}" for n in range(1, 17))}


def with_cluster(**pod: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", **pod}},
        "controllers": {"v": {"address": "10.9.0.1"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": {"alice": {"cluster": "c", "ipus": 32}},
    }


def test_a_cluster_waits_for_a_machine_that_is_excluded_and_unknown() -> None:
    declaration = parse_declaration(with_cluster(excluded=["p-ipum7"]))
    agents = {f"p-ipum{n}": {} for n in range(1, 17)}

    def asked(**shared: Any) -> list[str]:
        return too_early(declaration, {"v": {"outcome": "answered", "parts": {"controllers": {"": shared}}}})

    assert asked(agents=agents) == []
    del agents["p-ipum7"]
    for refused in (asked(agents=agents), asked(storage=False, message="nobody listens")):
        assert [each.partition(" is no agent")[0] for each in refused] == ["pods.p.excluded: p-ipum7"]
    # Who was not asked, or is somebody else's, is not judged.
    assert too_early(declaration, {"v": {"outcome": "timed out", "parts": {}}}) == []
    theirs = parse_declaration(with_cluster(excluded=["p-ipum7"], managed=["switch", "servers"]))
    assert too_early(theirs, {"v": {"outcome": "answered", "parts": {"controllers": {"": {}}}}}) == []


def sentences(document: Any) -> list[str]:
    return [str(problem) for problem in problems_of(document)]


def test_a_document_that_cannot_be_meant() -> None:
    assert problems_of(with_cluster()) == []
    assert sentences({"schema": 1, "pods": {"p": {"model": "x"}}})[0].startswith("pods.p.model: 'x' is not known")
    too_much = with_cluster()
    too_much["vpods"]["bob"] = {"cluster": "c", "ipus": 64}
    assert sentences(too_much) == ["vpods: those of cluster c need 96 IPUs, but it has 64; make them smaller"]
    no_place = with_cluster()
    no_place["vpods"]["bob"] = {"cluster": "c", "ipus": 32, "ipu_machines": [f"p-ipum{n}" for n in range(5, 13)]}
    assert sentences(no_place)[0].startswith("vpods.bob.ipu_machines: p-ipum5..12 are no aligned block")
    # Whether one may stay on a dead machine, only the controller knows.
    dead = with_cluster(excluded=["p-ipum7"])
    dead["vpods"]["bob"] = {"cluster": "c", "ipus": 32}
    assert problems_of(dead) == []
