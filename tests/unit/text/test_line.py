# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign text as people get it."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused, StepFailed
from ansible_collections.ipu.pod.plugins.module_utils._text.line import LONGEST, one_line, printable, readable
from ansible_collections.ipu.pod.plugins.module_utils._text.remedy import with_remedy
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import Problem
from tests.support.hostile import HOSTILE, is_seen

each_hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


@each_hostile
def test_hostile_text_becomes_one_bounded_line_of_characters_that_are_seen(text: str) -> None:
    for shown in (printable(text), one_line(text), *readable([text]), *readable({text: 1})):
        assert is_seen(shown)
        assert len(shown) <= LONGEST


@each_hostile
def test_every_refusal_and_every_failure_is_one_bounded_line(text: str) -> None:
    said = [str(Refused(text)), str(DeviceError(text)), str(StepFailed(text, done=0)), str(Problem(text, text))]
    for message in [*said, with_remedy(text)]:
        assert is_seen(message)
        assert len(message) <= 2 * LONGEST


def test_control_characters_are_spelled_out() -> None:
    assert printable("a\x1b[2Jb\x00\u202ec") == "a\\x1b[2Jb\\x00\\u202ec"


def test_what_people_write_stays_as_it_is() -> None:
    text = "  Zürich → 東京, with   columns"
    assert printable(text) == text
    assert one_line(text) == "Zürich → 東京, with columns"


def test_a_long_text_ends_with_dots() -> None:
    assert printable("abcdefghij", 8) == "abcd ..."
    assert printable("abcdefgh", 8) == "abcdefgh"
