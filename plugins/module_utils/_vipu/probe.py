# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of an installed V-IPU program's help with :mod:`.dialect`. Pure.

The questions are asked elsewhere; here are the questions and what the answers mean.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from .._text.table import aligned
from .dialect import COMMANDS, GLOBAL_FLAGS, Command
from .entities import KINDS
from .fields import Flag

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")

YES, NO, NOT_LISTED = "yes", "no", "not said"


def commands_of(program: str) -> list[Command]:
    """The commands that this program, ``vipu-admin`` or ``vipu``, is known to have."""
    return [command for command in COMMANDS if program in command.programs]


def lists_of(program: str) -> list[str]:
    """The kinds whose list the program is known to print as JSON."""
    return [command.entity for command in commands_of(program) if command.verb == "list" and command.entity in KINDS]


def findings(program: str, helps: Mapping[tuple[str, str], str | None]) -> list[dict[str, Any]]:
    """One row for each command and each of its flags, from the help texts by verb and entity; None where there is none.

    A row has ``command``, ``flag`` (empty for the command itself), ``known`` (documented, seen, assumed, unknown),
    ``since`` (the oldest release known to have it) and ``installed`` (yes, no; not said where there is no help).
    """
    rows = []
    for command in commands_of(program):
        text = helps[command.verb, command.entity]
        listed = set(FLAG.findall(text or ""))
        name = f"{command.verb} {command.entity}"
        rows.append(_row(name, "", command.known, command.since, NOT_LISTED if text is None else YES))
        rows += [
            _row(name, flag.name, flag.known, flag.since, _installed(flag, text, listed)) for flag in command.flags
        ]
        known = {flag.name for flag in (*command.flags, *GLOBAL_FLAGS)} | {"--help"}
        rows += [_row(name, flag, "unknown", "", YES) for flag in sorted(listed - known)]
    return rows


def differences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence for everything in which the installed program is not as it is known."""
    sentences = []
    for row in rows:
        what = f"`{row['command']} {row['flag']}`".replace(" `", "`")
        if row["known"] == "unknown":
            sentences.append(f"{what} is installed, but not known here")
        elif row["installed"] == NO:
            sentences.append(f"{what} is {row['known']} from V-IPU {row['since']} on, but not installed")
        elif row["installed"] == NOT_LISTED and not row["flag"]:
            sentences.append(f"{what} is {row['known']}, but the program prints no help for it")
    return sentences


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows as lines for a person."""
    return aligned([COLUMNS, *([str(row[column]) for column in COLUMNS] for row in rows)])


COLUMNS = ["command", "flag", "known", "since", "installed"]


def _row(command: str, flag: str, known: str, since: str, installed: str) -> dict[str, Any]:
    return dict(zip(COLUMNS, (command, flag, known, since, installed)))


def _installed(flag: Flag, text: str | None, listed: set[str]) -> str:
    if text is None:
        return NOT_LISTED
    return YES if flag.name in listed else NO
