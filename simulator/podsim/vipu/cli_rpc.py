# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""gRPC by libcurl: a command makes a call or two, and gRPC's own library takes longer to start than to make them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from urllib.parse import unquote

import pycurl

from podsim.vipu import tls
from podsim.vipu.errors import Refused
from podsim.vipu.rpc import Interface, Unreachable

# The names of gRPC's status codes, by number.
_CODES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"),
    *("INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)
# Before a message stand a byte that says whether it is compressed, and four with its length.
_NOT_COMPRESSED = b"\0"
_PREFIX_BYTES = 5
# With a TLS handshake, for which an emulated machine takes seconds where others work beside it.
_CONNECT_SECONDS = 15
_CALL_SECONDS = 120


class Client:
    """Calls, each over a connection of its own. Raises Refused for a refusal and Unreachable where nobody answers."""

    def __init__(self, host: str, port: int, metadata: Mapping[str, str], certificates: tls.Files | None) -> None:
        self._address = f"{host}:{port}"
        self._scheme = "https" if certificates else "http"
        self._curl = pycurl.Curl()
        self._curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        # By prior knowledge, libcurl 7.88 sends nothing over a connection that it has used before.
        self._curl.setopt(pycurl.FORBID_REUSE, True)
        headers = {"content-type": "application/grpc", "te": "trailers", **metadata}
        self._curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}" for name, value in headers.items()])
        self._curl.setopt(pycurl.CONNECTTIMEOUT, _CONNECT_SECONDS)
        self._curl.setopt(pycurl.TIMEOUT, _CALL_SECONDS)
        # A proxy from the environment must never get between a pod's programs.
        self._curl.setopt(pycurl.NOPROXY, "*")
        if certificates:
            self._curl.setopt(pycurl.CAINFO, str(certificates.authority))
            self._curl.setopt(pycurl.SSLCERT, str(certificates.certificate))
            self._curl.setopt(pycurl.SSLKEY, str(certificates.key))

    def call(self, interface: Interface, method: str, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to one call."""
        request_codec, reply_codec = interface.methods[method]
        message = request_codec.encode(request)
        answer, received = self._exchange(
            f"{self._scheme}://{self._address}/{interface.name}/{method}",
            _NOT_COMPRESSED + len(message).to_bytes(_PREFIX_BYTES - 1, "big") + message,
        )
        if "grpc-status" not in received:
            raise Unreachable(f"no answer from {self._address}: what is there does not speak gRPC")
        code, words = _CODES[int(received["grpc-status"])], unquote(received.get("grpc-message", ""))
        if code in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
            raise Unreachable(f"no answer from {self._address}: {words}")
        if code != "OK":
            raise Refused(code, words or code)
        return reply_codec.decode(answer[_PREFIX_BYTES:])

    def _exchange(self, url: str, body: bytes) -> tuple[bytes, dict[str, str]]:
        """Post to a URL; return the answer, and its headers and trailers."""
        answer, received = BytesIO(), dict[str, str]()

        def hear(line: bytes) -> None:
            name, _, value = line.decode().partition(":")
            received[name.lower()] = value.strip()

        self._curl.setopt(pycurl.URL, url)
        self._curl.setopt(pycurl.POSTFIELDS, body)
        self._curl.setopt(pycurl.WRITEDATA, answer)
        self._curl.setopt(pycurl.HEADERFUNCTION, hear)
        try:
            self._curl.perform()
        except pycurl.error as error:
            raise Unreachable(self._why_not(*error.args)) from None
        return answer.getvalue(), received

    def _why_not(self, code: int, words: str) -> str:
        if code in (pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_CONNECT):
            number = self._curl.getinfo(pycurl.OS_ERRNO)
            return f"no V-IPU controller at {self._address}: {os.strerror(number) if number else words}"
        return f"no answer from {self._address}: {words}"
