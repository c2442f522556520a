# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of an installed program, compared with the known dialect."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.module_utils._vipu.dialect import ADMIN, USERS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.probe import (
    commands_of,
    differences,
    findings,
    lists_of,
    table,
)


def as_known(program: str) -> dict[tuple[str, str], str | None]:
    """The help texts of a program that is exactly as it is known."""
    return {
        (command.verb, command.entity): "Flags:\n" + "".join(f"  {flag.name} value\n" for flag in command.flags)
        for command in commands_of(program)
    }


def test_a_program_as_it_is_known_differs_in_nothing() -> None:
    for program in (ADMIN, USERS):
        assert differences(findings(program, as_known(program))) == []


def test_missing_and_new_commands_and_flags_are_reported() -> None:
    helps = as_known(ADMIN)
    helps["create", "agent"] = (
        "Usage: vipu-admin create agent ID --host HOST [--rack=RACK]  (see also --showjson, --help)"
    )
    helps["test", "cluster"] = None
    assert differences(findings(ADMIN, helps)) == [
        "`create agent --port` is documented from V-IPU 1.12.0 on, but not installed",
        "`create agent --rack` is installed, but not known here",
        "`test cluster` is documented, but the program prints no help for it",
    ]


def test_without_a_help_text_the_flags_are_unknown() -> None:
    helps = {**as_known(ADMIN), ("create", "user"): None}
    rows = [row for row in findings(ADMIN, helps) if row["command"] == "create user"]
    assert {row["installed"] for row in rows} == {"not said"}


def test_the_table_has_a_line_for_each_row_under_its_header() -> None:
    rows = findings(USERS, as_known(USERS))
    lines = table(rows)
    assert lines[0].split() == ["command", "flag", "known", "since", "installed"]
    assert len(lines) == len(rows) + 1


def test_a_user_sees_allocations_and_partitions() -> None:
    assert lists_of(USERS) == ["allocation", "partition"]
