# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keystone and Nova, as far as the question goes which machines of a project are there, and which are deleted."""

from __future__ import annotations

import json
import re
import ssl
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any, Iterator, Mapping
from urllib.parse import quote, urlencode, urlsplit

from .._plan.converge import NOT_UNDERSTOOD, DeviceError
from .decision import NOT_FOUND, Answers, Machine, Records, unanswered
from .settings import Credentials

# With this version Nova says of a machine whose database does not answer that it is UNKNOWN, and does not leave it out.
MICROVERSION = "2.69"
UNKNOWN = "UNKNOWN"
# Seconds for each answer; bytes of one; machines in one; answers to one list.
LIMIT, LONGEST, PAGE, PAGES = 30.0, 32 * 1024 * 1024, 1000, 100
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token goes nowhere else than it is meant for."""

    def redirect_request(self, *_request: Any, **_more: Any) -> None:
        return None


class Cloud:
    """A cloud, for whoever the credentials are."""

    def __init__(self, name: str, credentials: Credentials) -> None:
        self._name = name
        self._credentials = credentials
        context = ssl.create_default_context(cafile=credentials.ca_file or None)
        # Without proxies that an environment names.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context), _NoRedirects()
        )

    def ask(self, project: str, domain: str, records: Records) -> Answers:
        """Which machines a project has, and what has become of the recorded ones that are not among them.

        Raises:
            DeviceError: an answer did not come, is none of the expected ones, or is not whole.
        """
        token, found = self._log_in(project, domain)
        try:
            project_id, endpoint = self._place(found, project, domain)
            headers = {"X-Auth-Token": token, "X-OpenStack-Nova-API-Version": MICROVERSION}
            listed = dict(self._machines(endpoint, headers, project_id))
            statuses = {uuid: self._status(endpoint, headers, uuid) for uuid in unanswered(records, listed)}
        except NOT_UNDERSTOOD as error:
            raise DeviceError(f"{self._name}: an answer is not understood: {error}") from None
        return Answers(project_id, listed, statuses)

    def _log_in(self, project: str, domain: str) -> tuple[str, Any]:
        """A token for the project, and what Keystone says with it."""
        url = self._credentials.auth["auth_url"].rstrip("/")
        url = url if url.endswith("/v3") else f"{url}/v3"
        body = json.dumps({"auth": _identity(self._credentials.auth, project, domain)}).encode()
        code, headers, found = self._request("Keystone", f"{url}/auth/tokens", {}, body)
        token = headers.get("X-Subject-Token") or ""
        if code != 201 or not token.isprintable() or not token:
            raise DeviceError(f"{self._name}: Keystone gave no token for project {project}: HTTP status {code}")
        return token, found

    def _place(self, found: Any, project: str, domain: str) -> tuple[str, str]:
        """The id of the project that a token is for, and Nova's address."""
        place, wanted = found["token"]["project"], self._credentials
        if (place["name"], place["domain"]["name"]) != (project, domain):
            raise DeviceError(f"{self._name}: the application credential is for another project than {project}")
        urls = {
            endpoint["url"].rstrip("/")
            for service in found["token"]["catalog"]
            if service["type"] == "compute"
            for endpoint in service["endpoints"]
            if endpoint["interface"] == wanted.interface and wanted.region in ("", endpoint["region_id"])
        }
        if len(urls) != 1:
            raise DeviceError(
                f"{self._name}: Keystone names {len(urls)} addresses of Nova, not one; set region_name and interface"
            )
        (url,) = urls
        if urlsplit(url).scheme != urlsplit(wanted.auth["auth_url"]).scheme:
            raise DeviceError(f"{self._name}: Nova's address begins otherwise than auth_url; correct Keystone's list")
        return str(place["id"]), url

    def _machines(self, endpoint: str, headers: Mapping[str, str], project: str) -> Iterator[tuple[str, Machine]]:
        """All machines of the project, by their UUIDs."""
        query = {"limit": str(PAGE)}
        for _page in range(PAGES):
            code, _headers, answer = self._request("Nova", f"{endpoint}/servers/detail?{urlencode(query)}", headers)
            if code != 200:
                raise DeviceError(f"{self._name}: Nova does not list the machines: HTTP status {code}")
            servers = answer["servers"]
            for server in servers:
                if server["tenant_id"] != project or server["status"] == UNKNOWN:
                    raise DeviceError(f"{self._name}: Nova's list of machines is not whole, or of another project")
                yield _uuid(server["id"]), Machine(_text(server["name"]), _text(server["status"]))
            if "servers_links" not in answer:
                return
            query["marker"] = _uuid(servers[-1]["id"])
        raise DeviceError(f"{self._name}: Nova's list of machines does not end")

    def _status(self, endpoint: str, headers: Mapping[str, str], uuid: str) -> str:
        """What Nova says of one machine, in its word, or that it knows no such machine."""
        code, _headers, answer = self._request("Nova", f"{endpoint}/servers/{quote(uuid, safe='')}", headers)
        if code == 404 and isinstance(answer["itemNotFound"], dict):
            return NOT_FOUND
        if code != 200 or answer["server"]["id"] != uuid:
            raise DeviceError(f"{self._name}: Nova does not say what has become of {uuid}: HTTP status {code}")
        return _text(answer["server"]["status"])

    def _request(
        self, service: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> tuple[int, Mapping[str, str], Any]:
        """Status, headers and data of an answer, whatever the status is."""
        if urlsplit(url).scheme not in ("http", "https"):
            raise DeviceError(f"{self._name}: the address of {service} does not begin with https:// or http://")
        sent = {"Accept": "application/json", "Content-Type": "application/json", **headers}
        try:
            request = urllib.request.Request(url, body, sent)
            try:
                answer = self._opener.open(request, timeout=LIMIT)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                text = answer.read(LONGEST + 1)
        # http.client raises ValueError and its own for what is no HTTP.
        except (OSError, ValueError, HTTPException) as error:
            raise DeviceError(f"{self._name}: {service} does not answer: {getattr(error, 'reason', error)}") from None
        if len(text) > LONGEST:
            raise DeviceError(f"{self._name}: the answer of {service} is longer than {LONGEST} bytes")
        try:
            return answer.getcode(), answer.headers, json.loads(text)
        except (ValueError, RecursionError):
            raise DeviceError(
                f"{self._name}: the answer of {service} is no JSON: HTTP status {answer.getcode()}"
            ) from None


def _identity(auth: Mapping[str, str], project: str, domain: str) -> dict[str, Any]:
    """The request for a token; that of an application credential is for the project that this was made in."""
    if "application_credential_id" in auth:
        credential = {"id": auth["application_credential_id"], "secret": auth["application_credential_secret"]}
        return {"identity": {"methods": ["application_credential"], "application_credential": credential}}
    user = {
        "name": auth["username"],
        "password": auth["password"],
        "domain": {"name": auth.get("user_domain_name", "Default")},
    }
    return {
        "identity": {"methods": ["password"], "password": {"user": user}},
        "scope": {"project": {"name": project, "domain": {"name": domain}}},
    }


def _uuid(text: Any) -> str:
    if not UUID.fullmatch(_text(text)):
        raise ValueError("the id of a machine is no UUID")
    return str(text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name or status is no text")
    return value
