# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random declared interfaces on random servers, every back end: one run reaches them as check mode predicted.

Whoever dies in the middle of it leaves a server that puts everything back by itself.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import BACKENDS
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from, sorted_addresses
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import gathered, rendered
from ansible_collections.ipu.pod.plugins.module_utils._rnic.profile import HEADER
from tests.support.in_memory.rnic_runs import (
    CONFIRM_WITHIN,
    changed,
    checkpoint_on,
    client_of,
    confirmed,
    persistent,
    running,
    server_with,
)
from tests.support.in_memory.server import Killed, TinyServer

NICS = ["rnic0", "rnic1"]
MACS = {"rnic0": "04:3f:72:00:01:02", "rnic1": "04:3f:72:00:01:03"}
VLANS = {"tenant": 101, "storage": 300}
# What others have where each back end has its files, with names like ours, too.
OF_OTHERS = {
    "/etc/systemd/network/60-site.network": "[Match]\nName=other*\n",
    "/etc/systemd/network/.60-site.network.a1b2c3d4": "[Match]\nNa",
    "/etc/NetworkManager/system-connections/site.nmconnection": (
        "[connection]\nid=ipu\ntype=ethernet\ninterface-name=other0\n[ethernet]\n"
    ),
    "/etc/systemd/system/ipu-site.service": "[Service]\nExecStart=true\n",
}
NETPLAN_OF_OTHERS = {"/etc/netplan/70-site.yaml": "network:\n  version: 2\n"}
MTUS = st.sampled_from([1500, 4200, 9000])
DESCRIPTIONS = st.none() | st.sampled_from(["", "IPU data plane"])
FUNCTION_COUNTS = st.none() | st.integers(0, 2)


def addresses_of(name: str) -> st.SearchStrategy[list[str]]:
    """Addresses that no other interface has."""
    number = [*NICS, *VLANS, "bond0"].index(name) + 1
    pool = [f"10.{number}.1.1/16", f"10.{number}.1.2/16", f"10.{number}.1.2/24", f"fd00:{number}::1/64"]
    return st.lists(st.sampled_from(pool), unique_by=lambda address: address.split("/")[0])


def functions(nic: str, count: int | None) -> list[dict[str, Any]] | None:
    if count is None:
        return None
    number = NICS.index(nic)
    return [{"index": index, "mac": f"02:00:00:00:0{number}:0{index}", "vlan": 101 * index} for index in range(count)]


@st.composite
def declarations(draw: st.DrawFn, labels: dict[str, str]) -> list[dict[str, Any]]:
    """Both NICs, in the same way as always; sometimes a bond of them, and VLANs on whatever is there."""
    bonded = draw(st.booleans())
    options = [
        {
            "name": labels[nic],
            "mac": MACS[nic] if labels[nic] != nic else None,
            "addresses": None if bonded else draw(st.none() | addresses_of(nic)),
            "mtu": None if bonded else draw(st.none() | MTUS),
            "description": draw(DESCRIPTIONS),
            "virtual_functions": functions(nic, draw(FUNCTION_COUNTS)),
        }
        for nic in NICS
    ]
    if bonded:
        mtu, addresses = draw(st.none() | MTUS), draw(st.none() | addresses_of("bond0"))
        bond = {"name": "bond0", "type": "bond", "members": list(labels.values()), "mode": "802.3ad"}
        options.append({**bond, "mtu": mtu, "addresses": addresses})
    for name in draw(st.lists(st.sampled_from(sorted(VLANS)), unique=True)):
        parent = "bond0" if bonded else labels[draw(st.sampled_from(NICS))]
        vlan = {"name": name, "type": "vlan", "parent": parent, "vlan_id": VLANS[name]}
        options.append({**vlan, "mtu": draw(st.none() | MTUS), "addresses": draw(st.none() | addresses_of(name))})
    return options


