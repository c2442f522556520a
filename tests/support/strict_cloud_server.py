# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The strict cloud over HTTP, each service on a port of its own, so that one can be down; and its entry for the SDK."""

from __future__ import annotations

import json
import re
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from tests.support.strict_cloud import SERVICES, Request, StrictCloud

# Where each service has its API below its port, and in which words it says which versions it has.
PREFIXES = {
    "identity": "/v3",
    "compute": "/v2.1",
    "placement": "",
    "network": "/v2.0",
    "image": "/v2",
    "block_storage": "/v3/[^/]+",
}
TYPES = {service: service.replace("_", "-") for service in SERVICES}


class Site:
    """The running services of a cloud."""

    def __init__(self, cloud: StrictCloud) -> None:
        self.cloud = cloud
        self._running: dict[str, tuple[ThreadingHTTPServer, threading.Thread]] = {}
        # Also while a service is down, lest another test's server gets its port and answers there.
        self._held = {service: _held_port() for service in SERVICES}
        self.ports: dict[str, int] = {service: held.getsockname()[1] for service, held in self._held.items()}
        for service in SERVICES:
            self.start(service)

    def start(self, service: str) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", self.ports[service]), _handler(self, service))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        self._running[service] = (server, thread)

    def stop(self, service: str) -> None:
        """Nobody listens on its port any more."""
        server, thread = self._running.pop(service)
        server.shutdown()
        thread.join()
        server.server_close()

    def stop_all(self) -> None:
        for service in list(self._running):
            self.stop(service)
        for held in self._held.values():
            held.close()

    def write_entry(self, path: Path, password: str) -> None:
        auth = {"auth_url": f"{self.url('identity')}/v3", "username": "admin", "password": password}
        scope = {"project_name": "admin", "user_domain_name": "Default", "project_domain_name": "Default"}
        path.write_text(yaml.safe_dump({"clouds": {"cloud001": {"auth": {**auth, **scope}, "region_name": "one"}}}))

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.ports[service]}"

    def answer(self, service: str, method: str, path: str, token: str, data: bytes) -> tuple[int, Any, dict[str, str]]:
        """Status, JSON and headers of an answer."""
        if (versions := self._versions(service)).get(path.rstrip("/")) and method == "GET":
            return 200, versions[path.rstrip("/")], {}
        if service == "identity" and path == "/v3/auth/tokens":
            return self._token(json.loads(data))
        project = self.cloud.tokens.get(token)
        if project is None:
            return 401, {"error": {"code": 401, "message": "The request you have made requires authentication."}}, {}
        below = re.sub(f"^{PREFIXES[service]}", "", path)
        body = data if below.endswith("/file") else json.loads(data) if data else None
        return *self.cloud.answer(Request(service, method, below, body, project)), {}

    def _versions(self, service: str) -> dict[str, Any]:
        url = self.url(service)
        versions = {
            "identity": ("/v3", {"id": "v3.14", "status": "stable"}, "version"),
            "compute": (
                "/v2.1",
                {"id": "v2.1", "status": "CURRENT", "version": "2.93", "min_version": "2.1"},
                "version",
            ),
            "placement": (
                "",
                {"id": "v1.0", "status": "CURRENT", "max_version": "1.39", "min_version": "1.0"},
                "versions",
            ),
            "network": ("", {"id": "v2.0", "status": "CURRENT"}, "versions"),
            "image": ("", {"id": "v2.15", "status": "CURRENT"}, "versions"),
            "block_storage": (
                "/v3",
                {"id": "v3.0", "status": "CURRENT", "version": "3.70", "min_version": "3.0"},
                "versions",
            ),
        }
        path, version, key = versions[service]
        below = "/v3" if service == "block_storage" else PREFIXES[service]
        said = {**version, "links": [{"rel": "self", "href": f"{url}{below}/"}]}
        return {path: {key: said if key == "version" else [said]}}

    def _token(self, asked: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        user = asked["auth"]["identity"]["password"]["user"]
        if (user["name"], user["password"]) != ("admin", self.cloud.password):
            return 401, {"error": {"code": 401, "message": "The request you have made requires authentication."}}, {}
        scope = asked["auth"]["scope"]["project"]
        project = scope.get("id") or f"p-{scope['name']}"
        token = secrets.token_urlsafe()
        self.cloud.tokens[token] = project
        catalog = [
            {"type": TYPES[service], "name": service, "endpoints": [self._endpoint(service, project)]}
            for service in SERVICES
        ]
        domain = {"id": "default", "name": "Default"}
        said = {
            "user": {"id": "u-admin", "name": "admin", "domain": domain},
            "project": {"id": project, "name": self.cloud.kinds["project"][project]["name"], "domain": domain},
            "expires_at": "2999-01-01T00:00:00.000000Z",
            "catalog": catalog,
        }
        return 201, {"token": said}, {"X-Subject-Token": token}

    def _endpoint(self, service: str, project: str) -> dict[str, str]:
        below = {"compute": "/v2.1", "identity": "/v3", "block_storage": f"/v3/{project}"}.get(service, "")
        return {"url": f"{self.url(service)}{below}", "interface": "public", "region": "one", "region_id": "one"}


def _held_port() -> socket.socket:
    held = socket.socket()
    # As servers do: they listen on it beside this socket, which does not listen.
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


def _handler(site: Site, service: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            chunked = self.headers.get("Transfer-Encoding") == "chunked"
            data = self._chunks() if chunked else self.rfile.read(int(self.headers.get("Content-Length", 0)))
            token = self.headers.get("X-Auth-Token", "")
            status, answer, headers = site.answer(service, self.command, self.path, token, data)
            text = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": len(text), **headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - so BaseHTTPRequestHandler finds them

        def _chunks(self) -> bytes:
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data

        def log_message(self, *_words: Any) -> None:
            pass

    return Handler


@contextmanager
def running(cloud: StrictCloud) -> Iterator[Site]:
    """The cloud's six services."""
    site = Site(cloud)
    try:
        yield site
    finally:
        site.stop_all()
