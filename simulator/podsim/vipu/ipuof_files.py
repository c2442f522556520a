# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The IPUoF configuration files that `vipu` keeps in its user's home."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podsim.vipu.cli_output import as_json

DIRECTORY = ".ipuof.conf.d"


def write(home: Path, partition_id: str, config: Mapping[str, Any]) -> None:
    """One file for each GCD of the partition, for its owner only."""
    directory = home / DIRECTORY
    directory.mkdir(mode=0o755, exist_ok=True)
    gcds = config["gcd_configs"]
    for number, gcd in enumerate(gcds):
        name = f"{partition_id}_gcd{number}_ipuof.conf" if len(gcds) > 1 else f"{partition_id}_ipuof.conf"
        with open(os.open(directory / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(as_json(gcd) + "\n")


def remove(home: Path, partition_id: str) -> None:
    """Removes what `write` wrote for the partition, if anything."""
    directory = home / DIRECTORY
    if directory.is_dir():
        for path in directory.iterdir():
            if re.fullmatch(rf"{re.escape(partition_id)}(_gcd\d+)?_ipuof\.conf", path.name):
                path.unlink()
