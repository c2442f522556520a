# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a controller does not carry out a request."""

from __future__ import annotations


class Refused(Exception):
    """A request that is refused; `code` is the name of a gRPC status code, the text is one readable sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> Refused:
    """The request itself is wrong, whatever the state of the controller."""
    return Refused("INVALID_ARGUMENT", message)


def unknown(kind: str, name: str) -> Refused:
    """The named entity does not exist (or the caller may not see it)."""
    return Refused("NOT_FOUND", f"{kind} '{name}' is unknown")


def exists(kind: str, name: str) -> Refused:
    """An entity of that name exists already."""
    return Refused("ALREADY_EXISTS", f"{kind} '{name}' already exists")


def conflict(message: str) -> Refused:
    """The request is fine, but something else stands in its way now."""
    return Refused("FAILED_PRECONDITION", message)


def no_room(message: str) -> Refused:
    """Nothing free is large enough."""
    return Refused("RESOURCE_EXHAUSTED", message)
