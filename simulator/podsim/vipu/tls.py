# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates of secure mode. The real file names are not published; these are ours."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Files(NamedTuple):
    """Where one end of a connection has what it shows, and what it trusts."""

    authority: Path
    certificate: Path
    key: Path


def files(directory: Path) -> Files:
    """The files in a directory."""
    return Files(directory / "ca.crt", directory / "tls.crt", directory / "tls.key")
