# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated switch in a process of its own, and a plain eAPI caller."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

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
        secret = base64.b64encode(f"{user}:{password}".encode()).decode()
        return urllib.request.Request(self.url, body, {"Authorization": f"Basic {secret}"})

    def call(self, *commands: str | dict[str, Any], encoding: str = "json", **params: Any) -> dict[str, Any]:
        """One eAPI call; the decoded response."""
        params = {"version": 1, "format": encoding, "cmds": list(commands), **params}
        body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "runCmds", "params": params}).encode()
        with urllib.request.urlopen(self.request(body), timeout=10) as response:
            answer: dict[str, Any] = json.load(response)
        return answer

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
        self.process.terminate()
        return self.process.wait(timeout=10)


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds that takes the switch a moment."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


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
