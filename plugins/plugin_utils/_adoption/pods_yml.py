# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an adopted pods.yml is laid out for those who will read it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._declaration.keys import DOCUMENT
from .._pod.kinds import Kind, MapOf, Record

COMMENTS = {
    "pods": "The racks. What follows from the port map and the addresses of a rack is not said; exceptions are named.",
    "controllers": "The V-IPU controllers.",
    "clusters": "Which racks each of them has, in the order of the IPU-Link domains.",
    "clouds": "The OpenStacks in which tenants have something.",
    "vpods": "The tenants: their IPU-Machines, Poplar servers, VLANs and partitions.",
}


def ordered(document: Any, kind: Kind = DOCUMENT) -> Any:
    """The same document, with all keys in the order of the schema."""
    if isinstance(kind, Record) and isinstance(document, Mapping):
        return {name: ordered(document[name], value) for name, value in kind.kinds.items() if name in document}
    if isinstance(kind, MapOf) and isinstance(document, Mapping):
        return {name: ordered(value, kind.value) for name, value in document.items()}
    return document
