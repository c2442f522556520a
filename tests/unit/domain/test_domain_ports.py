# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of a vPOD on a libvirt domain: its address, its steps, and libvirt's words for it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._domain import hypervisor as module
from ansible_collections.ipu.pod.plugins.module_utils._domain.hypervisor import Hypervisor
from ansible_collections.ipu.pod.plugins.module_utils._domain.planner import (
    KEPT,
    RUNNING,
    Domains,
    Wanted,
    address_in,
    address_of,
    fields_of,
    mac_of,
    plan,
    plan_removal,
)
from ansible_collections.ipu.pod.plugins.module_utils._domain.xml import function, interface_xml, macs_in, ports_in
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import predict

ADDRESSES = ["10.5.1.192", "10.5.1.193"]
ALICE = Wanted("alice", 101, 9000, ADDRESSES, "bridge br-rnic")
PORT = {"mac": "02:fe:0a:05:01:c0", "vlan": 101, "mtu": 9000, "through": "bridge br-rnic"}
NONE: dict[str, dict[str, Any]] = {RUNNING: {}, KEPT: {}}
BOTH = {RUNNING: {"alice": PORT}, KEPT: {"alice": PORT}}
FUNCTION = Wanted("alice", 101, 9000, ADDRESSES, function("0000:81:00.2"), 1, "02:01:0a:05:01:67")


def on(state: dict[str, Any], runs: bool = True, **macs: str) -> Domains:
    return Domains("build1", runs, state, {mac.replace("_", ":"): name for mac, name in macs.items()})


def steps(found: Domains, wanted: Wanted = ALICE) -> list[tuple[str, str]]:
    return [(step.action, step.kind) for step in plan(wanted, found)]


def test_a_running_domain_gets_the_port_at_once_and_for_its_next_start() -> None:
    assert steps(on(NONE)) == [("create", RUNNING), ("create", KEPT)]
    assert steps(on(NONE, runs=False)) == [("create", KEPT)]
    assert steps(on(BOTH)) == []


@pytest.mark.parametrize("left", [RUNNING, KEPT])
def test_what_a_killed_run_has_left_is_finished_or_removed(left: str) -> None:
    half = {**NONE, left: {"alice": PORT}}
    assert steps(on(half)) == [("create", KEPT if left == RUNNING else RUNNING)]
    assert [(step.action, step.kind) for step in plan_removal("alice", on(half))] == [("remove", left)]


def test_a_port_in_another_vlan_is_plugged_in_again_as_it_runs() -> None:
    drifted = {RUNNING: {"alice": {**PORT, "vlan": 102}}, KEPT: {"alice": PORT}}
    (step,) = plan(ALICE, on(drifted))
    assert (step.action, step.kind, step.risk, step.reason) == (
        "recreate",
        RUNNING,
        "disruptive",
        "vlan is 102, wanted 101",
    )


def test_each_domain_gets_an_address_of_its_own_until_none_is_left() -> None:
    assert fields_of(ALICE, on(NONE)) == PORT
    second = fields_of(ALICE, on(NONE, **{"02_fe_0a_05_01_c0": "build2"}))
    assert (second["mac"], address_in(ALICE, second)) == ("02:fe:0a:05:01:c1", "10.5.1.193")
    with pytest.raises(Refused, match="none of the 2 addresses of the hypervisor is left for domain build1"):
        fields_of(ALICE, on(NONE, **{"02_fe_0a_05_01_c0": "build2", "02_fe_0a_05_01_c1": "build3"}))


def test_a_domain_keeps_the_address_that_it_has() -> None:
    has = {**PORT, "mac": mac_of("10.5.1.193")}
    assert plan(ALICE, on({RUNNING: {"alice": has}, KEPT: {"alice": has}})) == []


def test_a_domain_joins_no_two_vpods() -> None:
    with pytest.raises(Refused, match="domain build1 has a port of vPOD bob, and would join the two"):
        plan(ALICE, on({RUNNING: {}, KEPT: {"bob": PORT}}))


