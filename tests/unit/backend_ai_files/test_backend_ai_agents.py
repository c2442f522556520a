# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each agent gets: its partition's file, the network, ipu.toml, and the unit's variables."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from tests.unit.backend_ai_files.vpod_for_backend_ai import FIRST, PARTITIONS, SECOND, agents, declared

DROP_IN = "/etc/systemd/system/backendai-agent.service.d/ipu-pod.conf"


def test_each_server_has_the_partition_that_is_declared_for_it() -> None:
    found = agents()
    assert {name: (agent.partition, agent.ipus, agent.source) for name, agent in found.items()} == {
        FIRST: ("ml-1", 16, "/etc/ipuof.conf.d/ml-1_ipuof.conf"),
        SECOND: ("ml-2", 16, "/etc/ipuof.conf.d/ml-2_ipuof.conf"),
    }


def test_a_vpod_of_one_server_needs_no_names_of_servers_at_its_partition() -> None:
    alone = declared(poplar_servers=[SECOND], partitions={"all": {"ipus": 32, "reconfigurable": True}})
    assert agents(alone)[SECOND].partition == "all"


def test_ipu_toml_has_what_the_plugin_reads_and_the_file_has_the_only_name_that_containers_find() -> None:
    agent = agents()[FIRST]
    assert tomllib.loads(agent.files["/etc/backend.ai/ipu.toml"]) == {
        "ipuof-config-path": "/etc/backend.ai/ipuof.conf",
        "docker-networks": ["ipu-ml"],
    }
    assert agent.network == "ipu-ml"


def test_the_unit_has_the_partition_and_the_owners_variables() -> None:
    text = agents(environment={"PATH": "/opt/poplar/bin:/usr/bin", "SHARE": "50%"})[FIRST].files[DROP_IN]
    assert text.splitlines()[1:] == [
        "[Service]",
        'Environment="IPUOF_CONFIG_PATH=/etc/backend.ai/ipuof.conf"',
        'Environment="PATH=/opt/poplar/bin:/usr/bin"',
        'Environment="SHARE=50%%"',
    ]


@pytest.mark.parametrize(
    ("vpod", "sentence"),
    [
        ({"containers": None}, "vpods.ml: Backend.AI's containers need an RNIC network and IPUoF files; declare"),
        (
            {"partitions": {"ml-1": PARTITIONS["ml-1"]}},
            (
                "vpods.ml.partitions: the agent on pod001-poplar2 needs one reconfigurable partition for that server "
                "alone, and has none; declare one, such as ml-pod001-poplar2: {ipus: 16, reconfigurable: true, "
                "poplar_servers: [pod001-poplar2]}"
            ),
        ),
        (
            {"partitions": {**PARTITIONS, "ml-2": {"ipus": 16, "poplar_servers": [SECOND]}}},
            "vpods.ml.partitions: the agent on pod001-poplar2 needs one reconfigurable partition",
        ),
        (
            {
                "partitions": {
                    **PARTITIONS,
                    "ml-1": {**PARTITIONS["ml-1"], "ipus": 8},
                    "b": {**PARTITIONS["ml-1"], "ipus": 8},
                }
            },
            "for that server alone, and has ml-1 and b; declare one",
        ),
    ],
)
def test_a_vpod_without_what_agents_need_is_refused_with_what_to_write(vpod: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        agents(declared(**vpod))
    assert sentence in str(refused.value)


def test_an_unknown_vpod_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(Refused, match=r"'mk', and pods\.yml declares no such vPOD; it declares ml"):
        agents(vpod="mk")


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"A B": "1"}, "backend_ai_agent_environment.A B: this is no name of a variable; write one like PATH"),
        ({"A": 'x"\nExecStart=/bin/sh'}, "backend_ai_agent_environment.A: the value has a quote, a backslash or"),
    ],
)
def test_variables_that_systemd_would_take_for_something_else_are_refused(
    environment: dict[str, str], sentence: str
) -> None:
    with pytest.raises(Refused) as refused:
        agents(environment=environment)
    assert sentence in str(refused.value)
