# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers of the execution environment on the network of the simulated pod, as worker machines have them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from execution_environment import tag

from tests.support.checkout import PROGRAMS
from tests.support.simulated_pod import STATE

# The pod's keys are root's, and its addresses are on this machine.
CONTAINER = ("--network=host", "--user=root")
KEYS = f"{STATE}:{STATE}:ro"


def image() -> str:
    """The execution environment of this checkout."""
    name = tag()
    if subprocess.run(["podman", "image", "exists", name], check=False).returncode:
        pytest.fail(f"there is no image {name}; run: make images")
    return name


def environment() -> dict[str, str]:
    """The environment of programs that start such containers, with the limits that the pod's have, too."""
    return {
        **os.environ,
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "CONTAINERS_CONF": str(STATE / "containers.conf"),
        "COLUMNS": "1000",
    }


def worker(name: str) -> str:
    """The command that runs `ansible-runner worker` on a worker machine of this name."""
    options = f"--rm --interactive --name {name} --hostname {name} --uts private {' '.join(CONTAINER)} --volume {KEYS}"
    return f"podman run {options} {image()} ansible-runner worker --private-data-dir /runner"


def events_of(artifacts: Path) -> list[dict[str, Any]]:
    """The events of a job of ansible-runner, in their order."""
    events = [json.loads(path.read_text()) for path in artifacts.glob("job_events/*.json")]
    return sorted(events, key=lambda event: int(event["counter"]))


def reports_in(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of the tasks that report something."""
    return [
        event
        for event in events
        if event["event"] == "runner_on_ok"
        and event["event_data"]["resolved_action"] == "ipu.pod.report"
        and event["event_data"]["res"]["lines"]
    ]
