# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`podsim eos`: one simulated switch behind HTTP or HTTPS."""

from __future__ import annotations

import argparse
import base64
import hmac
import json
import signal
import ssl
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from podsim.eos import eapi
from podsim.eos.dataplane import OpenVSwitch
from podsim.eos.errors import EosError
from podsim.eos.hardware import PORTS, Release
from podsim.eos.switch import NoDataPlane, Switch

DEFAULT_RELEASE = "4.28.3M"
MAX_REQUEST_BYTES = 16 * 1024 * 1024


class EapiServer(ThreadingHTTPServer):
    """The HTTP server of one switch, with one account."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], switch: Switch, account: tuple[str, str], log: Path | None) -> None:
        super().__init__(address, EapiHandler)
        self.switch = switch
        self.user, password = account
        self._authorization = "Basic " + base64.b64encode(f"{self.user}:{password}".encode()).decode()
        self._log = log
        self._log_lock = threading.Lock()

    def accepts(self, authorization: str | None) -> bool:
        """Whether the Authorization header names the account."""
        return hmac.compare_digest((authorization or "").encode(), self._authorization.encode())

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

    def do_POST(self) -> None:
        """Answer an eAPI call."""
        if not self.server.switch.api_reachable():
            self.close_connection = True
            return
        body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), MAX_REQUEST_BYTES))
        if self.path != "/command-api":
            self._send(404, "text/plain", b"Not found\n")
        elif not self.server.accepts(self.headers.get("Authorization")):
            text = b"Unable to authenticate user: Bad username/password combination\n"
            self._send(401, "text/plain", text, {"WWW-Authenticate": 'Basic realm="COMMAND_API_AUTH"'})
        else:
            self._send(200, "application/json", json.dumps(self._answer(body)).encode())

    def _answer(self, body: bytes) -> dict[str, Any]:
        try:
            request = json.loads(body)
        except ValueError as error:
            return eapi.refuse(None, eapi.PARSE_ERROR, f"Parse error: {error}")
        self.server.log_call(request)
        return eapi.respond(self.server.switch, self.server.user, request)

    def _send(self, status: int, content_type: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """The request log says what there is to say."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one switch until SIGTERM or SIGINT; 1 when it cannot start, with a sentence on stderr."""
    options = _parse(argv)
    try:
        server = _server(options)
    except (EosError, OSError) as error:
        print(f"podsim eos: {error}", file=sys.stderr)
        return 1
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    host, port = server.server_address[:2]
    print(f"eAPI at {'https' if options.cert else 'http'}://{host!s}:{port}/command-api", flush=True)
    stopping.wait()
    server.shutdown()
    server.server_close()
    server.switch.close()
    return 0


def _server(options: argparse.Namespace) -> EapiServer:
    data_plane = OpenVSwitch(options.dataplane, options.bridge) if options.dataplane else NoDataPlane(PORTS)
    startup = options.startup_config or options.config.with_name(options.config.name + ".startup")
    switch = Switch(options.config, startup, Release(options.release), data_plane, options.hostname)
    server = EapiServer(options.listen, switch, (options.user, options.password), options.request_log)
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="podsim eos", description="A simulated Arista switch that answers eAPI.")
    parser.add_argument("--listen", required=True, type=_address, metavar="HOST:PORT", help="port 0 takes a free one")
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--config", required=True, type=Path, help="the running configuration; made if it is missing")
    parser.add_argument("--startup-config", type=Path, help="default: beside the running one, with the suffix .startup")
    parser.add_argument("--hostname", help="the host name of a configuration that is made")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="the EOS release to be (default: %(default)s)")
    parser.add_argument("--cert", type=Path, help="serve HTTPS with this certificate (PEM)")
    parser.add_argument("--key", type=Path, help="the certificate's key (PEM)")
    parser.add_argument("--dataplane", metavar="unix:PATH", help="steer the Open vSwitch with this database")
    parser.add_argument("--bridge", help="the bridge that is this switch")
    parser.add_argument("--request-log", type=Path, help="append one JSON line for each eAPI call")
    options = parser.parse_args(argv)
    if bool(options.cert) != bool(options.key):
        parser.error("--cert and --key go together")
    if bool(options.dataplane) != bool(options.bridge):
        parser.error("--dataplane and --bridge go together")
    return options


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: an address is HOST:PORT, such as 127.0.0.1:8080")
    return host.strip("[]"), int(port)


if __name__ == "__main__":
    sys.exit(main())
