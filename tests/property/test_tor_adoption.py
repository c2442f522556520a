# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a switch is: the pods.yml that is written for it has nothing against it, and makes a new one so."""

from __future__ import annotations

from typing import Any

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import plan
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.switches import adopted
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.switch_findings import switch_findings
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place

DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "poplar_servers": 2}},
    "controllers": {"v": {"address": "10.9.9.9"}},
    "clusters": {"c": {"controller": "v", "pods": ["p"]}},
    "vpods": {
        "alice": {
            "cluster": "c",
            "ipus": 16,
            "ipu_machines": [f"p-ipum{n}" for n in range(1, 5)],
            "poplar_servers": ["p-poplar1"],
        }
    },
}
IDS = [100, 101, 102, 300, 999]
NAMES = {100: "rnics", 101: "vpod-alice", 102: "VLAN0102", 300: "storage", 999: "quarantine"}
VLAN = st.sampled_from([1, *IDS])
MACHINES, SERVERS = range(9, 25), range(25, 29)


def lines(pattern: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[str]]:
    """No line, or one with a value."""
    return st.one_of(st.just([]), values.map(lambda value: [pattern.format(value)]))


SWITCHED = st.tuples(
    lines("switchport mode {}", st.sampled_from(["trunk", "dot1q-tunnel"])),
    lines("switchport access vlan {}", VLAN),
    lines("switchport trunk native vlan {}", VLAN),
    lines("switchport trunk allowed vlan {}", st.sampled_from(["none", "100", "101,300", "100-102,300", "1,999"])),
    lines("mtu {}", st.sampled_from([1200, 1600, 9000])),
    lines("spanning-tree portfast{}", st.sampled_from(["", " edge"])),
    lines("no lldp {}", st.sampled_from(["transmit", "receive"])),
    lines("service-profile {}", st.sampled_from(["ROCE", "OTHER"])),
    lines("qos trust {}", st.sampled_from(["dscp", "cos"])),
    lines("{}", st.just("shutdown")),
    lines("{}", st.just("no switchport")),
    lines("description {}", st.sampled_from(["to the lab", "p-ipum9 RNIC", "ümlaut"])),
).map(lambda groups: [line for group in groups for line in group])
MEMBER = st.tuples(st.sampled_from([5, 6]), st.sampled_from(["active", "on"])).map(
    lambda group: [f"channel-group {group[0]} mode {group[1]}"]
)
ORDERLY = ["mtu 9000", "spanning-tree portfast", "service-profile ROCE", "qos trust dscp"]
PORT = st.one_of(st.just(["usual"]), st.just([]), SWITCHED)
QOS = {
    "none": [],
    "reference": [
        "qos profile ROCE",
        "   qos trust dscp",
        "   uc-tx-queue 3",
        "      no priority",
        "      bandwidth percent 95",
        "      bandwidth guaranteed 100",
        "      random-detect ecn minimum-threshold 256 kbytes maximum-threshold 512 kbytes max-mark-probability 100 "
        "weight 0",
        "   uc-tx-queue 6",
        "      priority strict",
        "   priority-flow-control on",
        "   priority-flow-control priority 3 no-drop",
        "   priority-flow-control pause watchdog",
        "priority-flow-control pause watchdog default timeout 0.2",
        "priority-flow-control pause watchdog default recovery-time 0.2",
        "priority-flow-control pause watchdog default polling-interval 0.1",
        "priority-flow-control pause watchdog action drop",
    ],
}
QOS["other"] = [line.replace("95", "60").replace("0.2", "0.5").replace("256", "150") for line in QOS["reference"]]
QOS["odd"] = [line.replace("guaranteed 100", "guaranteed 200") for line in QOS["reference"]]
QOS["foreign"] = ["qos profile ROCE", "   qos trust cos", "   priority-flow-control on"]


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """A running-config: some VLANs, a quality of service, and every port either as usual in a rack or at random."""
    tenant, rest = draw(st.sampled_from([1, 101, 102])), draw(VLAN)
    config = [line for vlan in IDS for line in (f"vlan {vlan}", f"   name {NAMES[vlan]}")]
    config += QOS[draw(st.sampled_from(sorted(QOS)))]
    usual = draw(st.sampled_from([[], ORDERLY]))
    for number in range(1, 33):
        port = draw(PORT if number in MACHINES else st.one_of(PORT, MEMBER))
        if port == ["usual"]:
            vlan = tenant if number in range(9, 13) else rest if number in MACHINES else 999
            port = [*usual, f"switchport access vlan {vlan}"] if number not in SERVERS else usual
        config += [f"interface Ethernet{number}/1", *(f"   {line}" for line in port)]
    for channel in (5, 6):
        config += [f"interface Port-Channel{channel}", *(f"   {line}" for line in draw(SWITCHED))]
    return "\n".join([*config, "end"])


