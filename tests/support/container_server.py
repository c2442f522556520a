# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Poplar server in a container: a real systemd and sshd, veth pairs for RNICs, stand-ins for the NIC tools.

What its kernel has no devices for (VLANs, bonds) a test on it cannot show.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from podsim.floor import image
from podsim.floor.errors import FloorError
from podsim.floor.machines import CAPABILITIES, SOURCE
from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory
from tests.support.checkout import COLLECTIONS, PROGRAMS
from tests.support.containers import Containers

# For measurements between machines; each process that starts servers has addresses of its own in it.
NETWORK = ipaddress.ip_network("198.18.0.0/15")
SERVERS = 8
WITH_PACKAGES = "localhost/podsim-floor-with-packages"
DISABLED_UNITS = ("chrony.service", "rsyslog.service", "NetworkManager.service", "NetworkManager-wait-online.service")
# What costs no time for nothing, as in the ansible.cfg of the checkout.
CONFIGURATION = """\
[defaults]
internal_poll_interval = 0.01
[connection]
pipelining = true
[ssh_connection]
ssh_args = -o ControlMaster=auto -o ControlPersist=60s
"""
SSH_OPTIONS = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=5"


class ContainerServer:
    """It keeps its network interfaces when it is restarted.

    Args:
        podman: with its configuration written.
        folder: an existing one for its keys.
        number: tells it from the other servers of this process.
    """

    def __init__(self, podman: Podman, folder: Path, number: int = 0) -> None:
        self.name = f"poplar{number + 1}"
        self.folder = folder
        self._podman = podman
        self._containers = Containers()
        self._identity = folder / self.name
        self._container = f"ipu-rnic-{os.getpid()}-{number}"
        self._host_end = f"irn{os.getpid()}-{number}"
        first = 4 * ((os.getpid() * SERVERS + number) % (NETWORK.num_addresses // 4))
        self.host_address, self.address = str(NETWORK[first + 1]), str(NETWORK[first + 2])

    @property
    def misleading_address(self) -> str:
        """With its prefix length; on an RNIC it takes the way to the control node there."""
        return f"{ipaddress.ip_address(self.host_address) - 1}/31"

    @property
    def variables(self) -> dict[str, str]:
        """How Ansible reaches it."""
        return {
            "ansible_host": self.address,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self._identity / "client"),
            "ansible_ssh_common_args": SSH_OPTIONS,
            "ansible_python_interpreter": "/usr/bin/python3",
        }

    def start(self, tag: str) -> None:
        """Boot it, with systemd-networkd off."""
        self._identity.mkdir()
        for key in ("ssh_host_ed25519_key", "client"):
            done("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._identity / key)
        (self._identity / "client.pub").rename(self._identity / "authorized_keys")
        (self._identity / "sshd_listen.conf").write_text(f"ListenAddress {self.address}\n")
        done("ip", "netns", "add", self._container)
        for command in (
            f"link add eth0 type veth peer name {self._host_end} netns {os.getpid()}",
            f"address add {self.address}/30 dev eth0",
            "link set eth0 up",
            "link add rnic0 type veth peer name tor0",
            "link add rnic1 type veth peer name tor1",
        ):
            done("ip", "-n", self._container, *command.split())
        done("ip", "address", "add", f"{self.host_address}/30", "dev", self._host_end)
        done("ip", "link", "set", self._host_end, "up")
        done("ip", "-n", self._container, "route", "add", "default", "via", self.host_address)
        self._podman.run(
            *("run", "--detach", "--name", self._container, "--systemd", "always"),
            # It knows its own name; no name server answers it.
            *("--hostname", self.name, "--add-host", f"{self.name}:127.0.1.1"),
            *("--network", f"ns:/run/netns/{self._container}", "--cap-add", CAPABILITIES),
            *(
                "--volume",
                f"{SOURCE}:/opt/podsim/podsim:ro",
                "--volume",
                f"{self._identity}:/etc/podsim:ro",
                tag,
            ),
        )
        self._wait_for_systemd()

    def stop(self) -> None:
        """Remove every trace of it."""
        with contextlib.suppress(FloorError):
            self._podman.run("rm", "--force", "--time", "0", self._container)
        subprocess.run(["ip", "netns", "delete", self._container], capture_output=True, check=False)
        subprocess.run(["ip", "link", "delete", self._host_end], capture_output=True, check=False)

    def reboot(self) -> None:
        """Restart its systemd; what only ran in processes and in /run is gone."""
        self._podman.run("restart", "--time", "0", self._container)
        self._wait_for_systemd()

    def sh(self, script: str) -> str:
        """The output of a shell script on it, not over SSH."""
        return self._containers.run(self._container, "sh", "-c", script)

    def until(self, condition: str) -> None:
        """Wait until a shell command succeeds on it; what takes minutes never comes."""
        self.sh(f"timeout 180 sh -c 'until {condition}; do sleep 0.05; done'")

    def running(self, device: str) -> tuple[int, list[str]]:
        """MTU and addresses of a network device."""
        link = json.loads(self.sh(f"ip -json address show {device}"))[0]
        return link["mtu"], [info["local"] for info in link["addr_info"] if info["scope"] == "global"]

    def _wait_for_systemd(self) -> None:
        self.until("systemctl is-system-running --wait")


def skip_without_podman() -> None:
    """Skip the test where containers cannot be started."""
    if os.geteuid() != 0 or not shutil.which("podman"):
        pytest.skip("needs root and podman; `make prerequisites` installs it")


def podman_in(folder: Path) -> Podman:
    """Podman as the simulated pod uses it, with a state directory of its own below the folder."""
    state = StateDirectory(folder / "state")
    state.create()
    podman = Podman(state)
    podman.configure()
    return podman


def image_with(podman: Podman, folder: Path, packages: Sequence[str]) -> str:
    """The image of the simulated pod with more Debian packages, their services off; built once, in about a minute.

    Raises:
        FloorError: it cannot be built on this host.
    """
    packages = (*image.PACKAGES, *packages)
    files = image.root_files(image.CONTAINER_FILES)
    tag = f"{WITH_PACKAGES}:{image.fingerprint((packages, image.MASKED_UNITS, DISABLED_UNITS), files)}"
    if not podman.images(tag):
        hooks = (
            f'chroot "$1" systemctl --quiet mask {" ".join(image.MASKED_UNITS)}',
            f'chroot "$1" systemctl --quiet disable {" ".join(DISABLED_UNITS)}',
        )
        archive = folder / "image.tar"
        image.install_debian(archive, packages, files, hooks, StateDirectory(folder / "state"))
        if earlier := podman.images(WITH_PACKAGES, "containers=false"):
            podman.run("image", "rm", *earlier)
        podman.run("import", "--quiet", *(f"--change={line}" for line in image.METADATA), str(archive), tag)
        archive.unlink()
    return tag


def begin_play(
    folder: Path,
    servers: Sequence[ContainerServer],
    plays: Sequence[Mapping[str, Any]],
    check: bool = False,
    options: Sequence[str] = (),
    **variables: Any,
) -> subprocess.Popen[str]:
    """Start a playbook on the servers, as the group ``poplar_servers``; it prints JSON."""
    folder.mkdir(exist_ok=True)
    hosts = {server.name: server.variables for server in servers}
    inventory = {"all": {"children": {"poplar_servers": {"hosts": hosts, "vars": variables}}}}
    (folder / "inventory.yml").write_text(json.dumps(inventory))
    (folder / "play.yml").write_text(json.dumps(plays))
    (folder / "ansible.cfg").write_text(CONFIGURATION)
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
        "ANSIBLE_HOME": str(folder / "ansible"),
    }
    return subprocess.Popen(
        [
            *(PROGRAMS / "ansible-playbook", "-i", folder / "inventory.yml", folder / "play.yml"),
            *(["--check"] if check else []),
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def end_of(run: subprocess.Popen[str]) -> dict[str, Any]:
    """Everything that a playbook has said at its end."""
    output, errors = run.communicate()
    assert output.startswith("{"), errors
    result: dict[str, Any] = json.loads(output)
    return result


def done(*command: str | Path) -> None:
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, f"{command}: {found.stderr}"
