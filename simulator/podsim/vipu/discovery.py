# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto-discovery: agents say where they are in datagrams, the controller remembers who it heard."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

PORT = 8092
"""Where the controller listens. Ours: the real discovery's wire format is not published."""


class Discovery:
    """The agents that were heard on these interfaces. Raises OSError when it cannot listen there."""

    def __init__(self, host: str, port: int, interfaces: Sequence[str]) -> None:
        self._heard: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        for interface in interfaces:
            listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
            listener.bind((host, port))
            threading.Thread(target=self._listen, args=(listener, interface), daemon=True).start()

    def seen(self, now: float) -> list[dict[str, Any]]:
        """Who was heard, with the seconds since; `now` by time.monotonic()."""
        with self._lock:
            heard = sorted(self._heard.values(), key=lambda agent: str(agent["auto_add_id"]))
        return [
            {
                "host": agent["host"],
                "port": agent["port"],
                "network_interface": agent["network_interface"],
                "seconds_since_last_seen": int(now - agent["at"]),
                "auto_add_id": agent["auto_add_id"],
            }
            for agent in heard
        ]

    def _listen(self, listener: socket.socket, interface: str) -> None:
        while True:
            data, (host, _port) = listener.recvfrom(2048)
            try:
                message = json.loads(data)
                agent = {"host": host, "port": int(message["port"]), "auto_add_id": str(message["id"])}
            except (ValueError, TypeError, KeyError):
                continue  # somebody else's datagram
            with self._lock:
                self._heard[agent["auto_add_id"]] = {**agent, "network_interface": interface, "at": time.monotonic()}
