# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rack as SVG: what stands where, in which VLAN and vPOD, and what a plan would change. Pure.

Colours come from :data:`STYLE`, which the page around the picture has to hold. No meaning is told by colour alone:
vPODs and VLANs are written out, and each risk has a shape of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .._reports.wording import RISKS, SHAPE_OF_RISK, counted, worst_risk

# Figures in units of the picture, which are pixels at its natural size.
WIDTH = 700
LEFT, RIGHT = 30, 592
MARK = 600
ROW, GAP = 21, 3
PORTS_IN_A_ROW = 16
PORT_WIDTH, PORT_PITCH, PORT_HEIGHT, PORT_ROW_PITCH = 31, 34.5, 36, 55
LEGEND_PITCH = 20
# Five hues that remain apart for every kind of colour vision; after them come the same ones dashed, then dotted.
HUES, DASHES = 5, 3

Step = Mapping[str, Any]
# Device, and port or nothing, to the steps that change it.
Marks = dict[tuple[str, str], list[Step]]

STYLE = """
.rack { width: 100%; max-width: 700px; height: auto; font: 12px/1 ui-sans-serif, system-ui, sans-serif; }
.rack text { fill: var(--ink); }
.rack .quiet { fill: var(--quiet); font-size: 11px; }
.rack .small { font-size: 10px; text-anchor: middle; }
.rack .tiny { font-size: 8px; text-anchor: middle; fill: var(--quiet); }
.rack .end { text-anchor: end; }
.rack .name { font-weight: 600; }
.rack .box { fill: var(--box); stroke: var(--line); }
.rack .port { fill: var(--paper); stroke: var(--line); }
.rack .strip { stroke-width: 7; fill: none; }
.rack .tint { stroke: none; opacity: .16; }
.rack .dash1 { stroke-dasharray: 5 3; }
.rack .dash2 { stroke-dasharray: 2 2; }
.rack .ring { fill: none; stroke-width: 3; }
.rack .unseen { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 3; }
.rack .pill { stroke: var(--edge); stroke-width: 1; }
.rack a:focus-visible .pill, .rack a:hover .pill { stroke-width: 2.5; }
.rack .count { font-size: 11px; font-weight: 700; }
""" + "".join(
    f".rack .hue{number} {{ stroke: {colour}; }} .rack .tint.hue{number} {{ fill: {colour}; }}\n"
    for number, colour in enumerate(("#56b4e9", "#009e73", "#cc79a7", "#e8d825", "#0072b2"))
)


@dataclass(frozen=True)
class _Signs:
    """What is shown beside the things themselves: steps, devices that were not seen, how each vPOD is drawn."""

    marks: Marks
    unseen: frozenset[str]
    tones: Mapping[str, str]


def rack_pictures(rack: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, str]:
    """Pod name to the picture of its rack, an ``svg`` element.

    Args:
        rack: what :func:`rack.rack_of` returns.
        document: the plan document. What its steps would change is marked and leads to ``#step-NUMBER``, what could
            not be looked at to ``#unseen``.
    """
    vpods = dict.fromkeys(vpod["name"] for pod in rack["pods"] for vpod in pod["vpods"])
    tones = {name: _tone(number) for number, name in enumerate(vpods)}
    unseen = frozenset(device["device"] for device in document.get("unseen", ()))
    signs = _Signs(marks_of(document["steps"]), unseen, tones)
    return {pod["name"]: _picture(pod, signs) for pod in rack["pods"]}


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


def _tone(number: int) -> str:
    return f"hue{number % HUES} dash{number // HUES % DASHES}"


def _picture(pod: Mapping[str, Any], signs: _Signs) -> str:
    tor, management = pod["switch"], pod["management_switch"]
    devices = {device["name"]: device for device in (*pod["servers"], *pod["machines"])}
    kinds = {
        **dict.fromkeys(pod["controllers"], "V-IPU controller"),
        **{server["name"]: "Poplar server" for server in pod["servers"]},
        **({management: "management switch"} if management else {}),
        **{machine["name"]: "IPU-Machine" for machine in pod["machines"]},
    }
    parts: list[str] = []
    y: float = 4
    for name in devices_in(pod):
        if name == tor["name"]:
            height, drawn = _switch(y, tor, signs)
        else:
            height, drawn = ROW, _row(y, devices.get(name, {"name": name}), kinds[name], signs)
        parts += drawn
        y += height + GAP
    bottom, drawn = _legend(y + 9, pod["vpods"], signs.tones)
    return (
        f'<svg class="rack" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}"'
        f' width="{WIDTH}" height="{bottom}" role="group" aria-label="Rack {escape(pod["name"])}">\n'
        + "\n".join(filter(None, [*parts, *drawn]))
        + "\n</svg>"
    )


