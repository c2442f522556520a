# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The `sim:` section of a pods.yml: what is read from it, and how a wrong one is refused."""

from __future__ import annotations

import copy
import dataclasses
import os
import re
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from typing import Any

import pytest
import yaml

from podsim.floor.errors import FloorError
from podsim.floor.facts import Cable, Software
from podsim.floor.facts_file import facts_from, read_facts, sim_section

PODS_FILE = Path(__file__).parents[3] / "inventories" / "sim_pod64" / "pods.yml"
SIM = yaml.safe_load(PODS_FILE.read_text(encoding="utf-8"))["sim"]


def changed(path: str, value: Any) -> dict[str, Any]:
    """The shipped `sim:` section with one value replaced."""
    sim = copy.deepcopy(SIM)
    *parents, last = path.split(".")
    place = sim
    for parent in parents:
        place = place[parent]
    place[last] = value
    return sim


def test_the_shipped_pod_is_a_pod64() -> None:
    facts = read_facts(PODS_FILE)
    assert (len(facts.switches), len(facts.controllers)) == (1, 1)
    assert (len(facts.poplar_servers), len(facts.ipu_machines)) == (4, 16)
    machine = facts.ipu_machines[9]
    assert machine.name == "pod001-ipum10"
    assert machine.gateway_address == IPv4Address("10.2.1.10")
    assert machine.lease == IPv4Interface("10.5.1.10/16")
    assert machine.cable == Cable("pod001-tor", "Ethernet18/1")


def test_only_the_sim_section_is_read(tmp_path: Path) -> None:
    pods_file = tmp_path / "pods.yml"
    pods_file.write_text(yaml.safe_dump({"pods": "not even a mapping", "sim": SIM}, sort_keys=False), encoding="utf-8")
    assert read_facts(pods_file) == read_facts(PODS_FILE)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            "ipu_machines.pod001-ipum1.gateway.address",
            "10.2.1.x",
            "sim.ipu_machines.pod001-ipum1.gateway.address is '10.2.1.x', "
            "but it has to be an IPv4 address such as 10.1.1.1.",
        ),
        (
            "ipu_machines.pod001-ipum1.rnic.cable",
            "pod002-tor Ethernet9/1",
            "sim.ipu_machines.pod001-ipum1.rnic.cable is 'pod002-tor Ethernet9/1', "
            'but it has to be a switch of sim.switches and its port, such as "pod001-tor Ethernet9/1".',
        ),
        (
            "ipu_machines.pod001-ipum1.rnic.cable",
            "pod001-tor Ethernet10/1",
            "sim: pod001-ipum1 and pod001-ipum2 both have the switch port pod001-tor Ethernet10/1; each needs its own.",
        ),
        (
            "ipu_machines.pod001-ipum1.rnic.mtu",
            90000,
            "sim.ipu_machines.pod001-ipum1.rnic.mtu is 90000, but it has to be an MTU from 1280 to 9216 bytes.",
        ),
        (
            "poplar_servers.pod001-poplar1.rnics.rnic0.mac",
            "04:3f:72:00:01:03",
            "sim: pod001-poplar1 and pod001-poplar1 both have the MAC 04:3f:72:00:01:03; each needs its own.",
        ),
        (
            "poplar_servers.pod001-poplar1.rnics.rnic0.mac",
            # What YAML 1.1 makes of 10:20:30:40:50:59 without quotes.
            8041839059,
            "sim.poplar_servers.pod001-poplar1.rnics.rnic0.mac is 8041839059, "
            'but it has to be a MAC address in quotes and lower case, such as "0c:42:a1:00:01:01".',
        ),
        (
            "poplar_servers.pod001-poplar1.management",
            "10.9.1.101",
            "sim: the management address 10.9.1.101 of pod001-poplar1 is in none of sim.management.networks.",
        ),
        (
            "controllers.ctrl001.management",
            "10.3.1.101",
            "sim: ctrl001 and pod001-poplar1 both have the management address 10.3.1.101; each needs its own.",
        ),
        (
            "switches.pod001-tor.speed",
            100,
            "sim.switches.pod001-tor has an unknown key `speed`; it takes management.",
        ),
        ("dhcp", "somebody", "sim.dhcp is 'somebody', but it has to be `factory` or `none`."),
        ("controllers", None, "sim.controllers is None, but it has to be a mapping."),
        ("management.networks", [], "sim.management.networks is [], but it has to be a list with at least one entry."),
    ],
)
def test_a_wrong_value_is_refused_with_one_sentence(path: str, value: Any, sentence: str) -> None:
    with pytest.raises(FloorError) as refusal:
        facts_from(changed(path, value))
    assert str(refusal.value) == sentence


def test_a_file_may_name_the_one_that_has_the_floor(tmp_path: Path) -> None:
    pods_file = tmp_path / "pods.yml"
    pods_file.write_text(yaml.safe_dump({"sim": os.path.relpath(PODS_FILE, tmp_path)}), encoding="utf-8")
    assert read_facts(pods_file) == read_facts(PODS_FILE)
    pods_file.write_text(yaml.safe_dump({"sim": "nowhere.yml"}), encoding="utf-8")
    with pytest.raises(FloorError, match=r"nowhere\.yml can not be read: No such file"):
        read_facts(pods_file)


