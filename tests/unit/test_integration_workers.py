# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Integration tests on two workers: those that share a pod are not torn apart, and the others do not meet."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.checkout import ROOT
from tests.support.limited_time import InTime

# Instead of running a test, a worker writes down that it would.
PLUGIN = r"""import os
from pathlib import Path


def pytest_runtest_protocol(item):
    with Path(os.environ["RECORDS"], os.environ["PYTEST_XDIST_WORKER"]).open("a") as record:
        record.write(item.nodeid + "\n")
    return True
"""


def test_what_shares_a_pod_stays_with_one_worker(tmp_path: Path) -> None:
    (tmp_path / "writer.py").write_text(PLUGIN)
    distribution = ["--tx", "2*popen", "--dist", "loadscope", "--no-loadscope-reorder"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "writer", "-p", "no:cacheprovider", *distribution, "tests/integration"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "RECORDS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    places = {
        worker: {name.split("/")[2].partition("::")[0] for name in (tmp_path / worker).read_text().splitlines()}
        for worker in ("gw0", "gw1")
    }
    # Each worker that has seeds of chaos has a pod of its own for them.
    assert places["gw0"] & places["gw1"] <= {"chaos"}, done.stdout
    assert {"slurm", "test_slurm_mapping.py", "vpods"} <= places["gw0"] | places["gw1"]


def collected(name: str) -> Any:
    """As much of a collected test as has to be known of it."""
    return SimpleNamespace(nodeid=f"tests/integration/{name}")


def begins(in_time: InTime, test: Any) -> bool:
    """Whether a test is not skipped; a skip that nobody catches would skip the test of it."""
    try:
        in_time.pytest_runtest_setup(test)
    except pytest.skip.Exception:
        return False
    return True


def test_when_the_time_is_up_no_further_pod_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    in_time, now = InTime(minutes=1), time.monotonic()
    begun, same, other = map(collected, ("a/x::t", "a/y::t", "b/x::t"))
    assert begins(in_time, begun)
    monkeypatch.setattr(time, "monotonic", lambda: now + 61)
    assert (begins(in_time, same), begins(in_time, other)) == (True, False)


def test_a_run_without_time_begins_nothing_and_says_so() -> None:
    run = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--begin-within=0",
        "tests/integration/two_servers",
    ]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^=+ \d+ skipped in ", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("folder", ["/var/lib/ipu-pod", "/run", "/dev/shm"])
def test_what_a_run_leaves_on_the_control_node_no_other_machine_meets(folder: str) -> None:
    if os.geteuid() != 0 or not shutil.which("podman"):
        pytest.skip("machines of their own need root and podman")
    file = Path(folder, f"ipu-pod-test-{os.getpid()}.lock")
    leave = f"from pathlib import Path; Path('{file}').touch(); print(Path('{file}').exists())"
    machine = ["bash", str(ROOT / "tests/tools/machine_of_its_own.sh"), "-c", leave]
    python = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    assert subprocess.run(machine, env=python, cwd=ROOT, check=True, capture_output=True, text=True).stdout == "True\n"
    there = file.exists()
    file.unlink(missing_ok=True)
    assert not there