def _row(y: float, device: Mapping[str, Any], what: str, signs: _Signs) -> list[str]:
    """One device of one rack unit."""
    box = f'x="{LEFT}" y="{y}" width="{RIGHT - LEFT}" height="{ROW}" rx="3"'
    ports = ", ".join(map(short_port, device.get("ports", ())))
    vpod, middle = device.get("vpod"), y + 15
    parts = [_text(LEFT - 6, middle, str(device.get("unit", "")), "quiet end"), f'<rect class="box" {box}/>']
    if vpod:
        parts.append(f'<rect class="tint {signs.tones[vpod]}" {box}/>')
        parts.append(f'<path class="strip {signs.tones[vpod]}" d="M{LEFT + 5} {y + 1}V{y + ROW - 1}"/>')
    return [
        *parts,
        _text(LEFT + 16, middle, device["name"], "name", 26),
        _text(LEFT + 200, middle, f"{what}, port {ports}" if ports else what, "quiet", 32),
        _text(RIGHT - 8, middle, _place(device), "end", 28),
        *_device_mark(y, ROW, device["name"], signs),
    ]


def _place(device: Mapping[str, Any]) -> str:
    vlan = f"VLAN {device['vlan']}" if device.get("vlan") is not None else ""
    vpod = f"vPOD {device['vpod']}" if device.get("vpod") else ""
    excluded = "excluded" if device.get("excluded") else ""
    return " · ".join(text for text in (excluded, vpod, vlan) if text)


def _switch(y: float, switch: Mapping[str, Any], signs: _Signs) -> tuple[float, list[str]]:
    """The ToR switch with its ports as on its front, odd ones above even ones; those beside them follow below."""
    front, rest = switch["ports"][: 2 * PORTS_IN_A_ROW], switch["ports"][2 * PORTS_IN_A_ROW :]
    rows = [front[0::2], front[1::2]]
    rows += [rest[first : first + PORTS_IN_A_ROW] for first in range(0, len(rest), PORTS_IN_A_ROW)]
    height = 24 + PORT_ROW_PITCH * len(rows)
    parts = [
        f'<rect class="box" x="{LEFT}" y="{y}" width="{RIGHT - LEFT}" height="{height}" rx="3"/>',
        _text(LEFT + 16, y + 16, switch["name"], "name", 26),
        _text(LEFT + 200, y + 16, "ToR switch: port, VLAN, vPOD", "quiet"),
        *_device_mark(y, height, switch["name"], signs),
    ]
    for row, ports in enumerate(rows):
        for column, port in enumerate(ports):
            at = (LEFT + 6 + column * PORT_PITCH, y + 24 + row * PORT_ROW_PITCH)
            parts += _port(at, port, signs.marks.get((switch["name"], port["name"]), []), signs.tones)
    return height, parts


def _port(
    at: tuple[float, float], port: Mapping[str, Any], steps: Sequence[Step], tones: Mapping[str, str]
) -> Iterator[str]:
    x, y = at
    middle = x + PORT_WIDTH / 2
    about = ", ".join(text for text in (port["name"], port["device"] or port["role"] or "", _place(port)) if text)
    yield f'<g data-port="{escape(port["name"])}"><title>{escape(about)}</title>'
    yield f'<rect class="port" x="{x}" y="{y}" width="{PORT_WIDTH}" height="{PORT_HEIGHT}" rx="2"/>'
    yield _text(middle, y + 11, short_port(port["name"]), "small name")
    yield _text(middle, y + 24, "" if port["vlan"] is None else str(port["vlan"]), "small")
    if port["vpod"]:
        yield f'<path class="strip {tones[port["vpod"]]}" d="M{x + 1} {y + PORT_HEIGHT - 5}h{PORT_WIDTH - 2}"/>'
    elif not port["device"]:
        yield _text(middle, y + PORT_HEIGHT - 3, port["role"] or "", "tiny")
    if steps:
        risk = worst_risk(steps)
        label = f"{SHAPE_OF_RISK[risk]}{steps[0]['number']}{'+' if len(steps) > 1 else ''}"
        ring = f'x="{x}" y="{y}" width="{PORT_WIDTH}" height="{PORT_HEIGHT}" rx="2"'
        yield f'<rect class="ring {_class_of(risk)}" {ring}/>'
        yield _pill((x - 1, y + PORT_HEIGHT + 1), PORT_WIDTH + 2, 14, label, steps)
    yield "</g>"


