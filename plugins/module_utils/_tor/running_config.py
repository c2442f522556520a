# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses `show running-config` of an EOS switch into what can be declared, and everything else. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Collection, Iterable, Iterator, Mapping, Sequence

from .._plan.converge import DeviceError
from .._plan.steps import Fields, State, Step, predict
from .setting_type import Setting, fields_of, is_ours
from .settings import PORT, PROFILE, QUEUE, QUEUE_DEFAULTS, WATCHDOG, default_traffic_class
from .spelling import default_vlan_name, port_name, vlan_ids

VLANS, VNIS, PORTS = "vlan", "vni", "port"
DSCPS, TRAFFIC_CLASSES = "dscp", "traffic_class"
PROFILES, QUEUES, PFC_WATCHDOG = "qos_profile", "qos_queue", "pfc_watchdog"
"""The kinds of things in a state. Things of the kinds other than VLANs, ports and profiles are always there."""

VNI_DEFAULTS: Fields = {"vni": 0}
SWITCH = "switch"
"""The name of what there is once per switch."""
VXLAN_INTERFACE = "interface Vxlan1"

_VNI = r"vxlan vlan ([\d,-]+) vni (\d+)(?:-\d+)?"
_DSCP_MAP = r"qos map dscp ([\d -]+) to traffic-class (\d)"
_QUEUE_MAP = r"qos map traffic-class ([\d -]+) to tx-queue (\d)"
_QUEUE = r"(?:uc-)?tx-queue (\d)"

_INDENT = "   "
# After these lines EOS shows free text, not indented, up to a line EOF.
_FREE_TEXT = re.compile(r"\s*(?:banner \S+|action bash|code(?: .+)?)")

Names = Mapping[str, Collection[str]]
"""Some things, kind by kind."""


@dataclass(frozen=True)
class Block:
    """A line that is not indented, and the lines below it as they stand there."""

    header: str
    lines: tuple[str, ...]

    @property
    def inner(self) -> list[Block]:
        """The lines below as blocks of their own. What is indented oddly belongs to the line before it."""
        return blocks(line[len(_INDENT) :] if line.startswith(_INDENT) else f" {line}" for line in self.lines)

    @property
    def own_lines(self) -> list[str]:
        """The lines of this block that are not inside one of its inner blocks."""
        return [block.header for block in self.inner]


@dataclass(frozen=True)
class RunningConfig:
    """A running-config, read.

    Attributes:
        state: everything that can be declared, with all fields.
        blocks: the whole text.
        has_vxlan: whether VLANs can be given a VNI.
        queue_word: how this switch calls the transmit queues of a profile.
        special_vlans: VLANs that do not simply carry frames: suspended, or only on ports of a trunk group.
        routed_vlans: VLANs with an interface of their own.
    """

    state: State
    blocks: tuple[Block, ...]
    has_vxlan: bool
    queue_word: str
    special_vlans: frozenset[str]
    routed_vlans: frozenset[str]

    @property
    def vlans(self) -> dict[str, Fields]:
        """The VLANs by ID as text."""
        return self.state[VLANS]

    @property
    def ports(self) -> dict[str, Fields]:
        """The ports by full name."""
        return self.state[PORTS]

    def after(self, steps: Sequence[Step]) -> RunningConfig:
        """Return the running-config after these steps; ``blocks`` stay as before."""
        return replace(self, state=predict(self.state, [step for step in steps if step.kind in self.state]))

    def foreign_lines(self, ours: Names, removed_vlans: Collection[str] = ()) -> list[str]:
        """Return all lines with their headers, except fields of these things and all of these VLANs."""
        by_vlan: dict[int, list[str]] = {}
        others: list[str] = []
        for block in self.blocks:
            for vlan_id in _vlans_of(block):
                if str(vlan_id) not in removed_vlans:
                    mine = str(vlan_id) in ours.get(VLANS, ())
                    by_vlan.setdefault(vlan_id, []).extend(_foreign_vlan_lines(vlan_id, block, mine))
            if not _vlans_of(block):
                others += _foreign_lines(block, ours)
        return [line for vlan_id in sorted(by_vlan) for line in by_vlan[vlan_id]] + others


