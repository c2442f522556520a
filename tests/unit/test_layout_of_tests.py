# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the tests' own layout: a file is found by its name, and the tests of a room by the room's."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.support.checkout import ROOT

TESTS = ROOT / "tests"
FILES = sorted(path for path in TESTS.rglob("*.py") if path.name not in ("__init__.py", "conftest.py"))
UNIT_FOLDERS = sorted({path.parent.name for path in FILES if path.parts[-3] == "unit"})
ROOMS = {path.name.removeprefix("_") for path in (ROOT / "plugins").glob("*_utils/_*") if path.is_dir()}
# What has no room: the shell, roles, the simulator, the tests' own helpers.
NO_ROOMS = {"plugins", "roles", "simulator", "support"}
IMPORT = re.compile(r"^\s*(?:from|import) tests\.(\w+)", re.MULTILINE)


def test_no_two_files_have_one_name() -> None:
    times = Counter(path.name for path in FILES)
    assert [str(path.relative_to(TESTS)) for path in FILES if times[path.name] > 1] == []


@pytest.mark.parametrize("folder", UNIT_FOLDERS)
def test_a_folder_of_unit_tests_has_the_name_of_its_room(folder: str) -> None:
    assert folder in ROOMS | NO_ROOMS


def test_what_folders_share_is_in_support() -> None:
    wrong = {
        str(path.relative_to(TESTS)): taken
        for path in sorted(TESTS.rglob("*.py"))
        if (taken := set(IMPORT.findall(path.read_text())) - {"support", path.relative_to(TESTS).parts[0]})
    }
    assert wrong == {}
