# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may have in a container, and what it gets without being asked for."""

from __future__ import annotations

import os
import re
import secrets
from typing import Callable

from .._plan.converge import Refused
from .arguments import Arguments
from .functions import Opened
from .registry import Registry
from .settings import Vpod
from .user import User

_IMAGE = re.compile(r"[a-z0-9][a-z0-9._-]*(:[0-9]+(?=/))?(/[a-z0-9][a-z0-9._-]*)*(:\w[\w.-]*)?(@sha256:[0-9a-f]{64})?")
_TRANSPORTS = (
    *("containers-storage", "dir", "docker", "docker-archive", "docker-daemon", "oci", "oci-archive", "ostree", "sif"),
    "tarball",
)
_NOT_IN_NAMES = re.compile("[^A-Za-z0-9._-]|^[._-]")


def refuse_beyond(asked: Arguments, vpod: Vpod, user: User) -> None:
    """Refuse what the vPOD does not have, and what the user may not."""
    if asked.ipus > vpod.ipus:
        raise Refused(f"--ipus {asked.ipus}: vPOD {vpod.name} has {vpod.ipus}; ask for fewer")
    # podman would read files of the server as an image, with root's rights.
    if user.uid and (not _IMAGE.fullmatch(asked.image) or asked.image.partition(":")[0] in _TRANSPORTS):
        raise Refused(f"{asked.image} is not the name of an image; write one like poplar:3.3 or host/poplar:3.3")
    if asked.volumes and user.uid:
        raise Refused(f"--volume is for root alone, since it opens directories that {user.name} may not; use --home")


def refuse_function(vpod: Vpod, host: str) -> None:
    """Refuse a session where the vPOD has one container at a time."""
    if vpod.function:
        raise Refused(
            f"vPOD {vpod.name} has {vpod.function} of {host}, for one container at a time; sessions are for servers "
            "that a vPOD has to itself"
        )


def refuse_taken(name: str, is_held: bool, registry: Registry) -> None:
    """Refuse a name that another container has; ``is_held`` is whether this process holds it now."""
    if not is_held or registry.record(name):
        raise Refused(f"container {name} is there; give another --name")


def name_for(asked: Arguments, user: User) -> str:
    """The name of the container and of its partition."""
    return asked.name or f"{_NOT_IN_NAMES.sub('-', user.name)[:50]}-{secrets.token_hex(4)}"


def volumes_of(asked: Arguments, user: User) -> tuple[str, ...]:
    """The directories of the server that it gets."""
    return (*asked.volumes, *([f"{user.home}:{user.home}"] if asked.home else []))


def devices_of(vpod: Vpod, log: Callable[[str], None], opened: Opened) -> tuple[str, ...]:
    """The RDMA devices that it gets; what is missing is said."""
    wanted = (*vpod.devices, *opened.devices)
    there = tuple(device for device in wanted if os.path.exists(device))
    for device in wanted:
        if device not in there:
            log(f"this server has no {device}, so the container has no RDMA; load the RNIC's driver")
    if vpod.function and not opened.devices:
        log(f"{vpod.function} has no RDMA device, so the container has no RDMA; load the RNIC's driver")
    return there
