# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All commands outside the configuration, and running one that a user has typed."""

from __future__ import annotations

import hmac

from podsim.eos import (
    show_channels,
    show_config,
    show_counters,
    show_interfaces,
    show_neighbours,
    show_qos,
    show_system,
)
from podsim.eos.accounts import may_run
from podsim.eos.cli import Cli, Command, command
from podsim.eos.errors import EosError, InvalidInput, NeedsText, NotAuthorized, NotPrivileged
from podsim.eos.reply import Reply, pipe
from podsim.eos.sessions import PENDING, Session
from podsim.eos.templates import split


def run_command(cli: Cli, line: str, text: str | None = None) -> Reply:
    """Run one command; `text` is its further input. Raises EosError."""
    if not line.strip() or line.lstrip().startswith("!"):
        return Reply()
    bare, bar, filters = line.partition(" | ")
    if not bar or not bare.split()[0].startswith("sh"):
        return _run(cli, line, text)
    reply = _run(cli, bare, text)
    if filters.split()[:1] == ["json"]:
        return reply
    return Reply(pipe(reply.text, filters), None)


def _run(cli: Cli, line: str, text: str | None) -> Reply:
    if not may_run(cli.switch.running, cli.user, line, cli.editor is not None):
        raise NotAuthorized(line)
    words = split(line)
    commands = (*(_IN_CONFIG if cli.editor else ()), *(_IN_SESSION if cli.session else ()), *_EXEC)
    refusal = InvalidInput.at(words.words, 0)
    for each in commands:
        if not each.template.may_begin_with(words.words[:1], cli.abbreviate):
            continue
        try:
            found = each.template.match(words, cli.abbreviate)
        except InvalidInput as error:
            refusal = error if error.token > refusal.token else refusal
            continue
        if each.privileged and not cli.privileged:
            raise NotPrivileged
        cli.text = text
        return each.run(cli, found)
    if cli.editor is None:
        raise refusal
    try:
        cli.editor.enter(line, text)
    except InvalidInput as error:
        raise error if error.token >= refusal.token else refusal from None
    return Reply()


def _enable(cli: Cli, _words: list[str]) -> Reply:
    secret = cli.switch.enable_password
    if secret and not cli.privileged:
        if cli.text is None:
            raise NeedsText("Password: ", secret=True)
        if not hmac.compare_digest(cli.text.encode(), secret.encode()):
            raise EosError("Bad secret")
    cli.privileged = True
    return Reply()


def _disable(cli: Cli, _words: list[str]) -> Reply:
    cli.privileged = False
    cli.leave_config()
    return Reply()


def _configure(cli: Cli, _words: list[str]) -> Reply:
    cli.edit_running()
    return Reply()


def _configure_session(cli: Cli, words: list[str]) -> Reply:
    cli.edit_session(words[2] if len(words) > 2 else None)
    return Reply()


def _commit(cli: Cli, words: list[str]) -> Reply:
    cli.switch.sessions.commit(_session(cli, words))
    cli.leave_config()
    return Reply()


def _commit_timer(cli: Cli, words: list[str]) -> Reply:
    hours, minutes, seconds = map(int, words[-1].split(":"))
    timer = hours * 3600 + minutes * 60 + seconds
    if not timer:
        raise EosError("The commit timer must be at least one second")
    cli.switch.sessions.commit(_session(cli, words), timer)
    cli.leave_config()
    return Reply()


def _abort(cli: Cli, words: list[str]) -> Reply:
    cli.switch.sessions.abort(_session(cli, words))
    cli.leave_config()
    return Reply()


def _session(cli: Cli, words: list[str]) -> Session:
    """The session that a command means: the one it names, else the open one."""
    if words[0] == "configure":
        return cli.switch.sessions.get(words[2])
    assert cli.session is not None
    return cli.session


def _rollback(cli: Cli, _words: list[str]) -> Reply:
    assert cli.session is not None
    if cli.session.state != PENDING:
        raise EosError(f"Session {cli.session.name} is already committed")
    cli.roll_back_to_empty()
    return Reply()


def _log_out(cli: Cli, _words: list[str]) -> Reply:
    cli.logged_out = True
    return Reply()


def _privilege(cli: Cli, _words: list[str]) -> Reply:
    level = 15 if cli.privileged else 1
    return Reply(f"Current privilege level is {level}\n", {"privilegeLevel": level})


def _reload(cli: Cli, words: list[str]) -> Reply:
    if len(words) == 1:
        if cli.text is None:
            raise NeedsText("Proceed with reload? [confirm]")
        if cli.text.strip().lower() not in ("", "y", "yes"):
            return Reply()
    cli.leave_config()
    cli.switch.reload()
    return Reply()


def _exit(cli: Cli, _words: list[str]) -> Reply:
    cli.exit()
    return Reply()


def _end(cli: Cli, _words: list[str]) -> Reply:
    cli.leave_config()
    return Reply()


def _copy(cli: Cli, words: list[str]) -> Reply:
    _, source, target = words
    if target == "running-config" and source == "running-config":
        raise EosError("Source and destination are the same file")
    cli.switch.write(target, cli.switch.read(source), cli.user)
    return _copied()


def _write(cli: Cli, _words: list[str]) -> Reply:
    cli.switch.write("startup-config", cli.switch.running, cli.user)
    return _copied()


def _configure_replace(cli: Cli, words: list[str]) -> Reply:
    cli.switch.write("running-config", cli.switch.read(words[2]), cli.user)
    return Reply()


def _copied() -> Reply:
    message = "Copy completed successfully."
    return Reply(f"{message}\n", {"messages": [message]})


def _terminal(_cli: Cli, words: list[str]) -> Reply:
    return Reply("Pagination disabled.\n" if words[1] == "length" else f"Width set to {words[2]} columns.\n")


_EXEC: tuple[Command, ...] = (
    command("enable", _enable),
    command("disable", _disable),
    command("exit", _log_out),
    command("logout", _log_out),
    command("quit", _log_out),
    command("show privilege", _privilege),
    command("reload", _reload, privileged=True),
    command("reload now", _reload, privileged=True),
    command("terminal <length|width> <0-32767>", _terminal),
    command("configure", _configure, privileged=True),
    command("configure terminal", _configure, privileged=True),
    command("configure session", _configure_session, privileged=True),
    command("configure session <word>", _configure_session, privileged=True),
    command("configure session <word> commit", _commit, privileged=True),
    command("configure session <word> commit timer <timer>", _commit_timer, privileged=True),
    command("configure session <word> abort", _abort, privileged=True),
    command("configure replace <word>", _configure_replace, privileged=True),
    command("copy <word> <word>", _copy, privileged=True),
    command("write", _write, privileged=True),
    command("write memory", _write, privileged=True),
    *show_system.COMMANDS,
    *show_config.COMMANDS,
    *show_interfaces.COMMANDS,
    *show_counters.COMMANDS,
    *show_neighbours.COMMANDS,
    *show_qos.COMMANDS,
    *show_channels.COMMANDS,
)
_IN_CONFIG: tuple[Command, ...] = (command("exit", _exit), command("end", _end))
_IN_SESSION: tuple[Command, ...] = (
    command("commit", _commit),
    command("commit timer <timer>", _commit_timer),
    command("abort", _abort),
    command("rollback clean-config", _rollback),
)
