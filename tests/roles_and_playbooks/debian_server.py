# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bare Debian server of a given release in a container: nothing is installed that a role would install.

It is on podman's own network and has the host's package archive. It has an RNIC, which is a veth pair, and stand-ins
for what a container may not write in /sys: huge pages and CPU frequencies, as files.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Any

from podsim.floor.errors import FloorError
from podsim.floor.image import (
    MASKED_UNITS,
    METADATA,
    ROOT_FILES,
    fingerprint,
    host_apt_settings,
    install_debian,
    release_sources,
    root_files,
)
from podsim.floor.machines import CAPABILITIES
from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory
from tests.support.containers import Containers

NAME = "localhost/ipu-debian"
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-apt", "iproute2", "procps"),
    *("ca-certificates", "iputils-ping"),
)
# The management port is none of networkd's business, and no container may set the clock.
FILES = {
    ROOT_FILES: (
        *("etc/systemd/network/*", "etc/systemd/system/chrony.service.d/*"),
        "usr/lib/python3/dist-packages/keep_bytecode.*",
    )
}
HOOKS = (
    f'chroot "$1" systemctl --quiet mask {" ".join(MASKED_UNITS)}',
    # It starts when it has its keys.
    'chroot "$1" systemctl --quiet disable ssh.service',
)
HUGE_PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
GOVERNORS = tuple(f"/sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor" for number in range(2))
# Debian 13 starts networkd with capabilities that a container lacks, and filters that need them to be set up.
NETWORKD = """\
[Service]
AmbientCapabilities=
AmbientCapabilities=CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_RAW
SystemCallFilter=
SystemCallArchitectures=
RestrictAddressFamilies=
RestrictNamespaces=no
RestrictRealtime=no
RestrictSUIDSGID=no
MemoryDenyWriteExecute=no
LockPersonality=no
ProtectKernelLogs=no
ProtectKernelModules=no
ProtectClock=no
"""
MOUNT_POINT = "/mnt/data"
SSH_OPTIONS = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=5"


def debian_image(podman: Podman, state: StateDirectory, release: str) -> str:
    """The image of a release, by name and tag; built where there is none, which takes half a minute."""
    files = root_files(FILES)
    tag = f"{NAME}-{release}:{fingerprint((PACKAGES, HOOKS, METADATA, release), files)}"
    if podman.images(tag):
        return tag
    archive = state.image / f"{release}.tar"
    try:
        install_debian(archive, PACKAGES, files, HOOKS, state, release)
        if earlier := podman.images(f"{NAME}-{release}", "containers=false"):
            podman.run("image", "rm", *earlier)
        podman.run("import", "--quiet", *(f"--change={line}" for line in METADATA), str(archive), tag)
    finally:
        archive.unlink(missing_ok=True)
    return tag


class DebianServer:
    """One server, which is a host of a play; see container_server.begin_play.

    Args:
        podman: with its configuration written.
        folder: an existing one for its key and its stand-ins.
        release: code name of the Debian release, which is its host name.
    """

    def __init__(self, podman: Podman, folder: Path, release: str) -> None:
        self.name = release
        self._podman = podman
        self._containers = Containers()
        self._folder = folder / release
        self._container = f"ipu-{release}-{os.getpid()}"

    @property
    def address(self) -> str:
        """Its address on podman's network."""
        return self._network("IPAddress")

    @property
    def host_address(self) -> str:
        """The address of the host there."""
        return self._network("Gateway")

    @property
    def variables(self) -> dict[str, Any]:
        """How Ansible reaches it."""
        return {
            "ansible_host": self.address,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self._folder / "client"),
            "ansible_ssh_common_args": SSH_OPTIONS,
            "ansible_python_interpreter": "/usr/bin/python3",
        }

    def start(self, image: str) -> None:
        """Boot it."""
        self._folder.mkdir()
        key = self._folder / "client"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        self._stand_in("hugepages", HUGE_PAGES, "0")
        for governor in GOVERNORS:
            self._stand_in("cpu", governor, "powersave")
        (self._folder / "data").mkdir()
        volumes = {
            f"{key}.pub": "/root/.ssh/authorized_keys:ro",
            self._folder / "hugepages": "/sys/kernel/mm/hugepages",
            self._folder / "cpu": "/sys/devices/system/cpu",
            self._folder / "data": MOUNT_POINT,
        }
        self._podman.run(
            *("run", "--detach", "--name", self._container, "--hostname", self.name, "--systemd", "always"),
            *("--network", "podman", "--cap-add", CAPABILITIES, "--security-opt", "unmask=/proc/sys"),
            *(f"--volume={here}:{there}" for here, there in volumes.items()),
            image,
        )
        self.sh("timeout 60 sh -c 'until systemctl is-system-running --wait >/dev/null; do sleep 0.2; done'")
        self._write("/etc/apt/sources.list", "\n".join(release_sources(self.name)))
        self._write("/etc/apt/apt.conf.d/99host", host_apt_settings())
        self.sh("mkdir /etc/systemd/system/systemd-networkd.service.d")
        self._write("/etc/systemd/system/systemd-networkd.service.d/container.conf", NETWORKD)
        # Without udev no link is ever ready.
        self.sh("systemctl mask systemd-networkd-wait-online.service && systemctl daemon-reload")
        self.sh("ssh-keygen -A && systemctl start ssh")
        self.sh("ip link add rnic0 type veth peer name tor0 && ip link set tor0 up && apt-get update")

    def stop(self) -> None:
        """Remove every trace of it but its image."""
        with contextlib.suppress(FloorError):
            self._podman.run("rm", "--force", "--time", "0", self._container)

    def sh(self, script: str) -> str:
        """The output of a shell script on it, not over SSH."""
        return self._containers.run(self._container, "sh", "-c", script)

    def _network(self, what: str) -> str:
        return self._podman.run("inspect", "--format", f"{{{{.NetworkSettings.{what}}}}}", self._container).strip()

    def _stand_in(self, volume: str, path: str, value: str) -> None:
        file = self._folder / volume / path.partition(f"/{volume}/")[2]
        file.parent.mkdir(parents=True)
        file.write_text(f"{value}\n", encoding="ascii")

    def _write(self, path: str, text: str) -> None:
        file = self._folder / "file"
        file.write_text(f"{text}\n", encoding="utf-8")
        self._podman.run("cp", str(file), f"{self._container}:{path}")
