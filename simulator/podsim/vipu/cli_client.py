# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command-line tools' end of the connection to a controller."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from podsim.vipu import interfaces, tls
from podsim.vipu.cli_settings import Settings, SettingsError
from podsim.vipu.rpc import Client, Interface, Unreachable

CONNECT_TIMEOUT = 4.0
CALL_TIMEOUT = 120.0


class Controller:
    """A controller seen from a command line; calls go to the user API or (admin) to the admin API."""

    def __init__(self, settings: Settings, admin: bool) -> None:
        self.settings = settings
        self._admin = admin
        self._client: Client | None = None

    def call(self, method: str, request: dict[str, Any]) -> dict[str, Any]:
        """The reply. Raises Refused, Unreachable or SettingsError."""
        return self._call(self._interface(method), method, request)

    def version(self) -> str:
        """The controller's release."""
        return str(self._call(_published("VersionService"), "GetVersion", {})["version"])

    def _interface(self, method: str) -> Interface:
        if self._admin:
            return interfaces.ADMIN
        if method in interfaces.ALLOCATION_READS.methods:
            return interfaces.ALLOCATION_READS
        return _published("UserService")

    def _call(self, interface: Interface, method: str, request: dict[str, Any]) -> dict[str, Any]:
        if self._client is None:
            self._client = self._connect()
        return self._client.call(interface, method, request, CALL_TIMEOUT)

    def _connect(self) -> Client:
        host, port = self.settings.host, self.settings.port
        try:
            # gRPC takes its time to give up, and says why in a way that nobody understands.
            socket.create_connection((host, port), CONNECT_TIMEOUT).close()
        except OSError as error:
            raise Unreachable(f"no V-IPU controller at {host}:{port}: {error.strerror or error}") from None
        metadata = {}
        if self.settings.user_id:
            metadata[interfaces.USER_ID_KEY] = self.settings.user_id
            metadata[interfaces.ACCESS_KEY_KEY] = self.settings.access_key
        return Client(f"{host}:{port}", metadata, self._credentials())

    def _credentials(self) -> Any:
        if not self.settings.tls_certs:
            return None
        try:
            return tls.client_credentials(Path(self.settings.tls_certs))
        except OSError as error:
            raise SettingsError(f"TLS certificate {error.filename} cannot be read: {error.strerror}") from None


def _published(service: str) -> Interface:
    from podsim.vipu import messages  # noqa: PLC0415  (protobuf takes its time, and vipu-admin hardly needs it)

    return messages.interface(service)