def _device_mark(y: float, height: float, name: str, signs: _Signs) -> Iterator[str]:
    """The ring around a device that a plan changes or that was not seen, and beside it which steps do."""
    ring = f'x="{LEFT}" y="{y}" width="{RIGHT - LEFT}" height="{height}" rx="3"'
    steps = signs.marks.get((name, ""), [])
    if steps:
        risk = worst_risk(steps)
        label = f"step {steps[0]['number']}" if len(steps) == 1 else counted(len(steps), "step")
        yield f'<rect class="ring {_class_of(risk)}" {ring}/>'
        yield _pill((MARK, y + 1), WIDTH - MARK - 4, ROW - 2, f"{SHAPE_OF_RISK[risk]} {label}", steps)
    elif name in signs.unseen:
        yield f'<rect class="ring unseen" {ring}/>'
        yield f'<a href="#unseen"><text class="count" x="{MARK + 6}" y="{y + 15}">? not seen</text></a>'


def _pill(at: tuple[float, float], width: float, height: float, label: str, steps: Sequence[Step]) -> str:
    """A link to the first of some steps, in the colour of the worst."""
    (x, y), risk = at, worst_risk(steps)
    about = "; ".join(f"step {step['number']}: {step['action']} {step['kind']} {step['name']}" for step in steps)
    text_at = f'x="{x + width / 2}" y="{y + height / 2 + 3.6}"'
    return (
        f'<a href="#step-{steps[0]["number"]}"><title>{escape(f"{about} ({risk})")}</title>'
        f'<rect class="pill {_class_of(risk)}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{height / 2}"/>'
        f'<text class="small count on-{_class_of(risk)}" {text_at}>{escape(label)}</text></a>'
    )


def _legend(y: float, vpods: Sequence[Mapping[str, Any]], tones: Mapping[str, str]) -> tuple[float, list[str]]:
    parts = []
    for vpod in vpods:
        told = [
            f"vPOD {vpod['name']}",
            *([] if vpod["vlan"] is None else [f"VLAN {vpod['vlan']}"]),
            f"{vpod['ipus']} IPUs",
        ]
        told += [f"partitions {', '.join(vpod['partitions'])}"] if vpod["partitions"] else []
        parts.append(f'<path class="strip {tones[vpod["name"]]}" d="M{LEFT} {y + 8}h24"/>')
        parts.append(_text(LEFT + 32, y + 12, ", ".join(told), ""))
        y += LEGEND_PITCH
    for number, risk in enumerate(RISKS):
        x = LEFT + number * 130
        parts.append(f'<circle class="pill {_class_of(risk)}" cx="{x + 9}" cy="{y + 8}" r="8"/>')
        parts.append(_text(x + 9, y + 11.6, SHAPE_OF_RISK[risk], f"small count on-{_class_of(risk)}"))
        parts.append(_text(x + 24, y + 12, "no risk" if number == 0 else risk, ""))
    return y + LEGEND_PITCH, parts


def _class_of(risk: str) -> str:
    return f"risk-{RISKS.index(risk)}"


def short_port(name: str) -> str:
    """``9`` for ``Ethernet9/1``, ``9/2`` for another lane, ``Po5`` for a port channel."""
    short = name.replace("Ethernet", "").replace("Port-Channel", "Po")
    return short[: -len("/1")] if short.endswith("/1") else short


def _text(x: float, y: float, text: str, classes: str, limit: int = 90) -> str:
    """A line of text, shortened where it would not fit; empty for an empty text."""
    if not text:
        return ""
    shown = text if len(text) <= limit else f"{text[: limit - 1]}…"
    told = f"<title>{escape(text)}</title>" if shown != text else ""
    return f'<text class="{classes}" x="{x}" y="{y}">{told}{escape(shown)}</text>'
