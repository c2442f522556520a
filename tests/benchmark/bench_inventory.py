# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory of as many pods as one file can have: the processor time of its list, and its size."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.benchmark.fleet_files import declared
from tests.benchmark.measuring import figure, run
from tests.support.checkout import PROGRAMS

# A rack's number is a part of its addresses.
RACKS = 254


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pods.yml"
        file.write_text(yaml.safe_dump({"plugin": "ipu.pod.pods", **declared(RACKS)}))
        before = os.times()
        listed = run(f"{PROGRAMS}/ansible-inventory", "-i", str(file), "--list")
        after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return [
        figure(f"inventory: processor seconds for the list of {RACKS} pods", seconds, 5),
        figure(f"inventory: megabytes of the list of {RACKS} pods", len(listed) / 1e6, 20),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
