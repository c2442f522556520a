# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a rack: well-formed, everything on it, and marks where the plan would change something."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.rack_picture import (
    devices_in,
    rack_pictures,
    short_port,
)
from tests.support.reviewed_pod import HOSTILE, plan, rack, step

SVG = "{http://www.w3.org/2000/svg}"


def picture(document: dict[str, Any], pod: str = "pod001", **racks: Any) -> ElementTree.Element:
    return ElementTree.fromstring(rack_pictures(racks.get("rack", rack()), document)[pod])


def ports(drawn: ElementTree.Element) -> dict[str, ElementTree.Element]:
    return {group.attrib["data-port"]: group for group in drawn.iter(f"{SVG}g") if "data-port" in group.attrib}


def links(drawn: ElementTree.Element) -> list[tuple[str, str]]:
    return [(link.attrib["href"], link.findtext(f"{SVG}text") or "") for link in drawn.iter(f"{SVG}a")]


def test_everything_that_stands_in_the_rack_is_named() -> None:
    texts = "\n".join(picture(plan()).itertext())
    assert all(name in texts for name in devices_in(rack()["pods"][0]))
    assert "vPOD alice-pod001 · VLAN 101" in texts


def test_a_machine_that_is_out_of_order_says_so() -> None:
    drawn = rack()
    drawn["pods"][0]["machines"][4]["excluded"] = True
    assert "excluded" not in "".join(picture(plan()).itertext())
    assert "excluded · vPOD bob-pod001 · VLAN 102" in "\n".join(picture(plan(), rack=drawn).itertext())


def test_a_port_is_marked_where_its_step_is_and_nowhere_else() -> None:
    drawn = ports(picture(plan(step(7, "pod001-tor", "port", "Ethernet10/1", risk="disruptive"))))
    assert {name: links(group) for name, group in drawn.items() if links(group)} == {
        "Ethernet10/1": [("#step-7", "▲7")]
    }


def test_a_port_of_the_same_name_in_another_rack_is_not_marked() -> None:
    document = plan(step(1, "pod002-tor", "port", "Ethernet10/1"))
    assert links(picture(document, "pod001", rack=rack(2))) == []
    assert [href for href, _label in links(picture(document, "pod002", rack=rack(2)))] == ["#step-1", "#step-1"]


def test_a_device_shows_how_many_steps_it_has_and_the_worst_risk_of_them() -> None:
    steps = [
        step(1, "pod001-poplar1", "interface", "ens2f0", risk="disruptive"),
        step(2, "pod001-poplar1", "interface", "ens2f1", risk="tenant outage"),
        step(3, "pod001-poplar1", "file", "/etc/x"),
    ]
    assert links(picture(plan(*steps))) == [("#step-1", "■ 3 steps")]


def test_an_agent_marks_its_machine_and_its_controller() -> None:
    assert links(picture(plan(step(1, "ctrl001", "agent", "pod001-ipum3")))) == [
        ("#step-1", "● step 1"),
        ("#step-1", "● step 1"),
    ]


def test_what_was_not_seen_says_so() -> None:
    unseen = [{"device": "pod001-poplar2", "message": "no route to host"}]
    assert links(picture(plan(unseen=unseen))) == [("#unseen", "? not seen")]


def test_vpods_that_share_a_hue_differ_in_their_strokes() -> None:
    drawn = "".join(rack_pictures(rack(6), plan()).values())
    tones = {line.split('class="strip ')[1].split('"')[0] for line in drawn.splitlines() if 'class="strip ' in line}
    assert len(tones) == 12


def test_names_are_text_and_never_elements() -> None:
    drawn = picture(plan(step(1, "pod001-tor", "port", "Ethernet9/1", action=HOSTILE)))
    assert not list(drawn.iter(f"{SVG}script"))
    assert HOSTILE in "".join(drawn.itertext())


@pytest.mark.parametrize(
    ("name", "short"), [("Ethernet9/1", "9"), ("Ethernet9/2", "9/2"), ("Ethernet11/1", "11"), ("Port-Channel5", "Po5")]
)
def test_a_port_has_a_short_name(name: str, short: str) -> None:
    assert short_port(name) == short
