# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A configuration as a tree of lines, and the editor that enters lines into it as a person at the prompt does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from podsim.eos.errors import EosError, InvalidInput, NeedsText
from podsim.eos.grammar import Match, Mode, Statement
from podsim.eos.interface_names import expand, natural_order, short
from podsim.eos.releases import DEFAULT_RELEASE, Release
from podsim.eos.templates import Words, split
from podsim.eos.vlan_lists import parse_vlans

INDENT = 3

Key = tuple[str, ...]


@dataclass(eq=False)
class Node:
    """One line of a configuration and the lines of the block that it opens."""

    line: str
    statement: Statement
    children: dict[Key, Node] = field(default_factory=dict)
    text: tuple[str, ...] = ()

    def copy(self) -> Node:
        """An independent copy of this line and its block."""
        children = {key: child.copy() for key, child in self.children.items()}
        return Node(self.line, self.statement, children, self.text)

    def value(self, key: str) -> str | None:
        """The rest of the line of this block that begins with `key`; None when the line is absent."""
        node = self.children.get(tuple(key.split()))
        return node.line[len(key) :].strip() if node else None

    def has(self, line: str) -> bool:
        """Whether the block holds exactly this line."""
        return any(child.line == line for child in self.children.values())

    def blocks(self, beginning: str) -> list[Node]:
        """The blocks whose line begins with these words, in natural order."""
        found = [child for child in self.children.values() if child.line.startswith(beginning + " ")]
        return sorted(found, key=lambda node: natural_order(node.line))

    def ordered_children(self) -> list[Node]:
        """The lines of this block in EOS order."""
        mode = self.statement.mode
        if mode is None:
            return []
        shown = [child for child in self.children.values() if child.children or child.statement.shown_empty]
        if not mode.kept:
            shown.sort(key=lambda node: natural_order(node.line))
        return sorted(shown, key=lambda node: mode.rank(node.statement))


class Level(NamedTuple):
    """A place of the editor: the mode, and the blocks that a line goes to (several inside `vlan 10,20`)."""

    mode: Mode
    nodes: list[Node]


