# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two tenants on one server, by podman and by Docker: its RNIC keeps their containers apart, whatever these send."""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.run_containers import listed, running, said
from tests.integration.vpods.floor import MANAGEMENT, allocated, asked
from tests.support.checkout import ROOT
from tests.support.container_image import MAKE_IMAGE, PROGRAMS, WORKLOAD
from tests.support.packets.matrix import faults
from tests.support.packets.ports import Port, management_port_of, port_socket, ports_of, rnic_of
from tests.support.packets.reach import BROADCAST, Frame, Ping, answered, arrivals
from tests.support.packets.running_flow import RunningFlow
from tests.support.playbook_run import did_what_was_predicted

INVENTORY = ROOT / "inventories" / "sim_containers_shared"
SERVER, OTHER = "pod001-poplar4", "pod001-poplar1"
NAMESPACE = f"podsim-{SERVER}"
VLANS = {"alice": 201, "bob": 202, "carol": 203}
ARP_REPLY = b"\x00\x01\x08\x00\x06\x04\x00\x02"


@pytest.fixture(scope="module", name="inventory")
def _inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inventory, in which a group of users has each vPOD."""
    return changed_inventory(tmp_path_factory.mktemp("inventory"))


def changed_inventory(place: Path, change: Callable[[dict[str, Any]], None] = lambda _vpods: None) -> Path:
    shutil.copytree(INVENTORY, place, dirs_exist_ok=True)
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["sim"]["floor"] = str((INVENTORY / document["sim"]["floor"]).resolve())
    change(document["vpods"])
    (place / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
    (place / "host_vars").mkdir(exist_ok=True)
    (place / "host_vars" / f"{SERVER}.yml").write_text("containers_groups: {alice: lab-alice, bob: lab-bob}\n")
    return place


@pytest.fixture(scope="module", autouse=True)
def _users(pod: Any) -> None:
    """An image, and a user of each vPOD."""
    pod.inside(SERVER, MAKE_IMAGE)
    for vpod, user in (("alice", "ann"), ("bob", "ben")):
        pod.inside(SERVER, f"groupadd lab-{vpod}; useradd --create-home --groups lab-{vpod} {user}")


def machines(pod: Any, vpod: str) -> list[Port]:
    return [rnic_of(machine) for machine in allocated(pod, vpod)]


def everybody(pod: Any, *more: Port) -> list[Port]:
    """All RNICs of the pod, and more ports."""
    return [*(rnic_of(machine) for machine in (*pod.sim["poplar_servers"], *pod.sim["ipu_machines"])), *more]


def function(number: int) -> Port:
    """A virtual function as the server has it."""
    return ports_of(NAMESPACE)[f"rnic0v{number}"]


def function_mac(pod: Any, number: int) -> str:
    """Its MAC address, as the NIC has it."""
    links = json.loads(pod.inside(SERVER, "ip -details -json address show"))
    (found,) = (link["vfinfo_list"] for link in links if link["ifname"] == "rnic0")
    return str(found[number]["address"])


def partitions(pod: Any) -> list[str]:
    return sorted(each["id"] for each in asked(pod, "list partitions")["partitions"])


def test_a_second_run_changes_nothing_and_there_is_no_drift(pod: Any) -> None:
    run = pod.playbook("site")
    assert (run.code, run.messages, run.changes) == (0, "", [])
    code, said_of_drift = pod.say("drift", inventory=pod.inventory)
    assert code == 0, said_of_drift


def test_users_of_each_group_have_the_ipus_of_their_vpod_at_once(pod: Any) -> None:
    words = f"sudo ipu-run --name {{}} {{}} poplar sh -c {shlex.quote('ip -o -4 a show eth0; ls /dev/infiniband')}"
    for user, name, engine, verbs in (("ann", "one", "podman", "uverbs1"), ("ben", "two", "docker", "uverbs2")):
        lines = said(pod, SERVER, words.format(name, f"--engine {engine}"), user)
        assert lines[-3:] == ["rdma_cm", verbs, "status 0"]
        assert " inet 10.5.1." in lines[-4]
    assert said(pod, SERVER, "sudo ipu-run --vpod bob poplar true", "ann") == [
        "ipu-run: you may have no IPUs of vPOD bob; be a member of lab-bob",
        "status 125",
    ]
    assert (partitions(pod), listed(pod, SERVER)) == ([], [])


@pytest.mark.parametrize(("vpod", "engine"), [("alice", "docker"), ("bob", "podman")])
def test_a_container_uses_the_ipus_of_its_vpod(pod: Any, vpod: str, engine: str) -> None:
    lines = said(pod, SERVER, f"ipu-run --vpod {vpod} --engine {engine} --ipus 8 {PROGRAMS} poplar {WORKLOAD}")
    numbers = [name.removeprefix("pod001-ipum") for name in allocated(pod, vpod)[:2]]
    assert [line.partition(":")[0] for line in lines[1:3]] == [f"10.5.1.{number}" for number in numbers]
    assert lines[-1] == "status 0"


def test_each_reaches_its_own_and_nothing_of_the_others_whatever_it_sends(pod: Any) -> None:
    with (
        running(pod, SERVER, "anns", "--vpod alice --engine podman") as alice,
        running(pod, SERVER, "bens", "--vpod bob --engine docker") as bob,
    ):
        assert (alice.mac, bob.mac) == (function_mac(pod, 0), function_mac(pod, 1))
        are_apart(pod, alice, bob)
        no_forged_frame_arrives(pod, alice, bob)
        no_forged_address_is_believed(pod, alice, bob)


def are_apart(pod: Any, alice: Port, bob: Port) -> None:
    """Between all ports of the pod, by frames and by pings."""
    tenants = {
        "alice": [alice, *machines(pod, "alice")],
        "bob": [bob, *machines(pod, "bob")],
        "carol": [rnic_of(OTHER), *machines(pod, "carol")],
    }
    taken = {port for ports in tenants.values() for port in ports}
    nobodys = [port for port in everybody(pod) if port not in taken]
    hosts = [*pod.sim["poplar_servers"], *pod.sim["ipu_machines"], "ctrl001"]
    management = [management_port_of(host) for host in hosts]
    assert rnic_of(SERVER) in nobodys
    assert faults(tenants, VLANS, [*nobodys, *management], MANAGEMENT) == []


def no_forged_frame_arrives(pod: Any, alice: Port, bob: Port) -> None:
    """Neither from the MAC address of the other container or of anybody else, nor with a tag of another VLAN."""
    forged = [bob.mac, rnic_of(SERVER).mac, machines(pod, "bob")[0].mac, "02:aa:bb:cc:dd:ee"]
    frames = [
        *(Frame(replace(alice, mac=mac), to) for mac in forged for to in (BROADCAST, bob.mac)),
        *(Frame(replace(alice, mac=mac), BROADCAST, vlan) for mac in (alice.mac, bob.mac) for vlan in (202, 100, 999)),
    ]
    seen = arrivals(frames, everybody(pod, bob))
    assert {frame: ports for frame, ports in seen.items() if ports} == {}


def no_forged_address_is_believed(pod: Any, alice: Port, bob: Port) -> None:
    """With the address of the other container, and with ARP that says it has that and those of the machines."""
    victim = machines(pod, "bob")[0]
    subprocess.run(["ip", "-n", alice.namespace, "address", "add", f"{bob.address}/16", "dev", "eth0"], check=True)
    forger = replace(alice, address=bob.address)
    assert answered([Ping(bob, victim.address)]) == {Ping(bob, victim.address)}
    assert answered([Ping(forger, port.address) for port in machines(pod, "bob")]) == set()
    for mac in (alice.mac, bob.mac):
        announce(alice, mac, bob.address, alice.mac)
        announce(alice, mac, victim.address, alice.mac)
    neighbours = {port: neighbour_of(port, address) for port, address in ((victim, bob.address), (bob, victim.address))}
    assert neighbours == {victim: bob.mac, bob: victim.mac}
    assert answered([Ping(bob, victim.address)]) == {Ping(bob, victim.address)}


def announce(port: Port, source: str, address: str, mac: str) -> None:
    """Tell everybody by ARP, from a MAC address of Ethernet, that a MAC address has an IPv4 address."""
    own, ip = bytes.fromhex(mac.replace(":", "")), socket.inet_aton(address)
    header = b"\xff" * 6 + bytes.fromhex(source.replace(":", "")) + b"\x08\x06"
    with port_socket(port, socket.AF_PACKET, socket.SOCK_RAW) as opened:
        opened.bind((port.interface, 0))
        for _time in range(3):
            opened.send(header + ARP_REPLY + own + ip + b"\xff" * 6 + ip)
    # What has not come after so long does not come.
    time.sleep(0.5)


def neighbour_of(port: Port, address: str) -> str:
    """The MAC address that a port's machine has for an address."""
    shown = subprocess.run(
        ["ip", "-n", port.namespace, "-json", "neighbour", "show", address], check=True, capture_output=True, text=True
    )
    return str(json.loads(shown.stdout)[0]["lladdr"])