def test_software_is_added_to_the_floor_of_another_file(tmp_path: Path) -> None:
    pods_file = tmp_path / "pods.yml"
    floor = os.path.relpath(PODS_FILE, tmp_path)
    pods_file.write_text(yaml.safe_dump({"sim": {"floor": floor, "software": ["slurm"]}}), encoding="utf-8")
    facts = read_facts(pods_file)
    assert facts.software == (Software.SLURM,)
    assert dataclasses.replace(facts, software=()) == read_facts(PODS_FILE)
    # What the state directory keeps of it needs no other file.
    kept = tmp_path / "kept.yml"
    kept.write_text(yaml.safe_dump({"sim": sim_section(pods_file)}, sort_keys=False), encoding="utf-8")
    assert read_facts(kept) == facts


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        (
            {"software": ["windows"]},
            "sim.software[0] is 'windows', but it has to be `slurm` or `openstack` or `containers` or `backend-ai`.",
        ),
        (
            {"software": ["backend-ai"]},
            "sim.software: the agents of `backend-ai` make containers; add `containers`, too.",
        ),
        (
            {"controllers": {}},
            "sim has an unknown key `controllers`; it takes software, control, clouds, virtual_functions.",
        ),
        (
            {"virtual_functions": {"pod001-poplar9": {"rnic0": 4}}},
            "sim.virtual_functions.pod001-poplar9 is no Poplar server of sim.poplar_servers; name one of them.",
        ),
        (
            {"virtual_functions": {"pod001-poplar4": {"rnic7": 4}}},
            "sim.virtual_functions.pod001-poplar4.rnic7 is no RNIC of pod001-poplar4; name one of rnic0, rnic1.",
        ),
        (
            {"virtual_functions": {"pod001-poplar4": {"rnic0": 9}}},
            "sim.virtual_functions.pod001-poplar4.rnic0 is 9, but it has to be a number of virtual functions from 0 to",
        ),
    ],
)
def test_nothing_else_is_added(tmp_path: Path, added: dict[str, Any], sentence: str) -> None:
    pods_file = tmp_path / "pods.yml"
    pods_file.write_text(yaml.safe_dump({"sim": {"floor": str(PODS_FILE), **added}}), encoding="utf-8")
    with pytest.raises(FloorError, match=re.escape(sentence)):
        read_facts(pods_file)


def test_a_virtual_machine_has_no_such_software() -> None:
    sim = changed("poplar_servers.pod001-poplar2.machine", "vm")
    with pytest.raises(FloorError, match=r"sim\.software: pod001-poplar2 is a virtual machine"):
        facts_from({**sim, "software": ["slurm"]})


@pytest.mark.parametrize(
    ("uplinks", "sentence"),
    [
        (
            ["pod001-tor Ethernet1/1"],
            "sim.uplinks[0] is 'pod001-tor Ethernet1/1', but it has to be a list.",
        ),
        (
            [["pod001-tor Ethernet1/1"]],
            "sim.uplinks[0] is ['pod001-tor Ethernet1/1'], but it has to be the two ends of a cable between switches.",
        ),
        (
            [["pod001-tor Ethernet9/1", "pod002-tor Ethernet1/1"]],
            "sim: pod001-ipum1 and an uplink both have the switch port pod001-tor Ethernet9/1; each needs its own.",
        ),
        (
            [["pod001-tor Ethernet1/1", "pod001-tor Ethernet2/1"]],
            "sim.uplinks: the cable from pod001-tor Ethernet1/1 to pod001-tor Ethernet2/1 makes a loop; leave it out.",
        ),
        (
            [
                ["pod001-tor Ethernet1/1", "pod002-tor Ethernet1/1"],
                ["pod002-tor Ethernet2/1", "pod003-tor Ethernet1/1"],
                ["pod003-tor Ethernet2/1", "pod001-tor Ethernet2/1"],
            ],
            "sim.uplinks: the cable from pod003-tor Ethernet2/1 to pod001-tor Ethernet2/1 makes a loop; leave it out.",
        ),
    ],
)
def test_a_wrong_uplink_is_refused_with_one_sentence(uplinks: list[Any], sentence: str) -> None:
    switches = {f"pod00{number}-tor": {"management": f"10.4.1.{number}"} for number in (1, 2, 3)}
    with pytest.raises(FloorError, match=f"^{re.escape(sentence)}$"):
        facts_from({**SIM, "switches": switches, "uplinks": uplinks})


