# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/refusals.md: the sentences of refusals, failures and findings, as the source has them, to search in.

In Python these are the messages of exceptions, sentences of the form "what is wrong; what would be right", and all
others that name something and are no short ones; in playbooks and roles the messages of `fail` and `assert`; in Lua
those of `refuse`. What a sentence names is `…`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "refusals.md"
BEGIN, END = "<!-- sentences: written by make generate -->\n", "<!-- end of sentences -->\n"
# A heading of the page to the rooms of plugins/ whose sentences it has.
SUBJECTS = {
    "pods.yml, and variables beside it": ("_declaration", "_pod", "_desired", "_inventory", "_ansible"),
    "vPODs and their places": ("_placement", "_vpods"),
    "Both ends of a cable": ("_link_checks",),
    "Runs, locks, plans and drift": ("_decision", "_plan", "_runs", "_look", "_reports", "_drift"),
    "Switches": ("_tor",),
    "Poplar servers and other Linux hosts": ("_rnic", "_roce", "_host", "_host_resources", "_programs"),
    "V-IPU": ("_vipu",),
    "Slurm": ("_slurm_files", "_slurm_host", "_slurm_program"),
    "Containers": ("_containers", "_ipu_run"),
    "Clouds and virtual machines": ("_cloud", "_cloud_partitions", "_domain"),
    "DHCP, time and syslog": ("_dhcp", "_pod_services"),
    "Backend.AI": ("_backend_ai_files", "_backend_ai_host"),
    "A pod that is gathered": ("_adoption",),
}
MODULES, PLAYBOOKS, OTHERS = "Modules", "Playbooks and roles", "Others"
HEADINGS = (*SUBJECTS, MODULES, PLAYBOOKS, OTHERS)
RAISED = re.compile(r"\w*(Refused|Error|NoRoom|Held|NotPlain|NotDone|NotStorage|Lost)$")
DOCUMENTED = {"DOCUMENTATION", "EXAMPLES", "RETURN"}
# What is left of a sentence without the things that it names has to be worth searching for.
WORDS = 3
NOT_SHORT = 4
# Not a part of a path, an option or a name.
WORD = re.compile(r"(?<![\w/.…(-])[A-Za-z]{2,}(?![\w/.(=-]\S)")
# What is written into files, and said of options.
OF_A_FILE = re.compile(r"^\s*[#{;,\[]|\n|\|\||\bO\(")
UNTOUCHED = "Nothing has been touched."
# They say what keys mean, in docs/inventory.md.
KEYS = ("keys.py", "cloud_keys.py")
# A group of a regular expression, in the sentence that replaces what it found.
GROUP = re.compile(r"\\\d")
LUA_REFUSAL = re.compile(r'refuse\(("(?:[^"\\]|\\.)*"(?:\s*\.\.\s*"(?:[^"\\]|\\.)*")*)')
LUA_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
JINJA = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def sentences() -> dict[str, list[str]]:
    """Return each heading with its sentences, sorted, each once."""
    found: dict[str, set[str]] = {heading: set() for heading in HEADINGS}
    for path in sorted((ROOT / "plugins").rglob("*.py")):
        if path.name not in KEYS:
            found[heading_of(path)] |= set(in_python(path.read_text(encoding="utf-8")))
    for folder in ("playbooks", "roles"):
        for path in sorted((ROOT / folder).rglob("*.yml")):
            found[PLAYBOOKS] |= set(in_yaml(yaml.safe_load(path.read_text(encoding="utf-8"))))
    for path in sorted((ROOT / "roles").rglob("*.lua")):
        found["Slurm"] |= set(in_lua(path.read_text(encoding="utf-8")))
    return {heading: sorted(each, key=by_words) for heading, each in found.items()}


def by_words(sentence: str) -> tuple[str, str]:
    """Sentences are sorted by their words, not by what they name first."""
    return re.sub(r"[^a-z ]", "", sentence.lower()).strip(), sentence


def heading_of(path: Path) -> str:
    """The heading under which the sentences of a Python file are."""
    folder, room = path.relative_to(ROOT / "plugins").parts[:2]
    if not folder.endswith("_utils"):
        return MODULES
    return next((subject for subject, rooms in SUBJECTS.items() if room in rooms), OTHERS)


def in_python(source: str) -> Iterator[str]:
    """Yield the sentences of a Python file."""
    tree = ast.parse(source)
    raised = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and RAISED.match(name_of(node.exc.func))
        for argument in node.exc.args[:1]
    }
    for node in texts(tree):
        text = text_of(node)
        is_sentence = isinstance(node, ast.JoinedStr) and words(text) >= NOT_SHORT
        is_one = (id(node) in raised or "; " in text or is_sentence) and not OF_A_FILE.search(text)
        if is_one and words(text) >= WORDS:
            yield GROUP.sub("…", " ".join(text.split()))


def words(text: str) -> int:
    """How many words a sentence has beside what it names."""
    return len(WORD.findall(text.replace(UNTOUCHED, "")))


def texts(tree: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Yield the texts of a file that are no part of others, and no documentation."""
    if isinstance(tree, (ast.Constant, ast.JoinedStr)):
        if not isinstance(tree, ast.Constant) or isinstance(tree.value, str):
            yield tree
        return
    if isinstance(tree, ast.Assign) and DOCUMENTED & {name_of(target) for target in tree.targets}:
        return
    for child in ast.iter_child_nodes(tree):
        # A text by itself is a docstring.
        if not isinstance(child, ast.Expr) or not isinstance(child.value, ast.Constant):
            yield from texts(child)


def name_of(node: ast.AST) -> str:
    """The name that a node is, or that it ends with."""
    return getattr(node, "id", None) or getattr(node, "attr", "")


def text_of(node: ast.AST) -> str:
    """A text, with `…` for what it names."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "…"


def in_yaml(document: Any, module: str = "") -> Iterator[str]:
    """Yield the messages of tasks that fail."""
    if isinstance(document, list):
        for each in document:
            yield from in_yaml(each, module)
    elif isinstance(document, dict):
        for key, value in document.items():
            is_message = key == "fail_msg" or (key == "msg" and module.endswith(".fail"))
            if is_message and isinstance(value, str):
                text = " ".join(JINJA.sub("…", value).split())
                yield from [text] if words(text) >= WORDS else []
            else:
                yield from in_yaml(value, key)


def in_lua(source: str) -> Iterator[str]:
    """Yield what a Lua file refuses with."""
    for refusal in LUA_REFUSAL.findall(source):
        yield re.sub(r"%\w", "…", "".join(LUA_TEXT.findall(refusal)))


def listed() -> str:
    """All of them as Markdown."""
    parts = []
    for heading, found in sentences().items():
        if found:
            parts += [f"## {heading}\n", "".join(f"- {as_code(each)}\n" for each in found)]
    return "\n".join(parts)


def as_code(text: str) -> str:
    """A text as code of Markdown, whatever it holds."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def page(written: str) -> str:
    """The page with the sentences between its markers."""
    before, _, rest = written.partition(BEGIN)
    return f"{before}{BEGIN}\n{listed()}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Write it."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
