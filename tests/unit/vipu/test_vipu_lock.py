# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs at once: the second one stops with a text that names the first, or waits for it."""

from __future__ import annotations

import getpass
import os
import socket
import threading
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._vipu.lock import lock_of, only_writer


def test_the_refusal_of_a_second_run_names_the_first(tmp_path: Path) -> None:
    path = lock_of(8091, str(tmp_path))
    with only_writer(path, "vipu_state"), pytest.raises(Refused) as caught, only_writer(path, "vipu_action"):
        pass
    text = str(caught.value)
    assert text.startswith(f"{path}: process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}, since 2")
    assert text.endswith(
        "for vipu_state, is changing this V-IPU controller; run again when it is done, or raise lock_timeout"
    )


def test_the_second_run_can_wait(tmp_path: Path) -> None:
    path, order = lock_of(8091, str(tmp_path)), []
    held, refused = threading.Event(), threading.Event()

    def first() -> None:
        with only_writer(path, "first"):
            held.set()
            refused.wait(10)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    held.wait(10)
    with pytest.raises(Refused), only_writer(path, "impatient"):
        pass
    refused.set()
    with only_writer(path, "second", timeout=10):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


def test_a_lock_that_nobody_holds_any_more_says_nothing(tmp_path: Path) -> None:
    path = Path(lock_of(8091, str(tmp_path)))
    with only_writer(str(path), "vipu_state"):
        assert "vipu_state" in path.read_text()
    assert path.read_text() == ""


def test_a_lock_that_cannot_be_opened_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="the lock cannot be opened"), only_writer(f"{tmp_path}/file/lock", "x"):
        pass


def test_nobody_else_can_open_the_lock_and_so_keep_it(tmp_path: Path) -> None:
    path = Path(lock_of(8091, str(tmp_path / "own")))
    with only_writer(str(path), "vipu_state"):
        assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]


def test_the_lock_is_not_where_everybody_can_put_a_file() -> None:
    assert Path(lock_of(8091)).parent in (Path("/run/ipu-pod-locks"), Path.home() / ".local/state/ipu-pod")


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_a_directory_in_which_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    with pytest.raises(Refused, match="others can write there"), only_writer(lock_of(1, f"{tmp_path}/shared"), "x"):
        pass
    assert list((tmp_path / "shared").iterdir()) == []


def test_a_link_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "link").symlink_to("theirs")
    with pytest.raises(Refused, match="others can write there"), only_writer(lock_of(1, f"{tmp_path}/link"), "x"):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
def test_a_directory_of_another_user_holds_no_lock(tmp_path: Path) -> None:
    directory = tmp_path / "locks"
    directory.mkdir(mode=0o700)
    os.chown(directory, 12345, 12345)
    with pytest.raises(Refused, match="others can write there"), only_writer(lock_of(8091, str(directory)), "x"):
        pass
    assert not list(directory.iterdir())


def test_a_lock_is_not_opened_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "vipu-8091.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="the lock cannot be opened"), only_writer(lock_of(8091, str(tmp_path)), "x"):
        pass
    assert not (tmp_path / "elsewhere").exists()