def test_a_missing_key_is_refused() -> None:
    sim = copy.deepcopy(SIM)
    del sim["switches"]
    with pytest.raises(FloorError, match=r"^sim has no `switches`; it needs management, switches, controllers"):
        facts_from(sim)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "can not be read: No such file or directory."),
        ("pods: {}\n", "has no `sim:` section; it says what stands on the simulated floor."),
        ("sim: [\n", "is not YAML: "),
    ],
)
def test_a_file_without_facts_is_named(tmp_path: Path, text: str | None, complaint: str) -> None:
    pods_file = tmp_path / "pods.yml"
    if text is not None:
        pods_file.write_text(text, encoding="utf-8")
    with pytest.raises(FloorError) as refusal:
        read_facts(pods_file)
    assert str(refusal.value).startswith(f"{pods_file} {complaint}")


CONTROL = {
    "network": "10.6.0.0/16",
    "control_node": "10.6.0.1",
    "controllers": {"ctrl001": "10.6.0.200"},
    "machines": "10.6.1.0/24",
}
CLOUD = {"management": "10.3.1.210", "control": "10.6.0.210", "hypervisors": ["pod001-poplar3"], "users": ["alice"]}
NODES = {"management_machines": {"network": "10.2.0.0/15", "addresses": "10.3.1.224/28"}}
WITH_CLOUD = {**SIM, "software": ["openstack"], "control": CONTROL, "clouds": {"cloud001": CLOUD}}


def test_a_cloud_is_added_to_the_floor_of_another_file() -> None:
    facts = read_facts(PODS_FILE.parents[1] / "sim_openstack" / "pods.yml")
    [cloud] = facts.clouds
    assert (cloud.name, cloud.hypervisors) == ("cloud001", ("pod001-poplar3", "pod001-poplar4"))
    assert facts.control is not None
    assert facts.control.controllers == (("ctrl001", IPv4Address("10.6.0.200")),)
    assert dataclasses.replace(facts, software=(), control=None, clouds=()) == read_facts(PODS_FILE)


@pytest.mark.parametrize(
    ("sim", "sentence"),
    [
        ({"clouds": {}}, "sim.clouds: a floor with a control network has one cloud, not none; declare one."),
        (
            {"clouds": {"cloud001": CLOUD, "cloud002": {**CLOUD, "management": "10.3.1.211"}}},
            "sim.clouds: a floor with a control network has one cloud, not cloud001, cloud002; declare one.",
        ),
        ({"software": []}, "sim.clouds.cloud001 needs its software; add `openstack` to sim.software."),
        (
            {"control": None},
            "sim.clouds.cloud001 needs a network to its machines; declare it as sim.control.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, "hypervisors": ["pod001-ipum1"]}}},
            "sim.clouds.cloud001.hypervisors[0] is 'pod001-ipum1', but it has to be a Poplar server of "
            "sim.poplar_servers.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, "users": ["Alice!"]}}},
            "sim.clouds.cloud001.users[0] is 'Alice!', but it has to be the name of a user, such as alice.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, "compute_nodes": {"compute001": "10.3.1.211"}}}},
            "sim.clouds.cloud001 has compute_nodes for machines with management_machines as addresses; declare both, "
            "or none.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, **NODES, "compute_nodes": {"ctrl001": "10.3.1.211"}}}},
            "sim: ctrl001 and ctrl001 both have the name ctrl001; each needs its own.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, **NODES, "compute_nodes": {"compute001": "10.3.1.101"}}}},
            "sim: pod001-poplar1 and compute001 both have the management address 10.3.1.101; each needs its own.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, "management": "10.3.1.101"}}},
            "sim: cloud001 and pod001-poplar1 both have the management address 10.3.1.101; each needs its own.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, "control": "10.6.1.9"}}},
            "sim: the control address 10.6.1.9 of cloud001 has to be in 10.6.0.0/16, but not in 10.6.1.0/24, which is "
            "for machines.",
        ),
        (
            {"clouds": {"cloud001": {**CLOUD, "control": "10.6.0.200"}}},
            "sim: ctrl001 and cloud001 both have the control address 10.6.0.200; each needs its own.",
        ),
        (
            {"control": {**CONTROL, "controllers": {"ctrl002": "10.6.0.200"}}},
            "sim.control.controllers.ctrl002 is no controller of sim.controllers; name one of them or leave it out.",
        ),
        (
            {"control": {**CONTROL, "machines": "10.7.1.0/24"}},
            "sim.control.machines 10.7.1.0/24 is not within sim.control.network 10.6.0.0/16.",
        ),
        (
            {"control": {**CONTROL, "network": "10.3.0.0/16"}},
            "sim.control.network 10.3.0.0/16 overlaps the management network 10.3.1.0/24.",
        ),
    ],
)
def test_a_wrong_cloud_is_refused_with_one_sentence(sim: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FloorError, match=f"^{re.escape(sentence)}$"):
        facts_from({**WITH_CLOUD, **sim})


def test_a_hypervisor_without_an_rnic_is_refused() -> None:
    sim = copy.deepcopy(WITH_CLOUD)
    sim["poplar_servers"]["pod001-poplar3"]["rnics"] = {}
    with pytest.raises(FloorError, match=r"^sim\.clouds\.cloud001\.hypervisors: pod001-poplar3 has no RNIC"):
        facts_from(sim)
