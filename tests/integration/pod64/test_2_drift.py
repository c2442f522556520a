# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""plan.yml and drift.yml on a pod that is up: they touch nothing, find what a hand has done, and apply.yml carries a
saved plan out exactly or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.integration.pod64.reviewer import (
    CONTROLLER,
    INVENTORY,
    SERVERS,
    SWITCH,
    ByHand,
    Resource,
    Reviewer,
    everything,
)

CLIENT = "/etc/vipu/vipu-cli.hcl"
UNIT = "/etc/systemd/system/vipu-server.service"
NETWORK = "/etc/systemd/network/50-ipu-rnic0.network"
ADDRESS = "10.5.1.103/16"

# Each of another port, so that one run finds all of them and each of them alone.
ON_THE_PORTS = {
    "VLAN of a port": ByHand(
        SWITCH,
        "interface Ethernet9/1; switchport access vlan 1",
        "interface Ethernet9/1; switchport access vlan 101",
        (("port", "Ethernet9/1"),),
    ),
    "MTU of a port": ByHand(
        SWITCH, "interface Ethernet10/1; mtu 9000", "interface Ethernet10/1; mtu 9214", (("port", "Ethernet10/1"),)
    ),
    "description of a port": ByHand(
        SWITCH,
        "interface Ethernet11/1; description spare",
        "interface Ethernet11/1; description pod001-ipum3 RNIC",
        (("port", "Ethernet11/1"),),
    ),
    "QoS profile off a port": ByHand(
        SWITCH,
        "interface Ethernet12/1; no service-profile",
        "interface Ethernet12/1; service-profile ROCE",
        (("port", "Ethernet12/1"),),
    ),
}
ON_THE_SWITCH = {
    "a VLAN that is gone": ByHand(SWITCH, "no vlan 101", "vlan 101; name vpod-demo", (("vlan", "101"),)),
}
# One a device, so that one run finds all of them and each of them alone.
ON_THE_HOSTS = {
    "MTU in the running state only": ByHand(
        SERVERS[0], "ip link set rnic0 mtu 1500", "ip link set rnic0 mtu 9000", (("interface", "rnic0"),)
    ),
    "a persistent file": ByHand(
        SERVERS[1],
        f"sed -i s/MTUBytes=9000/MTUBytes=1500/ {NETWORK}",
        f"sed -i s/MTUBytes=1500/MTUBytes=9000/ {NETWORK}",
        (("interface", "rnic0"),),
    ),
    "an address that is gone": ByHand(
        SERVERS[2],
        f"ip address delete {ADDRESS} dev rnic0",
        f"ip address add {ADDRESS} broadcast 10.5.255.255 dev rnic0",
        (("interface", "rnic0"),),
    ),
    "a RoCE priority": ByHand(
        SERVERS[3],
        "mlnx_qos -i rnic0 --pfc 0,0,0,0,0,0,0,0",
        "mlnx_qos -i rnic0 --pfc 0,0,0,1,0,0,0,0",
        (("roce", "rnic0"),),
    ),
    "a partition that is gone": ByHand(
        CONTROLLER,
        "vipu-admin remove partition serve",
        "vipu-admin create partition serve --size 4 --allocation demo --reconfigurable",
        (("partition", "serve"),),
    ),
}
MORE_ON_THE_HOSTS = {
    "the V-IPU client's file": ByHand(
        SERVERS[0], f"echo '# mine' >> {CLIENT}", f"sed -i '$d' {CLIENT}", (("file", CLIENT),)
    ),
    "the controller's unit": ByHand(
        CONTROLLER,
        f"echo '# mine' >> {UNIT}",
        f"sed -i '$d' {UNIT}",
        # A unit that is put right is started again.
        (("file", UNIT), ("service", "vipu-server.service")),
    ),
}
HOSTS = "poplar_servers:vipu_controllers"
ALL = [*ON_THE_PORTS.values(), *ON_THE_SWITCH.values(), *ON_THE_HOSTS.values(), *MORE_ON_THE_HOSTS.values()]


def found(report: dict[str, Any]) -> set[Resource]:
    return {(step["device"], step["kind"], step["name"]) for step in report["steps"]}


def test_then_nothing_is_left_to_do_and_looking_leaves_no_trace(up: Reviewer) -> None:
    before = everything(up.pod)
    plan = up.plan()
    code, report = up.drift()
    assert (plan["steps"], plan["unseen"]) == ([], [])
    assert (code, report["verdict"]) == (0, "same")
    assert set(report["looked_at"]) == {SWITCH, CONTROLLER, *SERVERS}
    assert up.pod.say("verify")[0] == 0
    assert everything(up.pod) == before


def test_the_plan_of_before_is_refused_and_nothing_is_touched(up: Reviewer, first: dict[str, Any]) -> None:
    up.saved_plan.write_text(json.dumps(first["plan"]))
    before = everything(up.pod)
    code, output = up.apply()
    assert code != 0
    assert "pod001-tor: port Ethernet9/1: update is not due any more" in output
    assert everything(up.pod) == before