def unrestricted_trunk_of_a_server() -> str:
    """A rack whose second server has a bond that carries every VLAN, quarantine too."""
    config = [line for vlan in IDS for line in (f"vlan {vlan}", f"   name {NAMES[vlan]}")]
    for number in range(1, 33):
        config.append(f"interface Ethernet{number}/1")
        if number not in (*MACHINES, *SERVERS):
            config.append("   switchport access vlan 999")
    config += ["interface Ethernet26/1", "   channel-group 5 mode active"]
    return "\n".join([*config, "interface Port-Channel5", "   switchport mode trunk", "end"])


def wanted(document: dict[str, Any]) -> dict[str, Any]:
    declaration = parse_declaration(document)
    options: dict[str, Any] = desired(declaration, place(declaration, {}))["tor_switches"]["p-tor"]
    return options


@settings(max_examples=60)
@given(configurations())
@example(unrestricted_trunk_of_a_server())
def test_nothing_is_planned_from_what_is_written_and_every_port_is_declared_as_it_is(text: str) -> None:
    running = parse(text)
    adoption = adopted(DOCUMENT, {"p-tor": gathered(running)})
    event(f"roce: {adoption.document['pods']['p'].get('tor', {}).get('roce')}")
    options = wanted(adoption.document)
    assert plan(declare(**{name: options[name] for name in ("vlans", "ports", "qos")}), running) == []
    # A port that somebody has shut is meant to be shut.
    silent = {"links": {}, "vlans": {}, "members": {}, "blocked": {}}
    assert switch_findings(options, {"parts": {"running_config": {"text": text}, "status": silent}}, ()) == []
    written = {port["name"]: port for port in options["ports"]}
    external = sum(port["owner"] == "external" for port in written.values())
    event(f"external ports: {'none' if not external else 'some'}")
    for number in range(9, 33):
        name = f"Ethernet{number}/1"
        assert is_declared(running.ports[name], written.get(name, {})), (name, running.ports[name], written.get(name))


def is_declared(there: dict[str, Any], written: dict[str, Any]) -> bool:
    """Whether a new switch would get the port as it is; but for what is EOS's default, and what has no words."""
    if written.get("owner") == "external" or (not written and there["mode"] not in ("access", "trunk")):
        return True
    effective = {field: DEFAULTS[field] if written.get(field) is None else written[field] for field in DEFAULTS}
    without_words = there["mtu"] < 1280, not there["description"].isascii()
    return effective == {
        "description": "" if without_words[1] else there["description"],
        "vlan": effective["vlan"] if there["mode"] == "trunk" or there["channel_group"] else there["vlan"],
        "mtu": effective["mtu"] if without_words[0] or there["channel_group"] else there["mtu"],
        "enabled": there["enabled"],
        "channel_group": there["channel_group"],
    }


DEFAULTS = {"description": "", "vlan": 1, "mtu": 9214, "enabled": True, "channel_group": 0}


def test_the_usual_rack_is_a_few_lines() -> None:
    ports = [
        [
            f"interface Ethernet{n}/1",
            f"   description p-ipum{n - 8} RNIC",
            f"   switchport access vlan {101 if n < 13 else 100}",
            *(f"   {line}" for line in ORDERLY),
        ]
        for n in MACHINES
    ]
    config = [line for vlan in (100, 101) for line in (f"vlan {vlan}", f"   name {NAMES[vlan]}")]
    servers = [f"interface Ethernet{n}/1" for n in SERVERS]
    text = "\n".join([*config, *QOS["other"], *(line for port in ports for line in port), *servers, "end"])
    document = adopted(DOCUMENT, {"p-tor": gathered(parse(text))}).document
    pod = document["pods"]["p"]
    assert pod["rnic"] == {"vlan": 100, "vlan_name": "rnics"}
    assert document["vpods"]["alice"]["vlan"] == 101
    assert {key: value for key, value in pod["tor"].items() if key != "ports"} == {
        "mtu": 9000,
        "spanning_tree_edge": True,
        "roce": {
            "bandwidth_percent": 60,
            "ecn": {"minimum_kbytes": 150},
            "watchdog": {"timeout": 0.5, "recovery_time": 0.5},
        },
    }
    assert list(pod["tor"]["ports"]) == ["Ethernet25/1", "Ethernet27/1"]
