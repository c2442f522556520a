# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of the role vpod besides IPUoF settings: V-IPU client, containers' file. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._templates.render import render
from .resources import SECRET, Absent, Directory, File, Resource

# By this the client's configuration is known again when the server has no vPOD any more.
HEADER = "# The collection ipu.pod writes this file."
CLIENT = "/etc/vipu/vipu-cli.hcl"
CERTIFICATES = "/etc/vipu/certs"
CONTAINERS_DIRECTORY = "/etc/ipu.pod"
CONTAINERS = f"{CONTAINERS_DIRECTORY}/containers.env"
_NAMES = ("ca.crt", "tls.crt", "tls.key")
AUTHORITY = f"{CERTIFICATES}/ca.crt"
_CERTIFICATES_THERE = tuple(f"{CERTIFICATES}/{name}" for name in _NAMES)

# The role's variables by their names.
Settings = Mapping[str, Any]


def vpod_resources(settings: Settings, is_ours: bool = True) -> list[Resource]:
    """Everything in its order; a client's configuration without :data:`HEADER` is not ours, and stays."""
    return [*_client(settings, is_ours), *_containers(settings["vpod_containers"])]


def looked_by_vpod(settings: Settings, is_server: bool, is_controller: bool) -> dict[str, list[str]]:
    """The options of host_look for all that may have to be compared, whichever vPOD a server has.

    ``is_controller`` is true for a host of any V-IPU controller.
    """
    asked: dict[str, list[str]] = {"paths": [], "texts": [], "secrets": []}
    if is_server:
        files = [*_CERTIFICATES_THERE, CLIENT]
        asked["paths"] += ["/etc/vipu", CERTIFICATES, *files, CONTAINERS_DIRECTORY, CONTAINERS]
        asked["texts"] += [CLIENT, CONTAINERS]
        asked["secrets"] += files
    if is_controller:
        dedicated = f"{settings['vpod_dedicated_parent']}/vipu-server-*"
        for directory in (settings["vpod_controller_directory"], dedicated):
            asked["secrets"] += [*_certificates_of(directory), f"{directory}/keys/*.key"]
    return asked


def _client(settings: Settings, is_ours: bool) -> list[Resource]:
    client = settings["vpod_vipu"]
    if not client:
        # The configuration is the last, because it says that all of them are ours.
        return [Absent(path) for path in (*_CERTIFICATES_THERE, CLIENT)] if is_ours else []
    text = render("vipu-cli.hcl", header=HEADER, client=client, secret=SECRET, certificates=CERTIFICATES)
    if not client.get("user"):
        return [Directory("/etc/vipu"), File(CLIENT, text)]
    directory = settings["vpod_controller_directory"]
    if client.get("dedicated"):
        directory = f"{settings['vpod_dedicated_parent']}/vipu-server-{client['dedicated']}"
    sources = zip(_CERTIFICATES_THERE, _certificates_of(directory), strict=True)
    return [
        Directory("/etc/vipu"),
        Directory(CERTIFICATES),
        *(_secret_file(path, None, source, settings) for path, source in sources),
        _secret_file(CLIENT, text, f"{directory}/keys/{client['user']}.key", settings),
    ]


def _secret_file(path: str, content: str | None, source: str, settings: Settings) -> File:
    owner, group = settings["vpod_owner"], settings["vpod_group"]
    return File(path, content, owner, group, "0600", is_secret=True, source=source)


def _certificates_of(directory: str) -> list[str]:
    """Where a controller that runs in ``directory`` has what its clients need."""
    return [f"{directory}/vipu-certs/client/{name}" for name in _NAMES]


def _containers(network: Mapping[str, str]) -> list[Resource]:
    if not network:
        return [Absent(CONTAINERS)]
    text = render("containers.env", header=HEADER, path=CONTAINERS, network=network)
    return [Directory(CONTAINERS_DIRECTORY), File(CONTAINERS, text)]
