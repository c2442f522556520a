# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of an agent's server, from the words of systemctl, pip, docker and gc-monitor."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._backend_ai_host.look import Agent, look
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs

PYTHON = "/opt/backend.ai/venv/bin/python"
UNIT = "LoadState=loaded\nActiveState=active\nActiveEnterTimestampMonotonic={started}\n"
NETWORKS = [
    {"Name": "host", "IPAM": {"Config": None}},
    {"Name": "ipu-ml", "IPAM": {"Config": [{"Subnet": "10.5.0.0/16", "IPRange": "10.5.1.128/28"}]}},
    {"Name": "six", "IPAM": {"Config": [{"Subnet": "fd00::/64"}]}},
]
CARDS = {"cards": [{"IPU-M": "10.5.1.1", "ipus": [{"ID": "0", "PCIe ID": "3"}, {"ID": "1", "PCIe ID": "2"}]}]}


class Server:
    """The programs of a server, by their first words."""

    def __init__(self, place: Path) -> None:
        self.configuration = place / "ml_ipuof.conf"
        self.configuration.write_text(
            json.dumps({"devices": [{"ip": "10.5.1.1", "device_id": each} for each in (2, 3)]})
        )
        self.copy = place / "ipuof.conf"
        self.settings = place / "ipu.toml"
        self.settings.write_text("")
        self.variables: dict[str, str] = {}
        self.answers: dict[str, Any] = {
            "systemctl show": UNIT.format(started=int(time.monotonic() * 1e6)),
            PYTHON: json.dumps([{"value": "a:B", "version": "1", "origin": "null", "records": []}]),
            "docker info": '["name=seccomp,profile=default"]',
            "docker network ls": "1\n2\n3\n",
            "docker network inspect": json.dumps(NETWORKS),
            "docker ps": "kernel.b\nkernel.a\n",
            "gc-monitor -j": json.dumps(CARDS),
        }

    def look(self) -> dict[str, Any]:
        agent = Agent(
            "backendai-agent.service",
            PYTHON,
            {"PATH": "/opt/x"},
            str(self.configuration),
            str(self.copy),
            [str(self.settings)],
        )
        return look(agent, Programs(lambda argv: self._run(argv, {})), self._run)

    def _run(self, argv: Sequence[str], variables: Mapping[str, str]) -> tuple[int, str, str]:
        [words] = [words for words in self.answers if " ".join(argv).startswith(words)]
        self.variables |= variables
        answer = self.answers[words]
        if isinstance(answer, OSError):
            raise answer
        return answer if isinstance(answer, tuple) else (0, answer, "")


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def test_a_server_with_everything(server: Server) -> None:
    os.utime(server.settings, (0, 0))
    found = server.look()
    assert found["unit"] == {"is_installed": True, "is_active": True, "newer": [], "hidden_by": []}
    assert found["plugin"] == {"value": "a:B", "version": "1", "sha256": ""}
    assert found["docker"] == {
        "security": ["name=seccomp,profile=default"],
        "networks": {"host": [], "ipu-ml": ["10.5.0.0/16"], "six": []},
        "sessions": ["kernel.a", "kernel.b"],
    }
    assert found["ipus"] == {
        "in_file": ["10.5.1.1:2", "10.5.1.1:3"],
        "shown": ["10.5.1.1:2", "10.5.1.1:3"],
        "copied": "missing",
    }


def test_the_agents_copy_is_compared(server: Server) -> None:
    server.copy.write_text(server.configuration.read_text())
    assert server.look()["ipus"]["copied"] == "same"
    server.copy.write_text("{}")
    assert server.look()["ipus"]["copied"] == "other"


def test_gc_monitor_is_asked_with_the_agents_variables_and_its_partition(server: Server) -> None:
    server.look()
    assert server.variables == {"PATH": "/opt/x", "IPUOF_CONFIG_PATH": str(server.configuration)}


def test_a_file_that_was_written_after_the_start_is_newer(server: Server) -> None:
    server.answers["systemctl show"] = UNIT.format(started=1)
    assert server.look()["unit"]["newer"] == [str(server.settings)]


def test_settings_in_other_places_hide_ours(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory of this unit has a file of that name."""
    monkeypatch.setenv("HOME", str(tmp_path / "root"))
    server.answers["systemctl show"] = (
        f"{UNIT.format(started=1)}WorkingDirectory={tmp_path}\nEnvironment=A=b BACKEND_CONFIG_FILE=/x.toml\n"
    )
    assert server.look()["unit"]["hidden_by"] == ["BACKEND_CONFIG_FILE=/x.toml", str(tmp_path / "ipu.toml")]


def test_so_is_a_plugin_that_was_installed_after_it(server: Server, tmp_path: Path) -> None:
    os.utime(server.settings, (0, 0))
    record = tmp_path / "RECORD"
    record.write_text("")
    server.answers["systemctl show"] = UNIT.format(started=1)
    found = [{"value": "a:B", "version": "1", "origin": "null", "records": [str(record)]}]
    server.answers[PYTHON] = json.dumps(found)
    assert server.look()["unit"]["newer"] == [str(record)]


def test_an_agent_that_does_not_run_has_nothing_that_is_newer(server: Server) -> None:
    server.answers["systemctl show"] = "LoadState=loaded\nActiveState=inactive\nActiveEnterTimestampMonotonic=0\n"
    assert server.look()["unit"] == {"is_installed": True, "is_active": False, "newer": [], "hidden_by": []}


def test_pip_notes_the_wheel_that_it_has_installed(server: Server) -> None:
    origin = json.dumps({"url": "file:///x.whl", "archive_info": {"hash": "sha256=ab12"}})
    server.answers[PYTHON] = json.dumps([{"value": "a:B", "version": "1", "origin": origin, "records": []}])
    assert server.look()["plugin"]["sha256"] == "ab12"


def test_without_a_plugin_there_is_none(server: Server) -> None:
    server.answers[PYTHON] = "[]"
    assert server.look()["plugin"] == {}


@pytest.mark.parametrize(
    ("words", "answer", "part", "message"),
    [
        ("systemctl show", (1, "", "no bus"), "unit", "systemctl show"),
        (PYTHON, OSError(2, "No such file or directory"), "plugin", "could not be run on this server: No such file"),
        (PYTHON, "x", "plugin", "the answer is not understood"),
        (
            "docker info",
            (1, "", "Cannot connect to the Docker daemon"),
            "docker",
            "Cannot connect to the Docker daemon",
        ),
        ("docker network inspect", "[1]", "docker", "the answer is not understood"),
        ("gc-monitor -j", (1, "", "no devices"), "ipus", "gc-monitor -j: no devices"),
        ("gc-monitor -j", '{"cards": [{}]}', "ipus", "the answer is not understood"),
    ],
)
def test_what_does_not_answer_says_why_and_the_rest_is_there(
    server: Server, words: str, answer: Any, part: str, message: str
) -> None:
    server.answers[words] = answer
    found = server.look()
    assert message in found.pop(part)["message"]
    assert not any(isinstance(value, dict) and "message" in value for value in found.values())


def test_a_partition_whose_file_is_missing(server: Server) -> None:
    server.configuration.unlink()
    assert "No such file or directory" in server.look()["ipus"]["message"]
