# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An armed change on a real systemd and systemd-networkd in a container, over SSH: confirmed, cut off, rebooted.

The container has veth pairs for RNICs. What its kernel has no devices for (VLANs, bonds) is not shown here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podsim.floor.errors import FloorError
from podsim.floor.image import NAME
from podsim.floor.machines import CAPABILITIES
from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory

PROGRAMS = Path(sys.executable).parent
COLLECTIONS = Path(__file__).resolve().parents[2] / ".venv" / "collections"
CONTAINER = f"ipu-rnic-{os.getpid()}"
HOST_END = f"irn{os.getpid()}"
HOST_ADDRESS, ADDRESS = "198.51.100.1", "198.51.100.2"
STATE = "/var/lib/ipu-pod/rnic-network"
CONFIRM_WITHIN = 20

# Cuts all connections, and ends what runs over them, as soon as a change is armed; takes new ones when it is undone.
CUT = {
    "cut.path": f"[Path]\nPathExists={STATE}/armed\n",
    "cut.service": "[Service]\nType=oneshot\nExecStart=systemctl kill --signal=KILL ssh.service\n"
    "ExecStart=systemctl stop cut.path ssh.service\n",
    "mend.path": f"[Path]\nPathExists={STATE}/undone\n",
    "mend.service": "[Service]\nType=oneshot\nExecStart=systemctl start ssh.service\n"
    "ExecStart=systemctl stop mend.path\n",
}