def parse(text: str) -> RunningConfig:
    """Read the text of `show running-config`.

    Raises:
        DeviceError: the text is not a whole running-config.
    """
    found = tuple(blocks(text.split("\n")))
    if not found or found[-1].header != "end":
        raise DeviceError("the switch did not show its whole running-config: the line 'end' is missing")
    state: State = {
        VNIS: {str(vlan_id): {"vni": vni} for vlan_id, vni in _vnis(found)},
        VLANS: {"1": {"name": default_vlan_name(1)}},
        DSCPS: {str(dscp): {"traffic_class": default_traffic_class(dscp)} for dscp in range(64)},
        TRAFFIC_CLASSES: {str(each): {"tx_queue": each} for each in range(8)},
        PFC_WATCHDOG: {SWITCH: fields_of(WATCHDOG, [block.header for block in found])},
        PROFILES: {},
        QUEUES: {},
        PORTS: {},
    }
    special: set[str] = set()
    queue_word = "uc-tx-queue"
    for block in found:
        for vlan_id in map(str, _vlans_of(block)):
            state[VLANS][vlan_id] = {"name": _vlan_name(block) or default_vlan_name(int(vlan_id))}
            if any(re.match(r"state suspend|trunk group ", line) for line in block.own_lines):
                special.add(vlan_id)
        port, profile = _port_of(block), _profile_of(block)
        if port:
            state[PORTS][port] = fields_of(PORT, block.own_lines)
        if profile:
            state[PROFILES][profile] = fields_of(PROFILE, block.own_lines)
            for number, queue in _queues_of(block):
                state[QUEUES][f"{profile} {number}"] = fields_of(QUEUE, queue.own_lines)
                queue_word = queue.header.split()[0]
        for kind, name, fields in _map_entries(block.header):
            state[kind][name] = fields
    return RunningConfig(state, found, _has_vxlan(found), queue_word, frozenset(special), _routed_vlans(found))


def thing(state: State, kind: str, name: str) -> Fields | None:
    """The fields of one thing; what is always there has EOS's defaults where nobody configured it."""
    fields = state.get(kind, {}).get(name)
    always_there = {QUEUES: QUEUE_DEFAULTS, VNIS: VNI_DEFAULTS}
    return dict(always_there[kind]) if fields is None and kind in always_there else fields


def blocks(lines: Iterable[str]) -> list[Block]:
    """The blocks of some lines, in order, without comments and separators."""
    found: list[tuple[str, list[str]]] = []
    free_text = False
    for line in lines:
        if free_text:
            found[-1][1].append(line)
            free_text = line.strip() != "EOF"
            continue
        if not line.strip() or re.match(r"\s*!(?!!)", line):
            continue
        free_text = _FREE_TEXT.fullmatch(line.rstrip()) is not None
        if line.startswith(" ") and found:
            found[-1][1].append(line.rstrip())
        else:
            found.append((line.rstrip(), []))
    return [Block(header, tuple(below)) for header, below in found]


def _vlans_of(block: Block) -> list[int]:
    """The VLANs that a block configures, ascending; EOS joins VLANs of equal content: ``vlan 100-102``."""
    match = re.fullmatch(r"vlan ([\d,-]+)", block.header)
    return sorted(vlan_ids([match.group(1)])) if match else []


def _port_of(block: Block) -> str | None:
    """The Ethernet port or port channel that a block configures."""
    match = re.fullmatch(r"interface (\S+)", block.header)
    try:
        return port_name(match.group(1)) if match else None
    except ValueError:
        return None


def _profile_of(block: Block) -> str | None:
    match = re.fullmatch(r"qos profile (\S+)", block.header)
    return match.group(1) if match else None


def _queues_of(profile: Block) -> Iterator[tuple[str, Block]]:
    for block in profile.inner:
        match = re.fullmatch(_QUEUE, block.header)
        if match:
            yield match.group(1), block


