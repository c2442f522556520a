# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's V-IPU client and planner against the simulated controller, through the real command-line program."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import Engine
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import COMPUTED
from tests.support.checkout import PROGRAMS
from tests.support.loopback import HOST, closed_port, free_port, started
from tests.support.processes import end
from tests.support.simulated_controller import agent_processes

AGENTS = [f"pod001-ipum{number}" for number in range(1, 5)]

Declared = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def agent_ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    with agent_processes(AGENTS, tmp_path_factory.mktemp("agents")) as ports:
        yield ports


class Installation:
    """A controller and how often ``vipu-admin`` was called."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.calls: list[list[str]] = []
        self.client = Controller(self.run, f"{PROGRAMS}/vipu-admin", HOST, self.port)

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        self.calls.append(argv[5:])
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def converge(self, declared: Declared, check_mode: bool = False) -> Outcome:
        self.calls.clear()
        return Engine(self.client, declared, Policy(), AccessKeys(), wait_timeout=20).converge(check_mode)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    found = Installation(tmp_path)
    subprocess.run([f"{PROGRAMS}/vipu-server", "--init"], cwd=tmp_path, check=True, capture_output=True)
    ports = ["--user-port", str(free_port()), "--admin-port", str(found.port), "--metrics-port", "0"]
    log = ["--request-log", str(tmp_path / "requests.jsonl")]
    server = started([f"{PROGRAMS}/vipu-server", "--listen", HOST, *ports, *log], tmp_path, found.port)
    yield found
    end(server)


def tenant(ports: list[int]) -> Declared:
    return {
        "agent": [{"name": name, "host": HOST, "port": port} for name, port in zip(AGENTS, ports, strict=True)],
        "cluster": [{"name": "c001", "agents": AGENTS, "topology": "torus", "ipu_link_domains": 1}],
        "allocation": [{"name": "alice", "cluster": "c001", "size": 8, "agents": AGENTS[:2]}],
        "partition": [
            {"name": "train", "allocation": "alice", "size": 4, "gcds": 2, "replicas": 2, "reconfigurable": False},
            {"name": "serve", "allocation": "alice", "size": 2, "reconfigurable": True},
        ],
    }


def test_check_mode_predicts_what_the_controller_then_holds(installation: Installation, agent_ports: list[int]) -> None:
    declared = tenant(agent_ports)
    predicted = installation.converge(declared, check_mode=True)
    outcome = installation.converge(declared)
    assert outcome.failure is None
    assert [step.public() for step in predicted.steps] == [step.public() for step in outcome.steps]
    assert predicted.after is not None
    assert outcome.after is not None
    for kind in outcome.after:
        assert predicted.after[kind].keys() == outcome.after[kind].keys()
        for name, fields in outcome.after[kind].items():
            after = predicted.after[kind][name]
            assert {**fields, **after} == fields
            assert set(fields) - set(after) <= set(COMPUTED[kind])


def test_a_second_run_asks_once_per_kind_and_changes_nothing(
    installation: Installation, agent_ports: list[int]
) -> None:
    installation.converge(tenant(agent_ports))
    outcome = installation.converge(tenant(agent_ports))
    assert not outcome.changed
    assert [call[1:] for call in installation.calls] == [
        ["list", kind] for kind in ("agents", "clusters", "allocations", "partitions")
    ]


def test_what_was_declared_can_be_declared_absent(installation: Installation, agent_ports: list[int]) -> None:
    declared = tenant(agent_ports)
    installation.converge(declared)
    absent = {kind: [dict(entity, state="absent") for entity in entities] for kind, entities in declared.items()}
    outcome = installation.converge(absent)
    assert outcome.failure is None
    assert outcome.after
    assert not any(outcome.after.values())


def test_somebody_elses_partition_is_left_alone(installation: Installation, agent_ports: list[int]) -> None:
    installation.converge(tenant(agent_ports))
    theirs = (
        f"{PROGRAMS}/vipu-admin -H {HOST} -P {installation.port} create partition p4711 --size 2 --allocation alice"
    )
    assert installation.run(theirs.split())[0] == 0
    outcome = installation.converge(tenant(agent_ports))
    assert not outcome.changed
    assert "p4711" in outcome.before["partition"]


def test_an_agent_that_does_not_answer_stops_the_run_and_is_named(
    installation: Installation, agent_ports: list[int]
) -> None:
    with closed_port() as port:
        outcome = installation.converge(tenant([*agent_ports[:2], port, agent_ports[3]]))
    result = outcome.result()
    assert result["failed_step"]["name"] == "pod001-ipum3"
    assert [step["name"] for step in result["done"]] == ["pod001-ipum1", "pod001-ipum2"]
    assert result["not_tried"][-1]["name"] == "serve"
    assert list(result["after"]["agent"]) == ["pod001-ipum1", "pod001-ipum2"]


def test_check_mode_and_refusals_send_no_write_request(installation: Installation, agent_ports: list[int]) -> None:
    before = (installation.directory / "vipu-server.json").read_bytes()
    installation.converge(tenant(agent_ports), check_mode=True)
    log = [json.loads(line) for line in (installation.directory / "requests.jsonl").read_text().splitlines()]
    assert log
    assert not [request for request in log if request["write"]]
    assert (installation.directory / "vipu-server.json").read_bytes() == before


def test_a_controller_that_does_not_answer_is_named() -> None:
    nobody = Installation(Path())
    with pytest.raises(DeviceError, match=rf"the V-IPU controller at {HOST}:{nobody.port}: `vipu-admin .*` failed: "):
        nobody.client.read()


def test_an_answer_that_is_not_understood_is_never_an_empty_list() -> None:
    strange = Controller(lambda _argv: (0, '{"agents": null}', ""), "vipu-admin", HOST, 1)
    with pytest.raises(DeviceError, match="printed something that is not understood"):
        strange.read()
