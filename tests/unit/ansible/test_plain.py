# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as Ansible hands them over become plain ones, and nothing in them is a template any more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import is_trusted_as_template, trust_as_template

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain


def loaded(text: str) -> Any:
    """YAML as Ansible loads it; it marks where each value comes from."""
    return DataLoader().load(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: [1, 2.5, true, null, text], 7: {b: no}}", {"a": [1, 2.5, True, None, "text"], "7": {"b": False}}),
        ("[]", []),
        ('\'{{ lookup("pipe", "id") }}\'', '{{ lookup("pipe", "id") }}'),
    ],
)
def test_every_kind_of_value(text: str, value: Any) -> None:
    found = plain(loaded(text))
    assert found == value
    assert json.loads(json.dumps(found)) == value
    assert types(found) <= {dict, list, str, int, float, bool, type(None)}


def types(value: Any) -> set[type]:
    """The exact types of a value and of all that is in it."""
    inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return {type(value)}.union(*map(types, inner))


def test_a_text_that_was_a_template_is_none_any_more() -> None:
    template = trust_as_template("{{ 1 + 1 }}")
    assert is_trusted_as_template(template)
    assert not is_trusted_as_template(plain(template))
    assert not is_trusted_as_template(plain({"a": [template]})["a"][0])
    (key,) = plain({template: 1})
    assert not is_trusted_as_template(key)


def test_a_tuple_is_a_list_and_true_is_not_one() -> None:
    assert plain((1, (2,))) == [1, [2]]
    assert plain(True) is True
    assert type(plain(1)) is int
