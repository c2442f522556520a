# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a plan: well-formed, whole without a script, and nothing in a plan can make it do anything."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.page import page_of
from tests.support.html_page import Page
from tests.support.reviewed_pod import HOSTILE, plan, rack, step

ROOT = Path(__file__).resolve().parents[3]
# Attributes that would fetch, run or send something.
ACTIVE = {"src", "srcset", "style", "action", "formaction", "background", "data", "poster", "ping"}


STEPS = [
    step(1, "pod001-tor", "port", "Ethernet9/1", risk="disruptive", affected={"vpods": ["alice"], "partitions": []}),
    step(2, "pod001-tor", "vlan", "101", **{"action": "create", "from": None, "to": {"name": "vpod-alice"}}),
    step(3, "ctrl001", "partition", "old", action="remove", to=None, risk="destructive"),
    step(4, "pod001-poplar1", "file", "/etc/x", **{"from": {"lines": ["a = 1"]}, "to": {"lines": ["a = 2"]}}),
]


def page(*steps: dict[str, Any], racks: int = 1, **fields: Any) -> Page:
    return Page(page_of(plan(*steps, **fields), rack(racks)))


@pytest.mark.parametrize("racks", [1, 16])
def test_it_is_well_formed_and_every_step_has_its_row(racks: int) -> None:
    rows = page(*STEPS, racks=racks).all("tr")
    assert [row["id"] for row in rows if "id" in row] == ["step-1", "step-2", "step-3", "step-4"]


def test_every_link_leads_to_something_on_the_page() -> None:
    shown = page(*STEPS, unseen=[{"device": "pod001-poplar2", "message": "no route"}])
    identities = {attributes["id"] for _tag, attributes in shown.elements if "id" in attributes}
    links = [link["href"] or "" for link in shown.all("a")]
    assert len(links) >= 5
    assert {link.removeprefix("#") for link in links} <= identities


def test_the_summary_comes_first() -> None:
    text = page(*STEPS).text()
    assert text.index("4 steps on 3 devices: 1 disruptive, 1 destructive; affects vPOD alice.") < text.index(
        "At a glance"
    )


def test_the_values_before_and_after_are_shown_for_updates_creations_and_removals() -> None:
    text = page(*STEPS).text()
    for expected in ("vlan: 1 → 101", "not there → made", "name: vpod-alice", "there → removed", "-a = 1\n+a = 2"):
        assert expected in text


def test_what_else_is_known_is_shown() -> None:
    text = page(
        unseen=[{"device": "pod001-poplar2", "message": "no route to host"}],
        not_ours=[{"device": "ctrl001", "kind": "partition", "name": "p4711", "owner": "made by Slurm"}],
        findings=[{"device": "pod001-tor", "finding": "VLAN 101 is carried by nobody", "remedy": "carry it"}],
    ).text()
    for expected in (
        "Nothing to do on the devices that answered.",
        "no route to host",
        "partition p4711",
        "made by Slurm",
        "carried by nobody",
        "carry it",
    ):
        assert expected in text


def test_what_a_plan_holds_is_text() -> None:
    hostile = step(
        1,
        *(HOSTILE, HOSTILE, HOSTILE),
        **{
            "layer": HOSTILE,
            "action": HOSTILE,
            "reason": HOSTILE,
            "from": {HOSTILE: HOSTILE},
            "to": {"lines": [HOSTILE]},
        },
        affected={"vpods": [HOSTILE], "partitions": [HOSTILE]},
        risk="disruptive",
    )
    shown = page(
        hostile,
        unseen=[{"device": HOSTILE, "message": HOSTILE}],
        not_ours=[{"device": HOSTILE, "kind": HOSTILE, "name": HOSTILE, "owner": HOSTILE}],
        findings=[{"device": HOSTILE, "finding": HOSTILE, "remedy": HOSTILE}],
        by=HOSTILE,
        pods=[HOSTILE],
        fingerprint=HOSTILE,
    )
    assert len(shown.all("script")) == 1
    # Three in the title and heading and signature, the step's, what was not seen, not ours, found, and the fingerprint.
    assert shown.text().count(HOSTILE) >= 20
    # The values are also what the filter compares.
    assert {row.get("data-device") for row in shown.all("tr")} == {None, HOSTILE}


def test_a_long_text_can_be_opened() -> None:
    lines = [f"line {number}" for number in range(1, 31)]
    shown = page(step(1, "pod001-poplar1", "file", "/etc/x", **{"from": None, "to": {"lines": lines}}))
    assert len(shown.all("details")) == 1
    assert "+line 30" in shown.text()


def test_it_needs_and_sends_nothing() -> None:
    shown = page(*STEPS)
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _attributes in shown.elements}
    for tag, attributes in shown.elements:
        assert not ACTIVE & attributes.keys(), tag
        assert not [name for name in attributes if name.startswith("on")], tag


def test_only_its_own_style_and_script_may_run() -> None:
    shown = page(*STEPS)
    policy = next(meta["content"] for meta in shown.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        (text,) = ["".join(text for within, text in shown.texts if within == tag)]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_of_many_racks_those_without_a_step_are_folded_in() -> None:
    shown = page(*STEPS, racks=16)
    assert (len(shown.all("figure")), len(shown.all("details")), len(shown.all("svg"))) == (1, 15, 16)


def test_the_same_plan_makes_the_same_page_in_every_process() -> None:
    program = (
        "from tests.unit.plan_page.test_page import STEPS, page_of, plan, rack\n"
        "print(page_of(plan(*STEPS), rack(2)), end='')"
    )
    path = os.pathsep.join([str(ROOT), str(ROOT / ".venv" / "collections")])
    pages = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert pages == [page_of(plan(*STEPS), rack(2))] * 2
