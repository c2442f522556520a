# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each part of the simulated pod, killed: the pod says that it is not up, and `podsim up` brings it back to work."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from podsim.floor.daemons import Daemons
from podsim.floor.state import StateDirectory
from tests.integration.two_servers.conftest import INVENTORY, below, first_process
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.processes import wait_until
from tests.support.simulated_pod import STATE, podsim

SERVER, MACHINE, ADDRESS = "pod001-poplar1", "pod001-ipum3", "10.5.1.3"
DAEMONS = ("pod001-tor", "ovsdb-server", "ovs-vswitchd", "dnsmasq")


def daemons() -> dict[str, int]:
    return Daemons(StateDirectory(STATE)).running()


def up() -> bool:
    """Whether the pod says that all of it is up."""
    return subprocess.run([f"{PROGRAMS}/podsim", "status"], cwd=ROOT, capture_output=True, check=False).returncode == 0


def keeper(machine: str) -> int:
    """The process of podman that keeps a container."""
    ask = ["podman", "inspect", "--format", "{{.State.ConmonPid}}", f"podsim-{machine}"]
    return int(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)


PARTS: dict[str, Callable[[], list[int]]] = {
    **{name: lambda name=name: [daemons()[name]] for name in DAEMONS},  # type: ignore[misc]
    "a Poplar server": lambda: [first_process(SERVER)],
    "the V-IPU controller's machine": lambda: [first_process("ctrl001")],
    "an IPU-Machine": lambda: [first_process(MACHINE)],
    "an IPU-Machine and what keeps its container": lambda: [keeper(MACHINE), first_process(MACHINE)],
    "a V-IPU agent": lambda: [below(first_process(MACHINE), "agent")],
    "a DHCP client": lambda: [below(first_process(MACHINE), "udhcpc")],
}
SERVICES = {"ssh": SERVER, "systemd-networkd": SERVER, "vipu-server": "ctrl001"}


@pytest.fixture(scope="module")
def whole(pod: Any) -> Any:
    """The pod with all that others have killed in it."""
    podsim("up", str(INVENTORY / "pods.yml"))
    return pod


def works(pod: Any) -> None:
    """Packets of full size pass, an RNIC is served its address, and switch and controller answer."""
    ping = f"ping -q -c 1 -W 1 -M do -s 8972 -I rnic0 {ADDRESS} >/dev/null && echo yes || echo no"
    # A server that was started has its addresses a moment later.
    wait_until(lambda: pod.inside(SERVER, ping) == "yes\n", 30)
    wait_until(lambda: "serve" in pod.inside(SERVER, "vipu list partitions 2>&1; true"), 30)
    pod.inside(MACHINE, "busybox udhcpc -n -q -f -i rnic0 -s /bin/true 2>&1")
    pod.switch("show running-config")


def test_every_daemon_of_the_pod_is_one_of_these(whole: Any) -> None:
    assert whole
    assert set(daemons()) == set(DAEMONS)


@pytest.mark.parametrize("part", PARTS)
def test_a_killed_part_is_seen_and_repaired(whole: Any, part: str) -> None:
    for process in PARTS[part]():
        os.kill(process, signal.SIGKILL)
    if part != "dnsmasq":
        wait_until(lambda: not up(), 30)
    podsim("up", str(INVENTORY / "pods.yml"))
    assert up()
    works(whole)


@pytest.mark.parametrize("unit", SERVICES)
def test_a_service_that_was_killed_too_often_is_repaired(whole: Any, unit: str) -> None:
    machine = SERVICES[unit]
    whole.inside(
        machine,
        f"for n in $(seq 50); do systemctl kill --kill-whom=main --signal=KILL {unit}; "
        f"systemctl is-failed --quiet {unit} && exit 0; sleep 0.2; done; exit 1",
    )
    podsim("up", str(INVENTORY / "pods.yml"))
    assert up()
    works(whole)


def test_after_all_of_that_nothing_is_left_to_do(whole: Any) -> None:
    for playbook in ("site", "verify"):
        run = whole.playbook(playbook)
        assert (run.code, run.messages) == (0, "")
        assert run.changed == dict.fromkeys(run.changed, 0)
