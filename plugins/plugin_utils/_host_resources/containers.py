# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of the role containers besides networks: ipu-run, its settings, its timer, and who may run it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.settings import PATH as SETTINGS
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.settings import PROGRAM
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._programs.build import IPU_RUN, program
from .._templates.render import render
from .resources import Absent, Directory, File, Program, Resource, Unit
from .vpod import CLIENT, CLIENTS, HEADER, client_of, directory_of, vpod_resources

STATE = "/var/lib/ipu-pod/containers"
TIMER = "ipu-run-release.timer"
SERVICE_FILE, TIMER_FILE = (f"/etc/systemd/system/ipu-run-release.{kind}" for kind in ("service", "timer"))
SUDOERS = "/etc/sudoers.d/ipu-run"
# Of earlier releases, which wrote options to copy.
OPTIONS = "/etc/ipu.pod/containers.env"
RDMA_DEVICES = ("/dev/infiniband",)
# Of a server that several vPODs share; what else a container gets is of its vPOD's virtual function.
COMMON_DEVICES = ("/dev/infiniband/rdma_cm",)
_DIRECTORY = "/etc/ipu-pod"
_GROUP = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def containers_resources(settings: Mapping[str, Any]) -> list[Resource]:
    """Everything in its order, or that nothing of it is there.

    Raises:
        Refused: a group has a name that no group can have.
    """
    vpods, groups = settings["containers_vpods"], settings["containers_groups"]
    if not vpods:
        return [Absent(path) for path in (OPTIONS, SUDOERS, TIMER_FILE, SERVICE_FILE, SETTINGS, CLIENTS, PROGRAM)]
    for vpod, group in groups.items():
        if not _GROUP.fullmatch(group):
            raise Refused(f"containers_groups.{vpod}: {group!r} is not the name of a group; write one like alice")
    may = sorted({groups[vpod["name"]] for vpod in vpods if vpod["name"] in groups})
    sudoers = render("ipu-run.sudoers", header=HEADER, groups=may, program=PROGRAM)
    return [
        Absent(OPTIONS),
        Directory(_DIRECTORY),
        Directory(CLIENTS, mode="0700") if any(vpod.get("vipu") for vpod in vpods) else Absent(CLIENTS),
        Program(PROGRAM, _checksum()),
        File(SETTINGS, _settings(vpods, groups)),
        File(SUDOERS, sudoers, mode="0440") if may else Absent(SUDOERS),
        File(SERVICE_FILE, render("ipu-run-release.service", header=HEADER, program=PROGRAM)),
        File(TIMER_FILE, render("ipu-run-release.timer", header=HEADER)),
        Unit(TIMER),
    ]


def client_resources(settings: Mapping[str, Any]) -> dict[str, list[Resource]]:
    """vPOD to its V-IPU client, where the server is shared; without those that the run leaves aside."""
    return {
        vpod["name"]: vpod_resources({**settings, "vpod_vipu": vpod["vipu"]}, vpod=vpod["name"])
        for vpod in settings["containers_vpods"]
        if vpod.get("vipu") and not vpod.get("vipu_kept")
    }


def left_clients(settings: Mapping[str, Any], paths: Collection[str]) -> list[Resource]:
    """Without the clients of vPODs that have left, of whatever ``paths`` are there."""
    there = [directory_of(vpod["name"]) for vpod in settings["containers_vpods"] if vpod.get("vipu")]
    left = [path for path in paths if path.rpartition("/")[0] == CLIENTS and path not in there]
    # All of them go with their directory.
    return [Absent(path) for path in sorted(left)] if there else []


def looked_by_containers() -> dict[str, list[str]]:
    """The options of host_look for a server, whether it has containers or not."""
    files = [OPTIONS, PROGRAM, SETTINGS, SUDOERS, SERVICE_FILE, TIMER_FILE]
    texts = [path for path in files if path != PROGRAM]
    return {"paths": [_DIRECTORY, CLIENTS, *files], "texts": texts, "units": [TIMER]}


@lru_cache(maxsize=1)
def _checksum() -> str:
    return sha256(program(IPU_RUN)).hexdigest()


def _settings(vpods: list[Mapping[str, Any]], groups: Mapping[str, str]) -> str:
    entries = [
        {
            "name": vpod["name"],
            "ipus": vpod["ipus"],
            "allocation": vpod["allocation"],
            "network": vpod["network"]["name"],
            "group": groups.get(vpod["name"], ""),
            "api_host": vpod["api_host"],
            "api_port": vpod["api_port"],
            "vipu_config": client_of(vpod["name"]) if vpod.get("vipu") else CLIENT,
            "devices": list(RDMA_DEVICES if vpod["network"].get("function") is None else COMMON_DEVICES),
            "function": _function(vpod),
        }
        for vpod in vpods
    ]
    return json.dumps({"state": STATE, "vpods": entries}, indent=2) + "\n"


def _function(vpod: Mapping[str, Any]) -> dict[str, Any] | None:
    number = vpod["network"].get("function")
    return None if number is None else {"rnic": vpod["network"]["interface"], "number": number, "vlan": vpod["vlan"]}
