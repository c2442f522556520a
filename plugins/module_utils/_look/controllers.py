# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the entities of every V-IPU controller on a host: the shared one, and the dedicated ones of vPODs."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, Sequence

from .._host.files import Files, NotPlain
from .._plan.converge import DeviceError
from .._plan.steps import Fields
from .._vipu.cli import Controller, Run
from .._vipu.connection import END_POINTS, configuration_of
from .._vipu.dialect import ADMIN
from .._vipu.entities import PARTITION, plural
from .._vipu.settle import with_errors
from .parts import line_of, plain

UNITS = "/etc/systemd/system"
_UNIT = re.compile(r"vipu-server-(.+)\.service")
_ADMIN_PORT = re.compile(r"--admin-port[ =](\d+)")
_STORAGE = re.compile(r"--storage[ =](\S+)")
# How the name of a file ends that is beside the storage until the controller has been set up.
UNFINISHED = ".unfinished"
# So many controllers are asked at the same time.
_SIDE_BY_SIDE = 8

Answer = Dict[str, Any]


@dataclass(frozen=True)
class Place:
    """The end-point and credentials of a controller.

    ``name`` is that of its vPOD, empty for the clusters' controller. ``admin_port`` is None, and ``storage`` empty,
    where its unit does not tell. ``config`` is for vipu-admin; None for what the program takes by itself.
    """

    name: str
    admin_port: int | None
    storage: str
    config: str | None = None
    secure: bool = False


def places_of(options: Sequence[Mapping[str, Any]], with_dedicated: bool, files: Files) -> list[Place]:
    """The controllers of this host: the ``options`` name some, and every dedicated one that has a unit may be added."""
    named = [
        Place(
            each["name"], each["admin_port"], each["storage"], each["config"], "--secure" in _unit(files, each["name"])
        )
        for each in options
    ]
    matches = (_UNIT.fullmatch(name) for name in (files.names(UNITS) if with_dedicated else []))
    found = sorted({match.group(1) for match in matches if match} - {place.name for place in named})
    return named + [_dedicated(name, _unit(files, name)) for name in found]


def controllers_from(
    places: Sequence[Place], partitions: Sequence[str], run: Run, exists: Callable[[str], bool] = os.path.exists
) -> dict[str, Answer]:
    """Return the entities of each controller by its name, or an error message, and the abilities of its program.

    ``partitions`` are those whose IPUoF configurations are wanted, from whichever controller has them.
    """

    def asked(place: Place) -> Answer:
        # One that is not finished holds nothing yet, and is set up as if there were none.
        has_storage = exists(place.storage) and not exists(f"{place.storage}{UNFINISHED}")
        answer = {"storage": has_storage, "secure": place.secure, "admin_port": place.admin_port}
        try:
            return {**answer, **_held(place, partitions, run)}
        except DeviceError as error:
            return {**answer, "message": line_of(error)}

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        by_agents = pool.submit(_allocates_by_agents, run)
        answers = list(pool.map(asked, places))
    program = {"allocates_by_agents": by_agents.result()}
    return {place.name: {**answer, **program} for place, answer in zip(places, answers)}


def _allocates_by_agents(run: Run) -> bool:
    """Return whether vipu-admin can create an allocation of given agents; False if its help does not say."""
    try:
        return Controller(run, ADMIN, "localhost", END_POINTS["admin"][1]).allocates_by_agents()
    except DeviceError:
        return False


def _unit(files: Files, vpod: str) -> str:
    try:
        file = files.read(f"{UNITS}/vipu-server{f'-{vpod}' if vpod else ''}.service")
    except NotPlain:
        # Masked, or a link of somebody else: not a unit of ours.
        return ""
    return file.content if file else ""


def _dedicated(name: str, unit: str) -> Place:
    port, storage, secure = _ADMIN_PORT.search(unit), _STORAGE.search(unit), "--secure" in unit
    return Place(
        name=name,
        admin_port=int(port.group(1)) if port else None,
        storage=storage.group(1) if storage else "",
        config=f"/etc/vipu/vipu-admin-{name}.hcl" if secure else None,
        secure=secure,
    )


def _held(place: Place, partitions: Sequence[str], run: Run) -> Answer:
    if place.admin_port is None:
        raise DeviceError(f"{UNITS}/vipu-server-{place.name}.service has no --admin-port; correct it or remove it")
    options = configuration_of({"config": place.config, "api_user_id": None}, ADMIN)
    client = Controller(run, ADMIN, "localhost", place.admin_port, options)
    state = client.read(client.kinds)
    with_errors(client, state, state[PARTITION])
    held = {plural(kind): plain(entities) for kind, entities in state.items()}
    configurations, unread = _configurations(client, partitions, state[PARTITION])
    return {"release": client.server_version(), **held, "ipuof_configurations": configurations, "ipuof_unread": unread}


def _configurations(
    client: Controller, wanted: Sequence[str], partitions: Mapping[str, Fields]
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """The IPUoF configurations of the wanted partitions that are there, and why some of them cannot be read."""
    found: dict[str, list[Any]] = {}
    unread: dict[str, str] = {}
    for name in (each for each in wanted if each in partitions):
        try:
            found[name] = [client.ipuof_configuration(name, gcd) for gcd in range(partitions[name]["gcds"])]
        except DeviceError as error:
            unread[name] = line_of(error)
    return found, unread
