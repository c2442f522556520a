# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions that are no state: what they are called in a plan, and that they are refused while IPUs are in use."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._vipu.actions import ACTIONS, Use, step_of
from tests.unit.vipu.site import held, partition

NAMES = {"test_cluster": "c", "reset_partition": "train", "remove_partition": "train"}


@pytest.mark.parametrize("action", ACTIONS)
def test_unknown_counts_as_in_use(action: str) -> None:
    with pytest.raises(Refused) as caught:
        step_of(action, NAMES[action], held(), Use())
    assert str(caught.value) == (
        f"{action} {NAMES[action]}: nobody said whether partitions train are in use, and unknown counts as in use; "
        "list in in_use what is, or set even_in_use"
    )


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_in_use_is_left_alone_unless_allowed(action: str) -> None:
    with pytest.raises(Refused) as caught:
        step_of(action, NAMES[action], held(), Use(["train"]))
    assert str(caught.value) == (
        f"{action} {NAMES[action]}: partitions train are in use; end what runs there first, or set even_in_use"
    )
    assert step_of(action, NAMES[action], held(), Use(["train"], despite=True)).risk == "tenant outage"
    assert step_of(action, NAMES[action], held(), Use(["other"])).name == NAMES[action]


def test_a_cluster_without_partitions_is_free_to_be_tested() -> None:
    state = held()
    state["partition"] = {}
    step = step_of("test_cluster", "c", state, Use())
    assert (step.action, step.risk, step.before == step.after) == ("test", "disruptive", True)


def test_partitions_outside_of_every_allocation_may_be_on_any_cluster() -> None:
    state = held()
    state["partition"] = {"loose": partition(allocation="")}
    assert step_of("test_cluster", "c", state, Use([])).reason == "is asked for; partitions on it: loose"


def test_what_is_not_there_is_refused_with_what_is() -> None:
    with pytest.raises(Refused) as caught:
        step_of("reset_partition", "p", held(), Use([]))
    assert str(caught.value) == "name: partition p is not on the controller, which has train; correct the name"
