# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices that cannot be reached, at the look, between stages and in verification: the run stops, and says so."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.two_servers.conftest import INVENTORY
from tests.support.simulated_pod import STATE

SERVERS = ("pod001-poplar1", "pod001-poplar2")
MACHINES = ("ctrl001", *SERVERS)
# Each login is a connection of its own, and one that leads nowhere is not waited for.
LOGINS = ("-e", "ansible_ssh_args=-oControlPath=none", "-T", "2")
# Something happens just before the login with a number.
SSH = """\
#!/bin/sh
echo login >>{folder}/logins
[ "$(wc -l <{folder}/logins)" -ne {number} ] || {{ {fault}; }}
exec ssh "$@"
"""
# The logins at the V-IPU controller before stage 10: look, lock, record, look under the lock.
BEFORE_PARTITIONS = 4
BECOME = {
    "ansible_user": "joe",
    "ansible_become": True,
    "ansible_become_method": "ansible.builtin.su",
    "ansible_become_password": "as declared",
}
CLIENT = "/etc/vipu/vipu-cli.hcl"
LOG_IN, START = "correct how the inventory says to log in", "start it, or correct its address in pods.yml"
BECOME_ROOT = "correct how the inventory says to become root (ansible_become and its password)"
HOST_KEY = "if it was installed again, replace its key in known_hosts; if it was not, find out who answers at its"


class Faults:
    """Faults of a machine, each as a command of the control node, and how all of it is undone."""

    def __init__(self, pod: Any, folder: Path) -> None:
        self._pod, self._other = pod, folder / "other"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._other)], check=True)
        self._kept = {path: path.read_text() for path in [STATE / "known_hosts", *map(self._authorized, MACHINES)]}

    @staticmethod
    def _authorized(host: str) -> Path:
        return STATE / "machines" / host / "authorized_keys"

    def refused_login(self, host: str) -> str:
        return f"cat {self._other}.pub >{self._authorized(host)}"

    def changed_host_key(self, host: str) -> str:
        key = self._other.with_suffix(".pub").read_text().split()[1]
        return f"sed -i 's|\\(.*,{host} ssh-ed25519\\) .*|\\1 {key}|' {STATE}/known_hosts"

    def wrong_become(self, host: str) -> str:
        return f"podman exec podsim-{host} sh -c 'echo root:another | chpasswd'"

    def dead_link(self, host: str) -> str:
        return f"ip -n podsim-{host} link set eth0 down"

    def undo(self) -> None:
        for path, text in self._kept.items():
            path.write_text(text)
        for host in MACHINES:
            self._pod.inside(host, "ip link set eth0 up; echo 'root:as declared' | chpasswd")


@pytest.fixture(scope="module")
def faults(pod: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faults]:
    for host in MACHINES:
        # A password that nobody has: an account that is locked may not log in by its key either.
        pod.inside(host, "useradd --create-home --password '*' joe")
    made = Faults(pod, tmp_path_factory.mktemp("keys"))
    made.undo()
    yield made
    made.undo()
    for host in MACHINES:
        pod.inside(host, "userdel --remove joe; passwd --lock root")


@pytest.fixture(autouse=True)
def undone(faults: Faults) -> Iterator[None]:
    yield
    faults.undo()


def reached(folder: Path, **variables: Any) -> Path:
    """The inventory, with other words on how some hosts are reached."""
    (folder / "host_vars").mkdir(parents=True)
    (folder / "pods.yml").write_text((INVENTORY / "pods.yml").read_text())
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    for host, words in variables.items():
        (folder / "host_vars" / f"{host.replace('_', '-')}.yml").write_text(yaml.safe_dump(words))
    return folder


def at_login(folder: Path, number: int, fault: str) -> dict[str, str]:
    """How a host is reached at which something happens at a login."""
    folder.mkdir()
    ssh = folder / "ssh"
    ssh.write_text(SSH.format(folder=folder, number=number, fault=fault))
    ssh.chmod(0o755)
    return {"ansible_ssh_executable": str(ssh)}


def result(pod: Any) -> str:
    """How the latest run has ended, by the pod's record, once nobody holds the lock that a failed one leaves."""
    pod.inside("ctrl001", "rm -f /var/lib/ipu-pod/pod001.lock")
    return str(pod.module("ctrl001", "pod_runs", keep=1)["runs"][-1]["result"])


