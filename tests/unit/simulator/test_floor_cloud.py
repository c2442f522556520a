# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the cloud of a floor counts as up."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from podsim.floor.cloud import missing
from podsim.floor.facts_file import read_facts
from podsim.floor.plan import CloudPlan, plan
from podsim.floor.state import StateDirectory

PODS_FILE = Path(__file__).parents[3] / "inventories" / "sim_openstack" / "pods.yml"
HYPERVISORS = ("pod001-poplar3", "pod001-poplar4", "compute001")


@pytest.fixture(name="cloud")
def _cloud() -> CloudPlan:
    found = plan(read_facts(PODS_FILE)).cloud
    assert found is not None
    assert found.hypervisors == HYPERVISORS
    return found


@pytest.fixture(name="answers")
def _answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What its services answer, by path, when everything is up."""
    answers = {
        "/v2.1/os-hypervisors/detail": {
            "hypervisors": [{"hypervisor_hostname": name, "state": "up"} for name in HYPERVISORS]
        },
        "/v2.0/agents": {"agents": [{"host": name, "alive": True} for name in HYPERVISORS]},
        "/v2.0/networks": {"networks": [{"name": "control"}]},
        "/v3/scheduler-stats/get_pools": {"pools": [{"name": "cloud001@files#files"}]},
    }
    monkeypatch.setattr("podsim.floor.cloud._answers", lambda _url: True)
    monkeypatch.setattr("podsim.floor.cloud._token", lambda _cloud, _password: "token")
    monkeypatch.setattr("podsim.floor.cloud._get", lambda url, _token: answers[urlsplit(url).path])
    return answers


@pytest.fixture(name="state")
def _state(tmp_path: Path, cloud: CloudPlan) -> StateDirectory:
    state = StateDirectory(tmp_path)
    (state.clouds / cloud.declared.name).mkdir(parents=True)
    return state


def test_it_is_up_when_its_services_know_each_other(
    cloud: CloudPlan, state: StateDirectory, answers: dict[str, Any]
) -> None:
    assert answers
    assert missing(cloud, state) == []


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("/v2.1/os-hypervisors/detail", "hypervisors", [f"no nova-compute on {name}" for name in HYPERVISORS]),
        ("/v2.0/agents", "agents", [f"no agent of Neutron on {name}" for name in HYPERVISORS]),
        ("/v2.0/networks", "networks", ["no control network"]),
        ("/v3/scheduler-stats/get_pools", "pools", ["no place for volumes"]),
    ],
)
def test_what_a_service_does_not_know_yet_is_missing(
    cloud: CloudPlan, state: StateDirectory, answers: dict[str, Any], path: str, kind: str, said: list[str]
) -> None:
    answers[path] = {kind: []}
    assert missing(cloud, state) == said
