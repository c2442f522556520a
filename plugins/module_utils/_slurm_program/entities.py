# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU entities of a job: created in one request, and removed if they exist."""

from __future__ import annotations

from contextlib import suppress
from typing import Callable

from .._plan.converge import DeviceError
from .._plan.steps import CREATE, REMOVE, Fields, Step
from .._vipu.cli import Controller, NotDone
from .._vipu.dialect import EXISTS, NO_ROOM, UNKNOWN
from .._vipu.entities import PARTITION


class NoRoom(DeviceError):
    """The requested IPUs are not free now; the message is one sentence for the job's owner."""


def make(controller: Controller, kind: str, name: str, fields: Fields, clear: Callable[[], object]) -> None:
    """Create an entity. ``clear`` takes away what the job has already: left over, or not come up.

    Raises:
        NoRoom: nothing free is large enough.
        DeviceError: it could not be made; then it is not there, if that can be helped.
    """
    try:
        _create(controller, kind, name, fields)
    except NotDone as error:
        if error.reason == NO_ROOM:
            raise NoRoom(error.answer) from error
        if error.reason != EXISTS:
            with suppress(DeviceError):
                clear()
            raise
        clear()
        _create(controller, kind, name, fields)


def remove(controller: Controller, kind: str, name: str) -> None:
    """Remove an entity; that it has gone meanwhile is no error. Whatever still runs on a partition ends."""
    try:
        if kind == PARTITION:
            # It may be in the middle of its creation, or have an agent that is down.
            controller.remove_partition_by_force(name)
        else:
            controller.carry_out(Step(REMOVE, kind, name, "its job is over"))
    except NotDone as error:
        if error.reason != UNKNOWN:
            raise


def _create(controller: Controller, kind: str, name: str, fields: Fields) -> None:
    controller.carry_out(Step(CREATE, kind, name, "a job asks for it", after=fields))