@dataclass
class Case:
    """A server with something that was declared before and changed since, and what is declared now.

    ``lost`` is whether a file or a device is gone, so that the daemons themselves would make something else of it.
    """

    server: TinyServer
    options: list[dict[str, Any]]
    replaced: bool
    lost: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    server = server_with(draw(st.sampled_from(sorted(BACKENDS))))
    server.sysfs.limits = dict.fromkeys(NICS, 2)
    for path, text in {**OF_OTHERS, **(NETPLAN_OF_OTHERS if server.netplan_is_used else {})}.items():
        server.files.write(path, File(text, mode="0600"))
    labels = {nic: draw(st.sampled_from([nic, f"data-{nic}"])) for nic in NICS}
    before = draw(st.none() | declarations(labels))
    if before and not _refused(server, before):
        confirmed(server, before)
    there = set(persistent(server)), set(server.nics)
    for name in draw(st.lists(st.sampled_from(sorted(set(server.nics) - {"eno1"})), unique=True)):
        _meddle(draw, server, name)
    lost = there != (set(persistent(server)), set(server.nics))
    gone = [
        {"name": name, "type": nic.kind, "state": "absent"} for name, nic in server.nics.items() if nic.kind is not None
    ]
    wanted = draw(declarations(labels))
    names = {option["name"] for option in wanted}
    return Case(
        server, [*wanted, *(option for option in gone if option["name"] not in names)], draw(st.booleans()), lost
    )


def _meddle(draw: st.DrawFn, server: TinyServer, name: str) -> None:
    """Change an interface or its files as people and programs do between two runs."""
    nic = server.nics.get(name)
    if nic is None:
        return
    what = draw(st.sampled_from(["device", "mtu", "addresses", "file", "text", "down"]))
    if what == "device" and nic.kind:
        server.kernel.delete(name)
    if what == "mtu" and not nic.kind and not nic.master:
        server.kernel.set_mtu(name, draw(MTUS))
    if what == "addresses" and not nic.master:
        nic.addresses = draw(addresses_of(name))
    if what == "down":
        nic.up = False
    own = [p for p, file in server.files.files.items() if p.startswith("/etc/") and file.content.startswith(HEADER)]
    if what == "file" and own:
        server.files.remove(draw(st.sampled_from(sorted(own))))
    if what == "text" and own:
        path = draw(st.sampled_from(sorted(own)))
        file = server.files.files[path]
        text = draw(st.sampled_from([file.content + "# By hand.\n", file.content.replace("9000", "4200")]))
        server.files.write(path, replace(file, content=text))


def _refused(server: TinyServer, options: list[dict[str, Any]], **how: Any) -> bool:
    try:
        changed(server, options, check_mode=True, **how)
    except Refused:
        return True
    return False


@given(case=cases())
def test_one_run_reaches_what_is_declared_as_check_mode_predicted(case: Case) -> None:
    server, options, how = case.server, case.options, {"replaced": case.replaced}
    before = running(server), persistent(server)
    others = {path: text for path, text in persistent(server).items() if not text[0].startswith(HEADER)}
    if _refused(server, options, **how):
        assert (running(server), persistent(server)) == before
        return
    predicted = changed(server, options, check_mode=True, **how)
    assert (running(server), persistent(server)) == before

    real = confirmed(server, options, **how)
    assert real.failure is None
    assert real.result() == predicted.result()
    assert not changed(server, options, check_mode=True, **how).steps
    _assert_declared(server, options, case.replaced)
    after = persistent(server)
    assert {path: after.get(path) for path in others if "wants" not in path} == {
        path: text for path, text in others.items() if "wants" not in path
    }
    assert running(server)["eno1"] == before[0]["eno1"]


