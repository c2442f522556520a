# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an IPU-Machine does with data on the RNIC network: it gives back what it gets.

It stands for IPUoF, whose protocol is not published, at the port that an IPUoF configuration names. A message is its
length in four bytes, then the data.
"""

from __future__ import annotations

import socket
import struct
from socketserver import StreamRequestHandler, ThreadingTCPServer

LENGTH = struct.Struct("!I")
LARGEST_MESSAGE = 1024 * 1024


class DataService(ThreadingTCPServer):
    """Listens at one interface alone, whichever address that has or gets."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, interface: str, port: int) -> None:
        self._interface = interface
        super().__init__(("", port), _Echo)

    def server_bind(self) -> None:
        """Take the port there."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self._interface.encode())
        super().server_bind()


class _Echo(StreamRequestHandler):
    def handle(self) -> None:
        """Give back each message; one that is too large ends the connection."""
        while len(header := self.rfile.read(LENGTH.size)) == LENGTH.size:
            (length,) = LENGTH.unpack(header)
            data = self.rfile.read(length) if length <= LARGEST_MESSAGE else b""
            if len(data) != length:
                return
            self.wfile.write(header + data)
