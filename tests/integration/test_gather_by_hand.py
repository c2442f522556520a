# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A POD64 that somebody brought up by hand, with choices of their own: gathered, nothing is left to do on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._reports.markdown import text_of
from tests.integration.conftest import INVENTORY, Pod, podsim

MACHINES = [f"pod001-ipum{n}" for n in range(1, 17)]
SERVERS = [f"pod001-poplar{n}" for n in range(1, 5)]
# All that somebody has to say of the rack before it is read.
KNOWN = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"pod001": {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": 4}},
    "controllers": {"ctrl001": {"address": "10.3.1.200"}},
}
# The IPU-Machines of alice stand at these ports, cabled from the top down and two of them swapped.
PORT_OF = {machine: 25 - n for n, machine in enumerate(MACHINES, 1)}
PORT_OF.update({"pod001-ipum3": PORT_OF["pod001-ipum4"], "pod001-ipum4": PORT_OF["pod001-ipum3"]})
ALICE = MACHINES[4:8]
MTUS = {"pod001-poplar3": 4200}
ADDRESSES = {"pod001-poplar2": "10.5.1.150/16"}
VLANS = {200: "fabric", 201: "tenant-a", 300: "storage", 310: "lab"}


def machine_port(machine: str) -> list[str]:
    vlan = 201 if machine in ALICE else 200
    return [f"interface Ethernet{PORT_OF[machine]}/1", f"switchport access vlan {vlan}", "mtu 9000", "no shutdown"]


def server_port(number: int) -> list[str]:
    vlan = 201 if number == 1 else 200
    return [
        f"interface Ethernet{23 + 2 * number}/1",
        *("switchport mode trunk", f"switchport trunk native vlan {vlan}"),
        f"switchport trunk allowed vlan {vlan},300{',310' if number == 4 else ''}",
        *("mtu 9000", "no shutdown"),
    ]


BY_HAND = [
    "configure",
    *(line for vlan, name in VLANS.items() for line in (f"vlan {vlan}", f"name {name}")),
    *(line for machine in MACHINES for line in machine_port(machine)),
    *(line for number in range(1, 5) for line in server_port(number)),
    # To the data centre, and nobody's business here.
    *("interface Ethernet5/1-6/1", "channel-group 5 mode active"),
    *("interface Port-Channel5", "switchport mode trunk", "description spine"),
    *("end", "write"),
]


def network_file(server: str) -> str:
    address = ADDRESSES.get(server, f"10.5.1.10{server[-1]}/16")
    return f"[Match]\nName=rnic0\n[Link]\nMTUBytes={MTUS.get(server, 9000)}\n[Network]\nAddress={address}\n"


def configure_server(pod: Pod, server: str, text: str) -> None:
    pod.inside(server, f"cat > /etc/systemd/network/20-fabric.network <<'END'\n{text}END")
    pod.inside(server, "systemctl enable --now systemd-networkd && networkctl reload")
    wanted = text.rpartition("Address=")[2].strip()
    pod.inside(
        server,
        f"timeout 30 sh -c 'until ip -brief address show rnic0 | grep -q {wanted}; do sleep 0.1; done'",
    )


def bring_up(pod: Pod) -> None:
    """The switch by its CLI, the servers by files of their own, V-IPU by vipu-admin."""
    pod.switch(*BY_HAND)
    for server in SERVERS:
        configure_server(pod, server, network_file(server))
        pod.inside(server, "mlnx_qos -i rnic0 --trust dscp && mlnx_qos -i rnic0 --pfc 0,0,0,1,0,0,0,0")
    pod.inside("ctrl001", "mkdir -p /var/lib/vipu && cd /var/lib/vipu && vipu-server --init --storage vipu-server.json")
    start = "systemd-run --unit vipu-server --working-directory /var/lib/vipu vipu-server --storage vipu-server.json"
    pod.inside("ctrl001", f"{start} --user-port 8090 --admin-port 8091")
    pod.inside("ctrl001", "timeout 30 sh -c 'until vipu-admin -P 8091 list agents >/dev/null 2>&1; do sleep 0.1; done'")
    for number, machine in enumerate(MACHINES, 1):
        vipu_admin(pod, f"create agent {machine} --host 10.2.1.{number}")
    vipu_admin(pod, f"create cluster rack --agents {','.join(MACHINES)} --topology torus")
    vipu_admin(pod, f"create allocation alice --cluster rack --agents {','.join(ALICE)}")
    vipu_admin(pod, "create partition my.own_name --size 8 --allocation alice --reconfigurable")


def vipu_admin(pod: Pod, words: str) -> None:
    pod.inside("ctrl001", f"vipu-admin -P 8091 {words}")


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    """The pod by hand. Its cables are not as the port map has them."""
    if os.geteuid() != 0 or shutil.which("podman") is None:
        pytest.skip("the simulated pod needs root and podman; run: make prerequisites")
    floor = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    for machine, port in PORT_OF.items():
        floor["sim"]["ipu_machines"][machine]["rnic"]["cable"] = f"pod001-tor Ethernet{port}/1"
    path = tmp_path_factory.mktemp("floor") / "pods.yml"
    path.write_text(yaml.safe_dump(floor))
    podsim("down")
    podsim("up", str(path))
    running = Pod(INVENTORY)
    bring_up(running)
    yield running
    podsim("down")


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    """An inventory with the known facts, and the connections to the devices."""
    known = tmp_path / "known"
    known.mkdir()
    (known / "pods.yml").write_text(yaml.safe_dump(KNOWN))
    with_group_vars(known)
    return known


