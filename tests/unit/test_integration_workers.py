# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Integration tests on two workers: those that share a pod are not torn apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.checkout import ROOT

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
    assert places["gw0"] & places["gw1"] == set(), done.stdout
    assert {"slurm", "test_slurm_mapping.py", "vpods"} <= places["gw0"] | places["gw1"]
