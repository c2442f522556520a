# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims outlive a process, and locks do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.directory import Directory

HOLDER = """
import fcntl, os, sys, time
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.lockf(descriptor, fcntl.LOCK_EX, 1, 5)
print("held", flush=True)
time.sleep(60)
"""


def claims(path: Path) -> dict[str, int]:
    with Directory(str(path)).claims() as found:
        return dict(found)


def test_claims_are_kept(tmp_path: Path) -> None:
    assert claims(tmp_path) == {}
    with Directory(str(tmp_path)).claims() as found:
        found["s4a"] = 5
    assert claims(tmp_path) == {"s4a": 5}


def test_claims_of_a_body_that_fails_are_not_kept(tmp_path: Path) -> None:
    def fails() -> None:
        with Directory(str(tmp_path)).claims() as found:
            found["s4a"] = 5
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fails()
    assert claims(tmp_path) == {}


@pytest.mark.parametrize("text", ["", "[1]", '{"a": "b"}'])
def test_another_file_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.json").write_text(text)
    with pytest.raises(DeviceError, match=r"claims\.json is not understood; remove it while no job has IPUs"):
        claims(tmp_path)


def test_a_job_is_worked_on_by_one_process_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    directory = Directory(str(tmp_path))
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path / "lock"], stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    try:
        # Other jobs are not held up.
        with directory.job(6), directory.claims():
            pass
        assert not gets_lock(tmp_path, 5)
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
    with directory.job(5), directory.claims():
        assert not gets_lock(tmp_path, 5)
    assert gets_lock(tmp_path, 5)


def gets_lock(path: Path, number: int) -> bool:
    """Whether another process could work on the job now."""
    attempt = f"import fcntl, os; d = os.open({str(path / 'lock')!r}, os.O_RDWR); fcntl.lockf(d, 6, 1, {number})"
    return subprocess.run([sys.executable, "-c", attempt], stderr=subprocess.DEVNULL, check=False).returncode == 0
