# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod for each worker, and what the seeds came to: which fault met which stage."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.chaos.faults import FAULTS
from tests.integration.chaos.stages import STAGES
from tests.integration.conftest import running_pod
from tests.support.checkout import ROOT

HERE = Path(__file__).parent
MET = "met"
# Those of `make test`: two control nodes, one that is killed, a server that is cut off.
FEW = "25-27"
# Seeds that one worker does in their order, each from where the one before it ended.
TOGETHER = 25


def seeds() -> list[int]:
    """The seeds of this run: so many from 0 on, or those from one to another."""
    first, _, last = os.environ.get("CHAOS_SEEDS", FEW).rpartition("-")
    return list(range(int(first), int(last) + 1)) if first else list(range(int(last)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each seed."""
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(), ids=[f"{seed // TOGETHER}-{seed}" for seed in seeds()])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which fault has met which stage of a run, and how often."""
    met = _met(terminalreporter)
    if not met:
        return
    width = max(map(len, FAULTS))
    terminalreporter.section("faults and the stages of a run that they met")
    terminalreporter.line(" ".join([" " * width, *(f"{stage:>6}" for stage in STAGES)]))
    for kind in FAULTS:
        terminalreporter.line(" ".join([kind.ljust(width), *(f"{met[kind, stage]:>6}" for stage in STAGES)]))
    if missing := _missing(met):
        terminalreporter.line(f"{len(missing)} of {len(FAULTS) * len(STAGES)} did not meet")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Seeds enough for all of them have to reach all of them."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and len(seeds()) >= len(FAULTS) * len(STAGES) and _missing(_met(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _met(reporter: Any) -> Counter[tuple[str, str]]:
    reports = [report for outcome in ("passed", "failed") for report in reporter.stats.get(outcome, [])]
    properties = [value for report in reports for name, value in getattr(report, "user_properties", ()) if name == MET]
    return Counter((kind, stage) for kind, stage in properties)


def _missing(met: Counter[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(kind, stage) for kind in FAULTS for stage in STAGES if not met[kind, stage]]


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(HERE)


@pytest.fixture(scope="package")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pods.yml is written anew for each run."""
    folder: Path = tmp_path_factory.mktemp("inventory")
    (folder / "group_vars").symlink_to(ROOT / "inventories" / "sim_pod64" / "group_vars")
    shutil.copy(HERE / "pods.yml", folder)
    return folder


@pytest.fixture(scope="package")
def declared() -> dict[str, Any]:
    """The pods.yml of the pod, whoever its tenants are."""
    document: dict[str, Any] = yaml.safe_load((HERE / "pods.yml").read_text())
    del document["sim"]
    return document
