# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a problem stands in the text of its pods.yml: line and column of its key. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import yaml

from .._pod.kinds import Problem

MERGE = "tag:yaml.org,2002:merge"

# What a key or an item holds, where that key or item stands, and what is left of the path.
Step = tuple[yaml.Node, yaml.Mark, str]


def located(problems: Iterable[Problem], text: str, file: str) -> list[Problem]:
    """The problems with their places in a file: those of the key paths, or of the nearest parents that stand there."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        # Ansible also takes JSON that is no YAML, with tabs.
        root = None
    return [_located(problem, root, file) if root and problem.path else problem for problem in problems]


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Problems in the order of the file, each once."""
    return list(dict.fromkeys(sorted(problems, key=lambda each: (each.line or 0, each.column or 0))))


def _located(problem: Problem, root: yaml.Node, file: str) -> Problem:
    mark, node, rest = root.start_mark, root, problem.path
    while rest and (step := _step(node, rest)):
        node, mark, rest = step
    return replace(problem, file=file, line=mark.line + 1, column=mark.column + 1)


def _step(node: yaml.Node, path: str) -> Step | None:
    """One step along a path; None where the next part of it does not stand there."""
    entries = [(re.escape(str(key.value)), key, value) for key, value in _entries(node)]
    if isinstance(node, yaml.SequenceNode):
        entries = [(rf"\[{index}\]", item, item) for index, item in enumerate(node.value)]
    steps = [
        (value, key.start_mark, path[part.end() :])
        for text, key, value in entries
        if (part := re.match(rf"{text}(\.|$|(?=\[))", path))
    ]
    # Names may have dots: the longest that fits is meant, and of two the one that is not merged in.
    return min(steps, key=lambda step: len(step[2])) if steps else None


def _entries(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Keys and values of a mapping, its own before those that ``<<`` merges into it."""
    merged: list[yaml.Node] = []
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.tag == MERGE:
            merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
        else:
            yield key, value
    for each in merged:
        yield from _entries(each)
