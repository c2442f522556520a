# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at the host of V-IPU controllers: what the role writes, done in memory, and controllers in this process."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.module_utils._look.controllers import Place, controllers_from
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import (
    Account,
    Directory,
    File,
    Link,
    Made,
    Resource,
    Unit,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import vipu_controller_resources
from tests.support.checkout import ROOT
from tests.support.in_memory.controller import InProcess

HOST = "pod001-poplar1"
PROGRAM = "/usr/local/bin/vipu-server"
DEFAULTS = ROOT / "roles" / "vipu_controller" / "defaults" / "main.yml"

SETTINGS: dict[str, Any] = {
    **yaml.safe_load(DEFAULTS.read_text(encoding="utf-8")),
    "vipu_controller_program": PROGRAM,
    "vipu_controller_storage": "/var/lib/vipu/vipu-server.json",
    "vipu_controller_backup_directory": "/var/lib/vipu/backups",
}
STARTED = 1000.0
ROOTS = {"owner": "root", "group": "root", "modified": STARTED - 1}


def look(controllers: Mapping[str, Any], things: Mapping[str, Any]) -> dict[str, Any]:
    """A look at a host that has answered."""
    parts = {"controllers": dict(controllers), "things": dict(things)}
    return {"host": HOST, "outcome": "answered", "message": "", "settings": SETTINGS, "parts": parts}


def on_a_host(things: Iterable[Resource] = (), more: Collection[str] = (PROGRAM,)) -> dict[str, Any]:
    """The part "things" of a host where these have been written, and files beside them."""
    paths = {path: {"kind": "file", "mode": "0755", "sha256": "", **ROOTS} for path in more}
    texts, units = {}, {}
    accounts: list[str] = []
    for thing in things:
        match thing:
            case File(content=str(content)):
                texts[thing.path] = content
                digest = sha256(content.encode()).hexdigest()
                paths[thing.path] = {"kind": "file", "mode": thing.mode, "sha256": digest, **ROOTS}
            case Directory():
                found = {"owner": thing.owner, "group": thing.group, "mode": thing.mode}
                paths[thing.path] = {**ROOTS, "kind": "directory", **found}
            case Account():
                accounts.append(thing.name)
            case Link():
                paths[thing.path] = {"kind": "link", "mode": "0777", "target": thing.target, **ROOTS}
            case Made():
                paths[thing.creates] = {"kind": "file", "mode": "0600", "sha256": "", **ROOTS}
            case Unit():
                units[thing.name] = {"there": True, "active": "active", "enabled": True, "started_at": STARTED}
    others: dict[str, Any] = {"packages": {}, "kernel_parameters": {}, "secrets": {}}
    return {"paths": paths, "texts": texts, "units": units, "accounts": accounts, **others}


def in_service(settings: Mapping[str, Any] = SETTINGS, *vpods: str) -> dict[str, Any]:
    """The part "things" of a host with the services of these dedicated controllers, or of that of a cluster."""
    things = [thing for vpod in vpods or ("",) for thing in vipu_controller_resources(settings, vpod)]
    return on_a_host(things)


def asked(sites: Mapping[str, InProcess], partitions: Sequence[str] = ()) -> dict[str, Any]:
    """The part "controllers" of a host with these, by vPOD, and the IPUoF configurations of partitions."""
    # The simulated vipu-admin moves this process to another directory.
    one_at_a_time = threading.Lock()
    answers: dict[str, Any] = {}
    for name, site in sites.items():

        def run(argv: list[str], site: InProcess = site) -> tuple[int, str, str]:
            with one_at_a_time:
                return site.run(argv)

        answers.update(controllers_from([Place(name, 8091, "/storage")], partitions, run, lambda _path: True))
    return answers
