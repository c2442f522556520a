# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a switch answers to a look, and understands the recording."""

from __future__ import annotations

import socket
import time
from typing import Any, Sequence

from .._look.parts import Part
from .._look.switch import look_at
from .._tor.connection import sender
from .recording import Entry, Recording
from .replay import Replay

SWITCH = "switch"


def record_switch(socket_path: str | None) -> dict[str, Any]:
    """The record of the switch behind a socket of Ansible's.

    Raises:
        Refused: it is no connection to a switch.
        DeviceError: there is no way to the switch.
    """
    recording = Recording()
    look_at(recording.send(sender(socket_path)), socket.gethostname(), time.time)
    return {"kind": SWITCH, "answers": recording.entries}


def understood_of_switch(entries: Sequence[Entry]) -> dict[str, Part]:
    """The parts of a look, from the answers of a record."""
    return look_at(Replay(entries).send, "", lambda: 0.0)
