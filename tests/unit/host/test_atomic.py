# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every write is on the disk before it takes the place of the old file, and the new name is on the disk after it."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.atomic import NewFile, finished_name
from ansible_collections.ipu.pod.plugins.module_utils._host.files import File, Files
from ansible_collections.ipu.pod.plugins.module_utils._host.store import Store
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.directory import Directory
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys

ME = pwd.getpwuid(os.getuid()).pw_name
MY_GROUP = grp.getgrgid(os.getgid()).gr_name


def write_file(folder: Path) -> None:
    Files().write(f"{folder}/a.conf", File("new\n", ME, MY_GROUP))


def write_to_store(folder: Path) -> None:
    Store(str(folder)).write("a.conf", "new\n", 0o600)


def write_claims(folder: Path) -> None:
    with Directory(str(folder)).claims() as claims:
        claims["p1"] = 5


def write_key(folder: Path) -> None:
    AccessKeys(str(folder)).receive("alice", lambda: "s3cret")


@pytest.mark.parametrize(
    ("write", "name"),
    [(write_file, "a.conf"), (write_to_store, "a.conf"), (write_claims, "claims.json"), (write_key, "alice.key")],
)
def test_the_file_is_synced_then_renamed_then_its_directory_synced(
    write: Callable[[Path], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, str, int]] = []
    sync, replace = os.fsync, os.replace

    def recorded_sync(descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        calls.append(("sync", path, os.stat(path).st_size if os.path.isfile(path) else 0))
        sync(descriptor)

    def recorded_replace(old: str, new: str) -> None:
        calls.append(("replace", f"{old} {new}", 0))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", recorded_sync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    write(tmp_path)
    (first, unfinished, size), *rest = calls
    final = tmp_path / name
    assert first == "sync"
    assert finished_name(os.path.basename(unfinished)) == name
    assert size == final.stat().st_size > 0
    assert rest == [("replace", f"{unfinished} {final}", 0), ("sync", str(tmp_path), 0)]


@pytest.mark.parametrize("broken", ["fsync", "fchmod", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, broken, fails)
    with pytest.raises(OSError, match="No space left on device"), NewFile(str(tmp_path / "a"), 0o600) as new:
        new.put("new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


def test_what_is_not_put_goes(tmp_path: Path) -> None:
    with NewFile(str(tmp_path / "a"), 0o600):
        assert [finished_name(name) for name in os.listdir(tmp_path)] == ["a"]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", [".profile", "a.conf", ".a.conf", ".a.conf.UPPER123", "a.conf.abcd1234"])
def test_other_files_are_not_taken_for_unfinished_ones(name: str) -> None:
    assert finished_name(name) is None
