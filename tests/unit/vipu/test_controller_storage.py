# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The effect of restoring a controller's storage: compared with the storage as it is, and with the agents."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ipu.pod.plugins.filter.roles import storage_differences
from ansible_collections.ipu.pod.plugins.module_utils._vipu.controller_storage import (
    NotStorage,
    differences,
    partitions_held,
    storage_from,
)

BACKUP = {
    "format": 1,
    "agents": [{"id": "ag1", "port": 8080}, {"id": "ag2", "port": 8080}],
    "partitions": [{"id": "train", "size": 4}],
}


def test_the_same_storage_and_agents_that_agree_differ_in_nothing() -> None:
    assert differences(BACKUP, BACKUP, {"ag1": {"train"}, "ag2": set()}) == []


def test_what_comes_back_what_is_forgotten_and_what_changes() -> None:
    now = {
        "format": 2,
        "agents": [{"id": "ag1", "port": 8081}, {"id": "ag3", "port": 8080}],
        "partitions": [{"id": "train", "size": 4}],
    }
    assert differences(BACKUP, now, {}) == [
        "format: would change",
        "agents ag1: port would be as in the backup again",
        "agents ag2: only in the backup; would come back",
        "agents ag3: only on the controller; would be forgotten",
        "partition train: in the backup, but no agent holds it; reset or remove it after the restore",
    ]


def test_partitions_that_agents_hold_and_the_backup_does_not_know() -> None:
    found = differences(BACKUP, BACKUP, {"ag1": {"train", "serve"}, "ag2": {"serve"}})
    assert found == ["partition serve: held by ag1, ag2, but not in the backup; its IPUs would seem free"]


def test_an_agent_that_does_not_say_counts_as_in_use() -> None:
    found = differences(BACKUP, BACKUP, {"ag1": None, "ag2": set()})
    assert found == ["agent ag1: does not say which partitions it holds; it may be in use"]


def test_a_lost_storage_is_an_empty_one() -> None:
    said = storage_differences(json.dumps(BACKUP), "", {}, "m")
    assert "partitions train: only in the backup; would come back" in said


@pytest.mark.parametrize(
    ("exporter", "held"),
    [
        ('m{agent="a",partition="p"} 1\nm{agent="a",partition="q"} 1\nms{agent="a"} 2\n', {"p", "q"}),
        ('m{partition="p"} 0\n', set()),
        ('ms{agent="a"} 0\n', set()),
        ("up 1\n", None),
        ("", None),
    ],
)
def test_what_an_exporter_says(exporter: str, held: set[str] | None) -> None:
    assert partitions_held(exporter, "m") == held


@pytest.mark.parametrize("text", ["", "{", "[]", "7"])
def test_a_text_that_is_no_storage(text: str) -> None:
    with pytest.raises(NotStorage, match="the backup is no JSON"):
        storage_from(text, "the backup")
