# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command-line tools' end of the connection to a controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from podsim.vipu import interfaces, tls
from podsim.vipu.cli_rpc import Client
from podsim.vipu.cli_settings import Settings, SettingsError
from podsim.vipu.rpc import Interface


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
        return self._client.call(interface, method, request)

    def _connect(self) -> Client:
        metadata = {}
        if self.settings.user_id:
            metadata[interfaces.USER_ID_KEY] = self.settings.user_id
            metadata[interfaces.ACCESS_KEY_KEY] = self.settings.access_key
        return Client(self.settings.host, self.settings.port, metadata, self._certificates())

    def _certificates(self) -> tls.Files | None:
        if not self.settings.tls_certs:
            return None
        found = tls.files(Path(self.settings.tls_certs))
        try:
            for path in found:
                path.open("rb").close()
        except OSError as error:
            raise SettingsError(f"TLS certificate {error.filename} cannot be read: {error.strerror}") from None
        return found


def _published(service: str) -> Interface:
    from podsim.vipu import messages  # noqa: PLC0415  (protobuf takes its time, and vipu-admin hardly needs it)

    return messages.interface(service)
