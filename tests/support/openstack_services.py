# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small, strict stand-in for Keystone and Nova over HTTP: it knows the few requests that we make, and refuses others.

It answers as the services of the release Zed do, and wrongly on request.
"""

from __future__ import annotations

import json
import secrets
import ssl
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, Mapping[str, str], bytes]
MICROVERSION = "2.69"
UNKNOWN_USER = {"error": {"code": 401, "message": "The request you have made requires authentication."}}


@dataclass
class Services:
    """The cloud: users with passwords, application credentials, projects, machines.

    ``page`` is how many machines an answer holds at most, and ``faults`` change answers by the first word of
    "token", "list", "machine".
    """

    url: str = ""
    page: int = 1000
    users: dict[str, str] = field(default_factory=lambda: {"reader": "its password"})
    credentials: dict[str, tuple[str, str]] = field(default_factory=dict)
    projects: dict[str, str] = field(default_factory=dict)
    machines: dict[str, dict[str, str]] = field(default_factory=dict)
    endpoints: list[dict[str, str]] = field(default_factory=list)
    faults: dict[str, Callable[[Answer], Answer]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)

    def project(self, name: str) -> str:
        """The id of a project, which is made if it is not there."""
        return self.projects.setdefault(name, uuid.uuid4().hex)

    def boot(self, name: str, project: str = "alice", status: str = "ACTIVE") -> str:
        """Make a machine. Returns its UUID."""
        number = str(uuid.uuid4())
        self.machines[number] = {"id": number, "name": name, "tenant_id": self.project(project), "status": status}
        return number

    def delete(self, number: str) -> None:
        """Delete a machine: Nova does not show it any more to those who are no administrators."""
        del self.machines[number]

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a request."""
        parts = urlsplit(path)
        words = tuple(parts.path.strip("/").split("/"))
        self.requests.append(f"{method} {path}")
        if (method, words) == ("POST", ("v3", "auth", "tokens")):
            return self._fault("token", self._token(json.loads(body)))
        if method != "GET" or words[:2] != ("compute", "v2.1"):
            return self._not_known(method, path)
        if headers.get("X-OpenStack-Nova-API-Version") != MICROVERSION:
            return self._not_known(method, f"{path} with another microversion")
        return self._of_nova(self.tokens.get(headers.get("X-Auth-Token", ""), ""), path)

    def _of_nova(self, project: str, path: str) -> Answer:
        parts = urlsplit(path)
        words = tuple(parts.path.strip("/").split("/"))
        if not project:
            return _json(401, UNKNOWN_USER)
        mine = {number: machine for number, machine in self.machines.items() if machine["tenant_id"] == project}
        if words[2:] == ("servers", "detail"):
            return self._fault("list", self._list(mine, parse_qs(parts.query)))
        if words[2:3] == ("servers",) and len(words) == 4 and not parts.query:
            return self._fault("machine", self._show(mine, words[3]))
        return self._not_known("GET", path)

    def _token(self, asked: dict[str, Any]) -> Answer:
        identity = asked["auth"]["identity"]
        scope = asked["auth"].get("scope", {}).get("project", {})
        name = None
        if identity["methods"] == ["password"]:
            user = identity["password"]["user"]
            known = self.users.get(user["name"]) == user["password"] and user["domain"] == {"name": "Default"}
            name = scope["name"] if known and scope["domain"] == {"name": "Default"} else None
        elif identity["methods"] == ["application_credential"] and not scope:
            credential = identity["application_credential"]
            secret, of = self.credentials.get(credential["id"], ("", ""))
            name = of if secret == credential["secret"] else None
        if name not in self.projects:
            return _json(401, UNKNOWN_USER)
        token = secrets.token_urlsafe()
        self.tokens[token] = self.projects[name]
        place = {"id": self.projects[name], "name": name, "domain": {"id": "default", "name": "Default"}}
        shown = {"project": place, "catalog": [{"type": "compute", "name": "nova", "endpoints": self._endpoints()}]}
        return _json(201, {"token": shown}, {"X-Subject-Token": token})

    def _endpoints(self) -> list[dict[str, str]]:
        own = {"url": f"{self.url}/compute/v2.1", "region_id": "RegionOne", "interface": "public"}
        return self.endpoints or [own, {**own, "interface": "internal"}]

    def _list(self, mine: dict[str, dict[str, str]], query: dict[str, list[str]]) -> Answer:
        numbers, limit = sorted(mine), min(self.page, int(query["limit"][0]))
        if "marker" in query:
            if query["marker"][0] not in numbers:
                return _json(400, {"badRequest": {"code": 400, "message": "marker not found"}})
            numbers = numbers[numbers.index(query["marker"][0]) + 1 :]
        answer: dict[str, Any] = {"servers": [mine[number] for number in numbers[:limit]]}
        if len(numbers) > limit:
            # Whoever follows it goes astray: our client makes its own.
            answer["servers_links"] = [{"rel": "next", "href": "http://192.0.2.1/"}]
        return _json(200, answer)

    def _show(self, mine: dict[str, dict[str, str]], number: str) -> Answer:
        if number not in mine:
            message = f"Instance {number} could not be found."
            return _json(404, {"itemNotFound": {"code": 404, "message": message}})
        return _json(200, {"server": mine[number]})

    def _not_known(self, method: str, path: str) -> Answer:
        self.wrong.append(f"{method} {path}")
        return _json(400, {"badRequest": {"code": 400, "message": "this stand-in knows no such request"}})

    def _fault(self, kind: str, answer: Answer) -> Answer:
        return self.faults[kind](answer) if kind in self.faults else answer


def _json(code: int, data: Any, headers: Mapping[str, str] | None = None) -> Answer:
    return code, headers or {}, json.dumps(data).encode()


@contextmanager
def running_services(certificate: str = "", key: str = "", host: str = "127.0.0.1") -> Iterator[Services]:
    """The services on a port of their own; with a certificate and its key, over TLS."""
    services = Services()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            code, headers, data = services.answer(self.command, self.path, self.headers, body)
            if code == 0:
                # A service that dies before it answers.
                self.close_connection = True
                return
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", "Content-Length": len(data), **headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST  # noqa: N815 - so BaseHTTPRequestHandler finds it

        def log_message(self, *_words: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    services.url = f"{'https' if certificate else 'http'}://{host}:{server.server_port}"
    try:
        yield services
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
