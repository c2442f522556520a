# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""README and docs/: what they name is there, their examples are taken, and nothing is left out of the index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docs_site
import pytest
import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.checkout import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = sorted(DOCS.glob("*.md"))
PLAYBOOKS = {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
REFERENCE = (DOCS / "playbooks.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)#: ]+)(?:#[^) ]*)?\)")
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = (re.compile(r"playbooks/([a-z_]+)\.yml"), re.compile(r"ansible-playbook (?:-i \S+ )?ipu\.pod\.([a-z_]+)"))
# What plays are given from outside: they ask whether it is there, or have a default for it.
ASKED = re.compile(r"(?<![.\w])([a-z_]+)(?: \| default\(| is (?:not )?defined\b)")
# What one play tells another, and what is no variable.
BETWEEN_PLAYS = {"look_hosts", "look_parts", "run_acts", "run_checks_cables", "run_goes_on", "run_plan", "run_refuses"}
BETWEEN_PLAYS |= {"run_verifies", "vipu_agents"}
# Examples of a part of pods.yml are parts of one of these: one rack, or two.
RACK = {"model": "bow-pod64", "lrack": 1, "addressing": "multi-rack", "poplar_servers": 4}
BASES: list[dict[str, Any]] = [
    {
        "schema": 1,
        "pods": pods,
        "controllers": {"ctrl001": {"host": "pod001-poplar1"}},
        "clusters": {"c001": {"controller": "ctrl001", "pods": list(pods), "spine": True}},
    }
    for pods in ({"pod001": RACK}, {"pod001": RACK, "pod002": {**RACK, "lrack": 2}})
]
TOP = {"plugin", "schema", "pods", "controllers", "clusters", "vpods", "clouds", "machines"}
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIHk5Yk5vdEFLZXlKdXN0QW5FeGFtcGxlMTIzNDU2Nzg5MDEy"


def examples(page: Path) -> list[dict[str, Any]]:
    """The examples of pods.yml, or of parts of it, on a page."""
    found = [yaml.safe_load(text.replace("AAAA...", KEY)) for text in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return [each for each in found if isinstance(each, dict) and each.keys() <= TOP]


def merged(there: Any, more: Any) -> Any:
    if isinstance(there, dict) and isinstance(more, dict):
        return {**there, **{key: merged(there.get(key), value) for key, value in more.items()}}
    return more


def refusals(document: dict[str, Any]) -> str:
    try:
        parse_declaration({key: value for key, value in document.items() if key != "plugin"})
    except DeclarationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("page", [page for page in [README, *PAGES] if examples(page)], ids=lambda page: page.stem)
def test_examples_of_pods_yml_are_taken(page: Path) -> None:
    """A part is taken as a part of one of the bases, or together with what stands above it on the page."""
    above: dict[str, Any] = {}
    for example in examples(page):
        whole = [example] if "schema" in example else [merged(base, example) for base in (*BASES, above)]
        problems = [refusals(each) for each in whole]
        assert "" in problems, (example, problems)
        above = whole[problems.index("")]


def test_the_readme_is_one_screen_for_a_reader() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= 900


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    found = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in found if not (page.parent / link).exists()] == []


def test_the_index_names_every_page_once() -> None:
    listed = [page for _heading, pages in docs_site.sections((DOCS / "index.md").read_text("utf-8")) for page in pages]
    assert sorted(listed) == [page.stem for page in PAGES if page.stem != "index"]


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_playbooks_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert {name for pattern in NAMED for name in pattern.findall(text)} <= PLAYBOOKS


def test_every_playbook_has_a_section_of_the_reference() -> None:
    assert set(re.findall(r"^### `(\w+)`$", REFERENCE, re.MULTILINE)) == PLAYBOOKS


def given() -> Iterator[str]:
    """The variables that playbooks are given from outside."""
    for path in sorted((ROOT / "playbooks").rglob("*.yml")):
        if "files" not in path.parts:
            text = path.read_text(encoding="utf-8")
            yield from ASKED.findall(text)
            yield from re.findall(r"\b(\w+_directory)\b", text)


def test_every_variable_of_a_playbook_is_in_the_reference() -> None:
    missing = {name for name in given() if f"`{name}`" not in REFERENCE and name not in BETWEEN_PLAYS}
    assert missing == set()


@pytest.mark.parametrize("path", sorted((ROOT / "plugins" / "modules").glob("*.py")), ids=lambda path: path.stem)
def test_every_module_is_on_the_page_of_modules(path: Path) -> None:
    assert f"(../plugins/modules/{path.name})" in (DOCS / "modules.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "roles").iterdir()), ids=lambda path: path.name)
def test_every_role_is_on_the_page_of_modules(path: Path) -> None:
    assert f"(../roles/{path.name}/README.md)" in (DOCS / "modules.md").read_text(encoding="utf-8")
