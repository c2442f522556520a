# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a Poplar server or the host of a V-IPU controller answers to a look, and understands the recording."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from typing import Any, Callable, Mapping, Sequence

from .._host.files import Files
from .._host.programs import Run
from .._look.host import HostLook, looked
from .._look.once import LIMIT, Once, run_limited
from .._look.parts import Part
from .._plan.converge import DeviceError
from .._rnic.ssh_addresses import ssh_addresses
from .._rnic.sysfs import Sysfs
from .._vipu.cli import Controller
from .._vipu.connection import configuration_of, run_program
from .._vipu.dialect import ADMIN
from .._vipu.entities import PARTITION, plural
from .._vipu.probe import commands_of, differences, findings, lists_of
from .recording import RecordedFiles, RecordedSysfs, Recording
from .replay import Replay, ReplayedFiles, ReplayedSysfs

HOST = "host"
# Parts of a look that ask NICs and V-IPU; the others read nothing but files of this collection.
SERVER_PARTS = ("links", "network", "uses", "roce", "nics", "use")
CONTROLLER_PARTS = ("controllers",)
PARTS = (*SERVER_PARTS, *CONTROLLER_PARTS)
# Beside the parts of a look: what vipu_probe asks, and what modules ask of one partition.
PROGRAM, LISTS, ONE_PARTITION = "vipu_program", "vipu_lists", "vipu_partition"
# What else says its version. What is not installed is an answer, too.
VERSIONS = (
    ["uname", "-r"],
    ["ip", "-Version"],
    ["systemctl", "--version"],
    ["ethtool", "--version"],
    ["ofed_info", "-s"],
)
OS_RELEASE = "/etc/os-release"
# Of the options of host_look, those that only ask for files.
_NOTHING_ELSE: dict[str, Any] = dict.fromkeys(
    ("paths", "texts", "units", "packages", "accounts", "kernel_parameters", "secrets", "ipuof_configurations"), ()
)


def record_host(parts: Sequence[str], admin_port: int | None) -> dict[str, Any]:
    """The record of this host; ``admin_port`` is that of the clusters' controller, None where there is none."""
    recording = Recording()
    run = recording.run(run_limited)

    def run_vipu(argv: list[str]) -> tuple[int, str, str]:
        return run_program(argv, LIMIT, "/", {})

    config = configuration_of({"config": None, "api_user_id": None}, ADMIN)
    addresses = ssh_addresses(os.getpid())
    wanted = {"parts": list(parts), "admin_port": admin_port, "config": config[1] if config else None}
    files, sysfs = RecordedFiles(recording), RecordedSysfs(recording)
    _parts(wanted, run, recording.run(run_vipu), files, sysfs, addresses)
    for words in VERSIONS:
        with suppress(OSError):
            run(words)
    # A link in most distributions.
    os_release = os.path.realpath(OS_RELEASE)
    with suppress(DeviceError):
        files.read(os_release)
    return {
        "kind": HOST,
        "options": wanted,
        "ssh_addresses": sorted(addresses),
        "python": platform.python_version(),
        "os_release": os_release,
        "answers": recording.entries,
    }


def understood_of_host(record: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of a look, from a record."""
    replay = Replay(record["answers"])
    files, sysfs = ReplayedFiles(replay), ReplayedSysfs(replay)
    return _parts(record["options"], replay.run, replay.run, files, sysfs, frozenset(record["ssh_addresses"]))


def _parts(
    wanted: Mapping[str, Any], run: Run, run_vipu: Run, files: Files, sysfs: Sysfs, addresses: frozenset[str]
) -> dict[str, Part]:
    port, config = wanted["admin_port"], wanted["config"]
    place = {"name": "", "admin_port": port, "storage": "", "config": config}
    options = {
        **_NOTHING_ELSE,
        "minimum_speed": 0,
        "minimum_firmware": "0.0.0",
        "roce_tools": "auto",
        "run_key": "",
        "controllers": [place] if port else [],
        "dedicated_units": True,
    }
    run_vipu = Once(run_vipu)
    look = HostLook(run, run_vipu, files, sysfs, addresses, options, dict)
    readers: dict[str, Callable[[], Part]] = {part: getattr(look, part) for part in wanted["parts"]}
    if port:
        program = Controller(run_vipu, ADMIN, "localhost", port, ["--config", config] if config else [])
        readers[PROGRAM] = lambda: _program(program)
        readers[LISTS] = lambda: _lists(program)
        readers[ONE_PARTITION] = lambda: _partition(program)
    return looked(readers)


def _program(controller: Controller) -> Part:
    """What the program says of itself, compared with what is known of it."""
    helps = {(each.verb, each.entity): controller.help(each.verb, each.entity) for each in commands_of(ADMIN)}
    return {"release": controller.program_version(), "differences": differences(findings(ADMIN, helps))}


def _lists(controller: Controller) -> Part:
    """The places that the JSON of each list has."""
    return {plural(kind): controller.json_fields(kind) for kind in lists_of(ADMIN)}


def _partition(controller: Controller) -> Part:
    """Status and first IPUoF configuration of one partition; nothing where there is none."""
    # In the order of the answer, which names have no part in: in an archive they are others.
    names = list(controller.read([PARTITION])[PARTITION])
    return {
        "status": [controller.partition_status(name) for name in names[:1]],
        "ipuof_configuration": [controller.ipuof_configuration(name, 0) for name in names[:1]],
    }
