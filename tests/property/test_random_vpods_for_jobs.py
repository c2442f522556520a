# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vPODs whose allocations are those of Slurm's jobs: whatever is declared next, no job loses its IPU-Machines."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import PARTITION, USER
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.controllers import adopted
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._vpods.interruptions import refusals
from tests.property import test_random_placement as places
from tests.property import test_vipu_adoption as adoption
from tests.property.test_vpod_life import HOST, World, document, entry
from tests.support.vpods_of_a_pod import looks_of

IDLE: dict[str, list[str]] = {f"p-poplar{number}": [] for number in range(1, 5)}
TENANTS = (1, 2, 3)


@st.composite
def jobs_inside(draw: st.DrawFn, pins: list[str]) -> dict[str, list[str]]:
    """Allocations of jobs, each of some IPU-Machines of these."""
    shares = [draw(st.integers(0, 3)) for _pin in pins]
    found = {f"c{job}": [pin for pin, share in zip(pins, shares, strict=True) if share == job] for job in (1, 2, 3)}
    return {name: machines for name, machines in found.items() if machines}


@given(places.layouts(), st.sampled_from(places.SIZES), st.data())
def test_jobs_inside_move_nobody(there: places.Blocks, size: int, data: st.DataObject) -> None:
    pins = data.draw(st.sampled_from(places.blocks(size)))
    wanted = data.draw(places.wishes(len(places.MACHINES) - size))
    words = places.document({**wanted, "jobs": size})
    words["vpods"]["jobs"].update(allocation="jobs", ipu_machines=pins)
    free = {name: machines for name, machines in there.items() if not set(pins) & set(machines)}
    placement = places.placed_or_none(words, free)
    assert placement == places.placed_or_none(words, {**free, **data.draw(jobs_inside(pins))})
    if placement:
        assert placement["jobs"] == pins
        places.assert_sound(placement, {**wanted, "jobs": size})
    if free != there:
        assert places.placed_or_none(words, there) is None


@given(st.sampled_from(places.SIZES[:5]), st.data())
def test_a_job_that_reaches_outside_is_in_the_way(size: int, data: st.DataObject) -> None:
    pins = data.draw(st.sampled_from(places.blocks(size)))
    words = places.document({"jobs": size})
    words["vpods"]["jobs"].update(allocation="jobs", ipu_machines=pins)
    job = data.draw(st.sets(st.sampled_from(places.MACHINES), min_size=1))
    is_in_the_way = bool(job & set(pins)) and not job <= set(pins)
    assert (places.placed_or_none(words, {"c7": sorted(job)}) is None) == is_in_the_way


class SlurmWorld(World):
    """A world that refuses what the collection refuses, and in which jobs come and go."""

    def go(self, vpods: dict[str, Any]) -> bool:
        """Apply it unless it is refused, although every vPOD may be interrupted."""
        before = self.state()
        try:
            planned = tenancy_of(
                parse_declaration(document(vpods)), {HOST: copy.deepcopy(self.held)}, looks_of(self.seen())
            )
        except DeclarationError:
            event("no place")
            return False
        refused = refusals(planned.impact, IDLE, list(vpods))
        if refused:
            event("refused because of jobs")
            assert any(name in sentence for name in self.jobs() for sentence in refused)
            assert self.state() == before
            return False
        self.apply(vpods)
        return True

    def jobs(self) -> dict[str, Any]:
        return {name: each for name, each in self.held["allocations"].items() if name.startswith("c")}

    def vlans_of(self, machines: list[str]) -> set[int]:
        return {self.ports[f"Ethernet{8 + int(name[6:])}/1"] for name in machines}


