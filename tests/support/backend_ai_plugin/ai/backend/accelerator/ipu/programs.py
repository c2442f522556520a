# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Poplar's programs say of this server's IPUs."""

from __future__ import annotations

import asyncio
import json
from typing import Any


async def monitor() -> list[dict[str, Any]]:
    """The IPU-Machines of the partition, and the IPUs of each."""
    return list(json.loads(await _run("gc-monitor", "-j"))["cards"])


async def inventory() -> dict[str, dict[str, str]]:
    """What each IPU uses, by its id."""
    return {device["id"]: device for device in json.loads(await _run("gc-inventory", "-2"))["devices"]}


async def poplar_version() -> str:
    """Such as `3.3.0`."""
    return (await _run("gc-monitor", "version")).partition("Poplar version:")[2].strip()


async def _run(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _errors = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return output.decode()
