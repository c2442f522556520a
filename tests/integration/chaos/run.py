# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a playbook that is watched, task by task, and in the middle of which something happens."""

from __future__ import annotations

import inspect
import json
import re
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.integration.chaos.stages import stage_of
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.playbook_run import environment_in
from tests.support.processes import kill_with_all_below

CALLBACKS = Path(__file__).parent / "callbacks"
# A run that has not ended by then never will.
LONGEST_SECONDS = 240
FAILURE = re.compile(r"^FAILED ([^:]+): .*\n((?:  .*\n)*)", re.MULTILINE)


@dataclass
class Run:
    """A run that has ended; its code is None where its control node was killed."""

    code: int | None
    said: str
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """The messages of all that failed or was not reached, as a person sees them."""
        return [f"{host}: {inspect.cleandoc(lines)}" for host, lines in FAILURE.findall(self.said)]

    @property
    def claimed(self) -> set[str]:
        """The devices of which a line says that something was changed there."""
        stages = (event for event in self.events if event["kind"] == "report" and event["view"] == "stage")
        return {event["host"] for event in stages if event["lines"]}

    @property
    def summary(self) -> str:
        """The last line of its report."""
        lines = [line for event in self.events if event["kind"] == "report" for line in event["lines"]]
        return lines[-1] if lines else ""


class WatchedRun:
    """A run that has been started.

    Args:
        inventory: the folder of pods.yml.
        options: more of ansible-playbook.
        before_task: called with each stage before each of its tasks.
        home: where Ansible keeps its connections, if not where others do.
    """

    def __init__(
        self, inventory: Path, *options: str, before_task: Callable[[str], None] = lambda _stage: None, home: str = ""
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self._before_task = before_task
        self._error: Exception | None = None
        self._folder = tempfile.TemporaryDirectory()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{self._folder.name}/events")
        self._listener.listen()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()
        environment = {
            **environment_in(ROOT),
            "COLUMNS": "1000",
            "ANSIBLE_CALLBACK_PLUGINS": str(CALLBACKS),
            "ANSIBLE_CALLBACKS_ENABLED": "ipu.pod.outcome,chaos_events",
            "CHAOS_EVENTS": f"{self._folder.name}/events",
            **({"ANSIBLE_HOME": home} if home else {}),
        }
        self.process = subprocess.Popen(
            [f"{PROGRAMS}/ansible-playbook", "-i", str(inventory), f"{ROOT}/playbooks/site.yml", *options],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self) -> Run:
        """Wait for its end."""
        try:
            said, _ = self.process.communicate(timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            kill_with_all_below(self.process)
            raise AssertionError(f"the run hangs; its last event is {self.events[-1:]}") from None
        # What it has told may not have been read yet.
        self._listener.close()
        self._thread.join(10)
        self._folder.cleanup()
        if self._error:
            raise self._error
        code = None if self.process.returncode < 0 else self.process.returncode
        return Run(code, said, self.events)

    def kill(self) -> None:
        """As if the control node had lost its power."""
        kill_with_all_below(self.process)

    def _follow(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        stage = ""
        with connection, connection.makefile("r") as lines:
            for line in lines:
                event = json.loads(line)
                self.events.append({**event, "stage": stage})
                if event["kind"] == "play":
                    stage = stage_of(event["name"]) or stage
                elif event["kind"] == "task":
                    try:
                        self._before_task(stage)
                    except Exception as error:  # The run goes on, and its end tells.
                        self._error = error
                    try:
                        connection.sendall(b"\n")
                    except OSError:
                        return
