# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All layers together: which cabling counts, what servers need beside pods.yml, and that MTUs fit the ports."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.fleet import adopted_fleet

SWAPPED = {"p-ipum3": {"switch_port": "Ethernet12/1"}, "p-ipum4": {"switch_port": "Ethernet11/1"}}


def document(**words: Any) -> dict[str, Any]:
    return {"schema": 1, "pods": {"p": {"model": "bow-pod64", "rnic": {"interface": "rnic0"}, **words}}}


def tor(port_of: dict[int, int], mtu: int = 9214) -> dict[str, Any]:
    ports = "".join(f"interface Ethernet{number}/1\n   mtu {mtu}\n" for number in range(1, 33))
    neighbours = {f"Ethernet{port}/1": [{"device": f"p-ipum{n}", "port": "eth0"}] for n, port in port_of.items()}
    return {**gathered(parse(f"{ports}end\n")), "neighbours": neighbours}


def server(mtu: int = 9000, **more: Any) -> dict[str, Any]:
    interface = {"name": "rnic0", "type": "nic", "mac": "04:3f:72:00:01:02", "addresses": ["10.1.5.101/24"], "mtu": mtu}
    return {"gathered": [interface], "lasting": ["rnic0"], **more}


ORDERLY = {n: n + 8 for n in range(1, 17)}
CABLED = {**ORDERLY, 3: 12, 4: 11}


def test_an_exception_that_was_found_is_not_what_the_cabling_is_held_against() -> None:
    found = adopted_fleet(document(), {}, {"p-tor": tor(CABLED)}, {})
    assert found.document["pods"]["p"]["overrides"] == SWAPPED
    assert found.port_map["pods"]["p"]["overrides"] == {}
    declared = adopted_fleet(document(overrides=SWAPPED), {}, {"p-tor": tor(CABLED)}, {})
    assert declared.port_map["pods"]["p"]["overrides"] == SWAPPED


def test_the_order_that_was_found_counts_and_exceptions_that_do_not_fit_it_are_forgotten() -> None:
    descending = {n: 25 - n for n in range(1, 17)}
    one = {"p-ipum1": {"switch_port": "Ethernet24/1"}, "p-ipum16": {"switch_port": "Ethernet9/1"}}
    found = adopted_fleet(document(overrides=one), {}, {"p-tor": tor(descending)}, {})
    assert found.document["pods"]["p"]["tor"]["ipu_machine_order"] == "descending"
    assert "overrides" not in found.document["pods"]["p"]
    assert found.port_map["pods"]["p"]["tor"]["ipu_machine_order"] == "descending"


def test_an_mtu_that_the_port_does_not_take_is_not_declared() -> None:
    fits = adopted_fleet(document(), {}, {"p-tor": tor(ORDERLY)}, {"p-poplar1": server()})
    assert fits.document["pods"]["p"]["rnic"] == {"interface": "rnic0", "mtu": 9000}
    small = adopted_fleet(document(), {}, {"p-tor": tor(ORDERLY, mtu=4200)}, {"p-poplar1": server()})
    assert small.document["pods"]["p"]["rnic"] == {"interface": "rnic0"}
    assert small.document["pods"]["p"]["tor"]["mtu"] == 4200


def test_a_server_whose_mtu_does_not_fit_beside_that_of_the_others_is_left_with_a_reason() -> None:
    servers = {f"p-poplar{n}": server(4200) for n in (1, 2, 3)}
    for n, each in enumerate(servers.values(), 1):
        each["gathered"] = [{**each["gathered"][0], "addresses": [f"10.1.5.10{n}/24"]}]
    servers["p-poplar3"]["gathered"][0]["mtu"] = 9000
    found = adopted_fleet(document(poplar_servers=3, tor={"mtu": 4200}), {}, {}, servers)
    assert found.document["pods"]["p"]["rnic"] == {"interface": "rnic0", "mtu": 4200}
    assert list(found.left) == ["p-poplar3"]
    assert found.reasons == ["p-poplar3: its RNIC is left alone, because its MTU 9000 does not fit its port"]


def test_lossless_settings_are_declared_where_they_come_back_after_a_restart() -> None:
    usual = {str(dscp): dscp // 8 for dscp in range(64)}
    roce = {"name": "rnic0", "trust": "dscp", "dscp_map": {**usual, "34": 3}, "pfc": [3], "rings": {"rx": 1024}}
    by_hand = adopted_fleet(document(), {}, {}, {"p-poplar1": server(roce=[roce], lasting_roce=[])})
    assert by_hand.variables == {"p-poplar1": {}}
    brief = {"name": "rnic0", "trust": "dscp", "pfc": [3], "dscp_map": {"34": 3}}
    assert by_hand.left == {"p-poplar1": {"poplar_server_roce": [brief]}}
    kept = adopted_fleet(document(), {}, {}, {"p-poplar1": server(roce=[roce], lasting_roce=[brief])})
    assert (kept.variables, kept.left) == ({"p-poplar1": {"poplar_server_roce": [brief]}}, {})
    plain = adopted_fleet(document(), {}, {}, {"p-poplar1": server(roce=[{**roce, "pfc": []}], lasting_roce=[])})
    assert plain.left == {}
