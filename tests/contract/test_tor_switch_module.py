# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module tor_switch in a play, over both connections, against a simulated switch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE
from tests.support.loopback import free_port
from tests.support.simulated_tor import Tor, over, running_tor

VLANS = [{"vlan_id": 101, "name": "vpod-alice"}]
PORTS = [
    {"name": f"Et{number}/1", "mode": "access", "vlan": 101, "qos_profile": "ROCE", "qos_trust": "dscp"}
    for number in range(9, 13)
]
DECLARED: dict[str, Any] = {"vlans": VLANS, "ports": PORTS, "qos": REFERENCE}
MAC = {"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1"}


def task(**options: Any) -> dict[str, Any]:
    return {"ipu.pod.tor_switch": options, "register": "done"}


def results(tor: Tor, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
    ran = tor.tasks([{"hosts": "tor_switches", "gather_facts": False, "tasks": list(tasks)}])
    return [hosts["p-tor"] for hosts in ran if "p-tor" in hosts]


@pytest.mark.parametrize("connection", ["httpapi", "network_cli"])
def test_a_change_from_beginning_to_end(connection: str, tmp_path: Path) -> None:
    ssh_port = free_port()
    variables = over(connection, ssh_port)
    pod = {"model": "ipu-pod64", "tor": {"address": "127.0.0.1"}}
    with running_tor(tmp_path, "--ssh", f"127.0.0.1:{ssh_port}") as tor:
        tor.declare({"plugin": "ipu.pod.pods", "schema": 1, "pods": {"p": pod}}, **variables)
        tor.observe(macs=[MAC])
        predicted, real, again, _gathered, replayed, waits, confirmed, nothing, refused = run(tor)
        assert predicted["changed"]
        assert predicted["after"] == real["after"]
        assert real["session"].startswith("ipu-pod_")
        assert "+vlan 101" in real["session_diff"]
        assert "uc-tx-queue 3" in real["commands"]
        assert not again["changed"]
        assert not replayed["changed"]
        assert waits["pending"]["session"] == waits["session"]
        assert confirmed["changed"]
        assert not nothing["changed"]
        assert refused["msg"] == "vlans[0].vlan_id: 5000 is no VLAN ID; give 1 to 4094"


def run(tor: Tor) -> list[dict[str, Any]]:
    return results(
        tor,
        {**task(**DECLARED), "check_mode": True},
        task(**DECLARED, canary=["Et10/1"], checks={"settle_within": 5}),
        task(**DECLARED, state="replaced"),
        {"ipu.pod.tor_switch": {"state": "gathered"}, "register": "tor"},
        task(vlans="{{ tor.gathered.vlans }}", ports="{{ tor.gathered.ports }}", qos="{{ tor.gathered.qos }}"),
        task(vlans=[{"vlan_id": 102}], confirm=False),
        task(state="confirmed", pending="{{ done.pending }}"),
        task(state="confirmed", pending={}),
        {**task(vlans=[{"vlan_id": 5000}]), "ignore_errors": True},
    )
