# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the host's tools: each call either gives the output or a FloorError that quotes the tool's message."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping

from podsim.floor.errors import FloorError


def run(*command: str, text: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The standard output of a command; `text` goes to its standard input, `environment` is added to ours."""
    result = subprocess.run(
        command,
        check=False,
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
    )
    if result.returncode:
        message = " / ".join(result.stderr.strip().splitlines()[-3:])
        raise FloorError(f"`{' '.join(command[:6])}` failed with code {result.returncode}: {message or 'no message'}.")
    return result.stdout


def ip_batch(lines: Iterable[str], namespace: str | None = None) -> None:
    """Run many `ip` commands in one process, in the host's or in a named network namespace."""
    text = "".join(f"{line}\n" for line in lines)
    if text:
        where = ("-n", namespace) if namespace else ()
        run("ip", *where, "-batch", "-", text=text)
