# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random declarations on a whole pod in memory: a plan carried out leaves nothing to do, and nothing of others changes.

A run that is killed, wherever that is, is completed by the next one, which does the rest and no more.
"""

from __future__ import annotations

import contextlib
import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_members import members
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import IDLE
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import PARTS, STAGES, group_of
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.support.in_memory.kernel import Nic
from tests.support.in_memory.pod import CONTROLLER, Key, Killed, Life, PodInMemory, declared, keys, pod

NUMBERS = (1, 2, 3)
# What is on the pod and in no pods.yml.
OTHERS = {("p-tor", "port", "Ethernet31/1"), ("p-tor", "vlan", "700")}
OTHERS |= {(CONTROLLER, "allocation", "theirs"), (CONTROLLER, "user", "carol"), (CONTROLLER, "partition", "hers")}
OTHERS |= {(CONTROLLER, "user", "admin")}

Vpods = dict[str, dict[str, Any]]
OWN_HOSTS, OWN_ADDRESS = [f"t{number}-controller" for number in NUMBERS], "10.1.3.22{}"


def entry(number: int, **words: Any) -> dict[str, Any]:
    """A vPOD on a server of its own."""
    name = f"t{number}"
    return {
        "cluster": "c",
        "ipus": 8,
        "vlan": 100 + number,
        "users": [name],
        "poplar_servers": [f"p-poplar{number}"],
        "partitions": {f"{name}-train": {"ipus": 4}},
        **words,
    }


@st.composite
def entries(draw: st.DrawFn, number: int, is_pinned: bool) -> dict[str, Any]:
    """A random declaration of one vPOD."""
    words: dict[str, Any] = {
        "ipus": draw(st.sampled_from([4, 8, 16])),
        "vlan": draw(st.sampled_from([100 + number, 110 + number])),
        "poplar_servers": draw(
            st.sampled_from([[f"p-poplar{number}"], [f"p-poplar{number}"], [f"p-poplar{number % 3 + 1}"]])
        ),
        "users": draw(st.sampled_from([[f"t{number}"], [f"t{number}", "ann"], ["ann"]])),
        "partitions": draw(st.sampled_from([{}, {f"t{number}-train": {"ipus": 4}}])),
        "ipuof": draw(st.sampled_from(["environment", "files"])),
        "controller": draw(st.sampled_from(["shared", "shared", "dedicated"])),
    }
    if words["controller"] == "dedicated" and draw(st.booleans()):
        words["controller_address"] = OWN_ADDRESS.format(number)
    if words["ipuof"] == "files" and draw(st.booleans()):
        words["containers"] = "macvlan"
    if is_pinned:
        machines, size = range(4 * number - 3, 4 * number + 1), words["ipus"] // 4
        first = draw(st.sampled_from(machines[::size]))
        words["ipu_machines"] = [f"p-ipum{machine}" for machine in range(first, first + size)]
    return entry(number, **words)


@st.composite
def vpods_first(draw: st.DrawFn, is_pinned: bool) -> Vpods:
    """The vPODs that are there."""
    return {f"t{number}": draw(entries(number, is_pinned)) for number in NUMBERS if draw(st.booleans())}


@st.composite
def vpods_next(draw: st.DrawFn, before: Vpods, is_pinned: bool) -> Vpods:
    """The next declaration, at random: the same, something else, or vPODs that are to go."""
    after: Vpods = {}
    for number in NUMBERS:
        name = f"t{number}"
        kind = draw(st.sampled_from(["same", "other", "other", "gone"]))
        if kind == "other":
            after[name] = draw(entries(number, is_pinned))
        elif name in before:
            after[name] = {**before[name], **({"state": "absent"} if kind == "gone" else {})}
    return after


def declared_or_none(vpods: Vpods) -> Declaration | None:
    try:
        return declared(vpods)
    except DeclarationError:
        return None


def come_up(there: PodInMemory, declaration: Declaration) -> None:
    """From whatever there is to what is declared, after which nothing is left to do."""
    first = there.decide(declaration)
    assert first.refusals == []
    there.carry_out(first)
    assert_done(there, declaration)


def assert_done(there: PodInMemory, declaration: Declaration) -> None:
    there.touch(*there.devices)
    found = there.decide(declaration)
    assert (found.refusals, found.findings, found.plan.steps) == ([], [], [])
    looks = there.looks()
    shared = looks[CONTROLLER]["parts"]["controllers"]
    switch = looks["p-tor"]["parts"]["gathered"]
    untagged = {"access": "vlan", "trunk": "native_vlan"}
    vlans = {port["name"]: port[untagged[port["mode"]]] for port in switch["ports"] if port["mode"] in untagged}
    of_vpods = {(vlan["name"], vlan["vlan_id"]) for vlan in switch["vlans"] if vlan["name"].startswith("vpod-")}
    assert of_vpods == {(f"vpod-{name}", vpod.vlan) for name, vpod in declaration.vpods.items()}
    for name, vpod in declaration.vpods.items():
        own = looks[vpod.controller_host or CONTROLLER]["parts"]["controllers"][name if vpod.is_dedicated else ""]
        machines = shared[""]["allocations"][name]["agents"]
        assert len(machines) * 4 == vpod.ipus
        assert {vlans[f"Ethernet{8 + int(machine[6:])}/1"] for machine in machines} == {vpod.vlan}
        assert {each.name for each in vpod.partitions} <= own["partitions"].keys()
        assert all(name in own["users"][user]["allocations"] for user in vpod.users)
        for server in vpod.poplar_servers:
            assert vlans[f"Ethernet{23 + 2 * int(server[-1])}/1"] == vpod.vlan
            files = there.servers[server].host.files.files
            assert f'api-user-id="{vpod.users[0]}"' in files["/etc/vipu/vipu-cli.hcl"].content
            assert ("/usr/local/bin/ipu-run" in files) == (vpod.containers is not None)
    for name, vpod in declaration.absent.items():
        own = looks[vpod.controller_host or CONTROLLER]["parts"]["controllers"]
        assert name not in own.keys() | shared[""]["allocations"].keys()
    free = there.servers.keys() - {name for vpod in declaration.vpods.values() for name in vpod.poplar_servers}
    assert not [name for name in free if "/etc/vipu/vipu-cli.hcl" in there.servers[name].host.files.files]


def bring_others(there: PodInMemory) -> None:
    """Put the work of somebody else on the pod."""
    there.switch.switch.configure(
        *("vlan 700", "name site", "exit", "interface Ethernet31/1", "switchport access vlan 700"),
        *("description of a site", "end", "write"),
    )
    there.controller.carry_out(
        "tenants",
        {
            "allocations": [{"name": "theirs", "cluster": "c", "size": 4, "agents": ["p-ipum16"]}],
            "users": [{"name": "carol", "allocations": ["theirs"]}],
            "partitions": [{"name": "hers", "allocation": "theirs", "size": 4}],
        },
        Life(),
    )
    for server in there.servers.values():
        server.server.nics["site0"] = Nic("02:00:00:00:00:99", mtu=4000)
    there.touch(*there.devices)


def of_others(there: PodInMemory) -> Any:
    """All of that, as the devices say it."""
    looks = there.looks()
    gathered = looks["p-tor"]["parts"]["gathered"]
    shared = looks[CONTROLLER]["parts"]["controllers"][""]
    return copy.deepcopy(
        [
            [port for port in gathered["ports"] if port["name"] == "Ethernet31/1"],
            [vlan for vlan in gathered["vlans"] if vlan["vlan_id"] == 700],
            [shared["allocations"]["theirs"], shared["users"]["carol"], shared["partitions"]["hers"]],
            [looks[name]["parts"]["links"]["links"]["site0"] for name in there.servers],
        ]
    )


def by_hand(there: PodInMemory) -> dict[str, Callable[[], Any]]:
    """Name to a change that somebody makes by hand to a declared thing, and saves."""
    switch, server = there.switch.switch, there.servers["p-poplar1"]
    saved = ("end", "write")
    return {
        "p-tor port": lambda: switch.configure("interface Ethernet25/1", "switchport access vlan 700", *saved),
        "p-tor mtu": lambda: switch.configure("interface Ethernet9/1", "mtu 3000", *saved),
        "p-poplar1 nic": lambda: server.server.kernel.ip(["link", "set", "dev", "rnic0", "mtu", "1500"]),
        "p-poplar1 file": lambda: server.host.files.remove("/etc/security/limits.d/90-ipu-memlock.conf"),
        "p-poplar1 client": lambda: server.host.files.remove("/etc/vipu/vipu-cli.hcl"),
        f"{CONTROLLER} program": lambda: there.controller.host.files.remove("/usr/local/sbin/vipu-backup"),
    }


def may_be_left(plan: Counter[Key], left: Counter[Key]) -> Counter[Key]:
    """The steps of ``plan`` as they are after a kill that left ``left``: a unit whose file was written is there."""
    found = plan.copy()
    for device, kind, name, action in plan:
        file = (device, "file", f"/etc/systemd/system/{name}", "create")
        if (kind, action) == ("service", "create") and file in plan and file not in left:
            found[device, kind, name, "update"] = found.pop((device, kind, name, action))
    return found


@settings(
    max_examples=50,
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.booleans(), st.data())
def test_a_plan_carried_out_leaves_nothing_to_do_however_often_its_run_is_killed(
    is_pinned: bool, data: st.DataObject
) -> None:
    first = data.draw(vpods_first(is_pinned))
    there, before = pod(OWN_HOSTS), declared_or_none(first)
    after = declared_or_none(data.draw(vpods_next(first, is_pinned)))
    if before is None or after is None:
        event("no declaration")
        return
    come_up(there, before)
    bring_others(there)
    for hands in data.draw(st.sets(st.sampled_from(sorted(by_hand(there))), max_size=2)):
        by_hand(there)[hands]()
    there.touch(*there.devices)
    foreign, left = of_others(there), there.decide(after)
    if left.refusals:
        event("refused")
        return
    runs = 0
    while left.plan.steps:
        runs += 1
        assert runs < 100
        plan = keys(left)
        assert not {key[:3] for key in plan} & OTHERS
        try:
            there.carry_out(left, Life(data.draw(st.integers(1, 30))))
        except Killed:
            event("killed")
        there.touch(*there.devices)
        left = there.decide(after)
        assert left.refusals == []
        # The rest, and no more; a vPOD without pins whose allocation has gone may get another place.
        assert keys(left) < may_be_left(plan, keys(left)) or not is_pinned
    event(f"{min(runs, 5)} runs or more")
    assert_done(there, after)
    assert of_others(there) == foreign


def test_a_run_with_containers_that_is_killed_at_any_change_leaves_its_rest() -> None:
    after = declared({"t2": entry(2, ipuof="files", containers="macvlan", ipu_machines=["p-ipum7", "p-ipum8"])})
    left_by_runs: list[Counter[Key]] = []
    while not left_by_runs or left_by_runs[-1]:
        there = pod(OWN_HOSTS)
        first = there.decide(after)
        assert first.refusals == []
        with contextlib.suppress(Killed):
            there.carry_out(first, Life(len(left_by_runs) + 1))
        there.touch(*there.devices)
        left = there.decide(after)
        assert left.refusals == []
        left_by_runs.append(keys(left))
        assert keys(left) < may_be_left(keys(first), keys(left))
    assert any(key[2:] == ("ipu-run-release.timer", "update") for plan in left_by_runs for key in plan)
    assert_done(there, after)


T2 = entry(2, controller="dedicated")
T3 = entry(3, controller="dedicated", controller_address=OWN_ADDRESS.format(3))


@pytest.fixture(scope="module")
def running_pod() -> PodInMemory:
    """A pod on which three vPODs and somebody else are at work."""
    there = pod(OWN_HOSTS)
    come_up(there, declared({"t1": entry(1), "t2": T2, "t3": T3}))
    bring_others(there)
    return there


@st.composite
def requests(draw: st.DrawFn, there: PodInMemory) -> dict[str, Any]:
    """A random request: some devices, vPODs, parts."""
    words: dict[str, Any] = {"allowed": draw(st.sampled_from([(), ("t1",), ("t1", "t2", "t3")]))}
    words["only"] = draw(st.sampled_from([None, None, ["t1"], ["t3"]]))
    if draw(st.booleans()):
        words["hosts"] = sorted(draw(st.sets(st.sampled_from(sorted(there.devices)), min_size=1)))
    if draw(st.booleans()):
        words["parts"] = tuple(part for part in PARTS if draw(st.booleans()))
    return words


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_decision_touches_nothing_and_leaves_alone_what_it_may_not_change(
    running_pod: PodInMemory, data: st.DataObject
) -> None:
    there = running_pod
    before = {"t1": entry(1), "t2": T2, "t3": T3}
    declaration = declared_or_none(data.draw(vpods_next(before, is_pinned=False)))
    asked = data.draw(requests(there))
    if declaration is None or (asked["only"] and asked["only"][0] not in (*declaration.vpods, *declaration.absent)):
        event("no declaration")
        return
    looks = copy.deepcopy(there.looks())
    silent = data.draw(st.sets(st.sampled_from(sorted(there.devices)), max_size=1))
    for name in silent:
        looks[name].update(outcome="timed out", message="No route to host", parts={})
    for name in set(there.servers) - silent:
        looks[name]["parts"]["use"]["in_use"] = data.draw(st.sampled_from([[], [], ["Slurm job 7 of ann"]]))
    request = Request(**{"hosts": sorted(there.devices), **asked})
    seen = copy.deepcopy(looks)
    found = decide(declaration, looks, request)
    assert looks == seen
    assert decide(declaration, looks, request) == found
    event("refused" if found.refusals else "planned")
    parts = {stage.name: stage.part for stage in STAGES}
    assert {each["device"] for each in found.unseen if each["message"].startswith("No route to host; ")} <= silent
    assert not {key[:3] for key in keys(found)} & OTHERS
    for step in found.plan.steps:
        assert step["device"] in request.hosts
        assert step["device"] not in silent
        assert parts[step["stage"]] in request.parts
    refused = {each["device"]: each["message"] for each in found.plan.refusals}
    assert not refused.keys() & silent
    assert all({message, f"{device}: {message}"} & set(found.refusals) for device, message in refused.items())
    for member in members(found, declaration, looks, request, verifies_all=False):
        assert member["host"] in request.hosts
        assert [each for each in member["groups"] if each != IDLE] == [group_of(stage) for stage in member["options"]]
    # Whose work may not end loses nothing.
    torn_down = (
        {change.vpod for change in found.tenancy.changes.values() if change.goes_down} if found.tenancy else set()
    )
    busy = {f"t{name[-1]}" for name in set(there.servers) - silent if looks[name]["parts"]["use"]["in_use"]}
    if request.parts and torn_down & busy & before.keys() - set(request.allowed):
        event("somebody is at work")
        assert found.refusals
