# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks of containers: what podman and Docker say of them, and the plan that makes them as declared."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._containers.engines import Engines
from ansible_collections.ipu.pod.plugins.module_utils._containers.networks import networks_from, plan
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused, converge, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import predict
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Function, Sysfs
from tests.support.in_memory.container_engines import ContainerEngines
from tests.support.in_memory.server import MemorySysfs

ALICE = {"name": "ipu-alice", "interface": "rnic0", "subnet": "10.5.0.0/16", "range": "10.5.1.128/27"}
BOB = {**ALICE, "name": "ipu-bob", "range": "10.5.1.160/27"}


SHARED = {**ALICE, "function": 1, "range": "10.5.1.132/30"}


def nic(*functions: str) -> MemorySysfs:
    """A server whose rnic0 has virtual functions with these network devices; "" has none here."""
    sysfs = MemorySysfs()
    sysfs.limits = {"rnic0": 8}
    sysfs.taken["rnic0"] = [
        Function(index, f"0000:81:00.{index}", "mlx5_core", (device,) if device else ())
        for index, device in enumerate(functions)
    ]
    return sysfs


def run(
    there: ContainerEngines, *declared: dict[str, Any], check_mode: bool = False, sysfs: Sysfs | None = None
) -> Any:
    engines = Engines(Programs(there.run), sysfs or MemorySysfs())
    wanted = networks_from(declared)
    return converge(
        engines.read, lambda state: plan(wanted, state), one_by_one(engines.carry_out), check_mode=check_mode
    )


def brief(outcome: Any) -> list[tuple[str, str]]:
    return [(step.action, step.name) for step in outcome.steps]


@pytest.mark.parametrize("engines", [("podman",), ("docker",), ("podman", "docker")])
def test_they_are_made_as_predicted_and_a_second_run_changes_nothing(engines: tuple[str, ...]) -> None:
    there = ContainerEngines(*engines)
    dry = run(there, ALICE, BOB, check_mode=True)
    outcome = run(there, ALICE, BOB)
    assert brief(outcome) == [("create", f"{engine}/{name}") for engine in engines for name in ("ipu-alice", "ipu-bob")]
    assert outcome.failure is None
    assert (dry.steps, dry.after) == (outcome.steps, outcome.after)
    assert brief(run(there, ALICE, BOB)) == []


def test_two_engines_share_the_addresses() -> None:
    there = ContainerEngines("podman", "docker")
    networks = run(there, ALICE).after["container_network"]
    assert {name: each["range"] for name, each in networks.items()} == {
        "podman/ipu-alice": "10.5.1.128/28",
        "docker/ipu-alice": "10.5.1.144/28",
    }


def test_a_container_has_no_default_route_by_them() -> None:
    there = ContainerEngines("podman", "docker")
    run(there, ALICE)
    assert [argv for argv in there.asked if "create" in argv] == [
        [
            *(engine, "network", "create", "--driver", "macvlan", "--opt", "parent=rnic0", "--subnet", "10.5.0.0/16"),
            *("--ip-range", given, "--internal", *no_names, "--label", "ipu.pod=network", "ipu-alice"),
        ]
        for engine, given, no_names in (("podman", "10.5.1.128/28", ["--disable-dns"]), ("docker", "10.5.1.144/28", []))
    ]


def test_one_that_is_not_as_declared_is_made_again() -> None:
    there = ContainerEngines("podman")
    run(there, ALICE)
    outcome = run(there, {**ALICE, "interface": "rnic1"})
    assert [(step.action, step.reason, step.risk) for step in outcome.steps] == [
        ("recreate", "interface is 'rnic0', wanted 'rnic1'", "disruptive")
    ]
    assert outcome.failure is None


def test_what_is_no_longer_declared_goes_and_what_others_have_made_stays() -> None:
    there = ContainerEngines("podman", "docker")
    run(there, ALICE)
    there.make("docker", "theirs", interface="rnic1", subnet="10.9.0.0/16")
    assert brief(run(there)) == [("remove", "podman/ipu-alice"), ("remove", "docker/ipu-alice")]
    assert [name for _engine, name in there.networks] == ["podman", "bridge", "theirs"]


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ([], "is not declared"),
        ([{**ALICE, "interface": "rnic1"}], "is to be made again (interface is 'rnic0', wanted 'rnic1')"),
    ],
)
def test_one_that_a_container_has_is_left_alone(declared: list[dict[str, str]], why: str) -> None:
    there = ContainerEngines("podman")
    run(there, ALICE)
    there.start("podman", "train", "ipu-alice")
    assert brief(run(there, ALICE)) == []
    with pytest.raises(Refused) as refused:
        run(there, *declared)
    assert str(refused.value) == f"network ipu-alice of podman {why}, and train has it; remove that container first"


