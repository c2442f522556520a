# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts of docs/pipelines on the simulated POD64: what they leave behind, and each documented exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.integration.two_servers.conftest import INVENTORY
from tests.support.checkout import ROOT

SCRIPTS = ROOT / "docs" / "pipelines"
PORT = "Ethernet24/1"


class Pipeline:
    """Runs the scripts as a CI system would: by their names, with exit codes and files as the only answer."""

    def __init__(self, directory: Path) -> None:
        self.plan, self.drift = directory / "plan", directory / "drift"

    def merge_request(self, inventory: Path = INVENTORY) -> tuple[int, str]:
        return self._run("merge_request.sh", inventory, self.plan)

    def merge(self) -> tuple[int, str]:
        return self._run("merge.sh", INVENTORY, self.plan / "plan.json")

    def nightly(self) -> tuple[int, str]:
        return self._run("nightly.sh", INVENTORY, self.drift)

    def planned(self) -> list[tuple[str, str, str]]:
        steps = json.loads((self.plan / "plan.json").read_text())["steps"]
        return [(step["device"], step["kind"], step["name"]) for step in steps]

    def drifted(self) -> list[str]:
        cases = ElementTree.parse(self.drift / "junit.xml").iter("testcase")
        return [f"{case.get('classname')} {case.get('name')}" for case in cases if case.find("failure") is not None]

    @staticmethod
    def _run(script: str, *arguments: Path) -> tuple[int, str]:
        done = subprocess.run(
            [SCRIPTS / script, *arguments],
            cwd=ROOT,
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "1000"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    return Pipeline(tmp_path_factory.mktemp("pipeline"))


def describe(pod: Any, text: str) -> None:
    pod.switch("configure", f"interface {PORT}", f"description {text}")


def test_on_a_merge_request_the_plan_is_left_for_people_and_for_the_merge(fresh_pod: Any, pipeline: Pipeline) -> None:
    before = fresh_pod.fingerprint()
    code, output = pipeline.merge_request()
    assert code == 0, output
    assert fresh_pod.fingerprint() == before
    assert {device for device, _kind, _name in pipeline.planned()} == {
        "pod001-tor",
        "ctrl001",
        *(f"pod001-poplar{number}" for number in range(1, 3)),
    }
    summary = next(line for line in (pipeline.plan / "plan.md").read_text().splitlines() if line.startswith("**"))
    assert f"{len(pipeline.planned())} steps on 4 devices" in summary
    page = (pipeline.plan / "plan.html").read_text()
    assert page.count('<tr id="step-') == len(pipeline.planned())
    assert f'data-port="{PORT}"' in page


def test_on_merge_exactly_that_is_done_and_nothing_has_drifted(fresh_pod: Any, pipeline: Pipeline) -> None:
    code, output = pipeline.merge()
    assert code == 0, output
    assert "demo" in fresh_pod.held("allocations")
    code, output = pipeline.nightly()
    assert (code, pipeline.drifted()) == (0, []), output


def test_at_night_drift_has_a_code_of_its_own_and_a_failed_case(fresh_pod: Any, pipeline: Pipeline) -> None:
    describe(fresh_pod, "somebody else")
    code, output = pipeline.nightly()
    assert code == 2, output
    (case,) = pipeline.drifted()
    assert "pod001-tor" in case
    assert PORT in case
    assert PORT in (pipeline.drift / "drift.md").read_text()


def test_a_plan_that_reality_has_left_behind_is_refused(fresh_pod: Any, pipeline: Pipeline) -> None:
    assert pipeline.merge_request()[0] == 0
    assert pipeline.planned() == [("pod001-tor", "port", PORT)]
    describe(fresh_pod, "somebody else again")
    before = fresh_pod.fingerprint()
    code, output = pipeline.merge()
    assert code == 2
    assert "Nothing has been touched." in output
    assert PORT in output
    assert fresh_pod.fingerprint() == before


def test_a_refused_pods_yml_leaves_no_plan(pipeline: Pipeline, tmp_path: Path, fresh_pod: Any) -> None:
    assert fresh_pod
    assert (pipeline.plan / "plan.json").exists()
    text = (INVENTORY / "pods.yml").read_text()
    (tmp_path / "pods.yml").write_text(text.replace("ipus: 64", "ipus: 63"))
    code, output = pipeline.merge_request(tmp_path)
    assert code == 2
    assert "vpods.demo.ipus" in output
    assert list(pipeline.plan.iterdir()) == []


def test_what_cannot_be_looked_at_has_a_code_of_its_own(fresh_pod: Any, pipeline: Pipeline) -> None:
    fresh_pod.inside("pod001-poplar2", "systemctl stop ssh; pkill sshd; true")
    code, output = pipeline.nightly()
    fresh_pod.inside("pod001-poplar2", "systemctl start ssh")
    assert code == 1, output
    assert "pod001-poplar2" in (pipeline.drift / "drift.md").read_text()
