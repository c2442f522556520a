# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cloud-init gives a vPOD's machine in a cloud: the files of the role vpod, as user data. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._vipu.ipuof import wanted_files

from .._templates.render import render
from .resources import SECRET, File
from .vpod import HEADER, Settings, vpod_resources

# What Nova takes, in base64.
LARGEST = 65535


def secret_sources(settings: Settings) -> list[str]:
    """The files on the controller's host whose content :func:`user_data` needs."""
    return [file.source for file in _client(settings) if file.is_secret]


def user_data(settings: Settings, secrets: Mapping[str, str], configurations: Mapping[str, Any] | None = None) -> str:
    """The user data of a vPOD's machines: V-IPU client, credentials, IPUoF settings. The cloud says their network.

    Args:
        settings: the role vpod's variables by their names; ``vpod_owner`` is the user of the machine's image.
        secrets: the content of each of :func:`secret_sources`.
        configurations: the IPUoF configurations of the partitions by their names, for ``vpod_ipuof: files``.

    Raises:
        Refused: a secret is missing, or all of it is more than a cloud takes.
    """
    for file in _client(settings):
        if file.is_secret and not secrets.get(file.source):
            raise Refused(
                f"{settings['vpod_vipu']['controller']} has no {file.source}, which {file.path} of a machine is made "
                "from; run playbooks/vpods.yml, and if it is the key of a user who is there already, write it there"
            )
    files = [*(_with_secret(file, secrets) for file in _client(settings)), *_ipuof(settings, configurations or {})]
    text = render("user_data.yml", header=HEADER, files=files)
    size = (len(text.encode()) + 2) // 3 * 4
    if size > LARGEST:
        raise Refused(
            f"the user data of a machine has {size} bytes in base64, and a cloud takes {LARGEST}; "
            "declare ipuof: environment for its vPOD, or fewer partitions"
        )
    return text


def _client(settings: Settings) -> list[File]:
    resources = vpod_resources(settings)
    return [resource for resource in resources if isinstance(resource, File)]


def _with_secret(file: File, secrets: Mapping[str, str]) -> File:
    """A key is part of a line; certificates are whole files."""
    if not file.is_secret:
        return file
    secret = secrets[file.source]
    return replace(file, content=file.content.replace(SECRET, secret.strip()) if file.content else secret)


def _ipuof(settings: Settings, configurations: Mapping[str, Any]) -> Iterator[File]:
    options = {
        "mode": settings["vpod_ipuof"],
        "partitions": [{"api_port": 8090, "gcd": 0, **partition} for partition in settings["vpod_partitions"]],
        "configurations": configurations,
        "login_partition": None,
    }
    for path, lines in wanted_files(options).items():
        yield File(path, "".join(f"{line}\n" for line in lines or ()))