def with_group_vars(folder: Path) -> None:
    (folder / "group_vars").mkdir()
    for name in ("ipu_pods.yml", "switches.yml"):
        (folder / "group_vars" / name).symlink_to(INVENTORY / "group_vars" / name)
    image = {"poplar_server_packages": [], "poplar_server_memlock": ""}
    (folder / "group_vars" / "poplar_servers.yml").write_text(yaml.safe_dump(image))


def gather(pod: Pod, inventory: Path) -> tuple[Any, Path]:
    place = inventory.parent / "gathered"
    options = ("-e", f"gather_directory={place}")
    return pod.playbook("gather", *options, inventory=inventory), place


def test_what_was_made_by_hand_is_written_down_and_nothing_is_left_to_do(pod: Pod, inventory: Path) -> None:
    before, writes = pod.fingerprint(), pod.write_requests()
    run, place = gather(pod, inventory)
    assert (run.code, run.messages) == (0, "")
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    document = yaml.safe_load((place / "pods.yml").read_text())
    rack = document["pods"]["pod001"]
    assert rack["rnic"] == {"interface": "rnic0", "vlan": 200, "vlan_name": "fabric", "mtu": 9000}
    assert rack["vlans"] == {"storage": 300, "lab": 310}
    assert rack["overrides"] == {
        "pod001-poplar2": {"rnic_address": "10.5.1.150"},
        "pod001-poplar3": {"rnic_mtu": 4200},
        "pod001-ipum3": {"switch_port": "Ethernet21/1"},
        "pod001-ipum4": {"switch_port": "Ethernet22/1"},
    }
    assert (rack["tor"]["ipu_machine_order"], rack["tor"]["mtu"]) == ("descending", 9000)
    assert rack["tor"]["ports"].keys().isdisjoint({"Ethernet5/1", "Port-Channel5"})
    alice = document["vpods"]["alice"]
    assert (alice["vlan"], alice["vlan_name"], alice["ipu_machines"]) == (201, "tenant-a", ALICE)
    assert alice["poplar_servers"] == ["pod001-poplar1"]
    assert list(alice["partitions"]) == ["my.own_name"]

    mine = inventory.parent / "mine"
    shutil.copytree(place / "host_vars", mine / "host_vars")
    shutil.copy(place / "pods.yml", mine)
    with_group_vars(mine)
    options = ("-e", f"plan_directory={mine / 'plan'}")
    run = pod.playbook("plan", *options, inventory=mine)
    assert (run.code, run.messages) == (0, "")
    (looked_at,) = [result["looked_at"] for _host, task, result in run.tasks if task == "Decide"]
    assert looked_at == len(["pod001-tor", "ctrl001", *SERVERS])
    plan = json.loads((mine / "plan" / "plan.json").read_text())
    assert plan["unseen"] == []
    # What the collection keeps beside them: units, the client's configuration.
    assert {step["kind"] for step in plan["steps"]} <= {"file", "service", "task"}


MISPLACED = [
    ("pod001-ipum4", "pod001-tor sees pod001-ipum4 at Ethernet22/1, the port of pod001-ipum3"),
    ("pod001-ipum3", "pod001-tor sees pod001-ipum3 at Ethernet21/1, the port of pod001-ipum4"),
]
CONTRADICTIONS = [
    ("pod001-poplar2", "pod001-tor Ethernet27/1 carries VLAN 320 with a tag"),
    ("pod001-poplar3", "pod001-poplar3 rnic0 (MTU 4200) and pod001-tor Ethernet29/1 (MTU 1600)"),
    ("pod001-poplar4", "pod001-tor Ethernet31/1 carries VLAN 310 with a tag"),
    *MISPLACED,
    ("pod001-tor", "VLAN 666 (lonely) is on pod001-tor"),
    ("pod001-ipum16", "agent pod001-ipum16 is Down, says ctrl001"),
    ("ctrl001", "allocation alice of ctrl001 lies across VLANs: pod001-tor Ethernet20/1 (pod001-ipum5) in VLAN 200"),
    ("pod001-poplar1", "10.5.1.101 is claimed by rnic0 of pod001-poplar1 and by rnic0 of pod001-poplar4"),
]


def test_each_contradiction_is_found_once_and_nothing_else(pod: Pod, inventory: Path) -> None:
    run, place = gather(pod, inventory)
    extra = ("pod001-poplar4", "pod001-tor Ethernet31/1 carries VLAN 310 with a tag")
    assert starts(place) == sorted([*MISPLACED, extra])

    pod.switch(
        "configure",
        *("vlan 666", "name lonely", "vlan 320", "name spare"),
        *("interface Ethernet27/1", "switchport trunk allowed vlan add 320"),
        *("interface Ethernet29/1", "mtu 1600"),
        *("interface Ethernet20/1", "switchport access vlan 200"),
    )
    configure_server(pod, "pod001-poplar4", network_file("pod001-poplar1"))
    subprocess.run(["podman", "stop", "podsim-pod001-ipum16"], check=True, capture_output=True)
    run, place = gather(pod, inventory)
    assert (run.code, run.messages) == (0, "")
    assert starts(place) == sorted(CONTRADICTIONS)
    report = (place / "findings.md").read_text()
    assert all(text_of(finding) in report for _device, finding in CONTRADICTIONS)


def starts(place: Path) -> list[tuple[str, str]]:
    """The findings, those that are known as far as they are compared."""
    found = json.loads((place / "findings.json").read_text())
    assert all(each["remedy"].endswith(".") for each in found)
    known = [text for _device, text in CONTRADICTIONS]
    return sorted(
        (each["device"], next((text for text in known if each["finding"].startswith(text)), each["finding"]))
        for each in found
    )