class Editor:
    """Enters commands into a configuration; the place moves into blocks and back as in EOS."""

    def __init__(self, root: Node, release: Release = DEFAULT_RELEASE, abbreviate: bool = False) -> None:
        assert root.statement.mode is not None
        self.root = root
        self._release = release
        self._abbreviate = abbreviate
        self._levels = [Level(root.statement.mode, [root])]

    @property
    def place(self) -> str:
        """The names of the open blocks for the prompt, such as `-if-Et9/1`."""
        return "".join(f"-{level.mode.prompt}{_which(level)}" for level in self._levels[1:])

    def exit(self) -> bool:
        """Leave the open block; False when none was open."""
        if len(self._levels) == 1:
            return False
        self._levels.pop()
        return True

    def return_to(self, depth: int) -> None:
        """Leave blocks until at most `depth` are open."""
        del self._levels[depth + 1 :]

    def enter(self, command: str, text: str | None = None, here_only: bool = False) -> None:
        """Enter one line; a line that doesn't fit here is tried in the enclosing blocks, as EOS does.

        `text` is the further input of lines such as `banner login`. With `here_only`, the line belongs to the open
        block for sure. Raises EosError when the line is refused.
        """
        words = split(command)
        depth, match = self._find(words, here_only)
        lines = self._expand(match, words.words)
        self.return_to(depth)
        if match.negation:
            self._remove(self._levels[depth], match, lines)
        else:
            self._set(self._levels[depth], match, lines, text)

    def _find(self, words: Words, here_only: bool) -> tuple[int, Match]:
        """How many blocks are open around the line, and what it is."""
        here = len(self._levels) - 1
        furthest: InvalidInput | None = None
        for depth in range(here, here - 1 if here_only else -1, -1):
            try:
                return depth, self._levels[depth].mode.find(words, self._abbreviate, self._release)
            except InvalidInput as error:
                furthest = error if furthest is None or error.token > furthest.token else furthest
        if kept := self._levels[here].mode.find_kept(words):
            return here, kept
        assert furthest is not None
        raise furthest

    def _expand(self, match: Match, words: Sequence[str]) -> list[list[str]]:
        """The lines that this one stands for, if it names several things, or a range of VLANs or interfaces."""
        slots = match.statement.template.slots
        several = match.statement.template.several
        if several is not None:
            front, back = match.words[:several], match.words[several + 1 :]
            return [[*front, each, *back] for each in match.words[several].split()]
        if match.statement.mode is None or len(slots) != 2:
            return [match.words]
        head, names = match.words
        if slots[1].name == "vlans":
            return [[head, str(vlan)] for vlan in sorted(parse_vlans(names))]
        if head != "interface":
            return [match.words]
        permanent = match.statement.permanent
        existing = [node.line.split()[1] for node in self.root.blocks("interface")] if permanent else None
        try:
            expanded = expand(names, existing)
        except ValueError:
            expanded = []
        if not expanded or (existing is not None and not set(expanded) <= set(existing)):
            raise InvalidInput.at(words, len(words) - 1)
        return [[head, name] for name in expanded]

    def _set(self, level: Level, match: Match, lines: list[list[str]], text: str | None) -> None:
        statement = match.statement
        opened: list[Node] = []
        if statement.heredoc and text is None:
            raise NeedsText("Enter TEXT message. Type 'EOF' on its own line to end.\n", until="EOF")
        for parent in level.nodes:
            for words in lines:
                key = _key(statement, words)
                old = parent.children.get(key)
                new: str | None = " ".join(words)
                if statement.update:
                    new = statement.update(old.line if old else None, words)
                if new is None or new == statement.default:
                    parent.children.pop(key, None)
                    continue
                if statement.check:
                    statement.check(self.root, new)
                node = old or Node(new, statement)
                node.line = new
                if not node.statement.permanent:
                    node.statement = statement
                node.text = tuple((text or "").rstrip("\n").splitlines())
                parent.children[key] = node
                opened.append(node)
                if statement.then:
                    statement.then(self.root, new)
        if statement.mode:
            self._levels.append(Level(statement.mode, opened))

    def _remove(self, level: Level, match: Match, lines: list[list[str]]) -> None:
        statement = match.statement
        for parent in level.nodes:
            for words in lines:
                key = _key(statement, words)
                node = parent.children.get(key)
                refusal = f"no {' '.join(key)}"
                if node and node.statement.permanent:
                    if match.negation == "no":
                        raise EosError(f"{node.line} cannot be removed")
                    node.children.clear()
                elif statement.negative and match.negation == "no" and statement.default != refusal:
                    parent.children[key] = Node(refusal, statement)
                else:
                    for doomed in [other for other in parent.children if _is_under(other, key, statement)]:
                        removed = parent.children.pop(doomed)
                        if removed.statement.undo:
                            removed.statement.undo(self.root, removed.line)


def _which(level: Level) -> str:
    """The part of the prompt that tells a block from others of its kind; blocks of one kind only have none."""
    if len(level.nodes) != 1 or all(slot.literal for slot in level.nodes[0].statement.template.slots):
        return ""
    head, *_, name = level.nodes[0].line.split()
    return f"-{short(name) if head == 'interface' else name}"


def _key(statement: Statement, words: list[str]) -> Key:
    return tuple(" ".join(words[: statement.template.key_length]).split())


def _is_under(key: Key, wanted: Key, statement: Statement) -> bool:
    """Whether removing `wanted` removes `key`: the line itself, or all that begin so when the rest may be anything."""
    any_rest = statement.clears or statement.template.slots[-1].takes_rest
    return key == wanted or (any_rest and key[: len(wanted)] == wanted)


def load(root: Node, text: str, release: Release = DEFAULT_RELEASE) -> None:
    """Enter a configuration text into `root`; its indentation says which block a line belongs to.

    Raises EosError at the first line that is refused, with that line in the message.
    """
    editor = Editor(root, release)
    lines = iter(text.splitlines())
    for raw in lines:
        command = raw.strip()
        if not command or command.startswith("!") or command == "end":
            continue
        editor.return_to((len(raw) - len(raw.lstrip())) // INDENT)
        further = "\n".join(_until_eof(lines)) if command.startswith("banner ") else None
        try:
            editor.enter(command, further, here_only=True)
        except EosError as error:
            raise EosError(f"configuration line '{command}': {error}") from None


def _until_eof(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line == "EOF":
            return
        yield line
