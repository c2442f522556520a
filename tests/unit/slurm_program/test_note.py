# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note on a job is read as it was written, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.note import Note, note_from, number, text_of


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ({}, "ipu.pod"),
        ({"ipus": "16", "partition": "slurm_5"}, "ipu.pod ipus=16 partition=slurm_5"),
        (
            {"waits": "no free block of 16 IPUs: 8=8", "ipus": "16"},
            "ipu.pod ipus=16 waits=no free block of 16 IPUs: 8=8",
        ),
        ({"access": "MUNGE:AwQ=:"}, "ipu.pod access=MUNGE:AwQ=:"),
    ],
)
def test_a_note_is_read_as_it_was_written(note: Note, text: str) -> None:
    assert text_of(note) == text
    assert note_from(f"{text} ") == note


def test_a_reason_of_several_lines_becomes_one() -> None:
    assert text_of({"waits": "no\n  room"}) == "ipu.pod waits=no room"


@pytest.mark.parametrize("comment", ["", "(null)", "by the administrator", "ipu.podium ipus=4", " ipu.pod ipus=4"])
def test_another_comment_is_no_note(comment: str) -> None:
    assert note_from(comment) == {}


def test_words_that_are_none_of_ours_are_left_out() -> None:
    assert note_from("ipu.pod ipus=4 what") == {"ipus": "4"}


@pytest.mark.parametrize(("value", "found"), [("16", 16), ("-1", None), ("x", None), ("²", None), ("", None)])
def test_numbers(value: str, found: int | None) -> None:
    assert number({"gcds": value}, "gcds") == found
