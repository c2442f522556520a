# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state directory: where everything of one running pod is kept on the host."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from podsim.floor.errors import FloorError

ENVIRONMENT_VARIABLE = "PODSIM_STATE"
# The path stands in mounts, labels and socket addresses, each with separators of its own.
USABLE_PATH = re.compile(r"[A-Za-z0-9._+/-]+")


class StateDirectory:
    """The paths of one simulated pod; nothing is created before `create`."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not USABLE_PATH.fullmatch(str(self.root)):
            raise FloorError(f"the state directory {self.root} needs a path of letters, digits and . _ + - only.")
        self.facts = self.root / "facts.yml"
        self.containers_conf = self.root / "containers.conf"
        self.private_key = self.root / "id_ed25519"
        self.public_key = self.root / "id_ed25519.pub"
        self.known_hosts = self.root / "known_hosts"
        self.ssh_config = self.root / "ssh_config"
        self.ca_certificate = self.root / "ca.pem"
        self.ca_key = self.root / "ca.key"
        self.machines = self.root / "machines"
        self.device_classes = self.root / "classes"
        self.virtual_machines = self.root / "vms"
        self.switches = self.root / "switches"
        self.data_plane = self.root / "dataplane"
        self.dhcp = self.root / "dhcp"
        self.clouds = self.root / "clouds"
        self.clouds_yaml = self.root / "clouds.yaml"
        self.image = self.root / "image"

    def create(self) -> None:
        """Make the directories that the parts write into; existing ones are kept."""
        for parent in reversed(self.root.parents):
            if not parent.exists():
                parent.mkdir()
                _give_to_caller(parent)
        parts = (self.machines, self.device_classes, self.virtual_machines, self.switches)
        for directory in (self.root, *parts, self.data_plane, self.dhcp, self.clouds, self.image):
            directory.mkdir(exist_ok=True)

    def machine(self, name: str) -> Path:
        """The directory that a machine sees, read-only, as /etc/podsim."""
        return self.machines / name

    def classes_of(self, name: str) -> Path:
        """The directory that a machine sees, read-only, as /sys/class."""
        return self.device_classes / name

    def virtual_machine(self, name: str, what: str) -> Path:
        """A file of a virtual machine on the host: its `disk`, `console`, `qmp` socket, or the `log` of QEMU."""
        return self.virtual_machines / f"{name}.{what}"

    def switch(self, name: str) -> Path:
        """The directory with a switch's configuration, certificate, log and requests."""
        return self.switches / name

    def volumes(self, cloud: str) -> Path:
        """The directory with the volumes of a cloud, a file each, which its machines see as /srv/volumes."""
        return self.clouds / cloud / "volumes"

    def hand_over(self) -> None:
        """Give everything to the user who called sudo, so that ssh and Ansible work without root."""
        for path in (self.root, *self.root.rglob("*")):
            _give_to_caller(path)

    def remove(self) -> None:
        """Remove what `create` and its users made, and the directory itself unless a person keeps files in it."""
        for path in vars(self).values():
            if path == self.root:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        if self.root.is_dir() and not any(self.root.iterdir()):
            self.root.rmdir()


def state_directory(argument: str | None) -> StateDirectory:
    """The directory of the command line, else of $PODSIM_STATE, else build/podsim below the current one."""
    return StateDirectory(Path(argument or os.environ.get(ENVIRONMENT_VARIABLE) or "build/podsim"))


def _give_to_caller(path: Path) -> None:
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if user and group:
        # A running daemon may remove its temporary files while we look at them.
        with contextlib.suppress(FileNotFoundError):
            os.chown(path, int(user), int(group), follow_symlinks=False)


def write_private(path: Path, content: bytes) -> None:
    """Write a secret that only its owner may read; it is never readable by others, not even while being written."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    temporary.rename(path)
