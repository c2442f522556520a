# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`podsim up` and `down`: repeated, interrupted at any moment, and gone without a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from podsim.floor.daemons import Daemons
from podsim.floor.state import StateDirectory
from tests.support.checkout import ROOT
from tests.support.processes import process_folders
from tests.support.simulated_pod import STATE

PODSIM = Path(sys.executable).parent / "podsim"
PODS = "inventories/sim_pod64/pods.yml"


def podsim(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PODSIM, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def left_over() -> list[str]:
    """Containers, namespaces, links and processes of a simulated pod on this machine."""

    def lines(*command: str) -> list[str]:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    containers = lines("podman", "ps", "--all", "--filter", "label=podsim.state", "--format", "{{.Names}}")
    namespaces = [line for line in lines("ip", "netns", "list") if line.startswith("podsim")]
    links = [line for line in lines("ip", "-brief", "link") if line.startswith("ps")]
    processes = [str(process) for process in process_folders() if b"PODSIM_DAEMON" in _content(process / "environ")]
    return [*containers, *namespaces, *links, *processes]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        # The process ended while this looked.
        return b""


@pytest.mark.parametrize("seconds", [0.4, 1.2, 2.5])
def test_a_start_that_was_killed_blocks_neither_the_next_start_nor_the_removal(fresh_pod: Any, seconds: float) -> None:
    assert fresh_pod
    assert podsim("down").returncode == 0
    with subprocess.Popen([PODSIM, "up", PODS], cwd=ROOT, stdout=subprocess.DEVNULL) as start:
        try:
            start.wait(seconds)
        except subprocess.TimeoutExpired:
            start.kill()
    up = podsim("up", PODS)
    assert up.returncode == 0, up.stderr
    status = podsim("status")
    assert status.returncode == 0, status.stdout


def test_a_second_start_starts_nothing(fresh_pod: Any) -> None:
    assert fresh_pod
    running = subprocess.run(["podman", "ps", "--quiet"], capture_output=True, text=True, check=True).stdout
    assert podsim("up", PODS).returncode == 0
    assert subprocess.run(["podman", "ps", "--quiet"], capture_output=True, text=True, check=True).stdout == running


def carriers(pod: Any) -> list[str]:
    return [
        pod.inside(machine, "cat /sys/class/net/rnic0/carrier").strip()
        for machine in ("pod001-poplar1", "pod001-ipum1")
    ]


def test_a_port_that_is_shut_takes_the_carrier_of_the_other_end_whatever_is_killed_meanwhile(fresh_pod: Any) -> None:
    # As delivered, an RNIC is down.
    fresh_pod.inside("pod001-poplar1", "ip link set rnic0 up")
    assert carriers(fresh_pod) == ["1", "1"]
    ports = "interface Ethernet25/1,9/1"
    fresh_pod.switch("configure", ports, "shutdown")
    assert carriers(fresh_pod) == ["0", "0"]
    daemons = Daemons(StateDirectory(STATE))
    for name in ("ovs-vswitchd", "pod001-tor"):
        os.kill(daemons.running()[name], signal.SIGKILL)
    up = podsim("up", PODS)
    assert up.returncode == 0, up.stderr
    assert carriers(fresh_pod) == ["0", "0"]
    fresh_pod.switch("configure", ports, "no shutdown")
    assert carriers(fresh_pod) == ["1", "1"]


def test_a_pod_of_another_checkout_is_refused_with_the_remedy(fresh_pod: Any, tmp_path: Path) -> None:
    assert fresh_pod
    other = podsim("up", PODS, "--state", str(tmp_path / "state"))
    assert other.returncode != 0
    assert "another pod is running, from" in other.stderr
    assert "run `podsim down --state" in other.stderr
    assert not (tmp_path / "state").exists()


def test_after_down_nothing_is_left(fresh_pod: Any) -> None:
    assert fresh_pod
    assert left_over() != []
    assert podsim("down").returncode == 0
    assert left_over() == []
    assert podsim("down").returncode == 0
