# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""However something leaves a vPOD: after every stage of a run, no vPOD's VLAN reaches what is another's or nobody's.

What a run is not about may stay as wrong as it was before, and what has no VLAN to go to is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import CONTROLLERS, STAGES
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.property.test_random_decision import NUMBERS, Vpods, entry
from tests.support.in_memory.pod import CONTROLLER, Life, PodInMemory, declared, pod

# Where what no vPOD has is to rest; nowhere in the last one.
HOMES: list[dict[str, Any]] = [
    {"vlans": {"quarantine": 999}},
    {"vlans": {}, "rnic": {"interface": "rnic0", "vlan": 100}},
    {"vlans": {}},
]
MACHINES = [f"p-ipum{number}" for number in range(1, 17)]
NAMES = [stage.name for stage in STAGES]
# Device, the vPOD in whose VLAN it is, and whose it is.
Trespass = tuple[str, str, str]


@st.composite
def entries(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """Words that may stand at one vPOD: its size, its place, its server, or that it has no VLAN of its own."""
    words: dict[str, Any] = {"ipus": draw(st.sampled_from([4, 8, 16]))}
    words["poplar_servers"] = [f"p-poplar{draw(st.sampled_from([number, number, number, number % 3 + 1]))}"]
    words["vlan"] = draw(st.sampled_from([100 + number, 100 + number, 110 + number, None]))
    quarter = draw(st.sampled_from([0, number, number, 4]))
    if quarter:
        words["ipu_machines"] = MACHINES[4 * quarter - 4 : 4 * quarter - 4 + words["ipus"] // 4]
    return {key: value for key, value in entry(number, **words).items() if value is not None}


@st.composite
def vpods(draw: st.DrawFn, before: Vpods | None = None) -> Vpods:
    """The vPODs that there are, or what is declared after them: the same, something else, that they go, or nothing."""
    found: Vpods = {}
    for number in NUMBERS:
        name = f"t{number}"
        kind = draw(st.sampled_from(["other", "same", "absent", "forgotten"] if before else ["other", "other", "none"]))
        if kind == "other":
            found[name] = draw(entries(number))
        elif before and name in before and kind in ("same", "absent"):
            found[name] = {**before[name], **({"state": "absent"} if kind == "absent" else {})}
    return found


def declared_or_none(words: Vpods, **pod_words: Any) -> Declaration | None:
    try:
        return declared(words, **pod_words)
    except DeclarationError:
        return None


def trespasses(there: PodInMemory, declaration: Declaration, decision: Decision) -> Iterator[Trespass]:
    """Where the rule is broken now, by what switch and controller say themselves."""
    looks = there.looks()
    switch, controllers = looks["p-tor"]["parts"]["gathered"], looks[CONTROLLER]["parts"]["controllers"]
    tenants = {vlan["vlan_id"]: vlan["name"][5:] for vlan in switch["vlans"] if vlan["name"].startswith("vpod-")}
    placement = decision.tenancy.placement if decision.tenancy else {}
    owners = {machine: name for name, machines in placement.items() for machine in machines}
    owners.update({server: name for name, vpod in declaration.vpods.items() for server in vpod.poplar_servers})
    for name, fields in controllers[""].get("allocations", {}).items():
        owners.update(dict.fromkeys(fields["agents"], name))
    for port in switch["ports"]:
        number = int(port["name"].removeprefix("Ethernet").removesuffix("/1"))
        vlan = port.get("native_vlan" if port.get("mode") == "trunk" else "vlan")
        device = f"p-ipum{number - 8}" if number in range(9, 25) else f"p-poplar{(number - 23) // 2}"
        owner = owners.get(device, "")
        if number >= 9 and vlan in tenants and owner != tenants[vlan]:
            yield device, tenants[vlan], owner


def by_hand(draw: st.DrawFn, there: PodInMemory) -> None:
    """Doings of others: an allocation of theirs, an allocation that they remove, ports in the VLAN of a vPOD."""
    shared = there.looks()[CONTROLLER]["parts"]["controllers"].get("", {})
    taken = {agent for each in shared.get("allocations", {}).values() for agent in each["agents"]}
    free = [machine for machine in MACHINES if machine not in taken]
    if shared.get("agents") and free and draw(st.booleans()):
        theirs = {"name": "theirs", "cluster": "c", "size": 4, "agents": [draw(st.sampled_from(free))]}
        there.controller.carry_out("tenants", {"allocations": [theirs]}, Life())
    for number in draw(st.sets(st.sampled_from([*range(9, 25), 25, 27, 29]), max_size=2)):
        vlan = f"vlan {draw(st.sampled_from([101, 102, 103]))}"
        name = f"name vpod-t{vlan[-1]}"
        there.switch.switch.configure(vlan, name, "exit", f"interface Ethernet{number}/1", f"switchport access {vlan}")
    there.touch(*there.devices)


@st.composite
def requests(draw: st.DrawFn, there: PodInMemory, declaration: Declaration) -> dict[str, Any]:
    """A whole run most of the time, else one of some devices, vPODs or parts."""
    words: dict[str, Any] = {}
    if draw(st.integers(0, 2)):
        return words
    names = sorted({*declaration.vpods, *declaration.absent})
    if names and draw(st.booleans()):
        words["only"] = [draw(st.sampled_from(names))]
    if draw(st.booleans()):
        words["hosts"] = sorted(draw(st.sets(st.sampled_from(sorted(there.devices)), min_size=1)))
    if draw(st.booleans()):
        words["parts"] = draw(st.sampled_from([("controllers",), ("switches",), ("servers",)]))
    return words


def decided(there: PodInMemory, declaration: Declaration, asked: dict[str, Any], by_agents: bool = True) -> Decision:
    """The decision of a run that looks at the devices that it may change, and at the controller."""
    words = {"hosts": list(there.devices), "allowed": (*declaration.vpods, *declaration.absent), **asked}
    looks = {name: look for name, look in there.looks().items() if name in (*words["hosts"], CONTROLLER)}
    looks[CONTROLLER]["parts"]["controllers"][""]["allocates_by_agents"] = by_agents
    return decide(declaration, looks, Request(**words))


def come_up(there: PodInMemory, data: st.DataObject, home: dict[str, Any]) -> Declaration | None:
    """Some vPODs, and what others do; then returns what is declared next, None if that cannot be."""
    first = data.draw(vpods())
    before = declared_or_none(first, **home)
    if before is None:
        return None
    there.carry_out(there.decide(before))
    there.touch(*there.devices)
    by_hand(data.draw, there)
    then = data.draw(vpods(first))
    pinned = {machine for words in then.values() for machine in words.get("ipu_machines", ())}
    dead = data.draw(st.sets(st.sampled_from(MACHINES), max_size=2)) - pinned
    return declared_or_none(then, **home, excluded=sorted(dead))


def carried_out(
    there: PodInMemory, declaration: Declaration, decision: Decision, names: Sequence[str]
) -> set[Trespass]:
    """Carry out some stages; returns what is broken then, which never is more than before."""
    broken = set(trespasses(there, declaration, decision))
    for name in names:
        there.carry_out(decision, stages=[name])
        now = set(trespasses(there, declaration, decision))
        assert now <= broken, name
    return now


SOME = settings(
    max_examples=60,
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@SOME
@given(home=st.sampled_from(HOMES), data=st.data())
def test_no_vlan_of_a_vpod_reaches_what_is_not_its_own_after_any_stage(
    home: dict[str, Any], data: st.DataObject
) -> None:
    there = pod()
    declaration = come_up(there, data, home)
    if declaration is None:
        event("no declaration")
        return
    asked = data.draw(requests(there, declaration))
    decision = decided(there, declaration, asked)
    if decision.refusals:
        assert_not_in_vain(declaration, asked, decision)
        return
    event("a whole run" if not asked else "a run of some")
    event("with a VLAN to rest in" if declaration.pods["p"].rest_vlan else "without one")
    left = carried_out(there, declaration, decision, NAMES)
    known = {*declaration.vpods, *declaration.absent}
    assert asked or not [tenant for _device, tenant, _owner in left if tenant in known]


@SOME
@given(home=st.sampled_from(HOMES[:2]), data=st.data())
def test_nor_where_the_controller_chooses_the_machines_itself(home: dict[str, Any], data: st.DataObject) -> None:
    there = pod()
    declaration = come_up(there, data, home)
    if declaration is None:
        event("no declaration")
        return
    asked = data.draw(requests(there, declaration))
    decision = decided(there, declaration, asked, by_agents=False)
    if decision.refusals:
        assert_not_in_vain(declaration, asked, decision)
        return
    event("the controller chooses" if decision.point else "nothing to choose")
    before, after = NAMES[: NAMES.index(CONTROLLERS)], NAMES[NAMES.index(CONTROLLERS) + 1 :]
    carried_out(there, declaration, decision, before)
    choose(data.draw, there, decision)
    carried_out(there, declaration, decision, [CONTROLLERS])
    there.touch(*there.devices)
    again = decided(there, declaration, {**asked, "goes_on": True}, by_agents=False)
    if not again.refusals:
        carried_out(there, declaration, again, after)


def choose(draw: st.DrawFn, there: PodInMemory, decision: Decision) -> None:
    """Any free blocks for the allocations that are about to be made."""
    held = there.looks()[CONTROLLER]["parts"]["controllers"].get("", {}).get("allocations", {})
    taken = {agent for each in held.values() for agent in each["agents"]}
    for each in decision.plan.options.get(CONTROLLERS, {}).get(CONTROLLER, {}).get("allocations", ()):
        size = len(each["agents"])
        blocks = [MACHINES[first : first + size] for first in range(0, 16, size)]
        free = [block for block in blocks if not taken & set(block)]
        if each["name"] not in held and free:
            each["agents"] = draw(st.sampled_from(free))
            taken |= set(each["agents"])


def assert_not_in_vain(declaration: Declaration, asked: dict[str, Any], decision: Decision) -> None:
    """A whole run is not refused by this rule where everything has a VLAN to go to."""
    in_pod = declaration.pods["p"]
    has_home = in_pod.rnic_vlan or (in_pod.rest_vlan and all(vpod.vlan for vpod in declaration.vpods.values()))
    by_this_rule = [each for each in decision.refusals if "the VLAN of vPOD" in each]
    event(f"refused {'by this rule' if by_this_rule else 'for something else'}")
    if not asked and has_home:
        assert by_this_rule == []
