# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the README.md of each role from its meta/argument_specs.yml: what it does, entry points, variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROLES = Path(__file__).resolve().parents[2] / "roles"
# Ansible's markup of values, options, modules and plugins.
MARKUP = re.compile(r"\b[CVOMP]\(([^)#]+)(?:#\w+)?\)")
HEAD = "<!-- Made from meta/argument_specs.yml by `make generate`. -->\n"


def main() -> None:
    """Write all of them."""
    for role in roles():
        (role / "README.md").write_text(readme(role), encoding="utf-8")


def roles() -> list[Path]:
    """Return the folders of the roles."""
    return sorted(path.parents[1] for path in ROLES.glob("*/meta/argument_specs.yml"))


def readme(role: Path) -> str:
    """Return the README of a role."""
    specs = yaml.safe_load((role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]
    parts = [HEAD, f"# ipu.pod.{role.name}\n", f"{_marked(_sentences(specs['main']))}\n"]
    if len(specs) > 1:
        parts += ["## Other entry points\n", _other_entry_points(specs)]
    if any(spec.get("options") for spec in specs.values()):
        parts += ["## Variables\n", _variables(specs)]
    return "\n".join(parts)


def _other_entry_points(specs: dict[str, Any]) -> str:
    rows = [(f"`{name}`", _sentences(spec)) for name, spec in specs.items() if name != "main"]
    return _table(("`tasks_from`", "What it does"), rows)


def _sentences(spec: dict[str, Any]) -> str:
    return " ".join([f"{spec['short_description']}.", *_paragraphs(spec)])


def _variables(specs: dict[str, Any]) -> str:
    """The table of all variables; where there are several entry points, with those that use each."""
    users: dict[str, list[str]] = {}
    options: dict[str, Any] = {}
    for name, spec in specs.items():
        for variable, option in spec.get("options", {}).items():
            users.setdefault(variable, []).append(f"`{name}`")
            options.setdefault(variable, option)
    columns = ["Variable", "Type", "Default", "Meaning"]
    rows = [(*row, *_used_by(users, row[0], specs)) for row in _rows(options)]
    return _table((*columns, *(["Entry points"] if len(specs) > 1 else [])), rows)


def _used_by(users: dict[str, list[str]], variable: str, specs: dict[str, Any]) -> list[str]:
    """One cell with the entry points that use a variable; no cell where there is only one of them."""
    names = users.get(variable.strip("`"), [])
    return [] if len(specs) == 1 else ["all" if len(names) == len(specs) else ", ".join(names)]


def _rows(options: dict[str, Any], above: str = "") -> Iterator[tuple[str, str, str, str]]:
    """A row for each option, and for what is inside it: `of_a_dict.key`, `of_a_list[].key`."""
    for name, option in options.items():
        kind = option.get("type", "str")
        elements = f" of {option['elements']}" if "elements" in option else ""
        choices = [f"One of {', '.join(f'`{choice}`' for choice in option['choices'])}."] if "choices" in option else []
        meaning = " ".join([*_paragraphs(option), *choices])
        yield f"`{above}{name}`", f"{kind}{elements}", _default(option), meaning
        yield from _rows(option.get("options", {}), f"{above}{name}{'[]' if kind == 'list' else ''}.")


def _default(option: dict[str, Any]) -> str:
    if option.get("required"):
        return "required"
    value = option.get("default")
    if value is None:
        return ""
    return f"`{value}`" if value and isinstance(value, str) else f"`{json.dumps(value)}`"


def _paragraphs(spec: dict[str, Any]) -> list[str]:
    found = spec.get("description", [])
    return [found] if isinstance(found, str) else found


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "".join(f"| {' | '.join(_marked(cell).replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _marked(text: str) -> str:
    """Ansible's markup as Markdown's."""
    return MARKUP.sub(r"`\1`", text)


if __name__ == "__main__":
    main()
