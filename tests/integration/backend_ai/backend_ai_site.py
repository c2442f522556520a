# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backend.AI on the simulated pod: its manager, on the controller's host, and the agents of Poplar servers."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from typing import Any

from tests.support.containers import ENVIRONMENT, Containers

MANAGER = "ctrl001"
SERVERS = ("pod001-poplar1", "pod002-poplar1")
SETTINGS = "/etc/backend.ai/agent.toml"
IMAGE = "ipu/poplar:3.3.0"
PYTHON = "/opt/backend.ai/venv/bin/python"
SHOW_START = "systemctl show --property=ActiveEnterTimestampMonotonic backendai-agent"
# Enough for a machine that does other things; what takes longer never comes.
PATIENCE = 180
# The machine's C library, with which the programs of Backend.AI run there, and a busybox.
MAKE_IMAGE = f"""
set -e
mkdir -p /tmp/image && cd /tmp/image
mkdir -p bin etc proc sys dev tmp run usr/bin root home var/log
cp /usr/bin/busybox bin/ && for each in $(busybox --list); do ln -sf busybox bin/$each; done
cp /usr/bin/bash bin/ && ln -sf /bin/env usr/bin/env
rm bin/ping && cp /usr/bin/ping bin/ # without the capability that its file has
libraries=$(dpkg --listfiles libc6 libstdc++6 libgcc-s1 | grep '^/usr/lib/.*/lib[^/]*\\.so')
for each in $libraries $(ldd /usr/bin/busybox /usr/bin/bash /usr/bin/ping | grep -o '/[^ :]*\\.so[^ :]*'); do
cp --parents -L $each .; done
echo root:x:0:0::/root:/bin/sh >etc/passwd
tar -c . | docker import - {IMAGE} && rm -r /tmp/image
"""
# What an agent's plugin says that a container with these of its IPUs gets.
ASK_PLUGIN = """
import asyncio, json, sys, tempfile
from pathlib import Path
from ai.backend.accelerator.ipu.plugin import SLOT, IPUPlugin

async def main():
    plugin, allocated = IPUPlugin({}, {}), {SLOT: dict.fromkeys(sys.argv[1:], 1)}
    await plugin.init()
    with tempfile.TemporaryDirectory() as folder:
        [mount] = await plugin.generate_mounts(Path(folder), allocated)
        files = {path.name: path.read_text() for path in mount.src_path.iterdir()}
    print(json.dumps({
        "arguments": await plugin.generate_docker_args(None, allocated),
        "networks": await plugin.get_docker_networks(allocated),
        "mount": str(mount.dst_path),
        "files": files,
    }))

asyncio.run(main())
"""


