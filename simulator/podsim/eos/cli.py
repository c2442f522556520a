# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One command line session: its privilege and mode, and what a command is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from podsim.eos.config import Editor, Node
from podsim.eos.hardware import empty_config
from podsim.eos.reply import Reply
from podsim.eos.sessions import Session
from podsim.eos.switch import Switch
from podsim.eos.templates import Template


class Cli:
    """The session of one user, and what commands do to it. Whoever runs commands holds the switch's lock."""

    def __init__(self, switch: Switch, user: str, abbreviate: bool = False) -> None:
        self.switch = switch
        self.user = user
        self.privileged = False
        self.logged_out = False
        self.session: Session | None = None
        self.text: str | None = None
        self.abbreviate = abbreviate
        self.editor: Editor | None = None

    @property
    def prompt(self) -> str:
        """The prompt of the current mode, such as `tor(config-s-name-if)#`."""
        if self.editor is None:
            return f"{self.switch.hostname}{'#' if self.privileged else '>'}"
        session = f"-s-{self.session.name[:6]}" if self.session else ""
        return f"{self.switch.hostname}(config{session}{self.editor.place})#"

    def edit_running(self) -> None:
        """Enter the mode that changes the running configuration at once."""
        self.session = None
        self._edit(self.switch.running)

    def edit_session(self, name: str | None) -> None:
        """Enter a configuration session."""
        self.session = self.switch.sessions.open(name, self.user)
        self._edit(self.session.candidate)

    def _edit(self, root: Node) -> None:
        self.editor = Editor(root, self.switch.release, self.abbreviate)

    def leave_config(self) -> None:
        """Back to the mode without configuration; a session stays pending."""
        self.session = self.editor = None

    def exit(self) -> None:
        """Leave the open block, or the configuration mode."""
        if self.editor and not self.editor.exit():
            self.leave_config()

    def roll_back_to_empty(self) -> None:
        """Make the candidate a configuration without settings."""
        assert self.session is not None
        self.session.candidate = empty_config(self.switch.hardware)
        self._edit(self.session.candidate)


@dataclass(frozen=True)
class Command:
    """A command outside the configuration: its template and what it does with the words that were read."""

    template: Template
    run: Callable[[Cli, list[str]], Reply]
    privileged: bool = False


def command(template: str, run: Callable[[Cli, list[str]], Reply], privileged: bool = False) -> Command:
    """A command from the text of its template."""
    return Command(Template(template), run, privileged)
