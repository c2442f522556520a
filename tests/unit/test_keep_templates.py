# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates that the tests keep compiled are the same templates, and none is taken for another."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment
from jinja2.nativetypes import NativeEnvironment

from tests.simulated_pod import PROJECT

KEEP_TEMPLATES = runpy.run_path(str(PROJECT / "tests" / "quick_ansible" / "startup" / "keep_templates.py"))
SOURCE = "{% if here %}\n{{ [1, 2] | sum }}{% endif %}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where compiled templates are kept during a test."""
    monkeypatch.setattr(Environment, "compile", Environment.compile)
    KEEP_TEMPLATES["keep_in"](str(tmp_path))
    return tmp_path


def rendered(environment: Environment, source: str = SOURCE) -> Any:
    return environment.from_string(source).render(here=True)


def test_what_is_kept_is_used_and_gives_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = rendered(Environment())
    assert first == "\n3"
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(Environment, "_generate", None)
    assert rendered(Environment()) == first


def test_what_the_code_depends_on_tells_them_apart(folder: Path) -> None:
    assert rendered(Environment()) == "\n3"
    assert rendered(Environment(trim_blocks=True)) == "3"
    assert rendered(NativeEnvironment(trim_blocks=True)) == 3
    assert rendered(Environment(), SOURCE.replace("2", "3")) == "\n4"
    # Errors name the line.
    assert rendered(Environment(), SOURCE.replace("[1", "\n[1")) == "\n3"
    assert len(list(folder.iterdir())) == 5
