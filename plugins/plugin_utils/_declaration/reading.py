# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the bytes of a pods.yml to its document, and what is wrong with the text itself. Pure.

YAML takes many a slip for something else: a key that is there twice, ``0101`` for 65, a MAC address for a number. What
is refused here would otherwise pass in silence, or be told in words of a parser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from .._pod.kinds import DeclarationError, Problem
from .._pod.wording import shown
from .positions import MERGE, in_order

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# More values than any declaration has; with aliases of aliases a few lines say billions.
MOST_VALUES = 1_000_000
TOO_DEEP = "this holds itself, or is nested too deep; write it out"
PLUGIN = "ipu.pod.pods"
DECIMAL = re.compile(r"0|-?[1-9][0-9]*")
OWN_TAGS = "tag:yaml.org,2002:"
_PLAIN = ("str", "int", "float", "bool", "null", "timestamp", "map", "seq", "merge")
PLAIN_TAGS = {f"{OWN_TAGS}{name}" for name in _PLAIN}
# What the parser says, and what a person has to do.
SYNTAX = {
    r"found character '\\t' that cannot start any token": "there is a tab; indent with spaces",
    r"expected ',' or '([\]}])', but got .*": r"a bracket is not closed; write \1 where it ends",
    r"mapping values are not allowed here": "a colon is not expected here; quote the text that has it, or correct the "
    "indentation",
    r"expected <block end>, but found .*": "the indentation does not fit the lines above, or a quote or a bracket "
    "there is not closed",
    r"could not find expected ':'": "a colon is missing; write key: value",
    r"found unexpected end of stream": "a quote is not closed; close it",
    r"found undefined alias '?(.+?)'?": r"there is no anchor &\1 above; write one, or the value itself",
    r"found character '(.)' that cannot start any token": r"a value cannot begin with \1; quote it",
    r"expected a mapping (or list of mappings )?for merging, but found .*": "<< takes a mapping, or a list of mappings",
    r"found unhashable key": "a mapping or a list cannot be a key; a key is a text",
    r"could not determine a constructor for the tag '(.+)'": r"\1 is no tag that is known; leave it out",
}


# Key path, position, sentence, and whether it is about a key.
Slip = tuple[str, yaml.Mark, str, bool]


@dataclass(frozen=True)
class Source:
    """A pods.yml as it was read.

    Its document, its text, the name by which problems call it, and what YAML takes there for something else than meant.
    """

    document: Any
    text: str
    file: str
    slips: tuple[Problem, ...] = ()


def read(content: bytes, file: str) -> Source:
    """The document of a file.

    Raises :class:`DeclarationError` with all that is wrong with the text, each with line and column, if it has none.
    """
    text = _decoded(content, file)
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except RecursionError:
        raise DeclarationError([Problem("", TOO_DEEP, file, 1, 1)]) from None
    except yaml.YAMLError as error:
        # Ansible also takes JSON that is no YAML, with tabs.
        document = _json(text, file)
        if document is None:
            raise DeclarationError([_syntax(error, text, file)]) from None
        return Source(document, text, file)
    if not documents:
        raise DeclarationError([Problem("", f"{file} is empty; begin with plugin: {PLUGIN}")])
    root, *others = documents
    problems = [_at(other.start_mark, "", "a second document begins here; keep one", file) for other in others]
    if not isinstance(root, yaml.MappingNode):
        problems.append(_at(root.start_mark, "", f"this is no mapping; begin with plugin: {PLUGIN}", file))
    if expansion := _expansion(root):
        path, mark, message = expansion
        raise DeclarationError(in_order([*problems, _at(mark, path, message, file)]))
    found = list(_below(root, "", set()))
    slips = [_at(mark, path, message, file) for path, mark, message, _is_key in found]
    # Where a key is not what is meant, most of what else would be found follows from that.
    if problems or any(is_key for *_rest, is_key in found):
        raise DeclarationError(in_order([*problems, *slips]))
    try:
        document = yaml.constructor.SafeConstructor().construct_document(root)
    except (yaml.YAMLError, ValueError) as error:
        # Of a tag that is not known, both say it.
        raise DeclarationError(in_order(slips or [_syntax(error, text, file)])) from None
    return Source(document, text, file, tuple(slips))


def for_plugin(document: Any) -> list[Problem]:
    """What is wrong with the key by which Ansible knows whose file it is."""
    if not isinstance(document, Mapping) or document.get("plugin") == PLUGIN:
        return []
    if "plugin" not in document:
        return [Problem("plugin", f"is missing; write plugin: {PLUGIN}")]
    return [Problem("plugin", f"{shown(document['plugin'])} is another plugin; write plugin: {PLUGIN}")]


def _decoded(content: bytes, file: str) -> str:
    if content.startswith(UTF_16):
        raise DeclarationError([Problem("", f"{file} is UTF-16; save it as UTF-8")])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        message = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise DeclarationError([_position(before, message, file)]) from None
    if "\0" in text:
        message = "there is a NUL character; remove it, or save the file as UTF-8"
        raise DeclarationError([_position(text[: text.index("\0")], message, file)])
    return text


