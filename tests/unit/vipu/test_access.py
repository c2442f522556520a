# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access keys go to the declared place and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys


def test_a_key_that_is_returned_is_written_nowhere() -> None:
    keys = AccessKeys(keep=True)
    keys.receive("alice", lambda: "s3cret")
    assert keys.kept == {"alice": "s3cret"}


def test_a_key_that_is_written_is_not_returned(tmp_path: Path) -> None:
    keys = AccessKeys(str(tmp_path))
    (tmp_path / "alice.key").write_text("of an earlier alice")
    (tmp_path / "alice.key").chmod(0o644)
    keys.receive("alice", lambda: "s3cret")
    assert keys.kept == {}
    assert (tmp_path / "alice.key").read_text() == "s3cret\n"
    assert (tmp_path / "alice.key").stat().st_mode & 0o777 == 0o600


def test_a_failed_creation_leaves_the_earlier_file_and_says_what_may_be_lost(tmp_path: Path) -> None:
    (tmp_path / "alice.key").write_text("of an earlier alice")

    def fails() -> str:
        raise DeviceError("no answer")

    with pytest.raises(DeviceError) as caught:
        AccessKeys(str(tmp_path)).receive("alice", fails)
    assert str(caught.value) == ("no answer; if user alice is there now, nobody has its key: remove it, run again")
    assert [path.name for path in tmp_path.iterdir()] == ["alice.key"]


def test_what_a_reset_left_of_an_earlier_key_goes(tmp_path: Path) -> None:
    (tmp_path / ".alice.key.abcd1234").write_text("half of a k")
    (tmp_path / ".bob.key.abcd1234").write_text("not alice's")
    AccessKeys(str(tmp_path)).receive("alice", lambda: "s3cret")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".bob.key.abcd1234", "alice.key"]


def test_only_the_files_that_are_missing_are_named(tmp_path: Path) -> None:
    keys = AccessKeys(str(tmp_path))
    keys.receive("alice", lambda: "s3cret")
    assert keys.lost(["alice"]) == []
    assert keys.lost(["alice", "bob"]) == [
        f"user bob is on the controller, but {tmp_path}/bob.key is not there, and the controller never shows an access "
        "key again; put the key there, or remove the user and run again for a new key"
    ]


def test_without_a_directory_no_file_is_missed() -> None:
    assert AccessKeys(keep=True).lost(["alice"]) == []
