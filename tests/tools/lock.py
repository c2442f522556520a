# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the lock files: each package of an environment with its version and hash, as pip's --require-hashes reads it.

The hashes are those of the files for this kind of machine, so it runs where the environments are made: on Linux with
all Pythons that have a lock, as python3.11 and so on, or among pyenv's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "tests" / "tools" / "locks"
# A part of the recipe of an image.
IMAGE_LOCK = ROOT / "simulator" / "podsim" / "floor" / "backend_ai/rootfs/opt/backend.ai/packages.txt"
# Group of pyproject.toml to the Pythons that it is for. The tools that build packages are the same for all of them.
PYTHONS = {
    "build": ("3.11",),
    "dev": ("3.11", "3.12", "3.13"),
    "execution-environment": ("3.11",),
    "newest": ("3.13",),
    "backend-ai": ("3.13",),
}
HEAD = "# Made by `make lock` from pyproject.toml. For pip's --require-hashes.\n"


def lock_of(group: str, version: str) -> Path:
    """The lock file of a group for a Python."""
    if group == "backend-ai":
        return IMAGE_LOCK
    return LOCKS / (f"{group}.txt" if group == "build" else f"{group}-{version}.txt")


def lines_of(report: Mapping[str, Any]) -> list[str]:
    """The lines of a lock file, from the report of pip on what it would install; what is in the checkout is none."""
    found = []
    for each in report["install"]:
        origin = each["download_info"]
        if "archive_info" in origin:
            name = each["metadata"]["name"].lower().replace("_", "-").replace(".", "-")
            digest = origin["archive_info"]["hashes"]["sha256"]
            found.append(f"{name}=={each['metadata']['version']} --hash=sha256:{digest}")
    return sorted(found)


def resolved(group: str, version: str) -> Mapping[str, Any]:
    """What pip would install for a group, into an empty environment of that Python."""
    more = [str(ROOT / "simulator")] if group == "dev" else []
    with tempfile.TemporaryDirectory() as folder:
        environment, report = f"{folder}/environment", f"{folder}/report.json"
        pyenv = {**os.environ, "PYENV_VERSION": version}
        subprocess.run([f"python{version}", "-m", "venv", "--without-pip", environment], check=True, env=pyenv)
        pip = [sys.executable, "-m", "pip", "--python", f"{environment}/bin/python", "install", "--quiet", "--dry-run"]
        subprocess.run([*pip, "--report", report, "--group", group, *more], check=True, cwd=ROOT)
        return json.loads(Path(report).read_text(encoding="utf-8"))


def main() -> int:
    """Write all of them."""
    for group, versions in PYTHONS.items():
        for version in versions:
            lines = lines_of(resolved(group, version))
            lock_of(group, version).write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
