# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The premises of the role vipu_controller: the archive's shape, and the program that copies the storage."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import File
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import vipu_controller_resources
from tests.support.checkout import PROGRAMS
from tests.support.controller_looks import SETTINGS

KEPT = 3


def done(*command: str | Path, **options: Any) -> str:
    found = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_releases_of_the_archive_stand_side_by_side(tmp_path: Path) -> None:
    for release in ("1.17.0", "1.18.0"):
        archive = tmp_path / f"{release}.tar.gz"
        done(PROGRAMS / "podsim", "vipu-archive", archive, "--release", release)
        done("tar", "-xf", archive, "-C", tmp_path)
        done(tmp_path / f"vipu-{release}" / "install.sh", env={**os.environ, "DESTDIR": str(tmp_path)})
    environment = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    for release in ("1.17.0", "1.18.0"):
        place = tmp_path / "opt" / "gc" / f"vipu-{release}"
        assert done(place / "vipu-admin", "--version", env=environment) == f"version: {release}\n"
        storage = tmp_path / f"{release}.json"
        printed = done(place / "vipu-server", "--init", "--storage", storage, env=environment)
        assert printed == f"Initialised storage: {storage}\n"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """The program, for a storage in ``tmp_path``."""
    settings = {
        **SETTINGS,
        "vipu_controller_storage": str(tmp_path / "vipu-server.json"),
        "vipu_controller_backup_directory": str(tmp_path / "backups"),
        "vipu_controller_backups_kept": KEPT,
    }
    program = tmp_path / "vipu-backup"
    files = [thing for thing in vipu_controller_resources(settings) if isinstance(thing, File)]
    (text,) = [file.content for file in files if file.path == "/usr/local/sbin/vipu-backup"]
    program.write_text(text or "", encoding="utf-8")
    program.chmod(0o755)
    return program


def copies(backup: Path) -> list[str]:
    return [path.read_text() for path in sorted((backup.parent / "backups").glob("*"))]


def test_without_storage_there_is_nothing_to_copy(backup: Path) -> None:
    assert done(backup) == ""
    assert copies(backup) == []


def test_a_storage_is_copied_once_for_nobody_else_to_read(backup: Path) -> None:
    (backup.parent / "vipu-server.json").write_text("{}")
    name = done(backup).strip()
    assert done(backup) == ""
    assert copies(backup) == ["{}"]
    assert (backup.parent / "backups" / name).stat().st_mode & 0o777 == 0o600


def test_the_newest_copies_stay_and_the_one_that_is_named(backup: Path) -> None:
    names = []
    for number in range(6):
        (backup.parent / "vipu-server.json").write_text(f'{{"n": {number}}}')
        names.append(done(backup, *names[:1]).strip())
    assert copies(backup) == [f'{{"n": {number}}}' for number in (0, 3, 4, 5)]


@pytest.mark.parametrize("damaged", ["", '{"format": 1, "partitions": [', "[]", "\0" * 4096])
def test_what_is_no_storage_is_no_backup_and_takes_no_older_ones_place(backup: Path, damaged: str) -> None:
    storage = backup.parent / "vipu-server.json"
    for number in range(KEPT + 1):
        storage.write_text(f'{{"n": {number}}}')
        done(backup)
    before = copies(backup)
    storage.write_text(damaged)
    found = subprocess.run([backup], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, copies(backup)) == (65, "", before)
    assert found.stderr == (
        f"{storage} is empty, cut off or no storage of vipu-server, and was not copied; the older copies in "
        f"{backup.parent}/backups are all still there; restore one of them\n"
    )


def test_a_copy_that_does_not_fit_leaves_the_older_ones(backup: Path) -> None:
    storage = backup.parent / "vipu-server.json"
    storage.write_text("{}")
    done(backup)
    storage.write_text(json.dumps({"partitions": ["p" * 100_000]}))
    limited = f"ulimit -f 8; trap '' XFSZ; exec {backup}"
    found = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "")
    assert f"{storage} was not copied: " in found.stderr
    assert copies(backup) == ["{}"]
    done(backup)
    assert copies(backup) == ["{}", storage.read_text()]
