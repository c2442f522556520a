# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one file that Slurm runs is whole, and the same whoever builds it."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_setup.program import program


@pytest.fixture(name="built")
def _built(tmp_path: Path) -> Path:
    path = tmp_path / "slurm"
    path.write_bytes(program())
    path.chmod(0o755)
    return path


def test_the_same_each_time() -> None:
    assert program() == program()
    archive = zipfile.ZipFile(io.BytesIO(program()))
    assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_it_has_what_it_imports_and_no_more(built: Path) -> None:
    assert built.read_bytes().startswith(b"#!/usr/bin/python3\n")
    names = zipfile.ZipFile(built).namelist()
    assert {"__main__.py", "ipu_pod/__init__.py", "ipu_pod/_slurm/program.py"} <= set(names)
    assert [name for name in names if "_tor/" in name or "_slurm_setup/" in name] == []
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
