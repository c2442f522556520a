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
from ansible_collections.ipu.pod.plugins.module_utils._vipu.lock import lock_file, only_writer


def test_the_refusal_of_a_second_run_names_the_first(tmp_path: Path) -> None:
    path = lock_file(8091, str(tmp_path))
    with only_writer(path, "vipu_state"), pytest.raises(Refused) as caught, only_writer(path, "vipu_action"):
        pass
    text = str(caught.value)
    assert text.startswith(f"{path}: process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}, since 2")
    assert text.endswith(
        "for vipu_state, is changing this V-IPU controller; run again when it is done, or raise lock_timeout"
    )


def test_the_second_run_can_wait(tmp_path: Path) -> None:
    path, order = lock_file(8091, str(tmp_path)), []
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
    path = Path(lock_file(8091, str(tmp_path)))
    with only_writer(str(path), "vipu_state"):
        assert "vipu_state" in path.read_text()
    assert path.read_text() == ""


def test_a_lock_that_cannot_be_opened_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="the lock cannot be opened"), only_writer(f"{tmp_path}/missing/lock", "x"):
        pass
