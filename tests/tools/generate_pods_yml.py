# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write what is made of the keys of pods.yml: the tables of docs/inventory.md, and docs/pods.schema.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.documentation import json_schema, rows
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.keys import DOCUMENT, TOR_PORT
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import FIRST_VERSION, Key

DOCS = Path(__file__).resolve().parents[2] / "docs"
INVENTORY = DOCS / "inventory.md"
SCHEMA = DOCS / "pods.schema.json"
# The keys of a port have a table of their own.
OF_A_PORT = ".PORT."


def generated() -> dict[Path, str]:
    """Each file as it should be."""
    keys = [(path, key) for path, key in rows(DOCUMENT) if OF_A_PORT not in path]
    page = INVENTORY.read_text(encoding="utf-8")
    page = between_markers(page, "keys", table("Key", keys))
    page = between_markers(page, "port keys", table("Key of a port", rows(TOR_PORT)))
    return {INVENTORY: page, SCHEMA: json.dumps(json_schema(), indent=2) + "\n"}


def between_markers(page: str, name: str, text: str) -> str:
    """A page with other text between the two comments of a name."""
    start, end = f"<!-- {name}: written by make generate -->\n", f"<!-- end of {name} -->"
    found = re.search(f"(?<={re.escape(start)}).*?(?={re.escape(end)})", page, re.DOTALL)
    if not found:
        raise ValueError(f"{INVENTORY} lacks the comments of {name}")
    return f"{page[: found.start()]}\n{text}\n{page[found.end() :]}"


def table(title: str, keys: Iterable[tuple[str, Key]]) -> str:
    """Some keys as a Markdown table."""
    lines = [f"| {title} | Value | Default | Meaning |", "| --- | --- | --- | --- |"]
    lines += [f"| `{path}` | {key.kind.words} | {key.default_words} | {meaning(key)} |" for path, key in keys]
    return "".join(f"{line}\n" for line in lines)


def meaning(key: Key) -> str:
    """The meaning of a key, with a link to the page that says more."""
    page, _, section = key.see.partition("#")
    link = f"[below](#{section})" if page == INVENTORY.name else f"[{page}]({key.see})"
    see = f", see {link}" if key.see else ""
    return f"{key.meaning}{see}" if key.since == FIRST_VERSION else f"{key.meaning}{see} (since {key.since})"


def main() -> None:
    """Write them."""
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
