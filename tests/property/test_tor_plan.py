# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""For any switch and declaration: check mode tells the truth, a second run has nothing to do, others lose nothing."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Outcome, Refused, converge
from ansible_collections.ipu.pod.plugins.module_utils._tor.change import Change
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from tests.unit.tor.tiny_eos import PORT_SETTINGS, Config, TinyEos, spelled

PORTS = ["Ethernet1/1", "Ethernet2/1", "Ethernet3/1", "Port-Channel7"]
VLAN_IDS = st.sampled_from([1, 100, 101, 102, 103, 200])
VLAN_LISTS = st.sets(VLAN_IDS, min_size=1).map(sorted).map(spelled)
VLAN_NAMES = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
TEXTS = st.sampled_from(["pod001-ipum1 RNIC", "shutdown", "x"])
MTUS = st.sampled_from([1500, 9000, 9214])

# Each setting in any spelling, default lines included; a port may also have none of them.
SETTINGS = {
    "description": TEXTS.map("description {}".format),
    "mtu": MTUS.map("mtu {}".format),
    "switchport access vlan": VLAN_IDS.map("switchport access vlan {}".format),
    "switchport trunk native vlan": VLAN_IDS.map("switchport trunk native vlan {}".format),
    "switchport trunk allowed vlan": (st.sampled_from(["none", "all", "1-4094"]) | VLAN_LISTS).map(
        "switchport trunk allowed vlan {}".format
    ),
    "switchport mode": st.sampled_from(["access", "trunk", "trunk"]).map("switchport mode {}".format),
    "shutdown": st.sampled_from(["shutdown", "no shutdown"]),
}
assert SETTINGS.keys() == PORT_SETTINGS.keys()
TRUNK = {
    "switchport mode": st.just("switchport mode trunk"),
    "switchport trunk allowed vlan": SETTINGS["switchport trunk allowed vlan"],
}
PORT = st.fixed_dictionaries({}, optional=SETTINGS) | st.fixed_dictionaries(TRUNK)

OTHERS_ON_PORT = ["channel-group 7 mode active", "spanning-tree portfast edge", "priority-flow-control on"]
OTHERS = st.lists(
    st.sampled_from(
        [
            "ip access-list outside\n   10 permit ip any any\n   20 deny ip any any",
            "router bgp 65001\n   neighbor 192.0.2.1 remote-as 65002\n   !\n   vlan 101\n      rd 1:101",
            "banner login\ninterface Ethernet1/1\n   shutdown\nvlan 101\n   name stolen\nEOF",
            "interface Management1\n   shutdown\n   mtu 1500",
            "interface Ethernet9/1.100\n   description of somebody else",
        ]
    ),
    unique=True,
)
VLAN_CONTENTS = st.tuples() | st.tuples(VLAN_NAMES.map("name {}".format)) | st.just(("state suspend",))

CONFIGS = st.builds(
    Config,
    vlans=st.dictionaries(VLAN_IDS.filter(lambda vlan_id: vlan_id != 1), VLAN_CONTENTS, min_size=3),
    ports=st.fixed_dictionaries(dict.fromkeys(PORTS, PORT)),
    port_others=st.fixed_dictionaries(
        {name: st.lists(st.sampled_from(OTHERS_ON_PORT), unique=True) for name in PORTS},
    ),
    head=OTHERS,
    tail=OTHERS,
)

VLANS = st.dictionaries(VLAN_IDS, st.none() | VLAN_NAMES).map(
    lambda names: [{"vlan_id": vlan_id, "name": name} for vlan_id, name in names.items()]
)
OPTIONS = st.fixed_dictionaries(
    {"owner": st.sampled_from(["pod", "vpod alice", "external"])},
    optional={
        "description": TEXTS | st.just(""),
        "mode": st.sampled_from(["access", "trunk", "trunk"]),
        "vlan": VLAN_IDS,
        "native_vlan": VLAN_IDS,
        "allowed_vlans": st.lists(VLAN_LISTS, max_size=3) | st.just(["1-4094"]),
        "mtu": MTUS,
        "enabled": st.booleans(),
    },
)
DECLARED_PORTS = st.dictionaries(st.sampled_from(PORTS), OPTIONS, min_size=1).map(
    lambda ports: [{"name": name, **options} for name, options in ports.items()]
)


def change(switch: TinyEos, vlans: Any, ports: Any, check_mode: bool = False) -> Outcome:
    one = Change(declare(vlans, ports), switch.send, "ipu-pod-test", 120)
    return converge(one.read, one.plan, one.apply, check_mode)


