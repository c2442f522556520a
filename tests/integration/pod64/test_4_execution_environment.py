# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The execution environment of docs/fleets on the simulated POD64, by ansible-runner and by ansible-navigator."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.integration.pod64.reviewer import INVENTORY, SWITCH
from tests.support.checkout import ROOT
from tests.support.simulated_pod import STATE
from tests.support.worker_machine import CONTAINER, KEYS, environment, events_of, image, reports_in

PORT = "Ethernet24/1"
CHANGED = f"{SWITCH}: {PORT} description"


def run(*command: str) -> str:
    """What a program says that has to succeed."""
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_events_of_a_job_have_the_lines_that_a_person_reads(pod: Any, tmp_path: Path) -> None:
    shutil.copytree(INVENTORY, tmp_path / "inventory")
    pod.switch("configure", f"interface {PORT}", "description theirs")
    said = run(
        *("ansible-runner", "run", str(tmp_path), "--playbook", "ipu.pod.site", "--ident", "job"),
        *("--cmdline", f"-e podsim_state={STATE}"),
        *("--process-isolation", "--process-isolation-executable", "podman", "--container-image", image()),
        *(f"--container-option={option}" for option in CONTAINER),
        *("--container-volume-mount", KEYS),
    )
    stage, end = reports_in(events_of(tmp_path / "artifacts" / "job"))
    assert stage["event_data"]["play"] == "9/14 Configure ToR switches"
    (line,) = stage["event_data"]["res"]["lines"]
    assert line.startswith(CHANGED)
    assert stage["stdout"] == f"  {line}"
    assert end["stdout"] == "\r\n".join(end["event_data"]["res"]["lines"])
    assert end["stdout"].startswith("1 step on 1 device done and verified; 6 devices looked at in ")
    assert [each.strip() for each in said.splitlines() if each.strip()] == [
        *(stage["event_data"]["play"], line, end["stdout"])
    ]


def test_navigator_shows_the_same_report(pod: Any, tmp_path: Path) -> None:
    # It asks for this directory and does not use it.
    Path("/dev/mqueue").mkdir(exist_ok=True)
    writes = pod.write_requests()
    said = run(
        *("ansible-navigator", "run", "ipu.pod.site", "--inventory", str(INVENTORY), "--mode", "stdout"),
        *("--execution-environment-image", image(), "--pull-policy", "never", "--container-engine", "podman"),
        *(f"--container-options={option}" for option in CONTAINER),
        *("--execution-environment-volume-mounts", KEYS, "--playbook-artifact-enable", "false"),
        *("--log-file", str(tmp_path / "log"), "--extra-vars", f"podsim_state={STATE}"),
    )
    assert "nothing changed; 6 devices looked at in " in said
    assert pod.write_requests() == writes
