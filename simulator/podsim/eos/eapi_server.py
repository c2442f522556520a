# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP or HTTPS server of a switch's eAPI."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from podsim.eos import eapi
from podsim.eos.accounts import log_in
from podsim.eos.switch import Switch

MAX_REQUEST_BYTES = 16 * 1024 * 1024


class EapiServer(ThreadingHTTPServer):
    """The HTTP server of one switch."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], switch: Switch, account: tuple[str, str], log: Path | None) -> None:
        super().__init__(address, EapiHandler)
        self.switch = switch
        self._account = account
        self._log = log
        self._log_lock = threading.Lock()

    def user_of(self, authorization: str | None) -> str | None:
        """Whom the Authorization header names; None if it names no account."""
        scheme, _, encoded = (authorization or "").partition(" ")
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            return None
        known = scheme == "Basic" and log_in(self.switch.running, self._account, user, password)
        return user if known else None

    def log_call(self, request: Any) -> None:
        """Write one line about an eAPI call, before it runs."""
        if self._log is None:
            return
        lines = eapi.commands(request)
        entry = {"time": time.time(), "commands": lines, "write": eapi.writes(lines)}
        with self._log_lock, self._log.open("a") as file:
            file.write(json.dumps(entry) + "\n")


class EapiHandler(BaseHTTPRequestHandler):
    """One connection to `/command-api`."""

    server: EapiServer
    protocol_version = "HTTP/1.1"
    server_version = "podsim-eos"

    def setup(self) -> None:
        """A reload cuts everybody off."""
        super().setup()
        self.server.switch.connections.add(self._drop)

    def finish(self) -> None:
        """Forget a connection that has ended."""
        self.server.switch.connections.discard(self._drop)
        with contextlib.suppress(OSError):
            super().finish()

    def _drop(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_POST(self) -> None:
        """Answer an eAPI call."""
        if not self.server.switch.api_reachable():
            self.close_connection = True
            return
        body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), MAX_REQUEST_BYTES))
        if self.path != "/command-api":
            self._send(404, "text/plain", b"Not found\n")
        elif (user := self.server.user_of(self.headers.get("Authorization"))) is None:
            text = b"Unable to authenticate user: Bad username/password combination\n"
            self._send(401, "text/plain", text, {"WWW-Authenticate": 'Basic realm="COMMAND_API_AUTH"'})
        else:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._send(200, "application/json", json.dumps(self._answer(user, body)).encode())

    def _answer(self, user: str, body: bytes) -> dict[str, Any]:
        try:
            request = json.loads(body)
        except ValueError as error:
            return eapi.refuse(None, eapi.PARSE_ERROR, f"Parse error: {error}")
        self.server.log_call(request)
        return eapi.respond(self.server.switch, user, request)

    def _send(self, status: int, content_type: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """The request log says what there is to say."""
