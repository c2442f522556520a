# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answer of a tool."""

from __future__ import annotations


class Reply:
    """Exit status, standard output and standard error."""

    def __init__(self, status: int = 0, output: str = "", errors: str = "") -> None:
        self.status, self.output, self.errors = status, output, errors


class Rejected(Exception):
    """The tool ends here, with this reply and no change."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.output or reply.errors)
        self.reply = reply


def on_stdout(text: str) -> Rejected:
    """The rejection of a tool that tells its errors on standard output."""
    return Rejected(Reply(1, output=f"{text}\n"))


def on_stderr(text: str, status: int = 1) -> Rejected:
    """The rejection of a tool that tells its errors on standard error."""
    return Rejected(Reply(status, errors=f"{text}\n"))
