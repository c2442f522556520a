# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one file that each program is, is whole, and the same whoever builds it."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._programs.build import CLOUD_PARTITIONS, SLURM, program

SLURM_ALONE = ["ipu_pod/_slurm_host/__init__.py", "ipu_pod/_slurm_host/host_list.py"]


@pytest.fixture(name="room", params=[SLURM, CLOUD_PARTITIONS])
def _room(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(name="built")
def _built(tmp_path: Path, room: str) -> Path:
    path = tmp_path / "program"
    path.write_bytes(program(room))
    path.chmod(0o755)
    return path


def test_the_same_each_time(room: str) -> None:
    assert program(room) == program(room)
    archive = zipfile.ZipFile(io.BytesIO(program(room)))
    assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_it_has_what_it_imports_and_no_more(built: Path, room: str) -> None:
    assert built.read_bytes().startswith(b"#!/usr/bin/python3\n")
    names = zipfile.ZipFile(built).namelist()
    assert {"__main__.py", "ipu_pod/__init__.py", f"ipu_pod/{room}/program.py"} <= set(names)
    others = [name for name in names if "_tor/" in name or "_slurm_host/" in name]
    assert others == (SLURM_ALONE if room == SLURM else [])
    # Without anything of this checkout: isolated, in an empty folder.
    imports = "; ".join(
        f"import {name[:-3].replace('/', '.')}" for name in names if name.endswith(".py") and name != "__main__.py"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(built)!r}); {imports}"],
        cwd=built.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_it_runs_its_entry(built: Path, room: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", built, "unknown"], cwd=built.parent, capture_output=True, text=True, check=False
    )
    word = "Slurm" if room == SLURM else "timer"
    assert done.returncode == 2
    assert word in done.stderr
