# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random controllers, adopted: planning from what was written shows no step, and from nothing makes the same again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, predict
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, PARTITION, USER, empty_state, plural
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan
from ansible_collections.ipu.pod.plugins.module_utils._vipu.rules import Rules
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.adoption import Adoption
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.controllers import adopted
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

HOST = "ctrl001"
PODS = {
    "pod001": {"model": "bow-pod64", "lrack": 1, "addressing": "multi-rack"},
    "pod002": {"model": "bow-pod64", "lrack": 2, "addressing": "multi-rack"},
    "pod003": {"model": "ipu-pod64", "lrack": 3, "addressing": "multi-rack"},
}
DOCUMENT: dict[str, Any] = {"schema": 1, "pods": PODS, "controllers": {HOST: {"address": "10.3.9.9"}}}

# How the agents of a rack are named and where they are reached, n from 1: as declared, and as somebody else would.
NAMES = ["pod00{rack}-ipum{n}"] * 6 + ["lr{rack}-ipum{n}", "ag{rack}.{n}", "ag{rack}.{n:02}", "{n}-of-{rack}-{n}"]
HOSTS = ["10.2.{rack}.{n}"] * 6 + ["192.168.{rack}.{n}", "rack{rack}-{n}.example.org"]
PORTS = [8080] * 9 + [8081]
SIZES = [4, 8, 16, 32, 64]
# A word that a newer controller may have, and pods.yml has not.
UNKNOWN = ["TOMORROWS"]
MODES = st.sampled_from(["insecure", "secure"])
ANY_SIZE = Rules(any_replica_size=True)


@st.composite
def racks(draw: st.DrawFn, numbers: list[int]) -> dict[str, dict[str, Any]]:
    """The agents of some racks, in ILD order."""
    agents = {}
    for rack in numbers:
        name, host, port = (draw(st.sampled_from(choices)) for choices in (NAMES, HOSTS, PORTS))
        for n in range(1, 17):
            fields = {"host": host.format(rack=rack, n=n), "port": port, "status": "Up"}
            agents[name.format(rack=rack, n=n)] = fields
    return agents


@st.composite
def controllers(draw: st.DrawFn) -> State:
    """A random state of a controller: clusters over three racks, with allocations, partitions and users."""
    state = empty_state()
    order = draw(st.permutations([1, 2, 3]))
    cut = draw(st.integers(0, 3))
    for name, numbers in (("c1", order[:cut]), ("c2", order[cut:])):
        agents = draw(racks(numbers))
        state["agent"].update(agents)
        if numbers and draw(st.booleans() | st.just(True)):
            state["cluster"][name] = {
                "agents": list(agents),
                "topology": draw(st.sampled_from(["mesh", "torus"])),
                "ipu_link_domains": len(numbers),
                "looped": draw(st.booleans()),
            }
            _fill(draw, state, name)
    allocations = sorted(state["allocation"])
    for name in draw(st.sets(st.sampled_from(["ann", "bob", "root"]))):
        mine = sorted(draw(st.sets(st.sampled_from(allocations)))) if allocations else []
        state["user"][name] = {"allocations": mine, "admin": name == "root"}
    return state