def test_an_outside_change_refuses_a_saved_plan_and_an_unrelated_one_does_not(up: Reviewer) -> None:
    port = ON_THE_PORTS["MTU of a port"]
    up.act(port)
    plan = up.plan()
    assert found(plan) == port.things
    up.pod.switch("configure", "interface Ethernet10/1", "description somebody's")
    writes = up.pod.write_requests()
    code, output = up.apply()
    assert code != 0
    assert "port Ethernet10/1: description was 'pod001-ipum2 RNIC', and is \"somebody's\"" in output
    assert up.pod.write_requests() == writes

    up.pod.switch("configure", "interface Ethernet10/1", "description pod001-ipum2 RNIC")
    # What others do besides is none of the plan's business.
    up.pod.inside(CONTROLLER, "vipu-admin create partition tenants --size 8 --allocation demo")
    up.pod.switch("configure", "vlan 700", "name lab", "interface Ethernet2/1", "description uplink of the lab")
    code, output = up.apply()
    assert code == 0, output
    assert "has nothing of what others have configured on pod001-tor, since that can hold secrets" in output
    code, report = up.drift()
    assert (code, report["steps"]) == (0, [])
    assert {(each["device"], each["kind"], each["name"]) for each in report["not_ours"]} == {
        (CONTROLLER, "partition", "tenants"),
        (SWITCH, "vlan", "700"),
        (SWITCH, "port", "Ethernet2/1"),
    }


@pytest.fixture
def as_an_operator(up: Reviewer, tmp_path: Path) -> Path:
    """The inventory with a user of the switch who may look and not configure."""
    up.pod.switch(
        "configure",
        "username viewer privilege 15 role network-operator secret 0 look",
        "aaa authorization commands all default local",
    )
    (tmp_path / "pods.yml").symlink_to(INVENTORY / "pods.yml")
    (tmp_path / "group_vars").mkdir()
    for path in (INVENTORY / "group_vars").iterdir():
        text = path.read_text().replace("ansible_user: admin", "ansible_user: viewer").replace(": podsim\n", ": look\n")
        (tmp_path / "group_vars" / path.name).write_text(text)
    return tmp_path


def test_to_look_the_switch_needs_no_right_to_configure(up: Reviewer, as_an_operator: Path) -> None:
    code, report = up.drift(inventory=as_an_operator)
    assert (code, report["unseen"], report["steps"]) == (0, [], [])
    up.pod.switch("configure", "interface Ethernet10/1", "mtu 9000")
    assert found(up.plan(inventory=as_an_operator)) == {(SWITCH, "port", "Ethernet10/1")}
    code, output = up.pod.say("site", "--limit", SWITCH, inventory=as_an_operator)
    assert code != 0
    assert "Authorization denied" in output
    up.pod.switch("configure", "interface Ethernet10/1", "mtu 9214")


@pytest.fixture
def put_right(up: Reviewer) -> Iterator[list[ByHand]]:
    """Takes deeds back by hand after a test."""
    deeds: list[ByHand] = []
    yield deeds
    up.act(*deeds, undo=True)


@pytest.mark.parametrize(
    ("deeds", "limit"),
    [(ON_THE_PORTS, SWITCH), (ON_THE_SWITCH, SWITCH), (ON_THE_HOSTS, HOSTS), (MORE_ON_THE_HOSTS, HOSTS)],
    ids=["ports", "VLANs", "hosts", "more on the hosts"],
)
def test_each_drift_is_found_alone(up: Reviewer, put_right: list[ByHand], deeds: dict[str, ByHand], limit: str) -> None:
    put_right += deeds.values()
    up.act(*deeds.values())
    code, report = up.drift("--limit", f"{limit}:localhost")
    assert (code, found(report)) == (2, set.union(*(deed.things for deed in deeds.values())))


def test_all_twelve_at_once_are_found_ignored_by_rule_and_brought_back(up: Reviewer) -> None:
    assert len(ALL) == 12
    up.act(*ALL)
    expected = set.union(*(deed.things for deed in ALL))
    rules = {
        "drift_ignore": [
            {"device": SWITCH, "kind": "port", "reason": "cables are moved", "until": "2999-12-31"},
            {"device": "pod001-poplar*", "kind": "roce", "reason": "over", "until": "2020-01-01"},
        ]
    }
    code, report = up.drift("-e", json.dumps(rules))
    ports = {thing for thing in expected if thing[1] == "port"}
    assert (code, found(report)) == (2, expected - ports)
    assert {(each["device"], each["kind"], each["name"]) for each in report["ignored"]} == ports
    assert [rule["state"] for rule in report["rules"]] == ["used", "expired"]

    cases = list(ElementTree.parse(up.directory / "junit.xml").iter("testcase"))
    failed = {(case.get("classname"), case.get("name")) for case in cases if case.find("failure") is not None}
    assert failed == {(f"{device}.{kind}", name) for device, kind, name in expected - ports}
    assert len([case for case in cases if case.find("skipped") is not None]) == len(ports)

    plan = up.plan()
    assert found(plan) == expected
    code, output = up.apply()
    assert code == 0, output
    code, report = up.drift()
    assert (code, report["steps"]) == (0, [])


def test_without_one_server_the_others_are_still_looked_at(up: Reviewer, put_right: list[ByHand]) -> None:
    stopped = ByHand(SERVERS[3], "systemctl stop ssh; pkill sshd; true", "systemctl start ssh", ())
    address = ON_THE_HOSTS["an address that is gone"]
    put_right += [stopped, address]
    up.act(stopped, address)
    code, report = up.drift()
    assert (code, report["verdict"], found(report)) == (1, "could not look", address.things)
    (unseen,) = report["unseen"]
    assert unseen["device"] == SERVERS[3]
    message = "connect to host 10.3.1.104 port 22: Connection refused; start it, or correct its address in pods.yml"
    assert unseen["message"].endswith(message)