def _position(before: str, message: str, file: str) -> Problem:
    """A problem that comes after some text."""
    line = before.count("\n")
    return Problem("", message, file, line + 1, len(before) - (before.rfind("\n") + 1) + 1)


def _at(mark: yaml.Mark, path: str, message: str, file: str) -> Problem:
    return Problem(path, message, file, mark.line + 1, mark.column + 1)


def _json(text: str, file: str) -> Any:
    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for number, (key, _value) in enumerate(pairs):
            if key in dict(pairs[:number]):
                raise DeclarationError([Problem("", f"{file}: {key} is there twice; keep one")])
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=mapping)
    except ValueError:
        return None


def _syntax(error: Exception, text: str, file: str) -> Problem:
    """What a parser says, in the words of who has to correct it."""
    if isinstance(error, yaml.reader.ReaderError):
        return _position(text[: error.position], f"character U+{error.character:04X} is not allowed; remove it", file)
    said = str(getattr(error, "problem", None) or error)
    context = getattr(error, "context_mark", None)
    mark = getattr(error, "problem_mark", None) or context
    message = f"this is no YAML: {said}"
    for pattern, words in SYNTAX.items():
        if found := re.fullmatch(pattern, said):
            message = found.expand(words)
            break
    # A bracket and a quote are closed nowhere, so that where they begin helps more than where the file ends.
    if "not closed" in message and context:
        mark = context
    return _at(mark, "", message, file) if mark else Problem("", message, file, 1, 1)


def _expansion(root: yaml.Node) -> tuple[str, yaml.Mark, str] | None:
    """Aliases that hold themselves, or that stand for more than anybody can mean."""
    sizes: dict[int, int] = {}
    within: set[int] = set()

    def size(node: yaml.Node) -> int:
        if id(node) in within:
            raise RecursionError(node)
        if id(node) not in sizes:
            within.add(id(node))
            sizes[id(node)] = 1 + sum(size(child) for child in _children(node))
            within.remove(id(node))
        return sizes[id(node)]

    try:
        total = size(root)
    except RecursionError as error:
        found = next((each for each in error.args if isinstance(each, yaml.Node)), root)
        return "", found.start_mark, TOO_DEEP
    if total > MOST_VALUES:
        return "", root.start_mark, f"with its aliases this is {total} values; write it without them"
    return None


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _below(node: yaml.Node, path: str, seen: set[int]) -> Iterator[Slip]:
    """What the parser takes for something else than is meant; every value once, also those with several aliases."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if node.tag not in PLAIN_TAGS and not node.tag.startswith(OWN_TAGS):
        yield (
            path,
            node.start_mark,
            f"{node.tag} has no meaning here; write the value itself, and secrets elsewhere",
            False,
        )
    elif node.tag not in PLAIN_TAGS:
        yield (
            path,
            node.start_mark,
            f"!!{node.tag.removeprefix(OWN_TAGS)} has no meaning here; write the value itself",
            False,
        )
    elif isinstance(node, yaml.ScalarNode):
        yield from _of_number(node, path)
    elif isinstance(node, yaml.MappingNode):
        yield from _of_keys(node, path)
        for key, value in node.value:
            yield from _below(value, path if key.tag == MERGE else _join(path, key), seen)
    else:
        for index, item in enumerate(node.value):
            yield from _below(item, f"{path}[{index}]", seen)


def _of_keys(node: yaml.MappingNode, path: str) -> Iterator[Slip]:
    lines: dict[str, int] = {}
    for key, _value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            yield path, key.start_mark, "a mapping or a list cannot be a key; a key is a text", True
            continue
        if key.tag == MERGE:
            continue
        here = _join(path, key)
        if key.tag != f"{OWN_TAGS}str" and not (key.tag == f"{OWN_TAGS}int" and DECIMAL.fullmatch(key.value)):
            value = _value_of(key)
            yield here, key.start_mark, f"as a key, {key.value or value} is read as {value}; write it in quotes", True
        if key.value in lines:
            yield here, key.start_mark, f"is there twice, first in line {lines[key.value]}; keep one", True
        lines.setdefault(key.value, key.start_mark.line + 1)


def _of_number(node: yaml.ScalarNode, path: str) -> Iterator[Slip]:
    """Numbers that are not written as a person writes them, such as an octal one, or a MAC address."""
    kind = node.tag.removeprefix(OWN_TAGS)
    if node.style is None and (
        (kind == "int" and not DECIMAL.fullmatch(node.value)) or (kind == "float" and ":" in node.value)
    ):
        yield (
            path,
            node.start_mark,
            f"{node.value} is read as the number {_value_of(node)}; quote a text, and write a number in plain digits",
            False,
        )


def _value_of(node: yaml.ScalarNode) -> str:
    value = yaml.constructor.SafeConstructor().construct_document(node)
    return {"True": "true", "False": "false", "None": "nothing"}.get(str(value), str(value))


def _join(path: str, key: yaml.Node) -> str:
    name = key.value if isinstance(key.value, str) else ""
    return f"{path}.{name}" if path else name
