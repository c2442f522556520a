# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/security.md claims nothing without a test that shows it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "security.md"
_TEST = re.compile(r"`((?:\w+/)+\w+\.(?:py|yml))(?:::(\w+))?`")


def claims() -> list[str]:
    """The rows of the tables whose last column is headed "Shown by"."""
    rows, shown = [], False
    for line in PAGE.read_text().splitlines():
        if not line.startswith("|"):
            shown = False
        elif line.rstrip(" |").endswith("Shown by"):
            shown = True
        elif shown and not line.startswith("| ---"):
            rows.append(line)
    return rows


def names_of(path: Path) -> set[str]:
    return {each.name for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.FunctionDef)}


@pytest.mark.parametrize("row", claims())
def test_a_claim_names_tests_that_exist(row: str) -> None:
    shown = _TEST.findall(row.rstrip(" |").rpartition("|")[2])
    assert shown, row
    for file, name in shown:
        path = TESTS / file if (TESTS / file).exists() else TESTS.parent / file
        assert path.exists(), file
        assert not name or name in names_of(path), name


@pytest.mark.parametrize(
    "place", ["A tenant's user", "A tenant who is root", "A ToR port", "A Slurm user", "A pipeline on a branch"]
)
def test_each_place_of_an_attacker_has_a_section_with_claims(place: str) -> None:
    section = PAGE.read_text().partition(f"### {place}\n")[2].partition("\n#")[0]
    assert "Shown by" in section
    assert len(_TEST.findall(section)) >= 3
