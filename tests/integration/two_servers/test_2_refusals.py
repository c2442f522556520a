# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input on a running POD64: one sentence names the place and the remedy, and nothing has been touched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def untouched(pod: Any) -> Iterator[None]:
    """Asserts that the test changed no state file and that the switch saw no write request."""
    before, writes = pod.fingerprint(), pod.write_requests()
    yield
    assert pod.fingerprint() == before
    assert pod.write_requests() == writes


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
    ("option", "message"),
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
def test_a_controller_that_cannot_become_what_was_asked_for(pod: Any, option: str, message: str) -> None:
    run = pod.playbook("vipu_controllers", "-e", option)
    assert run.code != 0
    assert message in run.messages


@pytest.mark.usefixtures("untouched")
def test_a_device_that_is_off(pod: Any) -> None:
    pod.inside("pod001-poplar2", "systemctl stop ssh; pkill sshd; true")
    try:
        run = pod.playbook("site")
    finally:
        pod.inside("pod001-poplar2", "systemctl start ssh")
    assert run.code != 0
    message, nothing = run.messages.removeprefix("localhost: ").splitlines()
    assert nothing == "Nothing has been touched."
    assert message.startswith("pod001-poplar2: ")
    assert "connect to host 10.3.1.102 port 22: Connection refused; start it, or correct its address in pods" in message


def test_a_server_with_live_queue_pairs_keeps_its_network(pod: Any) -> None:
    queue_pairs, mtu = "/run/podsim-queue-pairs", "cat /sys/class/net/rnic0/mtu"
    pod.inside(
        "pod001-poplar2",
        f"mkdir -p {queue_pairs}; sleep 600 >/dev/null 2>&1 & echo mlx5_0 271 > {queue_pairs}/$!; "
        "ip link set rnic0 mtu 1500",
    )
    process = pod.inside("pod001-poplar2", f"ls {queue_pairs}").strip()
    refused = pod.playbook("site")
    assert refused.code != 0
    in_use = f"queue pair 271 on mlx5_0 of sleep (process {process})"
    assert f"interface rnic0: rnic0 is in use: {in_use}; end that first" in refused.messages
    assert pod.inside("pod001-poplar2", mtu) == "1500\n"
    pod.inside("pod001-poplar2", f"kill $(ls {queue_pairs})")
    assert pod.playbook("site").code == 0
    assert pod.inside("pod001-poplar2", mtu) == "9000\n"


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
