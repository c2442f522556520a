# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated switch in a process of its own, and a plain eAPI caller."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support import eapi
from tests.support.processes import end

USER, PASSWORD = "admin", "s3cret"


@dataclass
class RunningSwitch:
    """A started `podsim eos` and the files that it keeps."""

    process: subprocess.Popen[str]
    url: str
    directory: Path

    @property
    def ssh_port(self) -> int:
        """The TCP port of SSH, which the switch announces in its second line."""
        assert self.process.stdout
        announced = self.process.stdout.readline()
        assert announced.startswith("SSH at "), announced
        return int(announced.rpartition(":")[2])

    @property
    def port(self) -> int:
        """The TCP port of eAPI."""
        port = urlsplit(self.url).port
        assert port
        return port

    def request(self, body: bytes, password: str = PASSWORD, user: str = USER) -> urllib.request.Request:
        """An eAPI request with that body."""
        return eapi.request(self.url, body, user, password)

    def call(self, *commands: str | dict[str, Any], encoding: str = "json", **params: Any) -> dict[str, Any]:
        """One eAPI call; the decoded response."""
        return eapi.run_commands(self.url, commands, USER, PASSWORD, **{"format": encoding, **params})

    def run(self, *commands: str | dict[str, Any], encoding: str = "json") -> list[Any]:
        """The results of commands in privileged mode, which must all succeed."""
        answer = self.call("enable", *commands, encoding=encoding)
        assert "result" in answer, answer
        results = answer["result"][1:]
        return [result["output"] for result in results] if encoding == "text" else results

    def refusal(self, *commands: str | dict[str, Any]) -> tuple[int, str]:
        """The code and the text of the error that these commands in privileged mode must end in."""
        error = self.call("enable", *commands)["error"]
        return error["code"], error["data"][-1]["errors"][0]

    def section(self, pattern: str) -> str:
        """A section of the running configuration."""
        text: str = self.run(f"show running-config section {pattern}", encoding="text")[0]
        return text

    def files(self) -> dict[str, bytes]:
        """The content of every file that the switch keeps."""
        return {path.name: path.read_bytes() for path in self.directory.iterdir() if path.is_file()}

    def stop(self) -> int:
        """Stop by SIGTERM; the exit code."""
        return end(self.process)


@pytest.fixture
def start_switch(tmp_path: Path) -> Iterator[Callable[..., RunningSwitch]]:
    """Starts switches with further options; all of them keep their files in the same directory."""
    started: list[RunningSwitch] = []

    def start(*options: str) -> RunningSwitch:
        command = [sys.executable, "-m", "podsim.eos.server", "--listen", "127.0.0.1:0", "--user", USER]
        command += ["--password", PASSWORD, "--config", str(tmp_path / "running"), "--hostname", "tor1"]
        process = subprocess.Popen([*command, *options], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout
        assert process.stderr
        line = process.stdout.readline()
        assert line, process.stderr.read()
        switch = RunningSwitch(process, line.split()[-1], tmp_path)
        started.append(switch)
        return switch

    yield start
    for switch in started:
        if switch.process.poll() is None:
            switch.stop()


@pytest.fixture
def switch(start_switch: Callable[..., RunningSwitch]) -> RunningSwitch:
    """A new switch without data plane."""
    return start_switch()
