# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at a fleet, from the files of fleet_files.py: what tor_look and host_look answer of such devices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.module_utils._containers import networks
from ansible_collections.ipu.pod.plugins.module_utils._look.parts import plain
from ansible_collections.ipu.pod.plugins.module_utils._rnic import plan as rnic
from ansible_collections.ipu.pod.plugins.module_utils._rnic import server as links
from ansible_collections.ipu.pod.plugins.module_utils._rnic.uses import Uses
from ansible_collections.ipu.pod.plugins.module_utils._roce import boot
from ansible_collections.ipu.pod.plugins.module_utils._roce import plan as roce
from ansible_collections.ipu.pod.plugins.module_utils._roce import survey as surveys
from ansible_collections.ipu.pod.plugins.module_utils._roce.ofed import Ofed
from ansible_collections.ipu.pod.plugins.module_utils._roce.tool_sets import Nic
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import Observed
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.gathering import NICS_ALONE
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import vipu_controller_resources
from tests.benchmark.fleet_files import CONTROLLER
from tests.support.controller_looks import on_a_host

ROLES = Path(__file__).resolve().parents[2] / "roles"
TOOLS = Ofed()
PROGRAM = "/usr/local/bin/vipu-server"
MINIMUM = {"firmware": "16.26.1040", "speed": 0}

# Templates of the role's defaults, filled in.
OF_CONTROLLER = {
    "vipu_controller_program": PROGRAM,
    "vipu_controller_storage": "/var/lib/vipu/vipu-server.json",
    "vipu_controller_backup_directory": "/var/lib/vipu/backups",
}

Fields = Mapping[str, Any]
Look = dict[str, Any]
Looks = dict[str, Look]


def looks_at(directory: Path) -> Looks:
    """Host to its look; nothing of the roles is on the hosts yet."""
    looks = {}
    for path in sorted(directory.glob("*.config")):
        name = path.name.removesuffix(".config")
        looks[name] = _switch(name, path.read_text(), json.loads((directory / f"{name}.seen.json").read_text()))
    for path in sorted(directory.glob("*-poplar?.json")):
        looks[path.stem] = _server(path.stem, json.loads(path.read_text()))
    held = json.loads((directory / f"{CONTROLLER}.json").read_text())
    looks[CONTROLLER] = _controller(held)
    return looks


def _look(host: str, settings: Fields, **parts: Fields) -> Look:
    return {"host": host, "outcome": "answered", "message": "", "settings": settings, "parts": parts}


def _switch(name: str, text: str, seen: Fields) -> Look:
    config = gathered(parse(text))
    info = {**config, **{field.name: seen.get(field.name) for field in fields(Observed)}}
    sessions = {"busy": {}, "left_over": [], "timer": None}
    status = {"links": {}, "vlans": {}, "members": {}, "blocked": {}}
    saved = {"text": text, "vlans": config["vlans"]}
    parts = {"running_config": {"text": text}, "startup_config": saved, "gathered": config, "info": info}
    parts |= {"status": status, "sessions": sessions}
    return _look(name, _defaults("tor_switch"), **plain(parts))


def _server(name: str, outputs: Fields) -> Look:
    server = links.Server(
        links=links.links_from(outputs["links"]),
        default_devices=frozenset(links.default_devices_from(outputs["routes"])),
        services=frozenset({"networkd"}),
        claims={device: {"networkd": path} for device, path in outputs["network_files"].items()},
        used_texts=outputs["texts"],
    )
    rnic_name, nic = outputs["nic"], Nic(outputs["nic"], "mlx5_0")
    script, unit = boot.script(nic, TOOLS, outputs["lasting_roce"]), boot.unit(rnic_name, nic)
    lossless = surveys.Surveyed(nic, outputs["roce"], script, unit, starts=True)
    surveyed = surveys.Survey(TOOLS, server.links, {rnic_name: lossless})
    starts = [f"{boot.wants_directory(nic)}/{boot.unit_name(rnic_name)}"]
    files = {boot.script_path(rnic_name): lossless.script, boot.unit_path(rnic_name): lossless.unit}
    network = {"gathered": rnic.gathered(server), "lasting": rnic.lasting(server)}
    network |= {"pending": False, "refusal": "", "undone": None, "unloaded": []}
    parts = {
        "links": server,
        "network": network,
        "uses": Uses(),
        "roce": {
            "server": {"tools": TOOLS.name, "links": server.links, "interfaces": surveyed.interfaces},
            "gathered": roce.gathered(surveyed),
            "lasting": roce.lasting(surveyed),
            "unread": {},
            "files": files,
            "starts": starts,
        },
        "nics": {"nics": [_nic(link) for link in surveys.nics_of(server.links)], "minimum": MINIMUM},
        "use": {"in_use": [], "unknown": []},
        "ipuof": {ipuof.FILE: {}, ipuof.FOREIGN: {}},
        "containers": {networks.ENGINE: {}, networks.NETWORK: {}, networks.FOREIGN: {}},
        "leases": {"text": ""},
        "things": on_a_host([], []),
    }
    return _look(name, {**_defaults("poplar_server", "vpod", "containers"), **NICS_ALONE}, **plain(parts))


def _nic(link: links.Link) -> Fields:
    found = {"name": link.device, "mac": link.mac, "up": link.up, "carrier": link.up, "mtu": link.mtu}
    found |= {
        "speed": 100000,
        "speed_verdict": "ok",
        "addresses": list(link.addresses),
        "rdma_device": None,
        "gids": [],
    }
    return {**found, "counters": {}, "firmware": {"version": None, "verdict": "unknown"}}


def _controller(held: Fields) -> Look:
    settings = {**_defaults("vipu_controller", "vpod"), **OF_CONTROLLER}
    answer = {"storage": True, "secure": False, "admin_port": 8091, "release": "1.18.0", "allocates_by_agents": True}
    controllers = {"": {**answer, **held, "ipuof_configurations": {}, "ipuof_unread": {}}}
    things = on_a_host(vipu_controller_resources(settings), [PROGRAM])
    return _look(CONTROLLER, settings, **plain({"controllers": controllers, "things": things}))


def _defaults(*roles: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for role in roles:
        found |= yaml.safe_load((ROLES / role / "defaults" / "main.yml").read_text())
    return found
