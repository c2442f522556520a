# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words by which this collection reads answers are all in the vocabulary, else it would not understand archives."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._recording.host import VERSIONS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.dialect import ADMIN, COMMANDS, PARTITION_STATUS, REFUSALS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import ENUMS, FIELDS
from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.vocabulary import NUMBERED, VOCABULARY
from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.words import Words

SHOWN = [field.shown for fields in (*FIELDS.values(), PARTITION_STATUS) for field in fields if field.shown]
SPOKEN = [str(word) for words in ENUMS.values() for pair in words.items() for word in pair]
CALLED = [f"{ADMIN} {command.verb} {command.entity}" for command in COMMANDS]
REFUSED = [refusal.words for refusal in REFUSALS]
ASKED = [" ".join(words) for words in VERSIONS]


@pytest.mark.parametrize("text", [*SHOWN, *SPOKEN, *CALLED, *REFUSED, *ASKED])
def test_a_word_that_is_read_is_in_the_vocabulary(text: str) -> None:
    assert Words([text], [], b"").text(text) == text


def test_the_vocabulary_is_in_lower_case() -> None:
    assert [word for word in VOCABULARY | NUMBERED if word != word.lower()] == []
