# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a cloud, and its faults, from its look: what cloud_state in check mode would say. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import (
    PROJECT,
    SERVER,
    controller_of,
    is_of_controller,
    things,
    vpod_of_mark,
)
from ansible_collections.ipu.pod.plugins.module_utils._cloud.found import is_half_made
from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan, without_what_goes
from ansible_collections.ipu.pod.plugins.module_utils._cloud.wanted import wanted
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step

from .._desired.clouds import OF_VPODS
from .._pod.model import Declaration
from .looks import Look, Part, part, read

Options = Mapping[str, Any]

PART = "cloud"


def cloud_steps(options: Options, look: Look, down: Options | None = None) -> list[Step]:
    """Return the steps of a cloud; ``down`` are the options of what is removed there before.

    Refused if it cannot be made so, or a machine would be interrupted whose vPOD is not allowed to be.
    """
    there = read(look, PART)
    if down is not None and down is not options:
        there = without_what_goes(down, there, _steps(down, there))
    return _steps(options, there)


def cloud_names(options: Options, look: Look) -> dict[str, list[str]]:
    """Kind to the names of all that is declared of a cloud."""
    there = read(look, PART)
    return {kind: list(names) for kind, names in wanted(declared(options, there), there).items() if names}


def leaving(options: Options) -> dict[str, Any]:
    """The options of a cloud that only take away what vPODs have that are to go, but for their V-IPU controllers."""
    absent = [mark for mark in options["absent_vpods"] if not is_of_controller(mark)]
    return {**options, **{kind: [] for kind in (*OF_VPODS, "images")}, "absent_vpods": absent}


def after_leaving(options: Options) -> dict[str, Any]:
    """The options of a cloud when that has gone; controllers go last, as the rest of a teardown needs them."""
    return {**options, "absent_vpods": [mark for mark in options["absent_vpods"] if is_of_controller(mark)]}


def startable(options: Options, look: Look) -> dict[str, Any]:
    """The options without new machines of vPODs whose V-IPU controller has no machine yet: they need what it gives."""
    there = read(look, PART)
    unmade = [
        vpod_of_mark(each["vpod"])
        for each in options["servers"]
        if is_of_controller(each["vpod"]) and not _has_controller(there, each["name"], each["vpod"])
    ]
    made = {(each["project"], each["name"]) for each in things(there, SERVER)}
    servers = [
        each for each in options["servers"] if each["vpod"] not in unmade or (each["project"], each["name"]) in made
    ]
    return {**options, "servers": servers}


def unmade_controllers(declaration: Declaration, looks: Mapping[str, Look]) -> dict[str, str]:
    """The hosts of dedicated V-IPU controllers whose machines are not there, with a sentence that says so."""
    found = {}
    for vpod in (*declaration.absent.values(), *declaration.vpods.values()):
        host, share = vpod.controller_host, vpod.cloud
        there = part(looks.get(share.name), PART) if share and share.controller else None
        if host and share and there is not None and not _has_controller(there, host, controller_of(vpod.name)):
            found[host] = f"its machine is not there yet; run openstack.yml, which makes it in {share.name}"
    return found


def _has_controller(there: Part, host: str, mark: str) -> bool:
    projects = {each["id"] for each in things(there, PROJECT) if each["vpod"] == mark}
    servers = [each for each in things(there, SERVER) if each["name"] == host and each["project_id"] in projects]
    return any(not is_half_made(each) for each in servers)


def _steps(options: Options, there: Part) -> list[Step]:
    steps: list[Step] = plan(declared(options, there), there, options["allow_interruption"])
    return steps


def declared(options: Options, there: Part) -> Options:
    """The options without what only a run says, and with the checksums of the images' files."""
    images = [{**image, "sha512": there["files"][image["name"]]} for image in options["images"]]
    return {**{name: value for name, value in options.items() if name != "allow_interruption"}, "images": images}
