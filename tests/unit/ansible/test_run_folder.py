# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a run keeps for its own plays."""

from __future__ import annotations

import hashlib
import os
import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from ansible import constants

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder


def test_what_was_written_last_is_read(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.read("plan", "document") is None
    first = folder.write("plan", "document", {"steps": [1]})
    second = folder.write("plan", "document", {"steps": []})
    assert first != second
    assert folder.read("plan", "document") == {"steps": []}
    assert folder.write("plan", "other", {"steps": []}) == second


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    digest = RunFolder(tmp_path).write("plan", "document", {"steps": ["ü"]})
    content = (tmp_path / "plan" / "document.json").read_bytes()
    assert digest == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_names_are_those_of_one_kind_also_with_dots(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.names("looks") == []
    for name in ("pod001.example.org", "a", "pod001.example.com"):
        folder.write("looks", name, {"host": name})
    folder.write("plan", "document", {})
    assert folder.names("looks") == ["a", "pod001.example.com", "pod001.example.org"]
    assert folder.looks() == {name: {"host": name} for name in folder.names("looks")}


def test_what_was_seen_before_the_last_decision_is_not_fresh(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for name in ("a", "b"):
        folder.write("looks", name, {"host": name})
    assert folder.fresh_looks() == folder.looks()
    folder.write("plan", "document", {})
    os.utime(tmp_path / "looks" / "a.json", (0, 0))
    folder.write("looks", "b", {"host": "b"})
    assert folder.fresh_looks() == {"b": {"host": "b"}}
    assert folder.names("looks") == ["a", "b"]


def test_a_file_that_is_still_being_written_is_not_read(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write("looks", "a", {"host": "a"})
    (tmp_path / "looks" / "b.new").write_text("{")
    assert folder.looks() == {"a": {"host": "a"}}


def test_what_has_been_carried_out_is_known_by_stage_and_device(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.done() == set()
    folder.write("done", "switches p-tor", {"stage": "switches", "host": "p-tor"})
    folder.write("done", "vpods p-poplar1", {"stage": "vpods", "host": "p-poplar1"})
    assert folder.done() == {("switches", "p-tor"), ("vpods", "p-poplar1")}


def test_each_device_has_one_key_in_a_run_and_another_in_the_next(tmp_path: Path) -> None:
    run, next_run = RunFolder(tmp_path / "a"), RunFolder(tmp_path / "b")
    assert run.key("p-tor") == run.key("p-tor")
    assert len({run.key("p-tor"), run.key("q-tor"), next_run.key("p-tor")}) == 3


def test_tasks_that_ask_at_the_same_time_get_the_same_key(tmp_path: Path) -> None:
    with ProcessPoolExecutor(8, get_context("fork")) as processes:
        keys = list(processes.map(RunFolder(tmp_path).key, ["secrets"] * 64))
    assert len(set(keys)) == 1
    assert [path.name for path in (tmp_path / "keys").iterdir()] == ["secrets.json"]


def test_it_is_in_ansibles_own_folder_for_nobody_else_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path / "of-ansible"))
    RunFolder().write("looks", "a", {})
    kept = tmp_path / "of-ansible" / "ipu_pod" / "looks"
    assert (kept / "a.json").is_file()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
