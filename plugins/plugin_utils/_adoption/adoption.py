# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pods.yml that grows by what is found, and never says what would be refused. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._declaration.declaration import parse_declaration
from .._pod.kinds import DeclarationError
from .._pod.switches import EXTERNAL
from .parts import Vlans

Document = dict[str, Any]
Path = tuple[str, ...]

EXTERNAL_PORT = {"owner": EXTERNAL}


@dataclass
class Adoption:
    """The pods.yml, or a part of it that can be looked at alone, and what is not in it."""

    document: Document
    # Why something is not in it, one sentence each.
    reasons: list[str] = field(default_factory=list)
    # Host of a controller to options of vipu_state for what pods.yml does not say, by plural of the kind.
    options: dict[str, dict[str, list[Document]]] = field(default_factory=dict)
    # The servers whose interfaces are left alone as a whole.
    left: list[str] = field(default_factory=list)
    # VLANs of other parts, which this one must not give to somebody else.
    elsewhere: Vlans = field(default_factory=Vlans)

    def take(self, path: Path, words: Mapping[str, Any]) -> bool:
        """Declare this under a key path, and return whether pods.yml takes it; if not, it stays as it was."""
        document = with_words(self.document, path, words)
        if refusal(document) or Vlans.of(document).clash_with(self.elsewhere):
            return False
        self.document = document
        return True


def with_words(document: Any, path: Path, words: Mapping[str, Any]) -> Any:
    """The document with some words more under a key path; an external port loses its others."""
    if not path:
        return dict(words) if words == EXTERNAL_PORT else {**document, **words}
    return {**document, path[0]: with_words(document.get(path[0], {}), path[1:], words)}


def without(words: Mapping[str, Any], keys: Collection[str]) -> Document:
    """The words but for some keys."""
    return {key: value for key, value in words.items() if key not in keys}


def filled(words: Mapping[str, Any]) -> Document:
    """The words but for empty ones."""
    return {key: value for key, value in words.items() if value}


def refusal(document: Document) -> str:
    """Why this is no pods.yml; empty for a good one."""
    try:
        parse_declaration(document)
    except DeclarationError as error:
        return "; ".join(error.problems)
    return ""