def _vlan_name(block: Block) -> str | None:
    names = [line[len("name ") :] for line in block.own_lines if re.fullmatch(r"name \S+", line)]
    return names[-1] if names else None


def _vnis(found: Collection[Block]) -> Iterator[tuple[int, int]]:
    for block in found:
        for line in block.own_lines if block.header == VXLAN_INTERFACE else ():
            match = re.fullmatch(_VNI, line)
            if match:
                first = int(match.group(2))
                yield from ((vlan_id, first + n) for n, vlan_id in enumerate(sorted(vlan_ids([match.group(1)]))))


def _has_vxlan(found: Collection[Block]) -> bool:
    interfaces = [block for block in found if block.header == VXLAN_INTERFACE]
    return any(line.startswith("vxlan source-interface ") for block in interfaces for line in block.own_lines)


def _routed_vlans(found: Collection[Block]) -> frozenset[str]:
    matches = (re.fullmatch(r"interface Vlan(\d+)", block.header) for block in found)
    return frozenset(match.group(1) for match in matches if match)


def _map_entries(line: str) -> list[tuple[str, str, Fields]]:
    """The things that a line of a QoS map sets; EOS may join several in one line."""
    for kind, pattern, field in ((DSCPS, _DSCP_MAP, "traffic_class"), (TRAFFIC_CLASSES, _QUEUE_MAP, "tx_queue")):
        match = re.fullmatch(pattern, line)
        if match:
            return [(kind, str(number), {field: int(match.group(2))}) for number in _numbers(match.group(1))]
    return []


def _numbers(text: str) -> list[int]:
    """The numbers in ``24 26-27``."""
    ends = [item.split("-") for item in text.split()]
    return [number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)]


def _foreign_vlan_lines(vlan_id: int, block: Block, ours: bool) -> Iterator[str]:
    if not ours:
        yield f"vlan {vlan_id}"
    for line in block.own_lines:
        if not (ours and re.fullmatch(r"name \S+", line)):
            yield f"vlan {vlan_id} / {line}"


def _foreign_lines(block: Block, ours: Names) -> list[str]:
    port, profile = _port_of(block), _profile_of(block)
    if port:
        return _without(block, PORT, port in ours.get(PORTS, ()))
    if profile:
        lines = _without(block, PROFILE, profile in ours.get(PROFILES, ()), skip=_QUEUE)
        for number, queue in _queues_of(block):
            inner = _without(queue, QUEUE, f"{profile} {number}" in ours.get(QUEUES, ()))
            lines += [f"{block.header} / {line}" for line in inner]
        return lines
    if block.header == VXLAN_INTERFACE:
        kept = [line for line in block.own_lines if not _is_our_vni(line, ours)]
        return [block.header, *(f"{block.header} / {line}" for line in kept)]
    entries = _map_entries(block.header)
    if entries:
        map_line = re.sub(r" [\d -]+ to ", " {} to ", block.header)
        return [map_line.format(name) for kind, name, _fields in entries if name not in ours.get(kind, ())]
    if ours.get(PFC_WATCHDOG) and is_ours(WATCHDOG, block.header):
        return []
    return [block.header, *(f"{block.header} / {line}" for line in block.lines)]


def _without(block: Block, settings: tuple[Setting, ...], ours: bool, skip: str = "(?!)") -> list[str]:
    """A block without its settings, and without its header, if it is ours; inner blocks named by ``skip`` left out."""
    kept = [] if ours else [block.header]
    for inner in block.inner:
        if re.fullmatch(skip, inner.header) or (ours and is_ours(settings, inner.header)):
            continue
        kept += [f"{block.header} / {line}" for line in (inner.header, *inner.lines)]
    return kept


def _is_our_vni(line: str, ours: Names) -> bool:
    match = re.fullmatch(_VNI, line)
    return match is not None and set(map(str, vlan_ids([match.group(1)]))) <= set(ours.get(VNIS, ()))