def _assert_declared(server: TinyServer, options: list[dict[str, Any]], replaced: bool) -> None:
    devices = {mac: nic for nic, mac in MACS.items()}
    for option in options:
        name = devices.get(option.get("mac") or "", option["name"])
        if option.get("state") == "absent":
            assert name not in server.nics
            continue
        nic = server.nics[name]
        assert nic.up
        assert option.get("mtu") in (None, nic.mtu)
        assert option.get("vlan_id") == nic.vlan_id
        declared = option.get("addresses")
        if declared is not None or replaced:
            assert sorted_addresses(nic.addresses) == sorted_addresses(declared or [])
        if option.get("virtual_functions") is not None:
            assert [f["mac"] for f in nic.functions] == [f["mac"] for f in option["virtual_functions"]]
        if option.get("members"):
            assert {server.nics[member].master for member in NICS} == {name}


@given(case=cases())
def test_settings_that_are_not_declared_are_kept(case: Case) -> None:
    """Once an interface is as its files say, declaring only what it is changes nothing, running or persistent."""
    if _refused(case.server, case.options):
        return
    assert confirmed(case.server, case.options).failure is None
    identity = ("name", "type", "state", "mac", "parent", "vlan_id", "members", "mode")
    bare = [{key: option[key] for key in identity if key in option} for option in case.options]
    assert not changed(case.server, bare, check_mode=True).steps


@given(case=cases(), refused=MTUS)
def test_a_failed_change_leaves_everything_as_it_was(case: Case, refused: int) -> None:
    server = case.server
    before = running(server), persistent(server)
    known = {nic.mtu for nic in server.nics.values()}
    # What cannot be set cannot be put back either.
    if refused in known or str(refused) in str(before[1]) or _refused(server, case.options):
        return
    server.refused_mtus = {refused}
    outcome = changed(server, case.options)
    if outcome.failure is None:
        return
    assert persistent(server) == before[1]
    assert case.lost or running(server) == before[0]


@given(case=cases(), call=st.integers(0, 40), reboots=st.booleans())
def test_whoever_dies_in_the_middle(case: Case, call: int, reboots: bool) -> None:
    """The server is as before, by its own timer or by a reboot, or nothing has been touched at all."""
    server = case.server
    if _refused(server, case.options):
        return
    before = running(server), persistent(server)
    server.killed_at = len(server.calls) + call
    with contextlib.suppress(Killed):
        changed(server, case.options)
    server.killed_at = None
    armed = checkpoint_on(server).armed("0a1b2c3d") is not None
    if reboots and armed:
        server.reboot()
        assert persistent(server) == before[1]
    server.pause(CONFIRM_WITHIN + 1)
    assert persistent(server) == before[1]
    assert reboots or case.lost or running(server) == before[0]
    checkpoint_on(server).refuse_pending()


@given(case=cases())
def test_what_is_gathered_can_be_declared_and_changes_nothing_that_runs(case: Case) -> None:
    """Interfaces of others too, such as a VLAN without files of ours."""
    server = case.server
    facts = gathered(client_of(server).survey([]))
    if _refused(server, facts):
        return
    before = running(server)
    assert confirmed(server, facts).failure is None
    after = running(server)
    assert {name: _without_up(after[name]) for name in before} == {name: _without_up(before[name]) for name in before}


def _without_up(fields: Any) -> Any:
    kind, mtu, _up, *rest = fields
    return kind, mtu, rest


@given(data=st.data(), backend=st.sampled_from(sorted(BACKENDS)))
def test_what_is_rendered_is_what_is_written(data: st.DataObject, backend: str) -> None:
    server = server_with(backend)
    server.sysfs.limits = dict.fromkeys(NICS, 2)
    options = data.draw(declarations({nic: nic for nic in NICS}))
    complete = [{**o, "mtu": 9000, "addresses": o.get("addresses") or []} for o in options]
    bonded = any(option.get("members") for option in options)
    for option in complete:
        if bonded and option.get("type") is None:
            del option["mtu"], option["addresses"]
    confirmed(server, complete)
    written = {path: text for path, (text, _mode) in persistent(server).items() if text.startswith(HEADER)}
    assert rendered(interfaces_from(complete), BACKENDS[backend]) == written