def applied(config: Config, vlans: Any, ports: Any) -> tuple[TinyEos, Outcome] | None:
    """Apply a declaration to a switch; None if it was refused, which leaves the switch alone."""
    switch = TinyEos(copy.deepcopy(config))
    try:
        outcome = change(switch, vlans, ports)
    except Refused:
        assert switch.running == switch.startup == config
        event("refused")
        return None
    assert outcome.failure is None
    event("changed" if outcome.changed else "no change")
    return switch, outcome


@given(CONFIGS, VLANS, DECLARED_PORTS)
def test_check_mode_tells_the_truth(config: Config, vlans: Any, ports: Any) -> None:
    done = applied(config, vlans, ports)
    if done:
        predicted = change(TinyEos(copy.deepcopy(config)), vlans, ports, check_mode=True)
        assert predicted.result() == done[1].result()


@given(CONFIGS, VLANS, DECLARED_PORTS)
def test_second_run_has_nothing_to_do(config: Config, vlans: Any, ports: Any) -> None:
    done = applied(config, vlans, ports)
    if done:
        switch, _ = done
        assert not change(switch, vlans, ports).changed
        assert switch.running == switch.startup or not done[1].changed


@given(CONFIGS, VLANS, DECLARED_PORTS)
def test_what_others_configured_is_untouched(config: Config, vlans: Any, ports: Any) -> None:
    done = applied(config, vlans, ports)
    if done:
        now = done[0].running
        our_vlans = {vlan["vlan_id"] for vlan in vlans}
        our_ports = {port["name"] for port in ports if port["owner"] != "external"}
        assert (now.head, now.tail, now.port_others) == (config.head, config.tail, config.port_others)
        for vlan_id in config.vlans.keys() | now.vlans.keys() - our_vlans:
            assert unnamed(now.vlans[vlan_id]) == unnamed(config.vlans[vlan_id])
            assert vlan_id in our_vlans or now.vlans[vlan_id] == config.vlans[vlan_id]
        for name in set(PORTS) - our_ports:
            assert now.ports[name] == config.ports[name]


@given(CONFIGS, VLANS, DECLARED_PORTS)
def test_what_is_declared_is_there_and_the_rest_is_kept(config: Config, vlans: Any, ports: Any) -> None:
    done = applied(config, vlans, ports)
    if done:
        for vlan in vlans:
            assert vlan["name"] is None or f"name {vlan['name']}" in done[0].running.vlans[vlan["vlan_id"]]
        for port in (port for port in ports if port["owner"] != "external"):
            before, now = shown(config, port["name"]), shown(done[0].running, port["name"])
            for setting, (option, line) in LINES.items():
                if option in port and option != "allowed_vlans":
                    assert now[setting] == line(port[option])
                elif option not in port:
                    assert now[setting] == before[setting]
            if "allowed_vlans" in port:
                trunk = before["switchport mode"] == now["switchport mode"] == "switchport mode trunk"
                earlier = allowed(before) if trunk and allowed(before) != EVERY else set()
                assert allowed(now) == numbers(",".join(port["allowed_vlans"])) | earlier


@given(CONFIGS)
def test_gathered_state_replayed_is_no_change(config: Config) -> None:
    assert not change(TinyEos(config), **gathered(parse(config.text()))).changed


# What follows judges a configuration by its lines alone.
LINES = {
    "description": ("description", lambda text: f"description {text}" if text else ""),
    "mtu": ("mtu", "mtu {}".format),
    "switchport access vlan": ("vlan", "switchport access vlan {}".format),
    "switchport trunk native vlan": ("native_vlan", "switchport trunk native vlan {}".format),
    "switchport trunk allowed vlan": ("allowed_vlans", str),
    "switchport mode": ("mode", "switchport mode {}".format),
    "shutdown": ("enabled", lambda enabled: "no shutdown" if enabled else "shutdown"),
}
EVERY = set(range(1, 4095))


def unnamed(content: tuple[str, ...]) -> list[str]:
    return [line for line in content if not line.startswith("name ")]


def shown(config: Config, port: str) -> dict[str, str]:
    """All settings of a port, default lines included."""
    return {**PORT_SETTINGS, **config.ports[port]}


def numbers(ranges: str) -> set[int]:
    ends = [item.split("-") for item in ranges.split(",") if item]
    return {vlan_id for end in ends for vlan_id in range(int(end[0]), int(end[-1]) + 1)}


def allowed(settings: dict[str, str]) -> set[int]:
    value = settings["switchport trunk allowed vlan"].split()[-1]
    return EVERY if value == "all" else numbers(value.replace("none", ""))
