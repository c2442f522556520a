# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of job_submit.lua, which know every shape of a partition and no rule."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import DeclaredPartition
from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import partition_findings, replica_findings
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.lua import lua_of, shapes
from tests.support.slurm_settings import settings

MACHINES = [f"m{number}" for number in range(16)]
FOUR = {f"n{number}": MACHINES[2 * number : 2 * number + 2] for number in range(4)}


def lines(**changes: Any) -> list[str]:
    return [line.strip(" ,") for line in lua_of(settings(**changes)).splitlines()]


def test_the_table_is_lua() -> None:
    text = lua_of(settings(ipus=2, slurm_partitions=["ipu", 'a"b'], gres_types=[]))
    assert text.splitlines()[1:] == [
        "return {",
        '   ["way"] = "dynamic",',
        '   ["ipus"] = 2,',
        '   ["slurm_partitions"] = {',
        '      "ipu",',
        '      "a\\"b",',
        "   },",
        '   ["gres_types"] = {},',
        '   ["shapes"] = {',
        *(f'      ["{shape}"] = true,' for shape in ("1/1", "1/1/1", "2/1", "2/1/1", "2/1/2", "2/2", "2/2/2")),
        "   },",
        "}",
    ]


def test_the_shapes_are_all_that_exist() -> None:
    expected = {
        f"{ipus}/{gcds}" + (f"/{replicas}" if replicas else "")
        for ipus in range(1, 129)
        for gcds in range(1, ipus + 1)
        for replicas in (None, *range(1, ipus + 1))
        if not any(partition_findings(ipus, gcds, replicas, False)) and not any(replica_findings(ipus, gcds, replicas))
    }
    assert set(shapes(128)) == expected
    assert {"64/1", "64/4/16", "128/2"} <= expected


def test_a_mapping_has_the_shapes_of_all_its_nodes() -> None:
    found = lines(way="mapping", allocation="", mapping=FOUR, ipus=64, ipu_machines={name: name for name in MACHINES})
    assert {'["per_node"] = 8', '["32/4"] = true'} <= set(found)
    assert {'["1"] = ""', '["2"] = "[ipu_block2_1|ipu_block2_2]"', '["4"] = ""'} <= set(found)
    assert '["64/1"] = true' not in found


def test_nodes_with_different_numbers_of_ipu_machines_are_refused() -> None:
    sentence = "slurm_mapping: nodes have different numbers of IPU-Machines (n0 2, n1 1); give each as many"
    with pytest.raises(Refused, match=re.escape(sentence)):
        lines(way="mapping", mapping={"n0": ["m1", "m2"], "n1": ["m3"]})


def partition(name: str, ipus: int, *nodes: str) -> dict[str, Any]:
    return {**vars(DeclaredPartition(name, ipus, len(nodes), 1, ())), "nodes": nodes}


def test_the_sizes_of_declared_partitions_tell_over_how_many_nodes_they_are() -> None:
    declared = [partition("a", 16, "n1", "n2"), partition("b", 16, "n3", "n3", "n4", "n4"), partition("c", 4, "n1")]
    text = " ".join(lines(way="static", partitions=declared))
    assert '["16"] = { ["nodes"] = 2 } ["4"] = { ["nodes"] = 1 }' in text


def test_partitions_of_one_size_over_different_numbers_of_nodes_are_refused() -> None:
    declared = [partition("a", 16, "n1", "n2"), partition("b", 16, "n3")]
    with pytest.raises(Refused, match="partition b: it has 1 nodes, another one of 16 IPUs has 2; give all"):
        lines(way="static", partitions=declared)


def test_jobs_of_a_reconfigurable_partition_count_as_many_ipus_as_the_owner_says() -> None:
    found = lines(way="reconfigurable", partitions=[partition("all", 64, "n1")], default_ipus=16)
    assert '["default_ipus"] = 16' in found
