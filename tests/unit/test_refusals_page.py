# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/refusals.md has the sentences of the source as it is today."""

from __future__ import annotations

import generate_refusals
import pytest

SOURCE = '''
"""A docstring; it is none."""
DOCUMENTATION = "an option; it is none"

def check(name):
    """Another docstring; it is none."""
    if name:
        raise Refused(f"{name}: this is no VLAN")
    yield f"vpods.{name}: this has {name!r} twice; keep " "one"
    yield "this is wrong; correct it"
    yield f"{name} is held by {name} since this morning"
    yield re.sub("a (.+)", r"\\1 is not known here; leave it out", name)
    return f"{name} short", "a text of a table that names nothing at all"
'''


def test_the_page_is_that_of_the_source() -> None:
    written = generate_refusals.PAGE.read_text(encoding="utf-8")
    assert written == generate_refusals.page(written), "it is stale; run: make generate"


def test_messages_of_exceptions_and_other_sentences_are_found_and_nothing_else() -> None:
    assert list(generate_refusals.in_python(SOURCE)) == [
        "…: this is no VLAN",
        "vpods.…: this has … twice; keep one",
        "this is wrong; correct it",
        "… is held by … since this morning",
        "… is not known here; leave it out",
    ]


def test_messages_of_tasks_that_fail_are_found() -> None:
    tasks = [
        {"ansible.builtin.fail": {"msg": "{{ host }} has no vipu-admin; install it."}},
        {"block": [{"ansible.builtin.assert": {"that": "x", "fail_msg": "No pod to work on."}}]},
        {"ansible.builtin.debug": {"msg": "This is no refusal; it is shown."}},
        {"ansible.builtin.fail": {"msg": "{{ refusals | join }} Nothing has been touched."}},
    ]
    assert list(generate_refusals.in_yaml(tasks)) == ["… has no vipu-admin; install it.", "No pod to work on."]


def test_what_slurm_refuses_is_found() -> None:
    lua = (
        'refuse("--ipus=%d: there is no partition; " ..\n  "use one of %s", ipus, sizes)\nprint("something else; here")'
    )
    assert list(generate_refusals.in_lua(lua)) == ["--ipus=…: there is no partition; use one of …"]


@pytest.mark.parametrize(
    "part", ["the VLAN of vPOD … would reach", "is held by", "there is no partition of … IPUs here"]
)
def test_words_of_a_sentence_are_found_on_the_page(part: str) -> None:
    assert part in generate_refusals.PAGE.read_text(encoding="utf-8")
