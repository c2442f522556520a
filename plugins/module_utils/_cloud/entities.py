# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of things that vPODs have in a cloud, and the marks by which they are known as the collection's. Pure."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Dict, Iterable, Mapping

PROJECT, MEMBER, QUOTA = "project", "member", "quota"
NETWORK, SUBNET, SECURITY_GROUP = "network", "subnet", "security_group"
FLAVOR, TRAIT, IMAGE = "flavor", "trait", "image"
KEY, PORT, VOLUME, SERVER = "key", "port", "volume", "server"

# What a project may use, by the service that counts it.
OF_COMPUTE, OF_STORAGE = ("instances", "cores", "ram"), ("volumes", "gigabytes")

# Parents first: a thing refers only to kinds that stand before its own.
KINDS = (
    *(PROJECT, MEMBER, QUOTA, NETWORK, SUBNET, SECURITY_GROUP, FLAVOR, TRAIT, IMAGE),
    *(KEY, PORT, VOLUME, SERVER),
)
# What is declared; keys and ports follow from servers.
DECLARED = tuple(kind for kind in KINDS if kind not in (KEY, PORT))

# The options of ``ipu.pod.cloud_state``: kinds, in the plural, to their things.
Desired = Mapping[str, Any]
# What a cloud holds, as :mod:`.look` returns it: kinds, in the plural, to lists of things with ``id`` and ``vpod``.
Look = Mapping[str, Any]
Thing = Dict[str, Any]

ACTIVE, BUILD, ERROR = "ACTIVE", "BUILD", "ERROR"
# A volume that was never made; one whose extension failed has another word.
VOLUME_ERROR = "error"
# The role with which somebody works in a project.
MEMBER_ROLE = "member"
# The operator's role where a machine is also on a network that only the operator sees.
ADMIN_ROLE = "admin"

# How a port is made: of Open vSwitch, or a virtual function of a NIC.
NORMAL, DIRECT = "normal", "direct"

TAG = "ipu.pod"
_VPOD_TAG = "ipu.pod:vpod="
# In the description of a port that attach.yml made: what vPODs have in clouds by declaration is not concerned with it.
_ATTACHED = "ipu.pod:attached="
# The same in the metadata of servers and volumes.
MARK = "ipu.pod:vpod"
TRAIT_PREFIX = "CUSTOM_IPU_POD_"
_KEY_NAME = re.compile(r"(vpod|controller)-(.+)-[0-9a-f]{12}")
# What a mark has after the name of a vPOD, in which it cannot be.
_CONTROLLER = ":controller"


def plural(kind: str) -> str:
    """The name of a list of that kind, in options and looks."""
    return f"{kind}s"


def things(source: Mapping[str, Any], kind: str) -> list[Thing]:
    """The things of a kind in options or a look; none where the list is left out."""
    return list(source.get(plural(kind)) or [])


def fields_in(thing: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    """Those of some fields that a thing has."""
    return {field: thing[field] for field in fields if thing.get(field) is not None}


def tags_of(vpod: str) -> list[str]:
    """The tags of what belongs to a vPOD."""
    return [TAG, f"{_VPOD_TAG}{vpod}"]


def description_of(vpod: str) -> str:
    """The description of what cannot be made with tags in one go, so that it is never there without a mark."""
    return f"{_VPOD_TAG}{vpod}"


def controller_of(vpod: str) -> str:
    """The mark of what the machine of a vPOD's V-IPU controller is made of: it goes after the vPOD's own."""
    return f"{vpod}{_CONTROLLER}"


def is_of_controller(mark: str) -> bool:
    """Whether a mark is that of the machine of a vPOD's controller, and not of the vPOD itself."""
    return mark.endswith(_CONTROLLER)


def vpod_of_mark(mark: str) -> str:
    """The vPOD of a mark, which may be that of its controller's machine."""
    return mark[: -len(_CONTROLLER)] if is_of_controller(mark) else mark


def attached_to(vpod: str) -> str:
    """The description of a port by which a machine that runs is attached to a vPOD."""
    return f"{_ATTACHED}{vpod}"


def vpod_attached_to(description: str) -> str | None:
    """The vPOD that such a description names; None for what is no attachment."""
    return description[len(_ATTACHED) :] if description.startswith(_ATTACHED) else None


def vpod_of_tags(tags: Iterable[str]) -> str | None:
    """The vPOD that tags name; None for what is not the collection's."""
    names = [tag[len(_VPOD_TAG) :] for tag in tags if tag.startswith(_VPOD_TAG)]
    return names[0] if names else None


def trait_name(vpod: str) -> str:
    """The trait of the hypervisors of a vPOD. Placement takes capitals, digits and underscores."""
    spelled = re.sub(r"[^A-Z0-9]", "_", vpod.upper())
    unambiguous = re.fullmatch(r"[a-z0-9-]+", vpod) is not None
    return f"{TRAIT_PREFIX}{spelled}" if unambiguous else f"{TRAIT_PREFIX}{spelled}_{_digest(vpod)[:8].upper()}"


def key_name(vpod: str, public_key: str) -> str:
    """The name of a key pair in Nova, by which another key is known as another one. Nova takes no colon there."""
    start = "controller" if is_of_controller(vpod) else "vpod"
    return f"{start}-{vpod_of_mark(vpod)}-{_digest(public_key.strip())[:12]}"


def vpod_of_key(name: str) -> str | None:
    """The vPOD of a key pair, by its name: Nova has no other place for a mark."""
    match = _KEY_NAME.fullmatch(name)
    if match is None:
        return None
    start, vpod = match.groups()
    return controller_of(vpod) if start == "controller" else str(vpod)


def port_name(server: str, network: str) -> str:
    """The name of a server's port on a network."""
    return f"{server}-{network}"


def member_name(user: str, role: str, project: str) -> str:
    """What a role assignment is called, which has no name of its own."""
    return f"{user} as {role} in {project}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