def test_a_machine_of_openstack_gets_no_port_here_and_gives_back_what_it_has() -> None:
    with pytest.raises(Refused, match="domain build1 is a machine of OpenStack's, which plugs in its ports itself"):
        plan(ALICE, replace(on(NONE), is_novas=True))
    assert len(plan_removal("alice", replace(on(BOTH), is_novas=True))) == 2


def test_a_virtual_function_is_one_domain_s_with_its_own_address() -> None:
    fields = fields_of(FUNCTION, on(NONE))
    assert fields == {
        "mac": "02:01:0a:05:01:67",
        "vlan": 101,
        "mtu": 0,
        "through": "function 0000:81:00.2",
    }
    assert address_in(FUNCTION, fields) == "10.5.1.193"
    with pytest.raises(Refused, match="domain build2 has the port of vPOD alice with 02:01:0a:05:01:67"):
        plan(FUNCTION, on(NONE, **{"02_01_0a_05_01_67": "build2"}))
    with pytest.raises(Refused, match="virtual function 2 has none of the hypervisor's 2 addresses"):
        plan(replace(FUNCTION, function=2), on(NONE))


ports = st.builds(
    lambda address, vlan, mtu: {**PORT, "mac": mac_of(address), "vlan": vlan, "mtu": mtu},
    st.sampled_from([*ADDRESSES, "10.5.1.9"]),
    st.sampled_from([101, 102]),
    st.sampled_from([0, 9000]),
)
sides = st.dictionaries(st.just("alice"), ports)
founds = st.builds(
    lambda runs, running, kept, macs: Domains("build1", runs, {RUNNING: running if runs else {}, KEPT: kept}, macs),
    st.booleans(),
    sides,
    sides,
    st.dictionaries(st.sampled_from([mac_of(address) for address in ADDRESSES[1:]]), st.just("build2")),
)


@given(founds)
def test_after_the_steps_nothing_is_left_to_do(found: Domains) -> None:
    try:
        first = plan(ALICE, found)
    except Refused:
        return
    after = replace(found, state=predict(found.state, first))
    assert plan(ALICE, after) == []
    removed = replace(after, state=predict(after.state, plan_removal("alice", after)))
    assert removed.state == NONE
    assert plan_removal("alice", removed) == []


@given(st.ip_addresses(v=4).map(str))
def test_the_mac_address_says_the_address(address: str) -> None:
    assert address_of(mac_of(address)) == address


# libvirt's words


NOVAS = (
    "<nova:instance xmlns:nova='http://openstack.org/xmlns/libvirt/nova/1.1'><nova:name>x</nova:name></nova:instance>"
)


def domain_xml(*interfaces: str, metadata: str = "") -> str:
    return f"<domain><metadata>{metadata}</metadata><devices>{''.join(interfaces)}</devices></domain>"


@pytest.mark.parametrize("vpod", ["alice", "a.b_c-D", "x_2e"])
@pytest.mark.parametrize("wanted", [ALICE, FUNCTION])
def test_what_is_written_is_read_again(vpod: str, wanted: Wanted) -> None:
    fields = fields_of(wanted, on(NONE))
    text = domain_xml(interface_xml(vpod, fields))
    assert ports_in(text) == {vpod: fields}
    assert macs_in(text) == [fields["mac"]]


def test_interfaces_of_others_are_no_ports() -> None:
    other = "<interface type='network'><mac address='52:54:00:00:00:02'/><alias name='net0'/></interface>"
    assert ports_in(domain_xml(other)) == {}
    assert macs_in(domain_xml(other)) == ["52:54:00:00:00:02"]


def test_libvirt_is_told_the_vlan_of_a_virtual_function_too() -> None:
    text = interface_xml("alice", fields_of(FUNCTION, on(NONE)))
    assert '<address type="pci" domain="0x0000" bus="0x81" slot="0x00" function="0x2" />' in text
    assert '<vlan><tag id="101" /></vlan>' in text


