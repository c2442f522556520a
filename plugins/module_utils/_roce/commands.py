# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to a NIC, as plain data that can be run now or written down as a shell line. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Call:
    """Run a program.

    Args:
        argv: the program and its arguments.
        already: the exit status with which older versions of it say that nothing had to be changed.
    """

    argv: tuple[str, ...]
    already: int = 0


@dataclass(frozen=True)
class Write:
    """Write one line into a file of sysfs or configfs."""

    path: str
    text: str


Command = Union[Call, Write]


def call(*argv: str, already: int = 0) -> Call:
    """The call of a program."""
    return Call(argv, already)


def shell_line(command: Command) -> str:
    """The command as a person would type it."""
    if isinstance(command, Write):
        return f"echo {shlex.quote(command.text)} > {shlex.quote(command.path)}"
    line = " ".join(shlex.quote(word) for word in command.argv)
    return f"{line} || [ $? -eq {command.already} ] # nothing to change" if command.already else line
