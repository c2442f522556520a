# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that users and a timer start."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import syslog
import time
from typing import Any, Mapping, Sequence

from .._host import programs
from .._host.files import Files
from .._host.programs import TIMED_OUT, Programs
from .._plan.converge import DeviceError, Refused
from .._text.line import one_line
from .._vipu.cli import Controller
from .._vipu.connection import WAIT_TIMEOUT, run_program
from .._vipu.dialect import USERS
from .arguments import ENGINES, Arguments, arguments_from
from .document import session_from
from .engine import Engine, engine_for
from .here import Client, half_of_memory, is_here, reach, this_server
from .part import Leader, PartRuns
from .partitions import Clock, Partitions
from .registry import Registry
from .released import Releases
from .report import as_json, as_table
from .runs import Runs
from .sessions import Sessions
from .settings import PATH, Settings, Vpod, settings_from
from .user import User, as_user, user_of

# As the engines themselves have it: it went wrong before the container began.
FAILED = 125
# An engine's answer to a question takes this long at most, in seconds.
ENGINE_LIMIT = 60.0


class Interrupted(BaseException):
    """A signal has ended a session; ``status`` is what ipu-run ends with."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what is asked. Returns the exit status, that of the container if one ran."""
    syslog.openlog("ipu-run", syslog.LOG_PID, syslog.LOG_DAEMON)
    try:
        asked = arguments_from(argv)
        settings = _settings()
        registry = Registry(settings.state)
        if asked.shows:
            return _show(asked, registry)
        user = user_of(environ)
        releases = Releases(settings, registry, _controller, lambda name: Engine(name, _programs()), log)
        if asked.releases:
            return _release(releases)
        if asked.is_part:
            _end_by_signals()
            parts = PartRuns(settings, registry, releases, _controller, _choose_engine, this_server(log), time.time)
            return parts.run(Leader(sys.stdin.buffer, _say), user)
        return _run(asked, user, settings, registry, releases)
    except Interrupted as told:
        return told.status
    except (DeviceError, Refused) as error:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"ipu-run: {one_line(str(error))}\n")
        return FAILED


def _run(asked: Arguments, user: User, settings: Settings, registry: Registry, releases: Releases) -> int:
    if asked.document:
        asked = session_from(_read(asked.document, user))
    clock = Clock(time.time, time.sleep)
    partitions = Partitions(registry, releases, _controller, log, clock)
    terminal = (not asked.detaches, not asked.detaches and sys.stdin.isatty() and sys.stdout.isatty())
    if asked.servers:
        _end_by_signals()
        sessions = Sessions(
            settings=settings,
            registry=registry,
            releases=releases,
            partitions=partitions,
            choose_engine=_choose_engine,
            server=this_server(log),
            is_here=is_here,
            reach=reach,
            begin=Client,
            clock=clock,
            terminal=terminal,
        )
        return sessions.run(asked, user)
    runs = Runs(
        settings=settings,
        registry=registry,
        releases=releases,
        partitions=partitions,
        choose_engine=_choose_engine,
        execute=execute,
        log=log,
        clock=clock,
        terminal=terminal,
        shared_memory=half_of_memory(),
    )
    return runs.run(asked, user)


def log(text: str) -> None:
    """One line for syslog, and for whoever looks."""
    line = one_line(text)
    syslog.syslog(line)
    # Whoever looks may not be there any more.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"ipu-run: {line}\n")
        sys.stderr.flush()


def execute(argv: Sequence[str]) -> int:
    """Run an engine's command with this process's terminal, and hand on what this process is told by a signal."""
    told = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    with subprocess.Popen(list(argv)) as process:
        # By a terminal, an interrupt reaches the engine's client itself.
        earlier = {
            number: signal.signal(
                number,
                signal.SIG_IGN
                if number == signal.SIGINT and sys.stdin.isatty()
                else lambda told, _frame: process.send_signal(told),
            )
            for number in told
        }
        try:
            status = process.wait()
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)
    return status if status >= 0 else 128 - status


def _end_by_signals() -> None:
    """Let the first signal end a session in order, whatever comes after it."""
    told = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

    def end(number: int, _frame: Any) -> None:
        for each in told:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    for each in told:
        signal.signal(each, end)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(text)
        sys.stdout.flush()


def _read(document: str, user: User) -> str:
    """A document as its user may read it."""
    if document == "-":
        return sys.stdin.read()
    return _programs().call([*as_user(user), "cat", "--", document])


def _choose_engine(network: str, name: str) -> Engine:
    return engine_for(network, name, _programs(), ENGINES)


def _show(asked: Arguments, registry: Registry) -> int:
    records = list(registry.read().values())
    sys.stdout.write((as_json(records) if asked.as_json else as_table(records)) + "\n")
    return 0


def _release(releases: Releases) -> int:
    failures = releases.release_ended()
    for failure in failures:
        log(failure)
    return FAILED if failures else 0


def _settings() -> Settings:
    file = Files().read(PATH)
    if file is None:
        raise Refused(f"{PATH} is not there; run the role containers, which writes it")
    return settings_from(file.content)


def _programs() -> Programs:
    def run(argv: list[str]) -> tuple[int, str, str]:
        try:
            return programs.run_program(argv, ENGINE_LIMIT)
        except subprocess.TimeoutExpired:
            return TIMED_OUT, "", f"no end after {ENGINE_LIMIT:g} s"

    return Programs(run)


def _controller(vpod: Vpod) -> Controller:
    def run(argv: list[str]) -> tuple[int, str, str]:
        return run_program(argv, WAIT_TIMEOUT, "/", {})

    options = ["--config", vpod.vipu_config] if vpod.vipu_config else []
    return Controller(run, USERS, vpod.api_host, vpod.api_port, options, USERS)
