# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods have answered once is still understood: each archive in real_pods is replayed.

After adding an archive, look at the facts that ``GOLDEN=write python -m pytest tests/contract/test_real_pods.py``
writes beside it: they are what is expected from then on.
"""

from __future__ import annotations

import json
import os
from typing import Any

import generate_proven as proven
import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.archive import (
    FORMAT,
    REAL,
    SIMULATED,
    facts_by_device,
)
from tests.support.checkout import ROOT

PODS = proven.archives()
SIMULATED_POD = "simulated-pod64"


@pytest.mark.parametrize("name", PODS)
def test_every_answer_is_understood_as_before(name: str) -> None:
    expected = proven.ARCHIVES / f"{name}{proven.FACTS}"
    facts = facts_by_device(PODS[name])
    if os.environ.get("GOLDEN") == "write":
        expected.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    assert facts == json.loads(expected.read_text())
    assert PODS[name]["format"] == FORMAT


@pytest.mark.parametrize("name", PODS)
def test_an_archive_says_by_its_name_whether_it_is_of_a_real_pod(name: str) -> None:
    assert PODS[name]["source"] == (SIMULATED if name.startswith("simulated") else REAL)


def test_no_file_of_facts_is_left_over() -> None:
    facts = {path.name.removesuffix(proven.FACTS) for path in proven.ARCHIVES.glob(f"*{proven.FACTS}")}
    assert facts == PODS.keys()


def test_the_page_is_written_from_the_archives() -> None:
    assert proven.PAGE.read_text() == proven.page(PODS), "write it again with `make generate`"


@pytest.mark.parametrize("behaviour", proven.PROOFS)
def test_each_behaviour_is_a_row_of_the_table(behaviour: str) -> None:
    assert f"\n| {behaviour} |" in (ROOT / "docs" / "real-systems.md").read_text()


def test_a_simulated_pod_proves_nothing_and_the_same_answers_of_a_real_one_do() -> None:
    simulated = PODS[SIMULATED_POD]
    assert "proven by" not in proven.page({"a": simulated})
    page = proven.page({"a": {**simulated, "source": REAL}})
    assert page.count("| proven by a |") >= 6
    assert "contradicted" not in page


def test_a_real_pod_that_shows_something_else_contradicts() -> None:
    text = json.dumps({**PODS[SIMULATED_POD], "source": REAL})
    changed = text.replace('"state": "Up"', '"state": "Running"').replace("--agents", "--hosts")
    other: dict[str, Any] = json.loads(changed)
    page = proven.page({"a": other, "b": json.loads(text)})
    for behaviour in ("`create allocation --agents`", "The status of a V-IPU agent that works is `Up`; any other word"):
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {behaviour}"))
        assert row.endswith("| proven by b; **contradicted** by a |")