def test_no_xml_is_an_error_and_not_an_empty_domain() -> None:
    with pytest.raises(DeviceError, match="virsh dumpxml printed something that is not understood"):
        ports_in("error: failed to get domain")


# The hypervisor


class Virsh:
    """Stands for virsh and ovs-vsctl, with one running domain; a guest lets go of a port or does not."""

    def __init__(self, lets_go: bool = True) -> None:
        self.lets_go = lets_go
        self.live = domain_xml(
            interface_xml("alice", PORT).replace("</interface>", "<target dev='vnet3'/></interface>")
        )
        self.tag = 101
        self.metadata = ""
        self.commands: list[list[str]] = []

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        words = argv[3:] if argv[0] == "virsh" else argv
        self.commands.append(words)
        match words:
            case ["list", *_]:
                return 0, "build1\n\n", ""
            case ["dumpxml", "--inactive", "build1"]:
                return 0, domain_xml(interface_xml("alice", PORT), metadata=self.metadata), ""
            case ["dumpxml", "build1"]:
                return 0, self.live, ""
            case ["detach-device", "build1", _, "--live"]:
                self.live = domain_xml() if self.lets_go else self.live
                return 0, "", ""
            case ["ovs-vsctl", "--format=json", *_]:
                return (
                    0,
                    json.dumps({"headings": ["name", "tag"], "data": [["vnet3", self.tag], ["x", ["set", []]]]}),
                    "",
                )
        return 1, "", "ovs-vsctl: no port named rnic0"


def hypervisor(virsh: Virsh) -> Hypervisor:
    seconds = iter(range(1000))
    return Hypervisor(Programs(virsh.run), "/nowhere", lambda: float(next(seconds)), lambda _seconds: None)


def test_the_vlan_of_a_running_port_is_that_of_open_vswitch() -> None:
    virsh = Virsh()
    assert hypervisor(virsh).look("build1").state == BOTH
    virsh.tag = 102
    assert hypervisor(virsh).look("build1").state[RUNNING]["alice"]["vlan"] == 102


@pytest.mark.parametrize(
    ("metadata", "is_novas"), [("", False), ("<other:thing xmlns:other='x'/>", False), (NOVAS, True)]
)
def test_a_machine_of_openstack_is_known_by_what_nova_wrote(metadata: str, is_novas: bool) -> None:
    virsh = Virsh()
    virsh.metadata = metadata
    assert hypervisor(virsh).look("build1").is_novas is is_novas


def test_a_domain_that_is_not_there_is_refused() -> None:
    with pytest.raises(
        Refused, match="this hypervisor has no domain build9; `virsh list --all` shows those that it has"
    ):
        hypervisor(Virsh()).look("build9")


def test_a_port_is_gone_when_the_guest_has_let_go_of_it() -> None:
    virsh = Virsh()
    (step, _kept) = plan_removal("alice", hypervisor(virsh).look("build1"))
    hypervisor(virsh).carry_out("build1", step)
    assert ports_in(virsh.live) == {}


def test_a_guest_that_does_not_let_go_is_named() -> None:
    virsh = Virsh(lets_go=False)
    (step, _kept) = plan_removal("alice", hypervisor(virsh).look("build1"))
    with pytest.raises(DeviceError, match=f"has not let go of the port of vPOD alice in {module.LIMIT:g} s"):
        hypervisor(virsh).carry_out("build1", step)


def test_an_rnic_without_bridge_or_function_is_refused() -> None:
    with pytest.raises(Refused, match="RNIC rnic0 is in no bridge of Open vSwitch"):
        hypervisor(Virsh()).through("rnic0", None)
    with pytest.raises(Refused, match="RNIC rnic0 has no virtual function 3"):
        hypervisor(Virsh()).through("rnic0", 3)
