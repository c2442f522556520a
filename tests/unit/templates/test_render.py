# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates show values, and do nothing else with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from ansible_collections.ipu.pod.plugins.plugin_utils._templates.render import render

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
TEMPLATES = {path.name.removesuffix(".j2") for path in PLUGINS.rglob("*.j2")}
HOSTILE = "{{ 7*7 }}{% raw %}{# x #}<script>&\n# y"
POD: dict[str, Any] = {"name": HOSTILE, "switch": {"name": "", "ports": []}, "vpods": []}


def test_every_template_is_used_and_all_that_are_used_are_there() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in PLUGINS.rglob("*.py"))
    named = set(re.findall(r'"([\w-]+\.(?:html|css|js|svg|md|conf|service|py|hcl|yml|sudoers|timer|toml))"', sources))
    assert named >= TEMPLATES
    assert set(re.findall(r'render\(\s*"([^"]+)"', sources)) <= TEMPLATES


def test_a_value_is_never_a_template() -> None:
    assert render("slurm_included.conf", header=HOSTILE, parameters={HOSTILE: HOSTILE}) == (
        f"{HOSTILE}\n{HOSTILE}={HOSTILE}\n"
    )


def test_in_a_picture_it_is_no_element_either() -> None:
    nothing: dict[str, Any] = {"things": [], "wording": type("", (), {"RISKS": ()})}
    escaped = HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f'aria-label="Rack {escaped}">' in render("rack.svg", pod=POD, **nothing)


def test_what_is_missing_is_an_error_and_not_empty() -> None:
    with pytest.raises(UndefinedError, match="'directory' is undefined"):
        render("rsyslog.conf", address="", port=514)
