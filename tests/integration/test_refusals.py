# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input on a running POD64: one sentence names the place and the remedy, and nothing has been touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

INVENTORY = Path(__file__).resolve().parents[2] / "inventories" / "sim_two_servers"


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    return INVENTORY


@pytest.fixture
def untouched(pod: Any) -> Iterator[None]:
    """Asserts that the test changed no state file and that the switch saw no write request."""
    before, writes = pod.fingerprint(), pod.write_requests()
    yield
    assert pod.fingerprint() == before
    assert pod.write_requests() == writes


def declared(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    for path, value in changes.items():
        *parents, key = path.split("__")
        place = document
        for parent in parents:
            place = place[parent]
        place[key] = value
    return document


def unwrapped(output: str) -> str:
    """What was said, however wide the terminal is that it was said for."""
    return " ".join(output.split())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pods__pod001__model": "bow-pod65"}, "pods.pod001.model: 'bow-pod65' is not known; use one of bow-pod64"),
        (
            {"pods__pod001__overrides": {"pod001-ipum3": {"gateway_address": "10.2.1.4"}}},
            "pods.pod001.overrides.pod001-ipum3.gateway_address: 10.2.1.4 of pod001-ipum3 is also the gateway_address",
        ),
        (
            {"pods__pod001__overrides": {"pod001-ipum3": {"switch_port": "Et9/1"}}},
            "pods.pod001.overrides.pod001-ipum3.switch_port: Ethernet9/1 of pod001-ipum3 is already the port of",
        ),
        (
            {"vpods__demo__partitions__train": {"ipus": 128}},
            "vpods.demo.partitions.train.ipus: 128 IPUs are more than the 64 of vPOD demo; use at most 64 or enlarge",
        ),
        ({"vpods__demo__partitions__train": {"ipus": 12}}, "12 IPUs do not exist as a partition; use 1, 2, 4, 8, 16"),
    ],
)
@pytest.mark.usefixtures("untouched")
def test_a_pods_yml_that_cannot_be_meant(pod: Any, tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    bad = tmp_path / "pods.yml"
    bad.write_text(yaml.safe_dump(declared(**changes)))
    # With -v, every play is told.
    code, output = pod.say("site", "-v", inventory=tmp_path)
    assert code != 0
    assert said in unwrapped(output)
    assert "PLAY" not in output
    code, output = pod.say("validate", "-e", f"pods={bad}", inventory=None)
    assert code != 0
    assert said in unwrapped(output)


@pytest.mark.usefixtures("untouched")
def test_a_run_without_pod_says_which_option_is_missing(pod: Any) -> None:
    code, output = pod.say("site", inventory=None)
    assert code != 0
    assert "No pod to work on; say which with -i DIRECTORY" in unwrapped(output)


def test_a_controller_that_should_answer_and_does_not(pod: Any) -> None:
    pod.inside("ctrl001", "systemctl stop vipu-server")
    try:
        before, writes = pod.fingerprint(), pod.write_requests()
        run = pod.playbook("site")
        assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    finally:
        pod.inside("ctrl001", "systemctl start vipu-server")
    assert run.code != 0
    assert "the V-IPU controller at localhost:8091" in run.messages
    assert "start vipu-server on ctrl001" in run.messages


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            "vipu_controller_mode=secure",
            "The V-IPU controller on ctrl001 holds partitions (train, serve) and is not switched to secure mode under "
            "them; remove them first, or leave mode out",
        ),
        (
            "vipu_controller_program=/nowhere/vipu-server",
            "ctrl001 has no /nowhere/vipu-server; set vipu_controller_archive to the vendor's tarball on the control "
            "node and vipu_controller_release to its release, or correct vipu_controller_program",
        ),
        (
            "vipu_controller_archive=/nowhere/vipu.tar.gz",
            "vipu_controller_release is missing; set it to the release of vipu_controller_archive, like 1.18.0",
        ),
    ],
)
@pytest.mark.usefixtures("untouched")
def test_a_controller_that_cannot_become_what_was_asked_for(pod: Any, option: str, said: str) -> None:
    run = pod.playbook("vipu_controllers", "-e", option)
    assert run.code != 0
    assert said in run.messages


@pytest.mark.usefixtures("untouched")
def test_a_device_that_is_off(pod: Any) -> None:
    pod.inside("pod001-poplar2", "systemctl stop ssh; pkill sshd; true")
    try:
        run = pod.playbook("site")
    finally:
        pod.inside("pod001-poplar2", "systemctl start ssh")
    assert run.code != 0
    said, nothing = run.messages.removeprefix("localhost: ").splitlines()
    assert nothing == "Nothing has been touched."
    assert said.startswith("pod001-poplar2: ")
    assert "connect to host 10.3.1.102 port 22: Connection refused; start it, or correct its address in pods" in said


def test_a_switch_on_which_somebody_else_is_at_work(pod: Any) -> None:
    pod.switch("configure", "interface Ethernet9/1", "switchport access vlan 1")
    pod.switch("configure session somebody", "vlan 999", "name theirs")
    before, writes = pod.fingerprint(), pod.write_requests()
    run = pod.playbook("site")
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    assert run.code != 0
    assert "another configuration session is open on the switch: somebody (pending); commit or abort" in run.messages
    pod.switch("configure session somebody", "abort")
    assert pod.playbook("site").changed["pod001-tor"] == 1


def test_a_port_in_another_vlan_turns_verification_red_and_site_puts_it_back(pod: Any) -> None:
    pod.switch("configure", "vlan 666", "interface Ethernet12/1", "switchport access vlan 666")
    red = pod.playbook("verify")
    assert red.code != 0
    assert "pod001-ipum4 (10.5.1.4): no answer to 9000 bytes through rnic0" in red.messages
    assert "pod001-ipum5" not in red.messages
    repaired = pod.playbook("site")
    assert (repaired.code, repaired.changed["pod001-tor"]) == (0, 1)
    pod.switch("configure", "no vlan 666")
    assert pod.playbook("verify").code == 0
