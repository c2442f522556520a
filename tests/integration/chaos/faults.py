# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that breaks: each kind of fault, on a random device of those that it can befall, and how it ends.

Here are the hands that do it on the simulated pod; nothing of the collection takes part.
"""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from podsim.floor.daemons import Daemons
from podsim.floor.facts_file import read_facts
from podsim.floor.plan import plan
from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory
from tests.integration.chaos.declarations import SERVERS
from tests.support.eapi import run_commands
from tests.support.processes import process_folders
from tests.support.simulated_pod import STATE

SWITCH, CONTROLLER, MACHINE, CONTROL_NODE = "pod001-tor", "ctrl001", "pod001-ipum1", "localhost"
HOSTS = (CONTROLLER, *SERVERS)
# Where the containers' disks are, on a machine of its own.
IMAGES = Path("/var/lib/containers/storage")
# A stopped process runs so long, and is stopped so long.
RUNS, STOPS = 0.05, 0.15
SHORT, LONG = 3.0, 12.0
# Of the undoing of a change to a NIC that goes on, and how long it may.
UNDOING, UNDOING_SECONDS = "/var/lib/ipu-pod/rnic-network/undoing", 90
# Bytes that still fit on a full disk, so that it can be made so small.
LEFT = 16384


@dataclass
class Fault:
    """One fault that is there now.

    Attributes:
        what: in words, for whoever reads of a seed that failed.
        lasts: seconds, unless the run ends earlier; None until the run ends.
        changed: the devices on which it has itself changed something that a run compares.
        needs_repair: whether the pod has to be repaired after it.
        end: takes it back.
    """

    what: str
    lasts: float | None = None
    changed: tuple[str, ...] = ()
    needs_repair: bool = False
    end: Callable[[], None] = field(default=lambda: None)
    _is_over: bool = False

    def pass_time(self, seconds: float) -> None:
        """End it when its time is over."""
        if self.lasts is not None:
            self.lasts -= seconds
            if self.lasts <= 0:
                self.over()

    def over(self) -> None:
        """End it, if it has not ended yet."""
        if not self._is_over:
            self._is_over = True
            self.end()


Maker = Callable[[Any, str, Random], Fault]


def refused(pod: Any, device: str, _chance: Random) -> Fault:
    """It takes no login any more, and ends those that are there."""
    if device == SWITCH:
        pod.switch("configure", "username admin privilege 15 role network-admin secret 0 other")
        return Fault("another eAPI password", end=lambda: _known_again(pod))
    keys = STATE / "machines" / device / "authorized_keys"
    known = keys.read_text()
    keys.write_text("")
    pod.inside(device, "pkill -f '^sshd: root'; true")

    def know() -> None:
        keys.write_text(known)

    return Fault("no SSH key is known", end=know)


def _known_again(pod: Any) -> None:
    url = f"https://{pod.sim['switches'][SWITCH]['management']}/command-api"
    context = ssl.create_default_context(cafile=STATE / "ca.pem")
    answer = run_commands(url, ["enable", "configure", "no username admin"], "admin", "other", context)
    assert "error" not in answer, answer


def paused(_pod: Any, device: str, chance: Random) -> Fault:
    """It stands still for a while."""
    stop = Standstill(device)
    stop.stop()
    return Fault("all of it stands still", chance.choice([SHORT, LONG]), end=stop.go)


def slow(_pod: Any, device: str, _chance: Random) -> Fault:
    """It gets a quarter of its time."""
    return Fault("a quarter of its time", end=Standstill(device).stutter())


def killed(pod: Any, device: str, chance: Random) -> Fault:
    """Its power is gone, or that of its one important program."""
    if device == CONTROLLER and chance.random() < 0.5:
        pod.inside(device, "systemctl kill --kill-whom=main --signal=KILL vipu-server")
        return Fault("vipu-server is killed", changed=(device,), needs_repair=True)
    os.kill(first_process_of(device), signal.SIGKILL)
    return Fault("the power is off", changed=(device,), needs_repair=True)


def cut_off(_pod: Any, device: str, chance: Random) -> Fault:
    """Its management cable is out."""
    link = management_link(device)
    ip("link", "set", link, "down")
    seconds = chance.choice([SHORT, 2 * LONG])
    return Fault(f"{link} is down", seconds, end=lambda: ip("link", "set", link, "up"))


def full(pod: Any, device: str, _chance: Random) -> Fault:
    """No byte more fits on the disks: of all machines, or of the control node."""
    place = Path.home() / ".ansible" if device == CONTROL_NODE else IMAGES
    used = os.statvfs(place)
    whole, taken = used.f_blocks * used.f_frsize, (used.f_blocks - used.f_bfree) * used.f_frsize

    def resize(size: int) -> None:
        done("mount", "-o", f"remount,size={size}", str(place))

    def free() -> None:
        resize(whole)
        # A server tries again by itself to undo what nobody has confirmed; until then it refuses another change.
        for server in SERVERS:
            pod.inside(server, f"timeout {UNDOING_SECONDS} sh -c 'while [ -e {UNDOING} ]; do sleep 0.2; done'")

    resize(taken + LEFT)
    return Fault(f"{place} is full", end=free)


def restarted(pod: Any, device: str, chance: Random) -> Fault:
    """It starts again."""
    if device == SWITCH:
        # Nobody hears the answer.
        with suppress(Exception):
            pod.switch("reload now")
        return Fault("reload", changed=(SWITCH,))
    if device == CONTROLLER and chance.random() < 0.5:
        pod.inside(device, "systemctl restart vipu-server")
        return Fault("systemctl restart vipu-server")
    Podman(StateDirectory(STATE)).run("restart", "--time", "0", f"podsim-{device}")
    return Fault("the machine", changed=(device,), needs_repair=True)


def by_hand(pod: Any, device: str, chance: Random) -> Fault:
    """Somebody changes something that is ours."""
    if device == SWITCH:
        words = chance.choice(("description somebody's", "mtu 9000", "switchport access vlan 999"))
        port = f"Ethernet{chance.choice(range(9, 25))}/1"
        pod.switch("configure", f"interface {port}", words)
        return Fault(f"{port}: {words}", changed=(device,))
    if device == CONTROLLER:
        command = (
            "for p in $(vipu-admin --config /etc/vipu/vipu-admin.hcl list partitions | grep -o '[a-z]*-train'); do"
        )
        command += " vipu-admin --config /etc/vipu/vipu-admin.hcl remove partition $p; done; true"
    else:
        command = chance.choice(
            (
                "ip link set rnic0 mtu 1500",
                "echo '# mine' >>/etc/systemd/network/50-ipu-rnic0.network",
                "rm -f /etc/vipu/vipu-cli.hcl",
            )
        )
    pod.inside(device, command)
    return Fault(command, changed=(device,))


# Each with the devices that it can befall. What befalls the control node is the run's to do.
FAULTS: dict[str, tuple[Maker | None, tuple[str, ...]]] = {
    "refused": (refused, (SWITCH, *HOSTS)),
    "paused": (paused, (SWITCH, *HOSTS, MACHINE)),
    "slow": (slow, (SWITCH, *HOSTS)),
    "killed": (killed, (SWITCH, *HOSTS, MACHINE)),
    "cut off": (cut_off, (SWITCH, *HOSTS, MACHINE)),
    "full": (full, (CONTROLLER, CONTROL_NODE)),
    "restarted": (restarted, (SWITCH, *HOSTS, MACHINE)),
    "by hand": (by_hand, (SWITCH, *HOSTS)),
    "control node killed": (None, (CONTROL_NODE,)),
    "two control nodes": (None, (CONTROL_NODE,)),
}


class Standstill:
    """Stops the processes of a device, all at once or again and again."""

    def __init__(self, device: str) -> None:
        first = first_process_of(device)
        # All of a container; of a switch only its operating system, as its frames move without that.
        self._alone = first if device == SWITCH else None
        self._namespace = os.readlink(f"/proc/{first}/ns/pid")
        self._ended = threading.Event()

    def stop(self) -> None:
        """Let them stand still."""
        self._send(signal.SIGSTOP)

    def go(self) -> None:
        """Let them run."""
        self._send(signal.SIGCONT)

    def stutter(self) -> Callable[[], None]:
        """Let them run a part of the time until the returned function is called."""

        def work() -> None:
            while not self._ended.wait(RUNS):
                self.stop()
                time.sleep(STOPS)
                self.go()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()

        def end() -> None:
            self._ended.set()
            thread.join()

        return end

    def _send(self, number: signal.Signals) -> None:
        for process in [self._alone] if self._alone else _in_namespace(self._namespace):
            with suppress(ProcessLookupError):
                os.kill(process, number)


def first_process_of(device: str) -> int:
    """The process with which a device ends."""
    if device == SWITCH:
        return Daemons(StateDirectory(STATE)).running()[SWITCH]
    ask = ["podman", "inspect", "--format", "{{.State.Pid}}", f"podsim-{device}"]
    return int(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)


def _in_namespace(namespace: str) -> Iterator[int]:
    for entry in process_folders():
        with suppress(OSError):
            if os.readlink(entry / "ns" / "pid") == namespace:
                yield int(entry.name)


def management_link(device: str) -> str:
    """The host's end of a device's management cable."""
    floor = plan(read_facts(STATE / "facts.yml"))
    return {
        **{switch.name: switch.management_link for switch in floor.switches},
        **{machine.name: machine.management_link for machine in floor.machines},
    }[device]


def ip(*words: str) -> None:
    done("ip", *words)


def done(*command: str) -> None:
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, f"{command}: {found.stderr}"