@st.composite
def declared(draw: st.DrawFn, number: int, was: dict[str, Any]) -> dict[str, Any]:
    """The next declaration of one vPOD, at random; nothing of one that was not there."""
    kind = draw(st.sampled_from(["own", "jobs", "jobs", "absent"]))
    name, ipus = f"t{number}", draw(st.sampled_from([4, 8, 16]))
    first = draw(st.integers(0, 64 // ipus - 1)) * (ipus // 4)
    pins = {"ipu_machines": [f"p-ipum{first + n + 1}" for n in range(ipus // 4)]}
    if kind == "absent":
        return {name: {**was[name], "state": "absent"}} if name in was else {}
    if kind == "own":
        return {name: entry(number, ipus)}
    return {name: {**entry(number, ipus, allocation="jobs", **pins), "partitions": {}}}


def start_and_end_jobs(data: st.DataObject, world: SlurmWorld, vpods: dict[str, Any]) -> None:
    for name in list(world.jobs()):
        if data.draw(st.booleans()):
            del world.held["allocations"][name]
    taken = {agent for each in world.held["allocations"].values() for agent in each["agents"]}
    for number, words in enumerate(vpods.values()):
        free = [pin for pin in words.get("ipu_machines", ()) if pin not in taken and words.get("state") != "absent"]
        if free and data.draw(st.booleans()):
            name = f"c{10 * len(world.jobs()) + number}"
            world.held["allocations"].setdefault(name, {"agents": free[: data.draw(st.integers(1, len(free)))]})


@settings(max_examples=150)
@given(st.data())
def test_whatever_is_declared_next_jobs_keep_their_allocations_and_networks(data: st.DataObject) -> None:
    world, vpods = SlurmWorld(), {}
    for _step in range(data.draw(st.integers(1, 5))):
        after: dict[str, Any] = {}
        for number in TENANTS:
            after.update(data.draw(declared(number, vpods)))
        try:
            parse_declaration(document(after))
        except DeclarationError:
            continue
        # What was there and is not said any more has to go first.
        after.update({name: {**words, "state": "absent"} for name, words in vpods.items() if name not in after})
        jobs = {name: (list(each["agents"]), world.vlans_of(each["agents"])) for name, each in world.jobs().items()}
        if world.go(after):
            vpods = after
            state = world.state()
            assert world.go(vpods)
            assert world.state() == state
        assert jobs == {name: (each["agents"], world.vlans_of(each["agents"])) for name, each in world.jobs().items()}
        for name, words in vpods.items():
            is_there, is_for_jobs = words.get("state") != "absent", words.get("allocation") == "jobs"
            event(f"{'for jobs' if is_for_jobs else 'own'}, {'there' if is_there else 'gone'}")
            assert (name in world.held["allocations"]) == (is_there and not is_for_jobs)
            assert world.held["users"].get(name) == (
                {"allocations": [] if is_for_jobs else [name]} if is_there else None
            )
            if is_there and is_for_jobs:
                assert world.vlans_of(words["ipu_machines"]) == {words["vlan"]}
            elif not is_there:
                assert words["vlan"] not in world.ports.values()
        start_and_end_jobs(data, world, vpods)


@st.composite
def with_jobs(draw: st.DrawFn) -> State:
    """A controller on which some allocations are those of jobs, with a user and a partition as Slurm makes them."""
    state = draw(adoption.controllers())
    for number, name in enumerate(list(state["allocation"])):
        if draw(st.booleans()):
            job = f"c{number}"
            state["allocation"][job] = state["allocation"].pop(name)
            for each in (*state[PARTITION].values(), *state[USER].values()):
                if each.get("allocation") == name:
                    each["allocation"] = job
                if name in each.get("allocations", ()):
                    each["allocations"] = [job if other == name else other for other in each["allocations"]]
            state[USER][f"j{number}"] = {"allocations": [job], "admin": False}
    return state


@given(with_jobs(), adoption.MODES)
def test_what_jobs_have_is_reported_and_not_adopted(state: State, mode: str) -> None:
    found = adopted(adoption.document(mode), {adoption.HOST: adoption.held(state)})
    declared_now = adoption.declared_by(found, state)
    assert plan(declared_now, state) == []
    report = " ".join(found.reasons)
    for kind, names in state.items():
        of_jobs = [name for name, each in names.items() if kind in ("allocation", USER) and name[1:].isdigit()]
        assert not {each["name"] for each in declared_now[kind]} & set(of_jobs)
        assert all(f"{kind} {name} is not in pods.yml: " in report for name in of_jobs)


@given(with_jobs(), adoption.MODES, st.data())
def test_a_vpod_that_is_for_jobs_is_kept_where_nobody_else_is(state: State, mode: str, data: st.DataObject) -> None:
    clusters = adopted(adoption.document(mode), {adoption.HOST: adoption.held(state)}).document["clusters"]
    if not clusters:
        return
    cluster = data.draw(st.sampled_from(sorted(clusters)))
    agents = state["cluster"][cluster]["agents"]
    first = data.draw(st.integers(0, len(agents) // 4 - 1)) * 4
    state[USER]["ops"] = {"allocations": [], "admin": False}
    words = {"cluster": cluster, "ipus": 16, "vlan": 110, "allocation": "jobs", "users": ["ops"]}
    words["ipu_machines"] = agents[first : first + 4]
    earlier = {**adoption.document(mode), "clusters": clusters, "vpods": {"jobs": words}}
    found = adopted(earlier, {adoption.HOST: adoption.held(state)})
    inside = [
        name
        for name, each in state["allocation"].items()
        if set(each["agents"]) & set(words["ipu_machines"])
        and not (name[1:].isdigit() and set(each["agents"]) <= set(words["ipu_machines"]))
    ]
    event("kept" if not inside else "somebody is there")
    assert found.document["vpods"].get("jobs") == (None if inside else words)
    assert any("vPOD jobs is not in pods.yml" in reason for reason in found.reasons) == bool(inside)
    assert plan(adoption.declared_by(found, state), state) == []
