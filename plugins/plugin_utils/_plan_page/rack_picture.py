# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rack as SVG: what stands where, in which VLAN and vPOD, and what a plan would change. Pure.

Colours come from the style of the page around the picture. No meaning is carried by colour alone:
vPODs and VLANs are written out, and each risk has a shape of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._reports import wording
from .._templates.render import render

# Five hues that remain apart for every kind of colour vision; after them come the same ones dashed, then dotted.
HUES, DASHES = 5, 3

Step = Mapping[str, Any]
# Device, and port or nothing, to the steps that change it.
Marks = dict[tuple[str, str], list[Step]]


def rack_pictures(rack: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, str]:
    """Pod name to the picture of its rack, an ``svg`` element, of what :func:`rack.rack_of` returns.

    What the steps of the plan ``document`` would change is marked and leads to ``#step-NUMBER``, what could not be
    looked at to ``#unseen``.
    """
    vpods = dict.fromkeys(vpod["name"] for pod in rack["pods"] for vpod in pod["vpods"])
    return {
        pod["name"]: render(
            "rack.svg",
            pod=pod,
            things=_things(pod),
            marks=marks_of(document["steps"]),
            unseen={device["device"] for device in document.get("unseen", ())},
            tones={name: f"hue{number % HUES} dash{number // HUES % DASHES}" for number, name in enumerate(vpods)},
            wording=wording,
            place_of=_place,
            short_port=short_port,
        )
        for pod in rack["pods"]
    }


def marks_of(steps: Sequence[Step]) -> Marks:
    """Which steps are to be marked where.

    A step marks its device, and the port of a switch that it changes. The agent of an IPU-Machine is named as the
    machine and set up on the controller: it marks both.
    """
    marks: Marks = {}
    for step in steps:
        places = {(step["device"], "")}
        if step["kind"] == "port":
            places.add((step["device"], step["name"]))
        if step["kind"] == "agent":
            places.add((step["name"], ""))
        for place in places:
            marks.setdefault(place, []).append(step)
    return marks


def devices_in(pod: Mapping[str, Any]) -> list[str]:
    """The names of everything that stands in a rack, from the top down."""
    others = [pod["management_switch"]] if pod["management_switch"] else []
    servers, machines = ([device["name"] for device in reversed(pod[kind])] for kind in ("servers", "machines"))
    return [*pod["controllers"], *servers, pod["switch"]["name"], *others, *machines]


def _things(pod: Mapping[str, Any]) -> list[dict[str, str]]:
    """The devices in the rack with their labels, from the top down."""
    devices = {device["name"]: device for device in (*pod["servers"], *pod["machines"])}
    kinds = {
        **dict.fromkeys(pod["controllers"], "V-IPU controller"),
        **{server["name"]: "Poplar server" for server in pod["servers"]},
        pod["management_switch"]: "management switch",
        **{machine["name"]: "IPU-Machine" for machine in pod["machines"]},
    }
    things = []
    for name in devices_in(pod):
        device, kind = devices.get(name, {}), kinds.get(name, "")
        ports = ", ".join(map(short_port, device.get("ports", ())))
        what = f"{kind}, port {ports}" if ports else kind
        unit, vpod = str(device.get("unit", "")), device.get("vpod") or ""
        things.append({"name": name, "what": what, "unit": unit, "vpod": vpod, "place": _place(device)})
    return things


def _place(device: Mapping[str, Any]) -> str:
    vlan = f"VLAN {device['vlan']}" if device.get("vlan") is not None else ""
    vpod = f"vPOD {device['vpod']}" if device.get("vpod") else ""
    excluded = "excluded" if device.get("excluded") else ""
    return " · ".join(text for text in (excluded, vpod, vlan) if text)


def short_port(name: str) -> str:
    """``9`` for ``Ethernet9/1``, ``9/2`` for another lane, ``Po5`` for a port channel."""
    short = name.replace("Ethernet", "").replace("Port-Channel", "Po")
    return short[: -len("/1")] if short.endswith("/1") else short
