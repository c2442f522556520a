# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Poplar server and the host of its controller in memory: what a look says of them, and the role vpod on them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._containers.engines import Engines
from ansible_collections.ipu.pod.plugins.module_utils._containers.networks import networks_from
from ansible_collections.ipu.pod.plugins.module_utils._containers.networks import plan as plan_of_networks
from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused, converge, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Function
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.module_utils._vipu.ipuof_files import IpuofFiles
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources import resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.containers import (
    TIMER,
    TIMER_FILE,
    client_resources,
    containers_resources,
    left_clients,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import CLIENT, HEADER, vpod_resources
from tests.support.in_memory.container_engines import ContainerEngines
from tests.support.in_memory.files import MemoryFiles
from tests.support.in_memory.server import MemorySysfs

# What stands for the content of a program.
PROGRAM = "program "
KEY = re.compile('(?<=api-access-key=")[^"]*')
DIRECTORY = "/var/lib/vipu"


def certificates(directory: str) -> list[str]:
    """The certificates for clients of a controller that runs there."""
    return [f"{directory}/vipu-certs/client/{name}" for name in ("ca.crt", "tls.crt", "tls.key")]


SETTINGS = {
    "vpod_vipu": {},
    "containers_vpods": [],
    "containers_groups": {},
    "vpod_archive": "",
    "vpod_archive_sha256": "",
    "vpod_release": "",
    "vpod_program": "/usr/local/bin/vipu",
    "vpod_program_links": "/usr/local/bin",
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
NETWORK = {"name": "ipu-alice", "interface": "rnic0", "subnet": "10.5.0.0/16", "range": "10.5.1.128/27"}
# On a server that several vPODs share.
SHARED_NETWORK = {**NETWORK, "function": 0, "range": "10.5.1.128/30"}
CONTAINERS = {
    "name": "alice",
    "ipus": 16,
    "allocation": "alice",
    "api_host": "10.1.0.1",
    "api_port": 8090,
    "network": NETWORK,
}
SHARED = {**CONTAINERS, "vlan": 201, "vipu": SECURE, "vipu_kept": False, "network": SHARED_NETWORK}


def shared_with(name: str, function: int) -> dict[str, Any]:
    """Another vPOD on the same server."""
    network = {
        **SHARED_NETWORK,
        "name": f"ipu-{name}",
        "function": function,
        "range": f"10.5.1.{128 + 4 * function}/30",
    }
    client = {**SECURE, "user": name}
    return {**SHARED, "name": name, "allocation": name, "vlan": 201 + function, "vipu": client, "network": network}


def nic_with_functions(number: int) -> MemorySysfs:
    """A server whose rnic0 has so many virtual functions, with a network device each."""
    sysfs = MemorySysfs()
    sysfs.limits = {"rnic0": 8}
    sysfs.taken = {"rnic0": [Function(each, "", "mlx5_core", (f"rnic0v{each}",)) for each in range(number)]}
    return sysfs


def options(
    client: Mapping[str, Any] | None = None,
    mode: str = "environment",
    partitions: tuple[str, ...] = (),
    containers: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """A Poplar server of the desired state, as far as the role vpod reads it."""
    gcds = [{"name": name, "api_host": "10.1.0.1", "api_port": 8090, "gcd": 0} for name in partitions if client]
    return {"vipu": client, "ipuof": {"mode": mode, "partitions": gcds}, "containers": list(containers)}


NO_VPOD = options()


@dataclass
class Host:
    """Files and directories of a host; on that of a controller also what its partitions' IPUoF configurations are."""

    name: str
    files: MemoryFiles = field(default_factory=MemoryFiles)
    directories: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    configurations: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    units: set[str] = field(default_factory=set)
    engines: ContainerEngines = field(default_factory=lambda: ContainerEngines("podman"))
    sysfs: MemorySysfs = field(default_factory=lambda: nic_with_functions(2))

    def look(self) -> dict[str, Any]:
        files = {path: file for path, file in self.files.files.items() if not path.startswith("/etc/ipuof")}
        texts = {path: KEY.sub("(secret)", file.content) for path, file in files.items()}
        return {
            "host": self.name,
            "outcome": "answered",
            "message": "",
            "parts": {
                "things": {
                    "paths": self._paths(),
                    "texts": texts,
                    "secrets": _secrets(files),
                    "units": {TIMER: self._unit(TIMER, TIMER_FILE)},
                },
                "ipuof": IpuofFiles(self.files).read(),
                "containers": Engines(Programs(self.engines.run), self.sysfs).read(),
                "controllers": {"": {"storage": True, "ipuof_configurations": dict(self.configurations)}},
            },
        }

    def seen(self) -> dict[str, Any]:
        """Everything on it that somebody may compare later."""
        networks = {f"{engine}/{name}": dict(each) for (engine, name), each in self.engines.networks.items()}
        units = {TIMER: TIMER in self.units} if TIMER_FILE in self.files.files else {}
        return {**self.files.files, **self.directories, **networks, **units}

    def _unit(self, name: str, path: str) -> dict[str, Any]:
        if path not in self.files.files:
            return {"there": False}
        is_active = name in self.units
        return {"there": True, "active": "active" if is_active else "inactive", "enabled": is_active}

    def _paths(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            path: {"kind": "file", "sha256": _checksum(file.content), **self._attributes(path, file)}
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
    own = {**settings, "vpod_vipu": wanted["vipu"] or {}, "containers_vpods": wanted["containers"]}
    there = server.files.read(CLIENT)
    write(server, vpod_resources(own, there is not None and there.content.startswith(HEADER)), controller, spend)
    write(server, containers_resources(own), controller, spend)
    write(server, left_clients(own, [*server.directories]), controller, spend)
    for client in client_resources(own).values():
        write(server, client, controller, spend)
    engines = Engines(Programs(server.engines.run), server.sysfs)

    def carry_out_network(step: Step) -> None:
        spend()
        engines.carry_out(step)

    declared = networks_from([vpod["network"] for vpod in own["containers_vpods"]])
    networks = partial(plan_of_networks, declared)
    assert converge(engines.read, networks, one_by_one(carry_out_network), check_mode=False).failure is None
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
            case resources.Absent(path) if path in host.directories or path in host.files.files:
                spend()
                host.units.discard(path.rpartition("/")[2])
                _remove(host, path)
            case resources.Program(path, checksum, owner, group, mode):
                file = File(f"{PROGRAM}{checksum}", owner, group, mode)
                if host.files.read(path) != file:
                    spend()
                    host.files.write(path, file)
            case resources.Unit(name) if name not in host.units:
                spend()
                host.units.add(name)
            case resources.File(path):
                file = File(_with_secret(thing, controller), thing.owner, thing.group, thing.mode)
                if host.files.read(path) != file:
                    spend()
                    host.files.write(path, file)


def _remove(host: Host, path: str) -> None:
    """A file, or a directory with all that is in it."""
    for each in [each for each in host.files.files if f"{each}/".startswith(f"{path}/")]:
        host.files.remove(each)
    for each in [each for each in host.directories if f"{each}/".startswith(f"{path}/")]:
        del host.directories[each]


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


def _checksum(content: str) -> str:
    return content.removeprefix(PROGRAM) if content.startswith(PROGRAM) else _hash(content)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