@pytest.mark.parametrize(
    ("theirs", "sentence"),
    [
        (
            {"name": "ipu-alice", "interface": "", "subnet": "10.9.0.0/16"},
            "network ipu-alice of docker is there and was not made by this collection; remove it, or give the vPOD "
            "another name",
        ),
        (
            {"name": "theirs", "interface": "rnic0", "subnet": "10.5.0.0/16"},
            "network theirs of docker was not made by this collection, and gives out 10.5.0.0/16 on rnic0, of which "
            "10.5.1.128/27 is for ipu-alice; remove it",
        ),
        (
            {"name": "theirs", "interface": "rnic0", "subnet": "10.5.0.0/16", "given": "10.5.1.152/29"},
            "network theirs of docker was not made by this collection, and gives out 10.5.1.152/29 on rnic0, of which "
            "10.5.1.128/27 is for ipu-alice; remove it",
        ),
    ],
)
def test_somebody_elses_network_in_the_way_is_named(theirs: dict[str, str], sentence: str) -> None:
    there = ContainerEngines("docker")
    there.make("docker", **theirs)
    with pytest.raises(Refused) as refused:
        run(there, ALICE)
    assert str(refused.value) == sentence


def test_somebody_elses_network_beside_is_no_matter() -> None:
    there = ContainerEngines("docker")
    there.make("docker", "theirs", interface="rnic0", subnet="10.5.0.0/16", given="10.5.1.160/27")
    there.make("docker", "far", interface="rnic1", subnet="10.5.0.0/16")
    assert brief(run(there, ALICE)) == [("create", "docker/ipu-alice")]


def test_without_an_engine_there_is_nothing_to_make_them_in() -> None:
    assert run(ContainerEngines()).steps == []
    with pytest.raises(Refused) as refused:
        run(ContainerEngines(), ALICE)
    assert str(refused.value) == (
        "this server has neither podman nor Docker; install one of them, or leave containers out"
    )


def test_an_engine_that_is_down_is_named_unless_nothing_is_wanted() -> None:
    there = ContainerEngines("docker")
    there.down["docker"] = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock."
    assert run(there).steps == []
    with pytest.raises(Refused) as refused:
        run(there, ALICE)
    assert str(refused.value) == (
        "docker does not answer: docker network ls --quiet --no-trunc: Cannot connect to the Docker daemon at "
        "unix:///var/run/docker.sock.; start it, or remove it from this server"
    )


def test_a_client_alone_is_no_engine() -> None:
    there = ContainerEngines("podman")
    assert brief(run(there, ALICE)) == [("create", "podman/ipu-alice")]
    assert ["dockerd", "--version"] in there.asked
    assert [argv for argv in there.asked if argv[0] == "docker"] == []


def test_old_podman_is_said_to_be_old() -> None:
    there = ContainerEngines("podman")
    there.answers["podman", "network", "ls"] = json.dumps([{"Name": "podman", "CniVersion": "0.4.0", "Plugins": []}])
    with pytest.raises(Refused, match=r"^podman is older than 4\.0; install a later one$"):
        run(there, ALICE)


@pytest.mark.parametrize("answer", ["", "{", "[1]", '[{"name": 1}]'])
def test_security_of_docker_in_another_shape_is_not_understood(answer: str) -> None:
    there = ContainerEngines("docker")
    there.answers["docker", "info"] = answer
    said = Engines(Programs(there.run), MemorySysfs()).read()["container_engine"]["docker"]["message"]
    assert said.startswith("does not answer: docker printed something that is not understood: ")


@pytest.mark.parametrize("answer", ["", "{", "[]x", "[1]", '[{"name": 1}]', '{"a": 1}', "null"])
@pytest.mark.parametrize("words", [("podman", "network", "ls"), ("podman", "ps"), ("docker", "network", "inspect")])
def test_answers_of_another_shape_are_an_answer_that_is_not_understood(words: tuple[str, ...], answer: str) -> None:
    there = ContainerEngines(words[0])
    there.answers[words] = answer
    said = Engines(Programs(there.run), MemorySysfs()).read()["container_engine"][words[0]]["message"]
    assert said.startswith(f"does not answer: {words[0]} printed something that is not understood: ")


@pytest.mark.parametrize(
    ("security", "sentence"),
    [
        (
            ["name=seccomp,profile=default", "name=rootless"],
            "docker runs without root's rights, and has no networks on the RNIC; run its daemon as root",
        ),
        (
            ["name=userns,uid=100000"],
            "docker maps users (userns-remap), so that files and devices of this server are closed to containers; "
            "switch that off in its daemon.json",
        ),
    ],
)
def test_docker_that_keeps_containers_from_rnic_or_devices_is_refused(security: list[str], sentence: str) -> None:
    there = ContainerEngines("docker")
    there.security = security
    assert run(there).steps == []
    with pytest.raises(Refused) as refused:
        run(there, ALICE)
    assert str(refused.value) == sentence
    assert not [argv for argv in there.asked if "create" in argv]