class Server:
    """A container that is a Poplar server; it keeps its network interfaces when it is restarted."""

    def __init__(self, folder: Path) -> None:
        state = StateDirectory(folder / "state")
        state.create()
        self.podman = Podman(state)
        self.podman.configure()
        self.folder = folder

    def start(self, image: str) -> None:
        identity = self.folder / "identity"
        identity.mkdir()
        for key in ("ssh_host_ed25519_key", "client"):
            done("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", identity / key)
        (identity / "client.pub").rename(identity / "authorized_keys")
        (identity / "sshd_listen.conf").write_text(f"ListenAddress {ADDRESS}\n")
        done("ip", "netns", "add", CONTAINER)
        for command in (
            f"link add eth0 type veth peer name {HOST_END} netns {os.getpid()}",
            f"address add {ADDRESS}/30 dev eth0",
            "link set eth0 up",
            "link add rnic0 type veth peer name tor0",
            "link add rnic1 type veth peer name tor1",
        ):
            done("ip", "-n", CONTAINER, *command.split())
        done("ip", "address", "add", f"{HOST_ADDRESS}/30", "dev", HOST_END)
        done("ip", "link", "set", HOST_END, "up")
        done("ip", "-n", CONTAINER, "route", "add", "default", "via", HOST_ADDRESS)
        self.podman.run(
            *("run", "--detach", "--name", CONTAINER, "--hostname", "poplar1", "--systemd", "always"),
            *("--network", f"ns:/run/netns/{CONTAINER}", "--cap-add", CAPABILITIES),
            *("--volume", f"{identity}:/etc/podsim:ro", image),
        )
        self.sh("until systemctl is-system-running --wait; do sleep 0.2; done")
        self.sh("systemctl enable --now systemd-networkd")

    def stop(self) -> None:
        with contextlib.suppress(FloorError):
            self.podman.run("rm", "--force", "--time", "0", CONTAINER)
        subprocess.run(["ip", "netns", "delete", CONTAINER], capture_output=True, check=False)
        subprocess.run(["ip", "link", "delete", HOST_END], capture_output=True, check=False)

    def reboot(self) -> None:
        self.podman.run("restart", "--time", "0", CONTAINER)
        self.sh("until systemctl is-system-running --wait; do sleep 0.2; done")

    def sh(self, script: str) -> str:
        return self.podman.run("exec", CONTAINER, "sh", "-c", script)

    def network(self, mtu: int, address: str) -> subprocess.Popen[str]:
        """Start a run of the module for rnic0."""
        arguments = {
            "interfaces": [{"name": "rnic0", "mtu": mtu, "addresses": [address]}],
            "confirm_within": CONFIRM_WITHIN,
        }
        options = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=5"
        variables = {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.folder / "identity" / "client"),
            "ansible_ssh_common_args": options,
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        task = {"hosts": "all", "gather_facts": False, "tasks": [{"ipu.pod.rnic_network": arguments}]}
        playbook = self.folder / "play.yml"
        playbook.write_text(json.dumps([task]))
        settings = self.folder / "ansible.cfg"
        settings.touch()
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(settings),
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
            "ANSIBLE_HOME": str(self.folder / "ansible"),
        }
        return subprocess.Popen(
            [PROGRAMS / "ansible-playbook", "-i", f"{ADDRESS},", "-e", json.dumps(variables), playbook],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def running(self) -> tuple[int, list[str]]:
        link = json.loads(self.sh("ip -json address show rnic0"))[0]
        return link["mtu"], [info["local"] for info in link["addr_info"] if info["scope"] == "global"]

    def file(self) -> str:
        return self.sh("cat /etc/systemd/network/50-ipu-rnic0.network")

    def traces(self) -> str:
        return self.sh(f"ls {STATE} /etc/systemd/system/ipu-rnic-undo.service /run/ipu-rnic-armed 2>/dev/null || true")


def done(*command: str | Path) -> None:
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, f"{command}: {found.stderr}"


def result_of(run: subprocess.Popen[str]) -> dict[str, Any]:
    output, errors = run.communicate()
    assert output.startswith("{"), errors
    result: dict[str, Any] = json.loads(output)["plays"][0]["tasks"][0]["hosts"][ADDRESS]
    return result


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if os.geteuid() != 0 or not shutil.which("podman"):
        pytest.skip("needs root and podman; `make prerequisites` installs it")
    server = Server(tmp_path_factory.mktemp("rnic"))
    images = server.podman.images(NAME)
    if not images:
        pytest.skip("needs the image of the simulated pod; `make pod` builds it")
    try:
        server.start(images[0])
        yield server
    finally:
        server.stop()


@pytest.fixture
def configured(server: Server) -> Server:
    """The server with MTU 9000 on rnic0, confirmed."""
    result_of(server.network(9000, "10.5.1.101/16"))
    assert server.running() == (9000, ["10.5.1.101"])
    return server


def test_a_change_is_confirmed_and_leaves_no_trace(configured: Server) -> None:
    result = result_of(configured.network(4200, "10.5.1.102/16"))
    assert result["changed"]
    assert result["after"]["interface"]["rnic0"]["mtu"] == 4200
    assert configured.running() == (4200, ["10.5.1.102"])
    assert configured.traces() == ""
    again = result_of(configured.network(4200, "10.5.1.102/16"))
    assert not again["changed"]
    assert again["after"] == result["after"]


def test_a_connection_that_is_cut_in_the_middle(configured: Server) -> None:
    """The module dies with its connection, and no new one is taken; the server goes back by itself."""
    file = configured.file()
    for name, text in CUT.items():
        configured.sh(f"printf '{text}' > /etc/systemd/system/{name}".replace("\n", "\\n"))
    configured.sh("systemctl daemon-reload && systemctl start cut.path mend.path")
    result = result_of(configured.network(4200, "10.5.1.102/16"))
    assert result.get("failed"), result
    assert "the server has undone it at its deadline" in result["msg"]
    assert result["after"]["interface"]["rnic0"]["mtu"] == 9000
    assert configured.running() == (9000, ["10.5.1.101"])
    assert configured.file() == file
    assert "+ networkctl reload" in result["undo_log"]
    configured.sh("systemctl stop cut.path mend.path")


def test_a_reboot_while_the_control_node_is_dead(configured: Server) -> None:
    file = configured.file()
    run = configured.network(4200, "10.5.1.102/16")
    configured.sh(f"until [ -e {STATE}/armed ]; do sleep 0.05; done")
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    configured.sh("until grep -q MTUBytes=4200 /etc/systemd/network/50-ipu-rnic0.network; do sleep 0.05; done")
    configured.reboot()
    configured.sh(f"until [ -e {STATE}/undone ]; do sleep 0.05; done")
    assert configured.file() == file
    for _attempt in range(100):
        if configured.running() == (9000, ["10.5.1.101"]):
            break
        time.sleep(0.1)
    assert configured.running() == (9000, ["10.5.1.101"])
    assert result_of(configured.network(9000, "10.5.1.101/16"))["changed"] is False
    assert configured.traces() == ""
