# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a program of Poplar finds its partition: by its environment, in its user's home, in the machine's settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podsim.vipu.cli_client import Controller
from podsim.vipu.cli_settings import settings
from podsim.vipu.ipuof_files import DIRECTORY

SYSTEM_DIRECTORY = Path("/etc/ipuof.conf.d")
DEFAULT_PORT = 8090


class NoConfiguration(Exception):
    """One sentence: why there is no IPUoF configuration."""


def gcds(environment: Mapping[str, str], home: Path) -> list[dict[str, Any]]:
    """The IPUoF configurations of the partition's GCDs; one program's environment comes before the machine's files.

    Raises:
        NoConfiguration: there are no settings, or none that can be used.
    """
    if path := environment.get("IPUOF_CONFIG_PATH"):
        return [_read(Path(path))]
    if partition := environment.get("IPUOF_VIPU_API_PARTITION_ID"):
        return _asked(partition, environment)
    for directory in (home / DIRECTORY, SYSTEM_DIRECTORY):
        if found := sorted(directory.glob("[!.]*.conf")):
            # Of several partitions it takes the first.
            return [_read(found[0])]
    raise NoConfiguration(
        f"there are no IPUoF settings: no IPUOF_VIPU_API_PARTITION_ID or IPUOF_CONFIG_PATH in the environment, and no "
        f"file in {home / DIRECTORY} or {SYSTEM_DIRECTORY}; create a partition with vipu, or set them."
    )


def _asked(partition: str, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """What the controller says, asked with the credentials of the V-IPU client."""
    flags = {
        flag: environment[variable]
        for flag, variable in (("api-host", "IPUOF_VIPU_API_HOST"), ("api-port", "IPUOF_VIPU_API_PORT"))
        if environment.get(variable)
    }
    controller = Controller(settings(flags, environment, DEFAULT_PORT), admin=False)
    request: dict[str, Any] = {"partition_id": partition}
    if gcd := environment.get("IPUOF_VIPU_API_GCD_ID"):
        request["gcd_id"] = {"id": int(gcd)}
    return list(controller.call("GetPartitionIpuofConfig", request)["ipuof_config"]["gcd_configs"])


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise NoConfiguration(f"the IPUoF configuration {path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise NoConfiguration(
            f"the IPUoF configuration {path} is not JSON; create the partition again, or its file."
        ) from None