class Site:
    """The manager and the agents, as their administrator and their users see them."""

    def __init__(self, pod: Any) -> None:
        self.pod = pod
        self._manager: str = pod.sim["controllers"][MANAGER]["management"]
        self._servers = {name: pod.sim["poplar_servers"][name]["management"] for name in SERVERS}
        self._containers = Containers()

    def start_manager(self) -> None:
        """Its databases are those of the image; its Docker makes networks over those of the agents, all one swarm."""
        self.pod.inside(MANAGER, f"docker swarm init --advertise-addr {self._manager}")
        token = self.pod.inside(MANAGER, "docker swarm join-token --quiet worker").strip()
        for server in SERVERS:
            self.pod.inside(server, f"docker swarm join --token {token} {self._manager}:2377")
        self.pod.inside(MANAGER, "systemctl start --no-block backendai-manager")

    def prepare_agents(self) -> None:
        """What the operator has of them: their settings, and the image of sessions, which is in no registry."""
        for server in SERVERS:
            self.write(server, SETTINGS, self.settings_of(server))
            self.pod.inside(server, MAKE_IMAGE)

    def prepare_manager(self) -> None:
        """Wait for it; sessions with more than one container are not usual."""
        until(self._answers, "the manager does not answer")
        self.client("admin keypair-resource-policy update default --max-containers-per-session 2")

    def settings_of(self, server: str) -> str:
        """An agent.toml without any IPUs: where the manager is, and the agent's own addresses."""
        return f"""\
# Ours.
[etcd]
namespace = "local"
addr = {{host = "{self._manager}", port = 2379}}

[agent]
mode = "docker"
rpc-listen-addr = {{host = "{self._servers[server]}", port = 6001}}
pid-file = "/run/backendai-agent.pid"
ipc-base-path = "/var/lib/backend.ai/ipc"
var-base-path = "/var/lib/backend.ai"
mount-path = "/var/lib/backend.ai/vfroot"

[container]
bind-host = "{self._servers[server]}"
scratch-root = "/var/lib/backend.ai/scratches"
stats-type = "cgroup"

[resource]
reserved-cpu = 0
reserved-mem = "1G"
reserved-disk = "1G"

[logging]
level = "INFO"
drivers = ["console"]
"""

    def slots(self, kind: str = "available_slots") -> dict[str, float]:
        """The IPUs of each agent that is alive, by server."""
        agents = json.loads(self.client("--output=json admin agent list"))["items"]
        found = {each["id"].removeprefix("i-"): each[kind] for each in agents if each["status"] == "ALIVE"}
        return {server: float(slots.get("ipu.device", 0)) for server, slots in found.items()}

    def agents_started(self) -> dict[str, str]:
        """When each agent has started."""
        return {server: self.pod.inside(server, SHOW_START) for server in SERVERS}

    def touched(self) -> dict[str, str]:
        """What a run could touch of the agents and their servers."""
        files = "/etc /var/lib/ipu-pod /opt/backend.ai/venv/lib/python3.13/site-packages/*.dist-info"
        command = f"find {files} -type f -exec sha256sum {{}} + | sort; docker network ls; docker ps --quiet"
        return {server: self.pod.inside(server, f"{command}; {SHOW_START}") for server in SERVERS}

    def client(self, words: str) -> str:
        """What the product's own client says to its administrator."""
        command = f". /etc/backend.ai/admin.env; PATH=/opt/backend.ai/venv/bin:$PATH; backend.ai {words}"
        return self.pod.inside(MANAGER, command)

    def create(self, name: str, ipus: int, options: str = "", user: str = "admin") -> dict[str, str]:
        """A session of a user that runs, with so many IPUs for each container; returns these by server."""
        slots = f"-r cpu=1 -r mem=1200m -r ipu.device={ipus} --resource-opts shmem=16m"
        owned = f"--owner {self._key(user)} --name {name}"
        self.client(f"session create {owned} --enqueue-only {slots} {options} cr.backend.ai/{IMAGE}")
        until(lambda: self.status(name) == "RUNNING", f"session {name} does not run")
        query = f"kernels k join sessions s on k.session_id = s.id where s.name = '{name}'"
        rows = self._asked(f"select k.agent, k.container_id from {query}").splitlines()
        return {agent.removeprefix("i-"): container for agent, container in (row.split("|") for row in rows)}

    def status(self, name: str) -> str:
        """The state of a session."""
        return self._asked(f"select status from sessions where name = '{name}'")

    def destroy(self, name: str, user: str = "admin") -> None:
        """End a session of a user, and wait until its IPUs are free."""
        self.client(f"session destroy --owner {self._key(user)} {name}")
        until(lambda: self.status(name) == "TERMINATED", f"session {name} does not end")

    def in_container(self, server: str, container: str, command: str) -> str:
        """The output of a command in a session's container."""
        return self.pod.inside(server, f"docker exec {container} sh -c '{command}'")

    def inspected(self, server: str, container: str) -> dict[str, Any]:
        """What Docker says of a container."""
        [found] = json.loads(self.pod.inside(server, f"docker inspect {container}"))
        return dict(found)

    def generated(self, server: str, container: str) -> dict[str, Any]:
        """What the plugin of a server says that a session's container gets, with the IPUs that the agent gave it."""
        resources = self.in_container(server, container, "cat /home/config/resource.txt")
        [shares] = [line for line in resources.splitlines() if line.startswith("IPU.DEVICE_SHARES=")]
        ipus = [share.partition(":")[0] for share in shares.partition("=")[2].split(",")]
        answer: dict[str, Any] = json.loads(self._said(server, [PYTHON, "-", *ipus], ASK_PLUGIN))
        return answer

    def write(self, host: str, path: str, text: str) -> None:
        """Write a file there."""
        self._said(host, ["sh", "-c", f"cat >{path}"], text)

    def _said(self, host: str, command: list[str], text: str) -> str:
        done = subprocess.run(
            [*self._containers.enter(f"podsim-{host}"), *command],
            input=text,
            text=True,
            env=ENVIRONMENT,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _key(self, user: str) -> str:
        """The access key of one of the users whom a new database has."""
        return self.pod.inside(MANAGER, f". /etc/backend.ai/{user}.env; echo $BACKEND_ACCESS_KEY").strip()

    def _asked(self, query: str) -> str:
        return self.pod.inside(MANAGER, f'runuser -u postgres -- psql -At backend -c "{query}"').strip()

    def _answers(self) -> bool:
        return "26.9" in self.pod.inside(MANAGER, "busybox wget -q -O - http://127.0.0.1:8081/ 2>&1 || true")


def until(holds: Callable[[], bool], otherwise: str) -> None:
    """Wait for what takes others a moment."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(1)
