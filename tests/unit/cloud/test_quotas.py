# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A quota is not made smaller than what its project uses."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan
from tests.support.in_memory.cloud import server
from tests.support.in_memory.cloud_of_alice import options, refusal, with_alice


@pytest.mark.parametrize(
    ("quota", "said"),
    [
        ({"instances": 1}, "instances would be 1, and 2 are in use"),
        ({"cores": 7}, "cores would be 7, and 8 are in use"),
        ({"gigabytes": 9}, "gigabytes would be 9, and 10 are in use"),
    ],
)
def test_a_quota_that_is_too_small_is_refused(quota: dict[str, int], said: str) -> None:
    cloud = with_alice()
    project_id = cloud.named("project", "alice")["id"]
    cloud.look["servers"].append(server("hers", project_id, "alice", None, flavor="vpod-alice-16"))
    wanted = {**options(), "quotas": [{"project": "alice", "vpod": "alice", **quota}]}
    assert f"quota alice: {said}" in refusal(wanted, cloud.look)


def test_a_quota_that_was_too_small_before_is_nobodys_fault() -> None:
    cloud = with_alice()
    cloud.look["quotas"][0]["instances"] = 0
    assert plan({**options(), "quotas": [{"project": "alice", "vpod": "alice", "instances": 0}]}, cloud.look) == []
