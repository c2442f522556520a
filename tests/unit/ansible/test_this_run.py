# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run knows itself by its main process, from a worker too, and tells the dead from the living."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.this_run import _started, is_gone, this_run


def test_a_worker_belongs_to_the_run_of_its_main_process() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(this_run) == this_run()
    assert this_run().process == os.getpid()


def test_this_run_lives() -> None:
    run = this_run()
    assert not is_gone(run.public(), run.node)


def test_a_process_that_has_ended_is_gone_even_before_its_parent_has_noticed() -> None:
    run = this_run()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = {**run.public(), "process": process.pid, "process_started": _started(process.pid)}
    assert not is_gone(known, run.node)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(known, run.node)
    process.communicate()
    assert is_gone(known, run.node)


def test_another_process_of_the_same_number_is_not_that_run() -> None:
    run = this_run()
    assert is_gone({**run.public(), "process_started": "1"}, run.node)


def test_of_another_control_node_nobody_knows() -> None:
    run = this_run()
    dead = {**run.public(), "process_started": "1", "node": "theirs"}
    assert not is_gone(dead, run.node)
    assert not is_gone({**dead, "node": ""}, "")