def test_the_ipuof_file_of_the_other_leads_nowhere(pod: Any) -> None:
    with running(pod, SERVER, "theirs", "--vpod bob"):
        forged = pod.inside(SERVER, "cat /var/lib/ipu-pod/containers/theirs/ipuof.conf.d/ipuof.conf")
        pod.inside(SERVER, f"mkdir -p /tmp/forged; printf %s {shlex.quote(forged)} >/tmp/forged/ipuof.conf")
        options = f"{PROGRAMS} --volume /tmp/forged:/forged:ro --env IPUOF_CONFIG_PATH=/forged/ipuof.conf"
        lines = said(pod, SERVER, f"ipu-run --vpod alice --name forger {options} poplar {WORKLOAD}")
    assert "does not answer on eth0" in lines[1]
    assert lines[-1] == "status 1"


def test_the_server_itself_cannot_leave_a_functions_vlan_by_it(pod: Any) -> None:
    """As root of the server, with no container there: by the function of bob only to bob's, and with its MAC alone."""
    port = replace(function(1), mac=function_mac(pod, 1))
    (first, second, *_others), bobs = machines(pod, "alice"), machines(pod, "bob")
    between = Ping(second, first.address)
    pod.inside(SERVER, f"ip link set rnic0v1 address {port.mac} arp on up; ip addr add {first.address}/32 dev rnic0v1")
    frames = [
        Frame(port, BROADCAST),
        Frame(replace(port, mac=function_mac(pod, 0)), BROADCAST),
        *(Frame(port, BROADCAST, vlan) for vlan in (201, 100)),
    ]
    seen = arrivals(frames, everybody(pod))
    assert seen[frames[0]] == set(bobs)
    assert [seen[frame] for frame in frames[1:]] == [set()] * 3
    # As an IPU-Machine of alice: bob's believe it, and nobody else hears of it.
    assert answered([between, *(Ping(port, each.address) for each in (second, bobs[0]))]) == {
        between,
        Ping(port, bobs[0].address),
    }
    announce(port, port.mac, first.address, port.mac)
    assert (neighbour_of(second, first.address), answered([between])) == (first.mac, {between})
    pod.inside(SERVER, f"ip addr del {first.address}/32 dev rnic0v1; ip link set rnic0v1 arp off down")


