# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in the way on a server is said in one sentence each, before anything is touched."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.fits import refusals
from tests.unit.backend_ai_files.vpod_for_backend_ai import CHOICE, FIRST, FOUND, agents

WHEEL = {**CHOICE, "plugin": "/srv/ipu.whl"}


def found(**changes: Any) -> dict[str, Any]:
    return {name: {**value, **changes[name]} if name in changes else value for name, value in FOUND.items()}


def test_nothing_is_in_the_way_of_a_server_that_has_everything() -> None:
    assert refusals(agents()[FIRST], FOUND, CHOICE) == []


def test_sessions_are_not_in_the_way() -> None:
    assert refusals(agents()[FIRST], found(docker={"sessions": ["kernel.1"]}), CHOICE) == []


def test_a_plugin_is_installed_where_one_is_chosen() -> None:
    bare = {**FOUND, "plugin": {}}
    assert refusals(agents()[FIRST], bare, WHEEL) == []
    assert refusals(agents()[FIRST], bare, CHOICE) == [
        "/opt/backend.ai/venv/bin/python has no accelerator plugin ipu; name one in backend_ai_agent_plugin"
    ]


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (
            found(unit={"is_installed": False}),
            "there is no backendai-agent.service; install Backend.AI's agent, or correct backend_ai_agent_service",
        ),
        (
            found(unit={"hidden_by": ["/root/.config/backend.ai/ipu.toml"]}),
            "/root/.config/backend.ai/ipu.toml comes before /etc/backend.ai/ipu.toml; remove it",
        ),
        ({**FOUND, "unit": {"message": "x"}}, "backendai-agent.service could not be asked for (x)"),
        (
            {**FOUND, "plugin": {"message": "no file"}},
            "/opt/backend.ai/venv/bin/python is not the Python of Backend.AI's agent (no file)",
        ),
        ({**FOUND, "docker": {"message": "down"}}, "Docker does not answer (down); start it"),
        (
            found(docker={"security": ["name=rootless"]}),
            "Docker runs without root's rights, and has no network on the RNIC; run it as root",
        ),
        (
            found(docker={"security": ["name=userns,x=y"]}),
            "Docker maps users (userns-remap), and root of a container may not lock memory for RDMA; switch that off",
        ),
        (
            found(docker={"networks": {"ipu-bob": ["10.5.0.0/16"]}}),
            "Docker has no network ipu-ml; run playbooks/vpods.yml, which makes it",
        ),
        (
            found(docker={"networks": {"ipu-ml": []}}),
            (
                "network ipu-ml of Docker needs one IPv4 subnet, and has none; remove it, and run playbooks/vpods.yml, "
                "which makes it"
            ),
        ),
        (
            {**FOUND, "ipus": {"message": "gc-monitor could not be run on this server"}},
            (
                "the IPUs of partition ml-1 are not known (gc-monitor could not be run on this server); run "
                "playbooks/vpods.yml, and see that gc-monitor is in the PATH of backend_ai_agent_environment"
            ),
        ),
        (
            found(ipus={"shown": ["10.5.1.1:1", "10.5.1.2:1"]}),
            (
                "/etc/ipuof.conf.d/ml-1_ipuof.conf has 2 IPUs, and gc-monitor shows 2, of which 1 are the same, so the "
                "plugin would not know which is which; run playbooks/vpods.yml"
            ),
        ),
        (
            {**FOUND, "has_rdma": False},
            "there is no /dev/infiniband, and containers would have no RDMA; load the RNIC's driver",
        ),
    ],
)
def test_each_thing_in_the_way_is_one_sentence(seen: dict[str, Any], sentence: str) -> None:
    assert refusals(agents()[FIRST], seen, CHOICE) == [sentence]
