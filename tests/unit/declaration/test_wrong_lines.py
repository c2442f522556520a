# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stranger's mistakes in pods.yml: each has one sentence, with its line, what is wrong and what would be right."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.checking import checked
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.reading import read
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.warnings import warnings
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

HERE = Path(__file__).parent
GOOD = (HERE / "good.yml").read_text(encoding="utf-8")
FILE = HERE / "wrong_lines.txt"
ENOUGH = 220
SAID = "  > "
# What only a programmer would understand, or what is nobody's business.
NOT_FOR_PEOPLE = re.compile(r"Traceback|<class|object at|\bNone\b|\bTrue\b|\bFalse\b|\bdict\b|plugin_utils|\n")


def cases(text: str) -> dict[str, list[str]]:
    """By the wrong line, the sentences."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith(SAID):
            found[list(found)[-1]].append(line.removeprefix(SAID))
        elif not line.startswith("#"):
            found[line] = []
    return found


CASES = cases(FILE.read_text(encoding="utf-8"))


def with_line(wrong: str) -> str:
    number, _bar, text = wrong.partition("|")
    lines = GOOD.split("\n")
    lines[int(number) - 1] = text.replace("\\n", "\n").replace("\\t", "\t")
    return "\n".join(lines)


def said(text: str) -> list[str]:
    try:
        return [f"warning: {each}" for each in warnings(checked(read(text.encode(), "pods.yml")))]
    except DeclarationError as error:
        return error.problems


def test_the_good_one_is_good() -> None:
    assert said(GOOD) == []


@pytest.mark.parametrize("wrong", CASES)
def test_a_wrong_line_is_named_with_what_would_be_right(wrong: str) -> None:
    sentences = said(with_line(wrong))
    assert sentences == CASES[wrong]
    assert len(set(sentences)) == len(sentences) > 0
    for sentence in sentences:
        assert sentence.startswith("warning: ") or re.match(r"pods\.yml:\d+:\d+: ", sentence)
        assert not NOT_FOR_PEOPLE.search(sentence)


def test_there_are_enough_of_them_and_they_can_be_written_anew() -> None:
    assert len(CASES) >= ENOUGH
    text = FILE.read_text(encoding="utf-8")
    head = [line for line in text.splitlines() if line.startswith("#")]
    lines = [line for wrong in CASES for line in (wrong, *(f"{SAID}{each}" for each in said(with_line(wrong))))]
    anew = "\n".join([*head, *lines, ""])
    if os.environ.get("GOLDEN") == "write":
        FILE.write_text(anew, encoding="utf-8")
    assert text == anew
