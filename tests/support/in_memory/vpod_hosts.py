# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Poplar server and the host of its controller in memory: what a look says of them, and the role vpod on them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused, converge, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.module_utils._vipu.ipuof_files import IpuofFiles
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources import resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import CLIENT, HEADER, vpod_resources
from tests.support.in_memory.files import MemoryFiles

KEY = re.compile('(?<=api-access-key=")[^"]*')
DIRECTORY = "/var/lib/vipu"


def certificates(directory: str) -> list[str]:
    """The certificates for clients of a controller that runs there."""
    return [f"{directory}/vipu-certs/client/{name}" for name in ("ca.crt", "tls.crt", "tls.key")]


SETTINGS = {
    "vpod_vipu": {},
    "vpod_containers": {},
    "vpod_owner": "root",
    "vpod_group": "root",
    "vpod_file_mode": "0644",
    "vpod_controller_directory": DIRECTORY,
    "vpod_dedicated_parent": "/var/lib",
}
CLIENT_OPTIONS = {
    "controller": "ctrl001",
    "dedicated": None,
    "admin_port": 8091,
    "api_host": "10.1.0.1",
    "api_port": 8090,
    "user": None,
}
SECURE = {**CLIENT_OPTIONS, "user": "alice"}
NETWORK = {"network": "ipu-alice", "interface": "rnic0", "subnet": "10.5.0.0/16", "range": "10.5.1.128/27"}


def options(
    client: Mapping[str, Any] | None = None,
    mode: str = "environment",
    partitions: tuple[str, ...] = (),
    containers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A Poplar server of the desired state, as far as the role vpod reads it."""
    gcds = [{"name": name, "api_host": "10.1.0.1", "api_port": 8090, "gcd": 0} for name in partitions if client]
    return {"vipu": client, "ipuof": {"mode": mode, "partitions": gcds}, "containers": containers}


NO_VPOD = options()


@dataclass
class Host:
    """Files and directories of a host; on that of a controller also what its partitions' IPUoF configurations are."""

    name: str
    files: MemoryFiles = field(default_factory=MemoryFiles)
    directories: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    configurations: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def look(self) -> dict[str, Any]:
        files = {path: file for path, file in self.files.files.items() if not path.startswith("/etc/ipuof")}
        texts = {path: KEY.sub("(secret)", file.content) for path, file in files.items()}
        return {
            "host": self.name,
            "outcome": "answered",
            "message": "",
            "parts": {
                "things": {"paths": self._paths(), "texts": texts, "secrets": _secrets(files)},
                "ipuof": IpuofFiles(self.files).read(),
                "controllers": {"": {"storage": True, "ipuof_configurations": dict(self.configurations)}},
            },
        }

    def seen(self) -> dict[str, Any]:
        """Everything on it that somebody may compare later."""
        return {**self.files.files, **self.directories}

    def _paths(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            path: {"kind": "file", "sha256": _hash(file.content), **self._attributes(path, file)}
            for path, file in self.files.files.items()
        }
        directories = {
            path: {"kind": "directory", "owner": owner, "group": group, "mode": mode, "modified": 0}
            for path, (owner, group, mode) in self.directories.items()
        }
        return {**found, **directories}

    def _attributes(self, path: str, file: File) -> dict[str, Any]:
        return {"owner": file.owner, "group": file.group, "mode": file.mode, "modified": self.files.modified(path)}


def controller(*users: str) -> Host:
    """The host of a secure controller."""
    host = Host("ctrl001")
    for path in certificates(DIRECTORY):
        host.files.write(path, File(f"certificate {path}\n"))
    for user in users:
        host.files.write(f"{DIRECTORY}/keys/{user}.key", File(f"key of {user}\n"))
    return host


def carry_out(
    server: Host,
    controller: Host,
    wanted: Mapping[str, Any],
    settings: Mapping[str, Any],
    spend: Callable[[], None] = lambda: None,
) -> None:
    """Do the work of the role; ``spend`` is called before each thing, and may end it.

    Raises:
        Refused: one of its tasks fails.
    """
    own = {**settings, "vpod_vipu": wanted["vipu"] or {}, "vpod_containers": wanted["containers"] or {}}
    there = server.files.read(CLIENT)
    write(server, vpod_resources(own, there is not None and there.content.startswith(HEADER)), controller, spend)
    asked = {**wanted["ipuof"], "configurations": controller.configurations, "login_partition": None}
    ownership = ipuof.Ownership(own["vpod_owner"], own["vpod_group"], own["vpod_file_mode"])
    store = IpuofFiles(server.files)
    plan = partial(ipuof.plan, ipuof.wanted_files(asked), ownership)

    def carry_out_one(step: Step) -> None:
        spend()
        store.carry_out(step)

    assert converge(store.read, plan, one_by_one(carry_out_one), check_mode=False).failure is None


def write(
    host: Host, wanted: Iterable[resources.Resource], controller: Host, spend: Callable[[], None] = lambda: None
) -> None:
    """Directories and files as they are wanted; secrets are those of the controller's host."""
    for thing in wanted:
        match thing:
            case resources.Directory(path, owner, group, mode) if host.directories.get(path) != (owner, group, mode):
                spend()
                host.directories[path] = (owner, group, mode)
            case resources.Absent(path) if path in host.files.files:
                spend()
                host.files.remove(path)
            case resources.File(path):
                file = File(_with_secret(thing, controller), thing.owner, thing.group, thing.mode)
                if host.files.read(path) != file:
                    spend()
                    host.files.write(path, file)


def _with_secret(file: resources.File, controller: Host) -> str:
    if not file.is_secret:
        return file.content or ""
    secret = controller.files.read(file.source)
    if secret is None:
        raise Refused(f"{file.source} is not there")
    return file.content.replace("(secret)", secret.content.strip()) if file.content else secret.content


def _secrets(files: Mapping[str, File]) -> dict[str, dict[str, str]]:
    found = {}
    for path, file in files.items():
        key = KEY.search(file.content)
        shown = KEY.sub("(secret)", file.content) if key else "(secret)"
        found[path] = {"text": shown, "secret": _hash((key.group() if key else file.content).strip())}
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