def _fill(draw: st.DrawFn, state: State, cluster: str) -> None:
    agents, place_ = state["cluster"][cluster]["agents"], 0
    for number, ipus in enumerate(draw(st.lists(st.sampled_from(SIZES), max_size=4))):
        machines = ipus // 4
        place_ = -(-place_ // machines) * machines
        if place_ + machines > len(agents):
            break
        name = f"{cluster}-v{number}"
        state["allocation"][name] = {
            "cluster": cluster,
            "agents": agents[place_ : place_ + machines],
            "size": ipus,
        }
        place_ += machines
        _partitions(draw, state, name, ipus)


def _partitions(draw: st.DrawFn, state: State, allocation: str, free: int) -> None:
    for number in range(draw(st.integers(0, 3))):
        size = draw(st.sampled_from([size for size in (1, 2, 4, 8, 16, 32, 64) if size <= free] or [0]))
        if not size:
            return
        free -= size
        reconfigurable = draw(st.booleans())
        gcds = 1 if reconfigurable else draw(st.sampled_from([gcds for gcds in (1, 2, 4) if gcds <= size]))
        sync = draw(
            st.sampled_from(["pod-native-default"] * 2 + ["pod-native-replicated-pipeline", "ST_UNDEFINED", *UNKNOWN])
        )
        state[PARTITION][f"{allocation}-p{number}"] = {
            "allocation": draw(st.sampled_from([allocation] * 9 + [""])),
            "size": size,
            "gcds": gcds,
            "replicas": gcds if draw(st.booleans()) else size,
            "routing": draw(st.sampled_from(["dnc", "swnc", "ringswnc", "IRT_UNDEFINED", *UNKNOWN])),
            "gw_routing": draw(st.sampled_from(["default", "default", "ring", "swring", *UNKNOWN])),
            "sync_type": "c2-compatible" if reconfigurable else sync,
            "reconfigurable": reconfigurable,
            "status": draw(st.sampled_from(["ACTIVE", "ERROR", "PENDING"])),
        }


def document(mode: str) -> dict[str, Any]:
    return {**DOCUMENT, "controllers": {HOST: {**DOCUMENT["controllers"][HOST], "mode": mode}}}


def held(state: State) -> dict[str, Any]:
    return {plural(kind): names for kind, names in state.items()}


def declared_by(adoption: Adoption, state: State) -> dict[str, list[dict[str, Any]]]:
    """The options that playbooks declare from the pods.yml that was written, and those beside it."""
    declaration = parse_declaration(adoption.document)
    allocations = {name: fields["agents"] for name, fields in state["allocation"].items()}
    controller = desired(declaration, place(declaration, {HOST: allocations}))["vipu_controllers"][HOST]
    options = adoption.options.get(HOST, {})
    declared = {kind: [*controller.get(plural(kind), []), *options.get(plural(kind), [])] for kind in KINDS}
    named = {user["name"] for user in declared[USER]}
    for vpod in declaration.vpods.values():
        for user in vpod.users:
            if user not in named:
                theirs = {name: each for name, each in declaration.vpods.items() if user in each.users}
                mine = [name for name, other in theirs.items() if not other.is_for_jobs]
                declared[USER].append({"name": user, "allocations": mine})
                named.add(user)
    return declared


def rack_with(**partitions: dict[str, Any]) -> State:
    """One rack with an allocation of 32 IPUs and these partitions in it."""
    state = empty_state()
    state["agent"] = {f"pod001-ipum{n}": {"host": f"10.2.1.{n}", "port": 8080} for n in range(1, 17)}
    state["cluster"] = {
        "c": {"agents": list(state["agent"]), "topology": "mesh", "ipu_link_domains": 1, "looped": False}
    }
    state["allocation"] = {"alice": {"cluster": "c", "size": 32, "agents": list(state["agent"])[:8]}}
    usual = {"allocation": "alice", "size": 4, "gcds": 1, "replicas": 1, "routing": "dnc", "gw_routing": "default"}
    usual.update(sync_type="pod-native-default", reconfigurable=False, status="ACTIVE")
    state[PARTITION] = {name: {**usual, **fields} for name, fields in partitions.items()}
    return state


@settings(max_examples=300)
@given(controllers(), MODES)
def test_planning_from_what_was_adopted_shows_no_step(state: State, mode: str) -> None:
    adoption = adopted(document(mode), {HOST: held(state)})
    event(f"{len(adoption.document['clusters'])} clusters in pods.yml, {len(state['cluster'])} there")
    assert plan(declared_by(adoption, state), state) == []


@settings(max_examples=300)
@given(controllers(), MODES)
def test_from_nothing_it_makes_the_same_again(state: State, mode: str) -> None:
    declared = declared_by(adopted(document(mode), {HOST: held(state)}), state)
    after = predict(empty_state(), plan(declared, empty_state(), Policy(keeps_keys=True, rules=ANY_SIZE)))
    for kind in KINDS:
        made = {
            name for name, fields in state[kind].items() if fields.get("allocation") != "" and not fields.get("admin")
        }
        assert after[kind].keys() == made
        for name, fields in after[kind].items():
            assert {**state[kind][name], **fields} == state[kind][name]


@settings(max_examples=100)
@given(controllers())
def test_adopting_what_was_adopted_changes_nothing(state: State) -> None:
    once = adopted(DOCUMENT, {HOST: held(state)})
    again = adopted(once.document, {HOST: held(state)})
    assert (again.document, again.options) == (once.document, once.options)


@settings(max_examples=100)
@given(controllers())
def test_everything_is_somewhere_and_what_is_not_in_pods_yml_has_a_reason(state: State) -> None:
    adoption = adopted(DOCUMENT, {HOST: held(state)})
    left = adoption.options.get(HOST, {})
    assert bool(left.get("clusters")) <= bool(adoption.reasons)
    in_pods = {
        **adoption.document["vpods"],
        **{name: {} for vpod in adoption.document["vpods"].values() for name in vpod.get("partitions", {})},
    }
    for kind in ("allocation", PARTITION):
        for name in state[kind]:
            beside = any(entity["name"] == name for entity in left.get(plural(kind), []))
            is_reported = any(f"{kind} {name} is not in pods.yml" in reason for reason in adoption.reasons)
            assert (name in in_pods) + beside == 1 or is_reported


def test_what_v_ipu_does_not_know_is_kept() -> None:
    state = rack_with()
    state["allocation"] = {"alice": {"cluster": "c", "size": 4, "agents": ["pod001-ipum2"]}}
    earlier = {
        "c": {"cluster": "old", "ipus": 64},
        "alice": {"cluster": "old", "ipus": 16, "vlan": 101, "poplar_servers": ["pod001-poplar1"]},
    }
    adoption = adopted({**DOCUMENT, "vpods": earlier}, {HOST: held(state)})
    assert adoption.document["vpods"] == {
        "alice": {
            "cluster": "c",
            "ipus": 4,
            "ipu_machines": ["pod001-ipum2"],
            "vlan": 101,
            "poplar_servers": ["pod001-poplar1"],
        }
    }
    assert adoption.reasons == []


def test_pods_yml_says_of_a_partition_what_is_not_usual() -> None:
    state = rack_with(
        usual={},
        undefined={"routing": "IRT_UNDEFINED", "sync_type": "ST_UNDEFINED"},
        shared={"reconfigurable": True, "sync_type": "c2-compatible"},
        looped={"gw_routing": "ring", "routing": "ringswnc"},
        odd={
            "gw_routing": "swring",
            "sync_type": "pod-native-replicated-pipeline",
            "size": 8,
            "gcds": 2,
            "replicas": 4,
        },
    )
    adoption = adopted(DOCUMENT, {HOST: held(state)})
    assert adoption.document["vpods"]["alice"]["partitions"] == {
        "usual": {"ipus": 4, "routing": "dnc"},
        "undefined": {"ipus": 4},
        "shared": {"ipus": 4, "reconfigurable": True, "routing": "dnc"},
        "looped": {"ipus": 4, "routing": "ringswnc"},
        "odd": {
            "ipus": 8,
            "gcds": 2,
            "replicas": 4,
            "routing": "dnc",
            "gw_routing": "swring",
            "sync_type": "pod-native-replicated-pipeline",
        },
    }
    assert (adoption.options, adoption.reasons) == ({}, [])


@pytest.mark.parametrize("field", ["routing", "gw_routing", "sync_type"])
def test_a_word_that_pods_yml_does_not_have_leaves_the_partition_to_vipu_state(field: str) -> None:
    adoption = adopted(DOCUMENT, {HOST: held(rack_with(new={field: "TOMORROWS"}))})
    assert "partitions" not in adoption.document["vpods"]["alice"]
    (left,) = adoption.options[HOST]["partitions"]
    assert left["name"] == "new"
    assert field not in left
    assert adoption.reasons == [
        f"{HOST}: partition new is not in pods.yml: pods.yml has no word for its {field} TOMORROWS; it is left to "
        "vipu_state"
    ]


def test_fields_that_are_set_at_creation_only_are_kept() -> None:
    earlier = {"alice": {"cluster": "c", "ipus": 32, "partitions": {"p": {"ipus": 4, "relocatable": True}}}}
    adoption = adopted({**DOCUMENT, "vpods": earlier}, {HOST: held(rack_with(p={}))})
    assert adoption.document["vpods"]["alice"]["partitions"]["p"]["relocatable"] is True


def test_what_only_a_dedicated_controller_knows_is_kept() -> None:
    theirs = {"vlan": 101, "controller": "dedicated", "users": ["alice"], "partitions": {"p": {"ipus": 4}}}
    adoption = adopted(
        {**document("secure"), "vpods": {"alice": {"cluster": "gone", "ipus": 4, **theirs}}}, {HOST: held(rack_with())}
    )
    machines = [f"pod001-ipum{n}" for n in range(1, 9)]
    assert adoption.document["vpods"] == {"alice": {**theirs, "cluster": "c", "ipus": 32, "ipu_machines": machines}}


def test_agents_with_names_of_their_own_give_their_pod_a_template() -> None:
    state = empty_state()
    state["agent"] = {f"lr1-ipum{n}": {"host": f"10.2.1.{n}", "port": 8080} for n in range(1, 17)}
    state["cluster"] = {
        "c": {"agents": list(state["agent"]), "topology": "mesh", "ipu_link_domains": 1, "looped": False}
    }
    adoption = adopted(DOCUMENT, {HOST: held(state)})
    assert adoption.document["pods"]["pod001"]["names"]["ipu_machine"] == "lr1-ipum{n}"


def test_a_controller_that_is_not_declared_is_named() -> None:
    with pytest.raises(DeclarationError, match="controllers: none is on elsewhere; declare it"):
        adopted(DOCUMENT, {"elsewhere": {}})
