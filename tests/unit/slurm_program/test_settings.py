# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the hooks: what the role writes is read, anything else is refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import DeclaredPartition, settings_from
from tests.support.slurm_settings import settings


def test_what_the_role_writes_is_read() -> None:
    partition = {"name": "s4a", "ipus": 4, "gcds": 1, "replicas": 1, "nodes": ["n1"], "options": {"routing": "dnc"}}
    found = settings(way="static", partitions=[partition], mapping={"n1": ["m1", "m2"]}, slurm_partitions=["ipu"])
    assert found.partitions == (DeclaredPartition("s4a", 4, 1, 1, ("n1",), {"routing": "dnc"}),)
    assert found.mapping == {"n1": ("m1", "m2")}
    assert (found.is_of_ipus("ipu"), found.is_of_ipus("cpu")) == (True, False)


def test_without_slurm_partitions_all_of_them_are_meant() -> None:
    assert settings().is_of_ipus("any")


def test_a_partition_may_have_no_options() -> None:
    partition = {"name": "s4a", "ipus": 4, "gcds": 1, "replicas": 1, "nodes": ["n1"]}
    assert settings(way="static", partitions=[partition]).partitions[0].options == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"way": "random"}, "way 'random' is not known; use one of mapping, static, reconfigurable, dynamic"),
        ({"hand_over": "mail"}, "hand_over 'mail' is not known; use one of environment, file"),
        ({"way": "reconfigurable"}, "way reconfigurable has one partition, not 0; declare one"),
        ({"secure": True}, "the environment alone does not reach a secure V-IPU controller; use hand_over file"),
        (
            {"secure": True, "way": "mapping", "hand_over": "file"},
            "a secure V-IPU controller would show jobs nothing of theirs; use job_users",
        ),
        ({"colour": "red"}, "colour not known; run the role slurm again, which writes this file"),
        ({"partitions": [{"name": "a"}]}, "ipus, gcds, replicas, nodes missing; run the role slurm again"),
        ({"mapping": ["n1"]}, "run the role slurm again"),
        ({"partitions": ["a"]}, "run the role slurm again"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused) as refusal:
        settings(**changes)
    assert str(refusal.value).startswith("/etc/ipu-pod/slurm.json: ")
    assert message in str(refusal.value)


@pytest.mark.parametrize("text", ["", "[]", '{"way": "dynamic"}', "no JSON"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="run the role slurm again"):
        settings_from(text)
