# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal on the switch: what a person types and reads over SSH, character by character. No I/O."""

from __future__ import annotations

import json
import re

from podsim.eos.cli import Cli
from podsim.eos.commands import run_command
from podsim.eos.errors import EosError, InternalError, NeedsText
from podsim.eos.reply import as_json
from podsim.eos.switch import Switch

_JSON = re.compile(r"\s\|\s*json(\s*\|\s*no-more)?\s*$")
INTERRUPT, END_OF_INPUT, BACKSPACES = "\x03", "\x04", "\x08\x7f"


class Terminal:
    """One login. It runs commands under the switch's lock; a configuration session outlives it, as on EOS."""

    def __init__(self, switch: Switch, user: str) -> None:
        self._cli = Cli(switch, user, abbreviate=True)
        self._typed = ""
        self._asking: tuple[str, NeedsText] | None = None
        self._text: list[str] = []
        self._after_return = False

    @property
    def closed(self) -> bool:
        """Whether the user has logged out."""
        return self._cli.logged_out

    def greeting(self) -> str:
        """The text that is shown at login."""
        return _on_screen(f"\n{self._cli.prompt}")

    def type(self, characters: str) -> str:
        """Type characters; return the text that the screen shows: their echo, and the answers to complete lines."""
        return _on_screen("".join(self._key(character) for character in characters if not self.closed))

    def _key(self, key: str) -> str:
        after_return, self._after_return = self._after_return, key == "\r"
        if key == "\n" and after_return:
            return ""
        if key in "\r\n":
            line, self._typed = self._typed, ""
            return "\n" + self._line(line)
        if key == INTERRUPT:
            self._typed, self._asking = "", None
            return f"^C\n{self._cli.prompt}"
        if key == END_OF_INPUT:
            self._cli.logged_out = True
            return "\n"
        if key in BACKSPACES:
            erased, self._typed = self._typed[-1:], self._typed[:-1]
            return "\b \b" if erased else ""
        self._typed += key
        return "" if self._asking and self._asking[1].secret else key

    def _line(self, line: str) -> str:
        if self._asking is None:
            return self._run(line, None)
        asked, question = self._asking
        if line.strip() != question.until and question.until is not None:
            self._text.append(line)
            return ""
        text = line if question.until is None else "\n".join(self._text)
        self._asking = None
        return self._run(asked, text)

    def _run(self, line: str, text: str | None) -> str:
        switch = self._cli.switch
        with switch.lock:
            try:
                output = self._answer(line, text)
            except NeedsText as question:
                self._asking, self._text = (line, question), []
                return question.prompt
            try:
                switch.put_into_effect()
            except InternalError as error:
                output += f"% {error}\n"
        return output + ("" if self.closed else self._cli.prompt)

    def _answer(self, line: str, text: str | None) -> str:
        wants_json = _JSON.search(line)
        try:
            reply = run_command(self._cli, line, text)
            return json.dumps(as_json(reply), indent=4) + "\n" if wants_json else reply.text
        except NeedsText:
            raise
        except EosError as error:
            return json.dumps({"errors": [str(error)]}, indent=4) + "\n" if wants_json else f"% {error.on_terminal}\n"


def _on_screen(text: str) -> str:
    return text.replace("\n", "\r\n")
