# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who can read the files that a run leaves."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.written_files import write_files


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_plan_and_its_new_folder_are_for_nobody_else_to_read(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    assert write_files({"plan.json": "{}", "plan.md": "# ü"}, str(folder))
    assert (mode(folder), mode(folder / "plan.json"), mode(folder / "plan.md")) == (0o700, 0o600, 0o600)
    assert not write_files({"plan.json": "{}", "plan.md": "# ü"}, str(folder))


def test_a_plan_that_others_could_read_is_taken_from_them(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("{}")
    path.chmod(0o644)
    with path.open() as reader:
        assert write_files({"plan.json": "{}"}, str(tmp_path))
        assert mode(path) == 0o600
        write_files({"plan.json": "[]"}, str(tmp_path))
        assert (reader.read(), path.read_text()) == ("{}", "[]"), "whoever had it open sees what is written now"


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    write_files({"plan.json": "{}"}, str(tmp_path))
    assert mode(tmp_path) == 0o755
