# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors of the EOS command line, with the codes that eAPI gives them."""

from __future__ import annotations

from collections.abc import Sequence


class EosError(Exception):
    """A command that EOS refuses.

    `code` is the eAPI error code, `summary` the words behind "failed:" in its message, `str()` the text for the person.
    """

    code = 1000
    summary = "could not run command"

    @property
    def on_terminal(self) -> str:
        """The text as a terminal shows it behind a percent sign: without the place in the line."""
        return str(self).partition(" (at token")[0]


class NeedsText(EosError):
    """The command wants further input: one line, or with `until` all lines before that one."""

    def __init__(self, prompt: str, until: str | None = None, secret: bool = False) -> None:
        super().__init__("this command needs its text as input")
        self.prompt = prompt
        self.until = until
        self.secret = secret


class InternalError(EosError):
    """The switch itself fails: its data plane cannot be reached."""

    code = 1001
    summary = "internal error"


class InvalidInput(EosError):
    """Words that are no command in this mode; `token` counts the words from 0 and says how far EOS could read."""

    code = 1002
    summary = "invalid command"

    def __init__(self, text: str, token: int = 0) -> None:
        super().__init__(text)
        self.token = token

    @classmethod
    def at(cls, words: Sequence[str], token: int) -> InvalidInput:
        """The word at index `token` does not belong there, or, behind the last word, one is missing."""
        if token >= len(words):
            return cls(f"Incomplete command (at token {len(words) - 1}: '{words[-1]}')", token)
        return cls(f"Invalid input (at token {token}: '{words[token]}')", token)


class NotPrivileged(InvalidInput):
    """The command needs `enable` first."""

    def __init__(self) -> None:
        super().__init__("Invalid input (privileged mode required)")


class NotAuthorized(EosError):
    """The role of the user does not allow the command."""

    code = 1005
    summary = "permission to run command denied"

    def __init__(self, line: str) -> None:
        super().__init__(f"Authorization denied for command '{line.strip()}'")


class NoJsonModel(EosError):
    """The command has only a text form."""

    code = 1003
    summary = "unconverted command"

    def __init__(self) -> None:
        super().__init__(
            "Command cannot be used over the API at this time. To see ASCII output, set format='text' in your request"
        )