def test_the_server_says_nothing_in_a_vpods_vlan(pod: Any) -> None:
    """A function is up after its container has ended, and nobody in the VLAN gets an answer from the server there."""
    said(pod, SERVER, "ipu-run --vpod alice poplar true")
    assert "UP" in pod.inside(SERVER, "ip -brief link show rnic0v0")
    machine = machines(pod, "alice")[0]
    own = [port.address for port in (rnic_of(SERVER), management_port_of(SERVER))]
    assert answered([Ping(machine, address) for address in own]) == set()
    assert pod.inside(SERVER, "ip -brief -6 address show rnic0v0") == ""


def test_one_container_at_a_time_has_a_function(pod: Any) -> None:
    with running(pod, SERVER, "first", "--vpod alice"):
        sentence = "container first of root has virtual function 0 of rnic0, which one has at a time"
        assert said(pod, SERVER, "ipu-run --vpod alice --engine docker poplar true") == [
            f"ipu-run: {sentence}",
            "status 125",
        ]
        pod.inside(SERVER, "(sleep 3; podman kill first) >/dev/null 2>&1 &")
        lines = said(pod, SERVER, "ipu-run --vpod alice --wait 60 poplar true")
        assert lines[0] == f"ipu-run: waiting up to 60 s: {sentence}"
        assert lines[-1] == "status 0"


