# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates of secure mode, as gRPC wants them. The real file names are not published; these are ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc


def server_credentials(directory: Path) -> Any:
    """gRPC credentials of a server that wants client certificates. Raises OSError when files are missing."""
    ca, certificate, key = _read(directory)
    return grpc.ssl_server_credentials([(key, certificate)], ca, require_client_auth=True)


def client_credentials(directory: Path) -> Any:
    """gRPC credentials of a client. Raises OSError when files are missing."""
    ca, certificate, key = _read(directory)
    return grpc.ssl_channel_credentials(ca, key, certificate)


def _read(directory: Path) -> tuple[bytes, bytes, bytes]:
    ca, certificate, key = ((directory / name).read_bytes() for name in ("ca.crt", "tls.crt", "tls.key"))
    return ca, certificate, key
