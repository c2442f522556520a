# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`show running-config`, `show startup-config` and `show session-config`."""

from __future__ import annotations

from collections.abc import Sequence

from podsim.eos.cli import Cli, Command, command
from podsim.eos.config import Node
from podsim.eos.errors import EosError
from podsim.eos.releases import Release
from podsim.eos.rendering import as_json, render
from podsim.eos.reply import Reply, compiled, section
from podsim.eos.sessions import Session, diff


def _running(cli: Cli, _words: list[str]) -> Reply:
    return _whole(cli, cli.switch.running, "show running-config")


def _running_all(cli: Cli, words: list[str]) -> Reply:
    return _whole(cli, cli.switch.running, " ".join(words), all_lines=True)


def _running_section(cli: Cli, words: list[str]) -> Reply:
    return _section(cli.switch.running, cli.switch.release, words[-1], all_lines=words[2] == "all")


def _running_interfaces(cli: Cli, words: list[str]) -> Reply:
    return _section(cli.switch.running, cli.switch.release, f"^interface {words[-1]}$")


def _running_diffs(cli: Cli, _words: list[str]) -> Reply:
    startup = cli.switch.read("startup-config")
    names = ("system:/running-config", "flash:/startup-config")
    return Reply(diff(startup, cli.switch.running, cli.switch.release, *names), None)


def _startup(cli: Cli, _words: list[str]) -> Reply:
    root = cli.switch.read("startup-config")
    return _whole(cli, root, "show startup-config", cli.switch.saved())


def _session_config(cli: Cli, words: list[str]) -> Reply:
    return Reply(cli.switch.config_text(_meant(cli, words).candidate, "! Command: show session-config"), None)


def _session_diffs(cli: Cli, words: list[str]) -> Reply:
    return Reply(cli.switch.sessions.diff(_meant(cli, words)), None)


def _meant(cli: Cli, words: list[str]) -> Session:
    if "named" in words:
        return cli.switch.sessions.get(words[3])
    if cli.session is None:
        raise EosError("This command is only available in a configuration session")
    return cli.session


def _whole(cli: Cli, root: Node, shown: str, saved: Sequence[str] = (), all_lines: bool = False) -> Reply:
    comments = [f"! Command: {shown}", *saved]
    text = cli.switch.config_text(root, *comments, all_lines=all_lines)
    model = None if all_lines else {**as_json(root, cli.switch.release), "header": cli.switch.header(*comments)}
    return Reply(text, model)


def _section(root: Node, release: Release, pattern: str, all_lines: bool = False) -> Reply:
    lines = [f"{line}\n" for line in render(root, all_lines, release)]
    return Reply("".join(section(lines, compiled(pattern))), None)


COMMANDS: tuple[Command, ...] = (
    command("show running-config", _running, privileged=True),
    command("show running-config all", _running_all, privileged=True),
    command("show running-config section <text>", _running_section, privileged=True),
    command("show running-config all section <text>", _running_section, privileged=True),
    command("show running-config interfaces <interface>", _running_interfaces, privileged=True),
    command("show running-config diffs", _running_diffs, privileged=True),
    command("show startup-config", _startup, privileged=True),
    command("show session-config", _session_config, privileged=True),
    command("show session-config diffs", _session_diffs, privileged=True),
    command("show session-config named <word>", _session_config, privileged=True),
    command("show session-config named <word> diffs", _session_diffs, privileged=True),
)
