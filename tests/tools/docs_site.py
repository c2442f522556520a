# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the site of the documentation under build/docs-site: the pages of docs/, and one of each plugin and role.

Warnings are errors: a link that leads nowhere, a page that the index does not name, an unknown option in a reference.
Links to files outside of docs/ become links to the repository; nothing is fetched from the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import yaml
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILD = ROOT / "build"
SOURCE, SITE, KEPT = BUILD / "docs-source", BUILD / "docs-site", BUILD / "docs-kept"
# Where antsibull-docs puts its pages.
PLUGINS = "plugins"
INVENTORY = "ansible.inv"
LINK = re.compile(r"\]\((\.\./)+([^)#]+)(#[^)]*)?\)")
PAGES_OF_PLUGINS = (
    (re.compile(r"roles/(\w+)/README\.md"), "role"),
    (re.compile(r"plugins/modules/(\w+)\.py"), "module"),
)
# A link that is called as its file; on the site it has the title of what it leads to.
NAMED_BY_FILE = re.compile(r"\[[\w.-]+\.md\](?=\([\w.-]+\.md)")
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
LISTED = re.compile(r"^- \[[^]]+\]\(([\w./-]+)\.md\)", re.MULTILINE)
REFERENCE = "Reference"
# The pages of plugins have a table of their sections; the theme shows one beside the text.
CONTENTS = re.compile(r"^\.\. contents::\n(?: +:.*\n)*", re.MULTILINE)
STYLE = Path(__file__).with_suffix(".css")
# What our pages name of Ansible's own documentation, as Sphinx reads it of other sites: kind, name, place.
ANSIBLE = "https://docs.ansible.com/ansible/latest/"
OF_ANSIBLE = (
    ("std:label", "action_plugins", "plugins/action.html"),
    ("std:label", "callback_plugins", "plugins/callback.html"),
    ("std:label", "common_return_values", "reference_appendices/common_return_values.html"),
    ("std:label", "ansible_configuration_settings", "reference_appendices/config.html"),
    ("std:envvar", "ANSIBLE_DISPLAY_SKIPPED_HOSTS", "reference_appendices/config.html"),
    ("std:envvar", "ANSIBLE_SHOW_CUSTOM_STATS", "reference_appendices/config.html"),
)
MODULE_OF_OTHERS = re.compile(r"\bansible_collections\.(?!ipu\.pod\.)(\w+)\.(\w+)\.(\w+)_module\b")


def sections(index: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading of the index with the pages that its list names."""
    _head, *parts = SECTION.split(index)
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        yield heading, LISTED.findall(text)


def with_contents(index: str) -> str:
    """The index with its lists once more as Sphinx's tables of contents, which make the menu."""
    trees = []
    for heading, pages in sections(index):
        more = [f"Plugins and roles <{PLUGINS}/index>"] if heading == REFERENCE else []
        trees += ["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, *more, "```", ""]
    return "\n".join([index, *trees])


def led_out(text: str, repository: str) -> str:
    """A page whose links to files outside of docs/ lead to the page of the role or module, or to the repository."""

    def target(link: re.Match[str]) -> str:
        path, anchor = link[2], link[3] or ""
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"docs: {link[0]} leads to no file")
        for pattern, kind in PAGES_OF_PLUGINS:
            if plugin := pattern.fullmatch(path):
                return f"]({PLUGINS}/{plugin[1]}_{kind}.rst)"
        return f"]({repository}/blob/main/{path}{anchor})"

    return LINK.sub(target, text)


def stage(repository: str) -> None:
    """Put all pages in one place, those of plugins and roles made by antsibull-docs."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(DOCS, SOURCE)
    for page in SOURCE.rglob("*.md"):
        text = NAMED_BY_FILE.sub("[]", led_out(page.read_text(encoding="utf-8"), repository))
        page.write_text(with_contents(text) if page == SOURCE / "index.md" else text, encoding="utf-8")
    (SOURCE / STYLE.name).write_bytes(STYLE.read_bytes())
    (SOURCE / PLUGINS).mkdir()
    command = ["antsibull-docs", "collection", "--use-current", "--squash-hierarchy", "--fail-on-error"]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".venv" / "collections")}
    subprocess.run([*command, "--dest-dir", str(SOURCE / PLUGINS), "ipu.pod"], check=True, env=environment)
    modules: set[tuple[str, str, str]] = set()
    for page in (SOURCE / PLUGINS).glob("*.rst"):
        text = page.read_text(encoding="utf-8")
        page.write_text(CONTENTS.sub("", text), encoding="utf-8")
        modules |= set(MODULE_OF_OTHERS.findall(text))
    (SOURCE / INVENTORY).write_bytes(inventory(modules))


def inventory(modules: Collection[tuple[str, str, str]]) -> bytes:
    """What Ansible's documentation has, of what is named here, in the format of Sphinx's inventories."""
    found = [*OF_ANSIBLE]
    for namespace, collection, module in sorted(modules):
        label = f"ansible_collections.{namespace}.{collection}.{module}_module"
        found.append(("std:label", label, f"collections/{namespace}/{collection}/{module}_module.html"))
    lines = "".join(f"{name} {kind} -1 {place}# {name}\n" for kind, name, place in found)
    head = "# Sphinx inventory version 2\n# Project: Ansible\n# Version: \n"
    compressed = zlib.compress(lines.encode())
    return f"{head}# The remainder of this file is compressed using zlib.\n".encode() + compressed


def configuration(galaxy: dict[str, Any]) -> dict[str, Any]:
    """Sphinx's settings."""
    return {
        "project": "ipu.pod",
        "html_title": f"ipu.pod {galaxy['version']}",
        "extensions": ["myst_parser", "sphinx.ext.intersphinx", "sphinx_antsibull_ext"],
        "intersphinx_mapping": {"ansible": (ANSIBLE, str(SOURCE / INVENTORY))},
        "html_theme": "furo",
        "html_show_copyright": False,
        "html_show_sphinx": False,
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_static_path": [STYLE.name],
        "html_css_files": [STYLE.name],
        "myst_heading_anchors": 4,
        "nitpicky": True,
        "highlight_language": "none",
        "pygments_style": "ansible",
    }


def main() -> int:
    """Build it; the exit status is 1 if anything is wrong with a page."""
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))
    stage(galaxy["repository"])
    shutil.rmtree(SITE, ignore_errors=True)
    application = Sphinx(
        SOURCE,
        None,
        SITE,
        KEPT,
        "html",
        confoverrides=configuration(galaxy),
        status=None,
        freshenv=True,
        warningiserror=True,
        parallel=2,
    )
    application.build()
    return application.statuscode


if __name__ == "__main__":
    sys.exit(main())
