# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files in a directory: whole, with their mode, and changed by one process at a time."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.lock import Held, lock_file, locked
from ansible_collections.ipu.pod.plugins.module_utils._host.store import Store
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError


def test_files_are_put_in_place_whole_and_with_their_mode(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "a" / "b"))
    assert store.read("pod001.lock") is None
    with store.alone():
        store.write("pod001.lock", "held", 0o644)
        store.write("runs.jsonl", "", 0o600)
    assert store.read("pod001.lock") == "held"
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a" / "b").iterdir()}
    assert modes == {"pod001.lock": 0o644, "runs.jsonl": 0o600, ".alone": 0o600}
    store.remove("pod001.lock")
    assert store.read("pod001.lock") is None


def test_what_a_killed_write_left_goes_with_the_next_one(tmp_path: Path) -> None:
    (tmp_path / ".claims.json.abcd1234").write_text("half of")
    (tmp_path / ".runs.jsonl.abcd1234").write_text("of another file")
    Store(str(tmp_path)).write("claims.json", "{}", 0o644)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".runs.jsonl.abcd1234", "claims.json"]


def test_a_directory_that_cannot_be_made_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(DeviceError, match="Not a directory; use a user who may work there"),
        Store(f"{tmp_path}/file/x").alone(),
    ):
        pass


def test_nobody_else_is_in_the_directory_meanwhile(tmp_path: Path) -> None:
    with Store(str(tmp_path)).alone(), pytest.raises(Held), locked(lock_file(f"{tmp_path}/.alone"), timeout=0):
        pass
    with locked(lock_file(f"{tmp_path}/.alone"), timeout=0):
        pass


def test_who_can_only_read_the_directory_holds_nobody_up(tmp_path: Path) -> None:
    def work() -> None:
        with Store(str(tmp_path)).alone():
            pass

    worker = threading.Thread(target=work, daemon=True)
    with locked(os.open(tmp_path, os.O_RDONLY)):
        worker.start()
        worker.join(10)
        assert not worker.is_alive()
