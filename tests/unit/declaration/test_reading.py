# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pods.yml that is no text, no YAML or no single document is refused in one sentence, with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.reading import MOST_VALUES, read
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n" for number in range(1, 9)
)


def refused(content: bytes) -> list[str]:
    """What is wrong with a text, with or without a document."""
    try:
        slips = read(content, "pods.yml").slips
    except DeclarationError as error:
        return error.problems
    assert slips
    return DeclarationError(slips).problems


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "pods.yml is empty; begin with plugin: ipu.pod.pods"),
        (b"# nothing yet\n", "pods.yml is empty; begin with plugin: ipu.pod.pods"),
        ("schema: 1\n".encode("utf-16"), "pods.yml is UTF-16; save it as UTF-8"),
        (b"schema: 1\nname: caf\xe9\n", "pods.yml:2:10: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("a: \u00e9\nb: ".encode() + b"\xff", "pods.yml:2:4: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"a: 1\nb: \0\n", "pods.yml:2:4: there is a NUL character; remove it, or save the file as UTF-8"),
        (b"a: 1\nb: \x07\n", "pods.yml:2:4: character U+0007 is not allowed; remove it"),
        (b"a: 'x\nb: 1\n", "pods.yml:1:4: a quote is not closed; close it"),
        (b"a: &a [*a]\n", "pods.yml:1:4: this holds itself, or is nested too deep; write it out"),
        (b"[" * 5000, "pods.yml:1:1: this holds itself, or is nested too deep; write it out"),
        (b"a: !!python/object:os.system x\n", "!!python/object:os.system has no meaning here; write the value itself"),
        (
            b"a: !unsafe x\n",
            "pods.yml:1:4: a: !unsafe has no meaning here; write the value itself, and secrets elsewhere",
        ),
        (b"a: !!set {x}\n", "pods.yml:1:4: a: !!set has no meaning here; write the value itself"),
        (b"a: `x`\n", "pods.yml:1:4: a value cannot begin with `; quote it"),
        (
            b"a: 1:30\n",
            "pods.yml:1:4: a: 1:30 is read as the number 90; quote a text, and write a number in plain digits",
        ),
        (b"a: 1:30.5\n", "pods.yml:1:4: a: 1:30.5 is read as the number 90.5; quote a text, and "),
        (b"- pods\n", "pods.yml:1:1: this is no mapping; begin with plugin: ipu.pod.pods"),
        (b"pods\n", "pods.yml:1:1: this is no mapping; begin with plugin: ipu.pod.pods"),
        (b'{\n\t"a": 1,\n\t"a": 2}', "pods.yml: a is there twice; keep one"),
        (b"x:\n  null: 1\n", "pods.yml:2:3: x.null: as a key, null is read as nothing; write it in quotes"),
    ],
)
def test_one_sentence_says_what_is_wrong_with_the_text(content: bytes, sentence: str) -> None:
    (said,) = refused(content)
    assert sentence in said


def test_aliases_of_aliases_are_not_followed() -> None:
    (said,) = refused(LAUGHS.encode())
    assert said.startswith("pods.yml:1:1: with its aliases this is ")
    assert int(said.split()[6]) > MOST_VALUES


def test_every_slip_of_a_file_is_named() -> None:
    assert [each.partition(": ")[0] for each in refused(b"a: 01\nb: 1\nb: 0x10\n---\nc: 1\n")] == [
        "pods.yml:1:4",
        "pods.yml:3:1",
        "pods.yml:3:4",
        "pods.yml:5:1",
    ]


@pytest.mark.parametrize(
    ("content", "document"),
    [
        (b"\xef\xbb\xbfa: 1\r\nb: '01'\r\n", {"a": 1, "b": "01"}),
        (b"base: &base {a: 1}\nb: {<<: *base, c: 2}\n", {"base": {"a": 1}, "b": {"a": 1, "c": 2}}),
        (b"a: 0\nb: -5\nc: 1.5\nd: 2026-12-31\n26: 3\n", None),
        (json.dumps({"a": [1]}, indent="\t").encode(), {"a": [1]}),
    ],
)
def test_what_is_meant_is_read(content: bytes, document: Any) -> None:
    found = read(content, "pods.yml").document
    assert document is None or found == document
