# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of rooms in docs/architecture.md is that of the imports, and all of them point down."""

from __future__ import annotations

import generate_dependency_picture as dependency_picture


def test_every_import_between_rooms_points_down() -> None:
    assert dependency_picture.upward(dependency_picture.imports()) == []


def test_an_import_that_points_up_is_reported_with_its_rooms() -> None:
    found = {**dependency_picture.imports(), "_pod": {"_decision", "_vipu"}, "_cellar": set()}
    assert dependency_picture.upward(found) == [
        "_cellar is a room, or stands in LEVELS, but not both",
        "_pod imports _decision, which is not below it",
    ]


def test_the_table_is_that_of_the_imports() -> None:
    document = dependency_picture.DOCUMENT.read_text(encoding="utf-8")
    drawn = dependency_picture.drawn(document, dependency_picture.imports())
    assert document == drawn, "write it again with `make generate`"


def test_an_import_that_follows_from_others_is_left_out() -> None:
    arrows = dependency_picture.arrows(dependency_picture.imports())
    assert ("_decision", "_adoption") in arrows
    assert ("_decision", "_pod") not in arrows