@pytest.mark.parametrize("playbook", ["site", "verify"])
def test_at_the_look_each_is_named_with_a_remedy_and_nothing_is_touched(
    pod: Any, faults: Faults, tmp_path: Path, playbook: str
) -> None:
    inventory = reached(
        tmp_path / "inventory",
        ctrl001={**BECOME, "ansible_become_password": "wrong"},
        pod001_tor={"ansible_password": "wrong"},
    )
    subprocess.run(faults.refused_login("pod001-poplar1"), shell=True, check=True)
    subprocess.run(faults.changed_host_key("pod001-poplar2"), shell=True, check=True)
    before, writes = pod.fingerprint(), pod.write_requests()
    run = pod.playbook(playbook, *LOGINS, inventory=inventory)
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    assert run.code != 0
    said = run.messages.removeprefix("localhost: ").splitlines()
    for host, remedy in {
        "ctrl001": BECOME_ROOT,
        "pod001-poplar1": LOG_IN,
        "pod001-poplar2": HOST_KEY,
        "pod001-tor": LOG_IN,
    }.items():
        (sentence,) = [line for line in said if line.startswith(f"{host}: ")]
        assert f"; {remedy}" in sentence
    assert said[-1] == "Nothing has been touched."
    assert run.reported == []


@pytest.mark.parametrize(
    ("fault", "victim", "remedy"),
    [
        (Faults.refused_login, "ctrl001", LOG_IN),
        (Faults.changed_host_key, "pod001-poplar1", HOST_KEY),
        (Faults.wrong_become, "pod001-poplar1", BECOME_ROOT),
        (Faults.dead_link, "pod001-poplar1", START),
    ],
)
def test_between_stages_it_stops_the_run_before_the_next_device(
    pod: Any, faults: Faults, tmp_path: Path, fault: Callable[[Faults, str], str], victim: str, remedy: str
) -> None:
    pod.switch("configure", "interface Ethernet24/1", "description somebody's")
    pod.inside("ctrl001", "vipu-admin remove partition serve || true")
    for host in SERVERS:
        pod.inside(host, f"rm -f {CLIENT}")
    hook = at_login(tmp_path / "hook", BEFORE_PARTITIONS + 1, fault(faults, victim))
    become = BECOME if fault is Faults.wrong_become else {}
    inventory = reached(tmp_path / "inventory", ctrl001=hook, pod001_poplar1=become)
    code, said = pod.say("site", *LOGINS, inventory=inventory)
    faults.undo()
    assert code != 0
    assert f"FAILED {victim}: " in said
    assert remedy in said
    assert "somebody's" not in pod.switch("show running-config")[1]["output"]
    assert ("serve" in pod.held("partitions")) == (victim != "ctrl001")
    for host in SERVERS:
        assert "gone" in pod.inside(host, f"test -e {CLIENT} || echo gone")
    assert "looked at in" not in said
    assert result(pod) == "did not end"


def test_a_run_whose_verification_fails_is_recorded_so(pod: Any) -> None:
    link = ["ip", "-n", "podsim-pod001-ipum3", "link", "set", "rnic0"]
    subprocess.run([*link, "down"], check=True)
    red = pod.playbook("site")
    subprocess.run([*link, "up"], check=True)
    assert red.code != 0
    assert "pod001-ipum3" in red.messages
    assert result(pod) == "not verified"
    pod.switch("configure", "interface Ethernet24/1", "description somebody's")
    assert pod.playbook("site").code == 0
    assert result(pod) == "done"


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [(Faults.refused_login, LOG_IN), (Faults.changed_host_key, HOST_KEY), (Faults.dead_link, START)],
)
def test_in_the_verification_it_is_not_counted_as_checked(
    pod: Any, faults: Faults, tmp_path: Path, fault: Callable[[Faults, str], str], remedy: str
) -> None:
    hook = at_login(tmp_path / "hook", 2, fault(faults, "pod001-poplar1"))
    inventory = reached(tmp_path / "inventory", pod001_poplar1=hook)
    code, said = pod.say("verify", *LOGINS, inventory=inventory)
    assert code != 0
    assert "FAILED pod001-poplar1: " in said
    assert remedy in said
    assert "Checked" not in said
