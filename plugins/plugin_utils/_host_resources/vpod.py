# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of the role vpod besides IPUoF settings: the V-IPU client. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._templates.render import render
from .resources import SECRET, Absent, Directory, File, Resource
from .vipu_controller import installed_release

# By this the client's configuration is known again when the server has no vPOD any more.
HEADER = "# The collection ipu.pod writes this file."
_FILE = "vipu-cli.hcl"
CLIENT = f"/etc/vipu/{_FILE}"
# Where a server that several vPODs share has a client for each of them, which only its root can use.
CLIENTS = "/etc/ipu-pod/vipu"
_CERTIFICATES = "certs"
_AUTHORITY = "ca.crt"
_NAMES = (_AUTHORITY, "tls.crt", "tls.key")

# The role's variables by their names.
Settings = Mapping[str, Any]


def vpod_resources(settings: Settings, is_ours: bool = True, vpod: str = "") -> list[Resource]:
    """Everything in its order; a client's configuration without :data:`HEADER` is not ours, and stays.

    With the name of a ``vpod``, its client on a server that it shares with others.
    """
    client = settings["vpod_vipu"]
    place = directory_of(vpod) if vpod else "/etc/vipu"
    there = _certificates_in(place)
    if not client:
        # The configuration is the last, because it says that all of them are ours.
        return [Absent(path) for path in (*there, CLIENT)] if is_ours else []
    path, certificates = f"{place}/{_FILE}", f"{place}/{_CERTIFICATES}"
    text = render("vipu-cli.hcl", header=HEADER, client=client, secret=SECRET, certificates=certificates)
    if not client.get("user"):
        return [Directory(place), File(path, text)]
    if vpod:
        settings = {**settings, "vpod_owner": "root", "vpod_group": "root"}
    directory = settings["vpod_controller_directory"]
    if client.get("dedicated"):
        directory = f"{settings['vpod_dedicated_parent']}/vipu-server-{client['dedicated']}"
    sources = zip(there, _certificates_of(directory), strict=True)
    return [
        Directory(place),
        Directory(certificates),
        *(_secret_file(each, None, source, settings) for each, source in sources),
        _secret_file(path, text, f"{directory}/keys/{client['user']}.key", settings),
    ]


def program_resources(settings: Settings) -> list[Resource]:
    """The program ``vipu`` from the vendor's archive; nothing without an archive."""
    if not settings["vpod_archive"]:
        return []
    return installed_release(settings["vpod_program"], settings["vpod_program_links"], ("vipu",))


def directory_of(vpod: str) -> str:
    """Where a server has the client of a vPOD that it shares with others."""
    return f"{CLIENTS}/{vpod}"


def client_of(vpod: str) -> str:
    """The configuration of that client."""
    return f"{directory_of(vpod)}/{_FILE}"


def has_key(file: File) -> bool:
    """Whether a secret file is a client's configuration, with the access key, and no certificate."""
    return file.content is not None


def is_authority(file: File) -> bool:
    """Whether a file is the certificate by which a client knows its controller."""
    return file.path.endswith(f"/{_CERTIFICATES}/{_AUTHORITY}")


def looked_by_vpod(settings: Settings, is_server: bool, is_controller: bool) -> dict[str, list[str]]:
    """The options of host_look for all that may have to be compared, whichever vPOD a server has.

    ``is_controller`` is true for a host of any V-IPU controller.
    """
    asked: dict[str, list[str]] = {"paths": [], "texts": [], "secrets": []}
    if is_server:
        for place in ("/etc/vipu", directory_of("*")):
            files = [*_certificates_in(place), f"{place}/{_FILE}"]
            asked["paths"] += [place, f"{place}/{_CERTIFICATES}", *files]
            asked["texts"].append(files[-1])
            asked["secrets"] += files
    if is_controller:
        dedicated = f"{settings['vpod_dedicated_parent']}/vipu-server-*"
        for directory in (settings["vpod_controller_directory"], dedicated):
            asked["secrets"] += [*_certificates_of(directory), f"{directory}/keys/*.key"]
    return asked


def _secret_file(path: str, content: str | None, source: str, settings: Settings) -> File:
    owner, group = settings["vpod_owner"], settings["vpod_group"]
    return File(path, content, owner, group, "0600", is_secret=True, source=source)


def _certificates_in(place: str) -> list[str]:
    """Where the client there has them."""
    return [f"{place}/{_CERTIFICATES}/{name}" for name in _NAMES]


def _certificates_of(directory: str) -> list[str]:
    """Where a controller that runs in ``directory`` has what its clients need."""
    return [f"{directory}/vipu-certs/client/{name}" for name in _NAMES]
