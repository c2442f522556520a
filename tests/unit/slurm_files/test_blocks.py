# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes a job can have together, and by which features of its nodes Slurm knows them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.blocks import (
    are_other,
    constraints_of,
    features_of,
    node_blocks,
    with_ours,
)
from tests.unit.slurm_files.vpod_for_slurm import FOUND, NEW_CLUSTER, NOTHING, SERVERS, for_jobs, planned

CONF = "/etc/slurm/slurm.conf"
MACHINES = [f"m{number}" for number in range(64)]


def in_runs(nodes: int, size: int, first: int = 0) -> dict[str, list[str]]:
    """Nodes with so many machines each, one after the other."""
    starts = range(first, first + nodes * size, size)
    return {f"n{number}": MACHINES[start : start + size] for number, start in enumerate(starts, start=1)}


def test_the_servers_of_a_pod_are_blocks_of_two_and_of_all() -> None:
    assert node_blocks(in_runs(4, 4), MACHINES) == {
        1: [["n1"], ["n2"], ["n3"], ["n4"]],
        2: [["n1", "n2"], ["n3", "n4"]],
        4: [["n1", "n2", "n3", "n4"]],
    }


def test_pods_in_a_row_are_blocks_of_any_number_of_them() -> None:
    blocks = node_blocks(in_runs(6, 8), MACHINES)
    assert list(blocks) == [1, 2, 4, 6]
    assert blocks[4] == [["n1", "n2", "n3", "n4"], ["n3", "n4", "n5", "n6"]]


def test_what_counts_are_the_places_of_the_machines_not_the_order_of_the_nodes() -> None:
    runs = in_runs(4, 4)
    turned = {"a": runs["n1"], "b": runs["n4"], "c": runs["n3"][::-1], "d": runs["n2"]}
    assert node_blocks(turned, MACHINES)[2] == [["a", "d"], ["b", "c"]]


def test_nodes_between_blocks_are_together_with_nobody() -> None:
    assert node_blocks(in_runs(3, 4, first=4), MACHINES) == {1: [["n1"], ["n2"], ["n3"]], 2: [["n2", "n3"]]}
    assert node_blocks({"n1": MACHINES[:4], "n2": MACHINES[8:12]}, MACHINES) == {1: [["n1"], ["n2"]]}


@pytest.mark.parametrize("places", [(0, 2), (1, 2), (0, 1, 2), (0, 16)])
def test_a_node_whose_machines_are_no_block_is_refused(places: tuple[int, ...]) -> None:
    names = [MACHINES[place] for place in places]
    sentence = f"slurm_mapping: odd has {', '.join(names)}, which are no aligned block of the cluster; give it one"
    with pytest.raises(Refused, match=re.escape(sentence)):
        node_blocks({"odd": names}, MACHINES)


def test_features_are_for_some_of_the_nodes_neither_for_one_nor_for_all() -> None:
    blocks = node_blocks(in_runs(6, 8), MACHINES)
    assert features_of(blocks, 6) == {
        "n1": ["ipu_block2_1", "ipu_block4_1"],
        "n2": ["ipu_block2_1", "ipu_block4_1"],
        "n3": ["ipu_block2_2", "ipu_block4_1", "ipu_block4_2"],
        "n4": ["ipu_block2_2", "ipu_block4_1", "ipu_block4_2"],
        "n5": ["ipu_block2_3", "ipu_block4_2"],
        "n6": ["ipu_block2_3", "ipu_block4_2"],
    }
    assert constraints_of(blocks, 6) == {
        1: "",
        2: "[ipu_block2_1|ipu_block2_2|ipu_block2_3]",
        4: "[ipu_block4_1|ipu_block4_2]",
        6: "",
    }
    assert features_of(node_blocks(in_runs(2, 8), MACHINES), 2) == {}


@pytest.mark.parametrize(
    ("node_line", "wanted", "other"),
    [
        ("", [], False),
        ("fast", [], False),
        ("fast,ipu_block2_1", ["ipu_block2_1"], False),
        ("ipu_block4_1,ipu_block2_1", ["ipu_block2_1", "ipu_block4_1"], False),
        ("fast", ["ipu_block2_1"], True),
        ("ipu_block2_2", ["ipu_block2_1"], True),
        ("ipu_block2_1", [], True),
    ],
)
def test_a_line_of_a_node_says_the_blocks_that_it_is_in(node_line: str, wanted: list[str], other: bool) -> None:
    assert are_other(node_line, wanted) == other


def test_the_sites_own_features_stay() -> None:
    assert with_ours("fast,ipu_block2_2,big", ["ipu_block2_1", "ipu_block4_1"]) == "fast,big,ipu_block2_1,ipu_block4_1"
    assert with_ours("", ["ipu_block2_1"]) == "ipu_block2_1"


def test_a_new_cluster_has_the_features() -> None:
    cluster = {**NEW_CLUSTER, "node_parameters": {"CPUs": 8, "Feature": "fast"}}
    plan = planned(for_jobs(), NOTHING, way="mapping", cluster=cluster)
    nodes = [line for line in plan["conf"][CONF].splitlines() if line.startswith("NodeName=")]
    assert [line.rpartition(" ")[2] for line in nodes] == [f"Feature=fast,ipu_block2_{block}" for block in (1, 1, 2, 2)]
    assert plan["refusals"] == []


FEATURES = dict(zip(SERVERS, ("fast,ipu_block2_1", "ipu_block2_1", "ipu_block2_2", "ipu_block2_2"), strict=True))


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (FEATURES, []),
        ({**FEATURES, "login": "big"}, []),
        ({**FEATURES, SERVERS[0]: "fast"}, [f"{SERVERS[0]} has to say Feature=fast,ipu_block2_1"]),
        ({**FEATURES, SERVERS[2]: "ipu_block2_1"}, [f"{SERVERS[2]} has to say Feature=ipu_block2_2"]),
        ({**FEATURES, "login": "ipu_block2_1,big"}, ["login must have no Feature ipu_block…"]),
    ],
)
def test_a_site_has_to_write_the_features_of_its_nodes_itself(features: dict[str, str], words: list[str]) -> None:
    plan = planned(for_jobs(), {**FOUND, "features": features}, way="mapping")
    assert plan["refusals"] == [f"{CONF}: the line of NodeName={word}; change it there" for word in words]


def test_a_node_that_is_to_be_added_has_its_features() -> None:
    there = FEATURES.copy()
    del there[SERVERS[3]]
    found = {**FOUND, "nodes": dict.fromkeys(there, ""), "features": there}
    line = f"NodeName={SERVERS[3]} Feature=ipu_block2_2"
    assert planned(for_jobs(), found, way="mapping")["refusals"] == [
        f"{CONF} has no node {SERVERS[3]}; add one: {line}"
    ]


def test_a_node_with_an_ipu_machine_that_is_excluded_is_held_back() -> None:
    declaration: dict[str, Any] = for_jobs()
    assert planned(declaration, way="mapping")["held_back"] == {}
    before = planned(declaration, way="mapping")["settings"]
    declaration["pods"]["pod001"]["excluded"] = ["pod001-ipum2", "pod001-ipum3", "pod001-ipum16"]
    plan = planned(declaration, way="mapping")
    assert plan["held_back"] == {SERVERS[0]: "pod001-ipum2..3", SERVERS[3]: "pod001-ipum16"}
    assert plan["settings"] == before
