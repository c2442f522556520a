# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""QEMU's machine protocol: what a person does to a virtual machine from outside."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any


def qmp(address: Path, command: str, until: str = "", **arguments: Any) -> None:
    """One command to a virtual machine.

    Args:
        address: its socket.
        command: the command.
        until: an event to wait for.
        arguments: those of the command.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(address))
        lines = connection.makefile("rw")
        events = set()

        def answer() -> dict[str, Any]:
            message: dict[str, Any] = json.loads(lines.readline())
            events.add(message.get("event"))
            return message

        for request in ({"execute": "qmp_capabilities"}, {"execute": command, "arguments": arguments}):
            lines.write(json.dumps(request))
            lines.flush()
            while not (message := answer()).keys() & {"return", "error"}:
                pass
            assert "error" not in message, message
        while until and until not in events:
            answer()
