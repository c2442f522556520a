# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/gather.yml with a switch that was configured by hand: nothing is planned from the pods.yml it writes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import ROOT
from tests.support.simulated_controller import running_controller
from tests.support.simulated_tor import Tor, running_tor

USER_PORT, ADMIN_PORT = 18190, 18191
DOCUMENT: dict[str, Any] = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "tor": {"address": "127.0.0.1"}}},
    "controllers": {"v": {"address": "127.0.0.2", "user_port": USER_PORT, "admin_port": ADMIN_PORT}},
}
BY_HAND = [
    "configure",
    *("vlan 100", "name rnics", "vlan 300", "name storage"),
    *(
        line
        for number in range(9, 25)
        for line in (f"interface Ethernet{number}/1", "switchport access vlan 100", "mtu 9000")
    ),
    *("interface Ethernet9/1", "description the first one"),
    *("interface Ethernet30/1", "switchport access vlan 300", "description filer"),
    *("interface Ethernet31/1", "no switchport"),
    *("interface Ethernet1/1", "switchport mode trunk", "description to the spine"),
    *("end", "write"),
]


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Tor]:
    """A switch that was configured by hand, and an empty V-IPU controller."""
    with running_controller(tmp_path, USER_PORT, ADMIN_PORT), running_tor(tmp_path) as tor:
        tor.declare(DOCUMENT)
        local = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "vipu_controller_storage": str(tmp_path / "vipu-server.json"),
        }
        (tor.inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(local))
        tor.type(*BY_HAND)
        yield tor


def test_gather_writes_what_keeps_a_switch_as_it_is(rack: Tor) -> None:
    before = (rack.directory / "running-config").read_text()
    done = rack.playbook(ROOT / "playbooks" / "gather.yml", "--limit", "localhost:switches:vipu_controllers")
    assert done.returncode == 0, done.stdout + done.stderr
    gathered = yaml.safe_load((rack.directory / "gathered" / "pods.yml").read_text())
    pod = gathered["pods"]["p"]
    assert pod["rnic"] == {"vlan": 100, "vlan_name": "rnics"}
    assert pod["vlans"] == {"storage": 300}
    assert (pod["tor"]["address"], pod["tor"]["mtu"]) == ("127.0.0.1", 9000)
    assert pod["tor"]["ports"]["Ethernet9/1"] == {"description": "the first one"}
    assert pod["tor"]["ports"]["Ethernet30/1"] == {"description": "filer", "vlan": "storage"}
    # Ports of the data centre, and a routed port that nobody declared, are not ours to say.
    assert pod["tor"]["ports"].keys().isdisjoint({"Ethernet1/1", "Ethernet31/1"})
    assert (rack.directory / "running-config").read_text() == before


def test_a_server_that_does_not_answer_is_named_and_the_rest_is_gathered_without_controllers(rack: Tor) -> None:
    document = {**DOCUMENT, "pods": {"p": {**DOCUMENT["pods"]["p"], "rnic": {"interface": "rnic7"}}}}
    rack.declare({key: words for key, words in document.items() if key != "controllers"})
    nobody = {"ansible_host": "127.0.0.1", "ansible_port": 1}
    (rack.inventory / "group_vars" / "poplar_servers.yml").write_text(yaml.safe_dump(nobody))
    done = rack.playbook(ROOT / "playbooks" / "gather.yml")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "p-poplar1 could not be read: " in " ".join(done.stdout.split())
    gathered = yaml.safe_load((rack.directory / "gathered" / "pods.yml").read_text())
    assert gathered["pods"]["p"]["rnic"] == {"interface": "rnic7", "vlan": 100, "vlan_name": "rnics"}
    assert "controllers" not in gathered
