# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `show running-config` of an EOS switch says: VLANs, ports, and every line that is not ours. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Collection, Iterator

from .._plan.converge import DeviceError
from .._plan.steps import Fields
from .spelling import PORT_FIELDS, default_vlan_name, port_name, vlan_ids

_INDENT = "   "
# After these lines EOS shows free text, not indented, up to a line EOF.
_FREE_TEXT = re.compile(r"\s*(?:banner \S+|action bash|code(?: .+)?)")


@dataclass(frozen=True)
class Block:
    """A line that is not indented, and the lines below it as they stand there."""

    header: str
    lines: tuple[str, ...]

    @property
    def vlans(self) -> list[int]:
        """The VLANs that this block configures, ascending; EOS joins VLANs of equal content: ``vlan 100-102``."""
        match = re.fullmatch(r"vlan ([\d,-]+)", self.header)
        return sorted(vlan_ids([match.group(1)])) if match else []

    @property
    def port(self) -> str | None:
        """The Ethernet port or port channel that this block configures."""
        match = re.fullmatch(r"interface (\S+)", self.header)
        try:
            return port_name(match.group(1)) if match else None
        except ValueError:
            return None


@dataclass(frozen=True)
class RunningConfig:
    """A running-config, read.

    ``vlans`` are by ID as text (``{"101": {"name": "tenant"}}``), ``ports`` by full name, each with all its fields.
    """

    vlans: dict[str, Fields]
    ports: dict[str, Fields]
    blocks: tuple[Block, ...]

    def foreign_lines(self, vlans: Collection[str], ports: Collection[str]) -> list[str]:
        """Everything except the names of these VLANs and the fields of these ports, in one spelling."""
        by_vlan: dict[int, list[str]] = {}
        others: list[str] = []
        for block in self.blocks:
            for vlan_id in block.vlans:
                ours = str(vlan_id) in vlans
                kept = [line for line in block.lines if not (ours and _vlan_name(line))]
                by_vlan.setdefault(vlan_id, []).extend(kept if ours else ["", *kept])
            if not block.vlans:
                ours = block.port in ports
                others += [block.header, *(line for line in block.lines if not (ours and _port_field(line)))]
        return [f"vlan {vlan_id}{line}" for vlan_id in sorted(by_vlan) for line in by_vlan[vlan_id]] + others


def parse(text: str) -> RunningConfig:
    """Read the text of `show running-config`.

    Raises:
        DeviceError: the text is not a whole running-config.
    """
    blocks = tuple(_blocks(text))
    if not blocks or blocks[-1].header != "end":
        raise DeviceError("the switch did not show its whole running-config: the line 'end' is missing")
    vlans = {"1": {"name": default_vlan_name(1)}}
    ports = {}
    for block in blocks:
        for vlan_id in block.vlans:
            names = [name for name in map(_vlan_name, block.lines) if name]
            vlans[str(vlan_id)] = {"name": names[-1] if names else default_vlan_name(vlan_id)}
        if block.port:
            ports[block.port] = _port_fields(block)
    return RunningConfig(vlans, ports, blocks)


def _blocks(text: str) -> Iterator[Block]:
    header: str | None = None
    lines: list[str] = []
    free_text = False
    for line in text.splitlines():
        if free_text:
            lines.append(line)
            free_text = line.strip() != "EOF"
            continue
        if not line.strip() or re.match(r"\s*!(?!!)", line):
            continue
        free_text = _FREE_TEXT.fullmatch(line.rstrip()) is not None
        if line.startswith(" "):
            lines.append(line.rstrip())
            continue
        if header is not None:
            yield Block(header, tuple(lines))
        header, lines = line.rstrip(), []
    if header is not None:
        yield Block(header, tuple(lines))


def _own_text(line: str) -> str:
    """A line of a block without the block's indentation; deeper lines keep theirs, and so match nothing of ours."""
    return line[len(_INDENT) :] if line.startswith(_INDENT) else ""


def _vlan_name(line: str) -> str | None:
    match = re.fullmatch(r"name (\S+)", _own_text(line))
    return match.group(1) if match else None


def _port_field(line: str) -> str | None:
    """The name of the port field that a line sets."""
    text = _own_text(line)
    return next((field.name for field in PORT_FIELDS if field.value(text) is not None), None)


def _port_fields(block: Block) -> Fields:
    fields = {field.name: field.default for field in PORT_FIELDS}
    for line in block.lines:
        for field in PORT_FIELDS:
            value = field.value(_own_text(line))
            if value is not None:
                fields[field.name] = value
    return fields
