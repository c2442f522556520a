# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""tor_info, playbooks/cabling.yml and the role tor_switch over eAPI, against a simulated switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from tests.support.checkout import ROOT
from tests.support.simulated_tor import Tor, running_tor

MACS = {f"p-ipum{n}": f"0c:42:a1:00:01:{n:02x}" for n in range(1, 17)}
DOCUMENT: dict[str, Any] = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {
        "p": {
            "model": "bow-pod64",
            "rnic": {"vlan": 100},
            "vlans": {"storage": 300},
            "tor": {"address": "127.0.0.1", "mtu": 9214, "roce": "reference"},
            "overrides": {name: {"rnic_mac": mac} for name, mac in MACS.items()},
        }
    },
}
# A server whose "SSH" is this machine: it can send no ARP probes, which must not matter.
ARP_PROBE = {"interface": "no-such-rnic", "addresses": ["10.1.5.1"], "ports": ["Ethernet25/1", "Ethernet9/1"]}
ARP_PROBES = {"p-poplar1": ARP_PROBE}


@pytest.fixture(scope="module")
def tor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tor]:
    with running_tor(tmp_path_factory.mktemp("tor")) as switch:
        switch.declare(DOCUMENT)
        yield switch


def machines(**ports: str) -> list[dict[str, Any]]:
    """The addresses of all IPU-Machines on their ports, some of them elsewhere."""
    return [
        {"mac": mac, "port": ports.get(name.replace("-", "_"), f"Ethernet{9 + n}/1")}
        for n, (name, mac) in enumerate(MACS.items())
    ]


def role(*, arp_probes: dict[str, Any], document: dict[str, Any] = DOCUMENT) -> list[dict[str, Any]]:
    """A play of the role with what a pods.yml declares."""
    wanted = desired(parse_declaration(document), {})["tor_switches"]["p-tor"]
    variables = {
        "tor_switch_vlans": wanted["vlans"],
        "tor_switch_ports": wanted["ports"],
        "tor_switch_qos": wanted["qos"],
        "tor_switch_canary": ["Ethernet9/1"],
        "tor_switch_arp_probes": arp_probes,
    }
    return [{"hosts": "tor_switches", "gather_facts": False, "roles": ["ipu.pod.tor_switch"], "vars": variables}]


def info(**options: Any) -> list[dict[str, Any]]:
    return [{"hosts": "tor_switches", "gather_facts": False, "tasks": [{"ipu.pod.tor_info": options}]}]


def test_the_role_confirms_what_nobody_could_be_probed_for_and_then_changes_nothing(tor: Tor) -> None:
    tor.observe(macs=machines())
    (tor.inventory / "host_vars").mkdir()
    (tor.inventory / "host_vars" / "p-poplar1.yml").write_text("ansible_connection: local\n")
    first = tor.tasks(role(arp_probes=ARP_PROBES))
    results = [hosts["p-tor"] for hosts in first if "p-tor" in hosts]
    assert [result["changed"] for result in results if result.get("changed")] == [True]
    output = " ".join(str(result) for result in results)
    assert "p-poplar1 sent no ARP probes: no-such-rnic: " in output
    assert not [result for result in results if result.get("failed")], output
    tor.requests()
    second = tor.tasks(role(arp_probes=ARP_PROBES))
    ran = [hosts["p-tor"] for hosts in second if "p-tor" in hosts and not hosts["p-tor"].get("skipped")]
    assert [result["changed"] for result in ran if "plan" in result] == [False]
    assert len(tor.requests()) == 2
    assert "service-profile ROCE" in (tor.directory / "running-config").read_text()
    # Confirmed, and so saved.
    assert "service-profile ROCE" in (tor.directory / "running-config.startup").read_text()


def test_a_dry_run_of_the_role_plans_and_leaves_the_switch_alone(tor: Tor) -> None:
    document = {**DOCUMENT, "pods": {"p": {**DOCUMENT["pods"]["p"], "vlans": {"storage": 301}}}}
    before = (tor.directory / "running-config").read_text()
    ran = tor.tasks(role(arp_probes=ARP_PROBES, document=document), "--check")
    assert "301" in [step["name"] for hosts in ran for step in hosts.get("p-tor", {}).get("plan", [])]
    assert (tor.directory / "running-config").read_text() == before


def test_tor_info_tells_what_a_switch_is_and_sees(tor: Tor) -> None:
    tor.observe(
        neighbours={"Ethernet25/1": {"device": "p-poplar1.example.com", "port": "ens2f0", "mac": "04:3f:72:00:01:02"}},
        macs=machines(),
        counters={"Ethernet9/1": {"fcsErrors": 3, "rxPause": 5, "txPause": 7, "ecn": {"3": 11}}},
    )
    tor.requests()
    seen = tor.tasks(info())[0]["p-tor"]
    assert len(tor.requests()) == 3
    assert seen["changed"] is False
    assert {"vlan_id": 100, "name": "p-rnic"}.items() <= next(v for v in seen["vlans"] if v["vlan_id"] == 100).items()
    assert next(port for port in seen["ports"] if port["name"] == "Ethernet9/1")["qos_profile"] == "ROCE"
    assert seen["qos"]["profiles"][0]["no_drop"] == [3]
    assert "Ethernet9/1" in seen["vlan_members"]["100"]
    assert seen["neighbours"] == {"Ethernet25/1": [{"device": "p-poplar1.example.com", "port": "ens2f0"}]}
    assert seen["macs"]["Ethernet9/1"] == [{"mac": MACS["p-ipum1"], "vlan": 100}]
    assert seen["errors"]["Ethernet9/1"]["fcsErrors"] == 3
    assert seen["pause_frames"]["Ethernet9/1"] == {"rx": 5, "tx": 7}
    # No queue counts its marks here.
    assert seen["ecn_marks"]["Ethernet9/1"] == {}
    assert seen["cabling"] == []


def test_cables_that_cannot_be_meant_are_refused_before_anything_is_asked(tor: Tor) -> None:
    tor.requests()
    refused = tor.tasks(info(cables=[{"port": "Et9/1", "device": "a", "mac": "b"}]))[0]["p-tor"]
    assert refused["msg"] == "cables: 'b' of a is no MAC address; write for example 0c:42:a1:00:01:01"
    assert tor.requests() == []


def test_cabling_shows_a_table_and_is_content_with_what_it_cannot_see(tor: Tor) -> None:
    tor.observe(macs=machines())
    done = tor.playbook(ROOT / "playbooks" / "cabling.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ethernet9/1   p-ipum1    p-ipum1   right\n" in done.stdout
    assert "Ethernet25/1  p-poplar1  -         missing\n" in done.stdout
    assert "Nothing was seen at Ethernet25/1, Ethernet26/1. Devices" in " ".join(done.stdout.split())


def test_cabling_fails_on_swapped_cables_and_names_them(tor: Tor) -> None:
    tor.observe(macs=machines(p_ipum1="Ethernet10/1", p_ipum2="Ethernet9/1"))
    done = tor.playbook(ROOT / "playbooks" / "cabling.yml")
    assert done.returncode != 0
    output = " ".join(done.stdout.split())
    assert "Ethernet9/1 has p-ipum2, but pods.yml says p-ipum1; Ethernet10/1 has p-ipum1" in output
    assert "move the cables, or correct switch_port in pods.yml." in output
