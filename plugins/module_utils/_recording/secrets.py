# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes secrets out of answers before anybody keeps them. What may be one goes, too. Pure."""

from __future__ import annotations

import re
from typing import Any, Mapping

from .._tor.secrets import without_secrets

HIDDEN = "(secret)"
_WORDS = r"[\w-]*(?:secret|passw|passphrase|\bpsk|token|credential|community|access[-_ ]?key|private[-_ ]?key)[\w-]*"
_AFTER_WORD = re.compile(rf"(?i)(\b{_WORDS}[\"']?(?:\s+is)?\s*[:=]?\s*)\S.*")
_NAME = re.compile(rf"(?i){_WORDS}|[\w-]*(?:certificate|sshkey|ssh_key|authkey|auth_key)[\w-]*")
_BEGINS = re.compile(r"-----BEGIN [^-]*-----")
_ENDS = re.compile(r"-----END [^-]*-----")
# An option that is only mentioned, as a help text does.
_FLAG = re.compile(r"\s*(?:-\w, *)?--[\w-]+\b")
# These lines of a switch carry names and texts that people chose, and no secret of the switch.
_CHOSEN = re.compile(r"\s*(?:vlan|name|description|interface|qos profile|service-profile) ")
# The part of an entry that has what a switch has answered.
_OF_SWITCH = "answers"


def hidden(name: str, value: Any) -> Any:
    """A part of an entry without secrets; ``name`` is its name there, or that of the field in it."""
    if isinstance(value, str):
        return HIDDEN if _NAME.fullmatch(name) and value else _line(value)
    if isinstance(value, Mapping):
        return {key: hidden(key, item) for key, item in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(each, str) for each in value):
            return _lines(name, value)
        return [hidden(name, each) for each in value]
    return HIDDEN if _NAME.fullmatch(name) and not isinstance(value, bool) and value is not None else value


def _lines(name: str, lines: list[str]) -> list[str]:
    """A text without secrets, and without keys and certificates between their marks."""
    if _NAME.fullmatch(name):
        return [HIDDEN]
    without = _of_switch if name == _OF_SWITCH else _line
    found, is_within = [], False
    for line in lines:
        if _BEGINS.search(line):
            is_within = True
        if not is_within:
            found.append(without(line))
        elif _ENDS.search(line):
            is_within = False
            found.append(HIDDEN)
    return found


def _of_switch(line: str) -> str:
    return line if _CHOSEN.match(line) else without_secrets(line)


def _line(line: str) -> str:
    flag = _FLAG.match(line)
    start = flag.end() if flag else 0
    return line[:start] + _AFTER_WORD.sub(rf"\1{HIDDEN}", line[start:])
