# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Podman, as root, with a configuration of its own that touches nothing in /etc."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

from podsim.floor.commands import run
from podsim.floor.state import StateDirectory

STATE_LABEL = "podsim.state"
# Podman lowers its own limit to this before it starts a container; more would be refused.
PROCESS_LIMIT = 32768
# Where podman is told of the end of a container, and with which status.
EXITS = Path("/run/libpod/exits")
KILLED = "137"
FILE_LIMIT = 1048576


def container_runtime() -> str:
    """The runtime that copes with this host's cgroups: crun with version 2, runc with version 1 and hybrid ones."""
    return "crun" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "runc"


class Podman:
    """The containers that belong to one state directory."""

    def __init__(self, state: StateDirectory) -> None:
        self._state = state

    def configure(self) -> None:
        """Write the configuration, with limits that a root without CAP_SYS_RESOURCE may set, too."""
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        files = FILE_LIMIT if hard == resource.RLIM_INFINITY else min(hard, FILE_LIMIT)
        self._state.containers_conf.write_text(
            "[containers]\n"
            f'default_ulimits = ["nofile={files}:{files}", "nproc={PROCESS_LIMIT}:{PROCESS_LIMIT}"]\n'
            # The machines know themselves; the host's own names are not theirs.
            'base_hosts_file = "none"\n'
            'host_containers_internal_ip = "none"\n'
            "[engine]\n"
            'cgroup_manager = "cgroupfs"\n'
            'events_logger = "file"\n'
            f'runtime = "{container_runtime()}"\n',
            encoding="ascii",
        )

    def run(self, *arguments: str) -> str:
        """The output of a podman command."""
        conf = self._state.containers_conf
        # Podman refuses a file that is not there, and `down` also removes what a deleted state directory left.
        return run("podman", *arguments, environment={"CONTAINERS_CONF": str(conf)} if conf.exists() else {})

    def images(self, name: str, *filters: str) -> list[str]:
        """The ids of the images of this name, with or without a tag, as far as podman's filters let them through."""
        options = (f"--filter={each}" for each in (f"reference={name}", *filters))
        return self.run("image", "list", "--quiet", *options).split()

    def containers(self) -> dict[str, str]:
        """The state of each container of this pod, such as `running` or `exited`, by name."""
        label = f"label={STATE_LABEL}={self._state.root}"
        listed = json.loads(self.run("ps", "--all", "--filter", label, "--format", "json"))
        return {container["Names"][0]: _state_of(container) for container in listed}

    def remove_containers(self) -> None:
        """Remove all containers of this pod, running or not, also those that a killed start still adds."""
        while names := list(self.containers()):
            self.run("rm", "--force", "--time", "0", *names)


def _state_of(container: dict[str, Any]) -> str:
    """The answer of podman, unless the keeper of the container was killed with it and could not report its end."""
    state = str(container["State"])
    if state != "running" or Path(f"/proc/{container['Pid']}").exists():
        return state
    (EXITS / container["Id"]).write_text(KILLED, encoding="ascii")
    return "exited"
