# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A configuration as `show running-config` writes it: EOS's order, a release's spelling, shared lines."""

from __future__ import annotations

from typing import Any

from podsim.eos.config import INDENT, Node
from podsim.eos.grammar import Mode
from podsim.eos.releases import DEFAULT_RELEASE, Release
from podsim.eos.vlan_lists import format_vlans


def render(root: Node, all_lines: bool = False, release: Release = DEFAULT_RELEASE) -> list[str]:
    """The lines of `show running-config` (with `all_lines`, of `show running-config all`), without the header."""
    rendered: list[str] = []
    previous = ""
    for node in _grouped(_shown(root, all_lines)):
        group = node.line.removeprefix("no ").split()[0]
        if node.statement.mode or node.text or group != previous:
            rendered.append("!")
        previous = group
        rendered += _lines(node, _mode(root), 0, all_lines, release)
    return [*rendered, "!", "end"]


def render_block(block: Node, release: Release) -> list[str]:
    """One block of the top level by itself; its own line has one spelling in all releases."""
    return [
        block.line,
        *(line for child in block.ordered_children() for line in _lines(child, _mode(block), 1, False, release)),
    ]


def as_json(root: Node, release: Release = DEFAULT_RELEASE) -> dict[str, Any]:
    """The tree of `show running-config` in its JSON form: `{"cmds": {line: block or None}}`."""
    commands: dict[str, Any] = {}
    for node in _grouped(root.ordered_children()):
        block = {"comments": [], **as_json(node, release)} if node.statement.mode else None
        commands[_mode(root).spelled(node.line, release)] = block
    return {"cmds": commands}


def _lines(node: Node, mode: Mode, depth: int, all_lines: bool, release: Release) -> list[str]:
    indent = " " * (INDENT * depth)
    lines = [indent + mode.spelled(node.line, release)]
    if node.statement.heredoc:
        return [*lines, *node.text, "EOF"]
    for child in _shown(node, all_lines):
        if child.statement.mode:
            lines.append(indent + " " * INDENT + "!")
        lines += _lines(child, _mode(node), depth + 1, all_lines, release)
    return lines


def _mode(node: Node) -> Mode:
    assert node.statement.mode is not None
    return node.statement.mode


def _shown(node: Node, all_lines: bool) -> list[Node]:
    """The lines of a block, with the defaults of the absent ones if `all_lines` is wanted."""
    mode = node.statement.mode
    if not all_lines or mode is None:
        return node.ordered_children()
    absent = {
        tuple(statement.default.removeprefix("no ").split())[: statement.template.key_length]: statement
        for statement in mode.statements
        if statement.default
    }
    defaults = [Node(each.default or "", each) for key, each in absent.items() if key not in node.children]
    return sorted([*node.ordered_children(), *defaults], key=lambda line: mode.rank(line.statement))


def _grouped(nodes: list[Node]) -> list[Node]:
    """The lines that EOS shows as one, in the place of the first: `vlan 20,30-32`, `qos map dscp 8 9 to ...`."""
    plain = [node for node in nodes if node.line.startswith("vlan ") and not node.children]
    shared: dict[str, list[Node]] = {"vlan": plain} if plain else {}
    for node in nodes:
        slot = node.statement.template.several
        if slot is not None:
            words = node.line.split()
            shared.setdefault(" ".join([*words[:slot], "", *words[slot + 1 :]]), []).append(node)
    others = {node for group in shared.values() for node in group[1:]}
    first = {group[0]: _together(group) for group in shared.values()}
    return [first.get(node, node) for node in nodes if node not in others]


def _together(nodes: list[Node]) -> Node:
    """One line that stands for all of these."""
    if len(nodes) == 1:
        return nodes[0]
    slot = nodes[0].statement.template.several
    words = [node.line.split() for node in nodes]
    if slot is None:
        return Node(f"vlan {format_vlans(int(word) for _, word in words)}", nodes[0].statement)
    values = [each[slot] for each in words]
    return Node(" ".join([*words[0][:slot], *values, *words[0][slot + 1 :]]), nodes[0].statement)
