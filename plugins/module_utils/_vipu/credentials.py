# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who asks a V-IPU controller in secure mode, and how each transport carries that."""

from __future__ import annotations

from dataclasses import dataclass, field

from .dialect import ENVIRONMENT, METADATA


@dataclass(frozen=True)
class Credentials:
    """A user of a controller. All empty where the controller asks for nothing.

    Args:
        user_id: the user's id.
        access_key: told once, when the user was created.
        tls_certs: directory with the client's TLS certificates (:data:`.dialect.TLS_FILES`).
    """

    user_id: str = ""
    access_key: str = field(default="", repr=False)
    tls_certs: str = ""

    def metadata(self) -> list[tuple[str, str]]:
        """The call metadata of gRPC."""
        return [(METADATA[name], value) for name, value in self._who().items()]

    def environment(self) -> dict[str, str]:
        """The environment variables of the programs: a command line can be read by everybody on the host."""
        return {ENVIRONMENT[name]: value for name, value in self._who().items()}

    def options(self) -> list[str]:
        """The global options of the programs that are no secret."""
        return ["--tls-certs", self.tls_certs] if self.tls_certs else []

    def _who(self) -> dict[str, str]:
        return {"user_id": self.user_id, "access_key": self.access_key} if self.user_id else {}