def test_drift_keeps_containers_away_is_found_and_mended(pod: Any) -> None:
    not_kept = "the NIC does not keep virtual function 0 of rnic0 in VLAN 201"
    for by_hand, sentence in {
        "rm -r /etc/ipu-pod/vipu/alice": "vipu-cli.hcl",
        "ip link set dev rnic0 vf 0 vlan 202": not_kept,
        "ip link set dev rnic0 vf 0 vlan 201 spoofchk off": not_kept,
        "podman network rm ipu-alice": "podman has no network ipu-alice of this collection; run vpods.yml",
    }.items():
        pod.inside(SERVER, by_hand)
        lines = said(pod, SERVER, "ipu-run --vpod alice --engine podman poplar true")
        assert sentence in lines[0]
        assert lines[-1] == "status 125"
    code, found = pod.say("drift", inventory=pod.inventory)
    assert code == 2
    for each in ("rnic0", "podman/ipu-alice", "/etc/ipu-pod/vipu/alice"):
        assert each in found
    run = pod.playbook("vpods")
    assert (run.code, run.messages) == (0, "")
    assert said(pod, SERVER, "ipu-run --vpod alice --engine podman poplar true")[-1] == "status 0"


def test_one_that_leaves_takes_its_own_along_and_the_other_feels_nothing(
    pod: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    without_alice = changed_inventory(tmp_path_factory.mktemp("alone"), gone("alice"))
    only = ("-e", json.dumps({"vpods_only": ["alice"]}))
    with running(pod, SERVER, "bens", "--vpod bob") as bob:
        with RunningFlow({"bob": [bob, machines(pod, "bob")[0]]}) as flow:
            run = pod.playbook("vpods", *only, inventory=without_alice)
            reports = flow.end()
        assert (run.code, run.messages) == (0, "")
        assert reports["bob"].lost == 0
    left = pod.inside(SERVER, "ls /etc/ipu-pod/vipu; podman network ls --quiet; docker network ls --format '{{.Name}}'")
    assert "ipu-alice" not in left
    assert left.splitlines()[0] == "bob"
    assert ports_tag(pod, 0) == 999
    assert said(pod, SERVER, "ipu-run poplar true")[-1] == "status 0"


def ports_tag(pod: Any, number: int) -> int:
    """The VLAN of a function, as the NIC has it."""
    links = json.loads(pod.inside(SERVER, "ip -details -json address show"))
    (found,) = (link["vfinfo_list"] for link in links if link["ifname"] == "rnic0")
    return int(found[number]["vlan_list"][0]["vlan"])


def gone(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(vpods: dict[str, Any]) -> None:
        for name in names:
            vpods[name]["state"] = "absent"

    return change


def test_a_removed_server_has_nothing_of_it_left(pod: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    without = changed_inventory(tmp_path_factory.mktemp("without"), gone("alice", "bob"))
    check = pod.playbook("vpods", "--check", inventory=without)
    run = pod.playbook("vpods", inventory=without)
    assert [(each.code, each.messages) for each in (check, run)] == [(0, "")] * 2
    did_what_was_predicted(check, run)
    places = "/etc/ipu-pod/vipu /etc/ipu-pod/containers.json /usr/local/bin/ipu-run /etc/sudoers.d/ipu-run"
    pod.inside(SERVER, f"for each in {places}; do ! test -e $each || exit 1; done; ! podman network exists ipu-bob")
    assert "ipu-bob" not in pod.inside(SERVER, "docker network ls --format '{{.Name}}'")
    assert [ports_tag(pod, number) for number in range(4)] == [999] * 4
