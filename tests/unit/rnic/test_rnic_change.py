# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The predicted survey after steps that nobody has carried out yet."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._rnic.change import planner_on, predicted
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import Server
from tests.support.in_memory.rnic_runs import client_of, confirmed, networkd_server
from tests.support.in_memory.server import TinyServer

BOND = {"name": "bond0", "type": "bond", "members": ["rnic0", "rnic1"], "mode": "802.3ad"}
NICS = [{"name": "rnic0"}, {"name": "rnic1"}]


def after(server: TinyServer, options: list[dict[str, Any]]) -> Server:
    survey = client_of(server).survey()
    planner = planner_on(survey, interfaces_from(options), "auto")
    return predicted(survey, planner.plan(planner.state_of(survey)))


def test_an_address_that_goes_is_free_for_others() -> None:
    server = networkd_server()
    confirmed(server, [{"name": "rnic0", "addresses": ["10.5.1.101/16"]}])
    seen = client_of(server).survey().links["rnic0"].ips
    then = after(server, [{"name": "rnic0", "addresses": ["10.6.1.101/16"]}]).links["rnic0"]
    assert then.addresses == ("10.6.1.101/16",)
    assert then.ips == (seen - {"10.5.1.101"}) | {"10.6.1.101"}


def test_members_are_free_when_their_bond_goes() -> None:
    server = networkd_server()
    confirmed(server, [*NICS, BOND])
    assert after(server, [*NICS, {**BOND, "state": "absent"}]).links["rnic0"].master is None
    # Also one that nobody declares any more.
    survey = client_of(server).survey()
    planner = planner_on(survey, interfaces_from([*NICS, {**BOND, "state": "absent"}]), "auto")
    removal = [step for step in planner.plan(planner.state_of(survey)) if step.name == "bond0"]
    then = predicted(survey, removal)
    assert "bond0" not in then.links
    assert then.links["rnic1"].master is None


def test_a_vlan_that_comes_is_on_its_parent() -> None:
    vlan = {"name": "tenant", "type": "vlan", "parent": "rnic0", "vlan_id": 101, "addresses": ["10.7.1.1/16"]}
    server = networkd_server()
    foreseen = after(server, [{"name": "rnic0"}, vlan])
    confirmed(server, [{"name": "rnic0"}, vlan])
    seen = client_of(server).survey()
    for name in ("rnic0", "tenant"):
        then, now = foreseen.links[name], seen.links[name]
        assert (then.parent, then.vlan_id, then.addresses) == (now.parent, now.vlan_id, now.addresses)
    assert (foreseen.files, foreseen.claims["tenant"]) == (seen.files, seen.claims["tenant"])