@pytest.mark.parametrize("security", [None, [], ["name=apparmor", "name=cgroupns"]])
def test_other_security_of_docker_is_its_own_affair(security: list[str] | None) -> None:
    there = ContainerEngines("docker")
    there.answers["docker", "info"] = json.dumps(security)
    assert brief(run(there, ALICE)) == [("create", "docker/ipu-alice")]


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (
            [{**ALICE, "range": "10.6.1.128/27"}],
            "network ipu-alice: range 10.6.1.128/27 is not in subnet 10.5.0.0/16; give a part of the subnet",
        ),
        (
            [{**ALICE, "subnet": "10.5.0.1/16"}],
            "network ipu-alice: subnet 10.5.0.1/16 has host bits set; write one like 10.5.0.0/16",
        ),
        (
            [{**ALICE, "subnet": "fd00::/64", "range": "fd00::/96"}],
            "network ipu-alice: RNICs have IPv4 addresses, and fd00::/64 is IPv6",
        ),
        ([ALICE, ALICE], "network ipu-alice: is there twice; give each network its own name"),
        (
            [ALICE, {**BOB, "range": "10.5.1.128/26"}],
            "network ipu-bob: range 10.5.1.128/26 overlaps with that of network ipu-alice; give it another",
        ),
    ],
)
def test_malformed_networks_are_refused(declared: list[dict[str, str]], sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        networks_from(declared)
    assert str(refused.value) == sentence


def test_what_an_engine_refuses_is_quoted() -> None:
    there = ContainerEngines("podman")
    there.refuses = "Error: parent interface rnic0 does not exist"
    outcome = run(there, ALICE)
    assert "Error: parent interface rnic0 does not exist" in str(outcome.failure)
    assert predict(outcome.before, []) == outcome.after


def test_an_engine_that_goes_away_is_said() -> None:
    there = ContainerEngines("podman")
    engines = Engines(Programs(there.run), MemorySysfs())
    there.programs.clear()
    assert "podman" in engines.read()["container_engine"]["podman"]["message"]
    with pytest.raises(DeviceError):
        Programs(there.run).call(["podman"])


@pytest.mark.parametrize(("engine", "mode"), [("podman", "mode=passthru"), ("docker", "macvlan_mode=passthru")])
def test_a_virtual_function_is_for_one_network_alone(engine: str, mode: str) -> None:
    there, sysfs = ContainerEngines(engine), nic("rnic0v0", "rnic0v1")
    dry = run(there, SHARED, check_mode=True, sysfs=sysfs)
    outcome = run(there, SHARED, sysfs=sysfs)
    (argv,) = [argv for argv in there.asked if "create" in argv]
    assert [value for option, value in pairwise(argv) if option == "--opt"] == ["parent=rnic0v1", mode]
    assert (dry.steps, dry.after) == (outcome.steps, outcome.after)
    assert outcome.after["container_network"][f"{engine}/ipu-alice"]["interface"] == "rnic0 vf 1"
    assert brief(run(there, SHARED, sysfs=sysfs)) == []


def test_a_function_that_has_become_another_device_is_followed() -> None:
    there = ContainerEngines("podman")
    run(there, SHARED, sysfs=nic("rnic0v0", "rnic0v1"))
    outcome = run(there, SHARED, sysfs=nic("rnic0v1", "rnic0v0"))
    assert [step.reason for step in outcome.steps] == ["interface is 'rnic0 vf 0', wanted 'rnic0 vf 1'"]
    assert brief(run(there, SHARED, sysfs=nic("rnic0v1", "rnic0v0"))) == []


def test_a_function_without_a_device_is_refused_and_one_that_is_yet_to_be_made_fails() -> None:
    there = ContainerEngines("podman")
    with pytest.raises(Refused) as refused:
        run(there, SHARED, sysfs=nic("rnic0v0", ""))
    assert str(refused.value) == (
        "virtual function 1 of rnic0, for network ipu-alice, has no network device on this server; take it back from "
        "the virtual machine that has it, or load the NIC's driver for it"
    )
    assert brief(run(there, SHARED, check_mode=True, sysfs=nic("rnic0v0"))) == [("create", "podman/ipu-alice")]
    failed = run(there, SHARED, sysfs=nic("rnic0v0")).failure
    assert "rnic0 vf 1 is not there; run playbooks/poplar_servers.yml, which makes it" in str(failed)


def test_nobody_else_has_a_network_on_the_function() -> None:
    there = ContainerEngines("docker")
    there.make("docker", "lab", interface="rnic0v1", subnet="192.168.0.0/24")
    with pytest.raises(Refused) as refused:
        run(there, SHARED, sysfs=nic("rnic0v0", "rnic0v1"))
    assert str(refused.value) == (
        "network lab of docker was not made by this collection, and has rnic0 vf 1, which is for ipu-alice alone; "
        "remove it"
    )
