# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions between pods.yml and the variables of Slurm are reported before a host is asked: here is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.checkout import ROOT
from tests.support.playbook_run import JSON_OUTPUT, PlaybookRun, read_run, run_playbook

# Actions that ask no host.
ON_THE_CONTROL_NODE = {
    "ipu.pod.scope",
    "ipu.pod.slurm_plan",
    *(f"ansible.builtin.{name}" for name in ("assert", "add_host", "include_role", "validate_argument_spec")),
}


def run(name: str, variables: dict[str, Any]) -> PlaybookRun:
    """Run a playbook for a pod of which nothing is there."""
    inventory = ROOT / "inventories" / "sim_slurm"
    return read_run(name, run_playbook(name, "-e", json.dumps(variables), inventory=inventory, **JSON_OUTPUT))


@pytest.mark.parametrize("playbook", ["slurm", "slurm_layout"])
@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"slurm_vpod": "bob"}, "slurm_vpod has to name a vPOD of pods.yml, of which there are: jobs."),
        ({"slurm_way": "magic"}, "value of slurm_way must be one of: mapping, static, reconfigurable, dynamic"),
        ({"slurm_way": "static"}, "vpods.jobs.partitions: with slurm_way static jobs use those that are declared"),
        ({"slurm_default_ipus": 128}, "slurm_default_ipus is 128; use 1 to 64"),
        ({"slurm_cluster": {"partition": "ipu"}}, "slurm_cluster has no name; say what the new cluster is called"),
    ],
)
def test_a_contradiction_is_reported_before_a_host_is_contacted(
    playbook: str, variables: dict[str, Any], sentence: str
) -> None:
    ended = run(playbook, variables)
    assert ended.code != 0
    assert sentence in ended.messages
    assert {result.get("action") for _, _, result in ended.tasks} <= ON_THE_CONTROL_NODE


def test_before_a_removal_a_vpod_that_is_not_declared_is_reported_in_the_same_way() -> None:
    ended = run("slurm_removed", {"slurm_vpod": "bob"})
    assert ended.code != 0
    assert "slurm_vpod has to name a vPOD of pods.yml, of which there are: jobs." in ended.messages
    assert {result.get("action") for _, _, result in ended.tasks} <= ON_THE_CONTROL_NODE
