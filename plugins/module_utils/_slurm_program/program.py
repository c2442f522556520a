# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one program that Slurm, a timer and people start. Slurm gives it no argument, but says in the environment why."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import syslog
import tempfile
from contextlib import contextmanager
from typing import Iterator, Mapping, Sequence

from .._host import programs
from .._host.files import Files
from .._host.programs import NOT_FOUND, TIMED_OUT
from .._plan.converge import DeviceError, Refused
from .._text.line import one_line
from .._vipu.cli import Controller
from .._vipu.connection import WAIT_TIMEOUT, run_program
from .._vipu.dialect import ADMIN, USERS
from .directory import Directory
from .dynamic import Dynamic
from .hold_out import hold_out
from .hooks import DONE, FAILED, Hooks
from .mapping import Mapping as MappingWay
from .node import Node
from .reconfigurable import Reconfigurable
from .report import JSON, report
from .settings import DYNAMIC, MAPPING, PATH, STATIC, Settings, settings_from
from .slurm import Slurm
from .static import Static
from .ways import Way

# Slurm's words for its four hooks, and our own for the rest.
PROLOG, EPILOG = "prolog_slurmctld", "epilog_slurmctld"
NODE_PROLOG, NODE_EPILOG = "prolog_slurmd", "epilog_slurmd"
PROLOGS = (PROLOG, NODE_PROLOG)
HOOKS = (PROLOG, EPILOG, NODE_PROLOG, NODE_EPILOG)
REAP, INFO = "reap", "info"

# One of Slurm's programs has this long, in seconds.
SLURM_LIMIT = 60.0


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the argument says, or what Slurm says. Returns the exit code."""
    syslog.openlog("ipu-pod-slurm", syslog.LOG_PID, syslog.LOG_DAEMON)
    given = dict(environ)
    # Slurm gives its hooks a search path that ends with the present directory, or none.
    os.environ["PATH"] = programs.SEARCH_PATH
    number = environ.get("SLURM_JOB_ID", "")
    try:
        if list(argv) == [REAP]:
            return _reap(_settings())
        if argv[:1] == [INFO] and list(argv[1:]) in ([], [JSON]):
            return _info(_settings(), argv[1:])
        if not argv and given.get("SLURM_SCRIPT_CONTEXT") in HOOKS and number.isdecimal():
            return _hook(given["SLURM_SCRIPT_CONTEXT"], int(number), given, _settings())
    except (DeviceError, Refused, OSError) as error:
        log(f"{' '.join(argv) or 'job ' + number}: {error}")
        return FAILED
    sys.stderr.write(f"use {REAP}, {INFO} or {INFO} {JSON}; without an argument this is for Slurm\n")
    return 2


def log(text: str) -> None:
    """One line for syslog, and for whoever looks."""
    line = one_line(text)
    syslog.syslog(line)
    sys.stderr.write(f"{line}\n")


def run_slurm(argv: list[str], text: str) -> tuple[int, str, str]:
    """Run one of Slurm's programs or MUNGE's. Nobody's environment changes what it prints."""
    environment = {name: os.environ[name] for name in ("PATH", "SLURM_CONF") if name in os.environ}
    try:
        return programs.run_program(argv, SLURM_LIMIT, environment=environment, text=text)
    except subprocess.TimeoutExpired:
        return TIMED_OUT, "", f"no end after {SLURM_LIMIT:g} s"
    except OSError as error:
        return NOT_FOUND, "", f"{argv[0]}: {error.strerror}"


def way_of(settings: Settings, controller: Controller, slurm: Slurm, directory: Directory) -> Way:
    """The way that the settings name."""
    if settings.way == DYNAMIC:
        return Dynamic(settings, controller)
    if settings.way == STATIC:
        return Static(settings, controller, slurm, directory)
    if settings.way == MAPPING:
        return MappingWay(settings, controller, slurm)
    return Reconfigurable(settings, controller)


def _settings() -> Settings:
    file = Files().read(PATH)
    if file is None:
        raise Refused(f"{PATH} is not there; run the role slurm, which writes it")
    return settings_from(file.content)


def _hook(word: str, number: int, environ: Mapping[str, str], settings: Settings) -> int:
    """One of Slurm's hooks: the site's own first, then ours."""
    code = _chained(settings.chained.get(word, ""), environ)
    if code != DONE and word in PROLOGS:
        return code
    if word in (NODE_PROLOG, NODE_EPILOG):
        return _on_node(word, number, environ["SLURMD_NODENAME"], settings) or code
    return _on_slurm_controller(word, number, settings) or code


def _on_slurm_controller(word: str, number: int, settings: Settings) -> int:
    with _controller_hooks(settings) as (hooks, _controller):
        return hooks.prolog(number) if word == PROLOG else hooks.epilog(number)


@contextmanager
def _controller_hooks(settings: Settings) -> Iterator[tuple[Hooks, Controller]]:
    """The hooks on the Slurm controller; ``vipu-admin`` leaves files with access keys in a directory that goes."""
    with tempfile.TemporaryDirectory() as directory:
        slurm, claims = Slurm(run_slurm), Directory(settings.state)
        controller = _controller_of(settings, ADMIN, settings.admin_port, settings.vipu_config, directory)
        yield Hooks(way_of(settings, controller, slurm, claims), slurm, claims, log), controller


def _on_node(word: str, number: int, name: str, settings: Settings) -> int:
    def connect(config: str) -> Controller:
        return _controller_of(settings, USERS, settings.api_port, config, "/")

    node = Node(settings, name, Slurm(run_slurm), connect, Files(), log)
    if word == NODE_PROLOG:
        node.prolog(number)
    else:
        node.epilog(number)
    return DONE


def _reap(settings: Settings) -> int:
    with _controller_hooks(settings) as (hooks, controller):
        try:
            hooks.reap()
        finally:
            changed = hold_out(settings, controller, hooks.slurm)
            if changed:
                log(changed)
    return DONE


def _info(settings: Settings, words: Sequence[str]) -> int:
    sys.stdout.write(report(settings, words, Slurm(run_slurm), _reader(settings)) + "\n")
    return DONE


def _reader(settings: Settings) -> Controller | None:
    """The V-IPU controller for whoever asks now; None where they cannot ask it."""
    for program, port, config in (
        (ADMIN, settings.admin_port, settings.vipu_config),
        (USERS, settings.api_port, settings.node_vipu_config),
    ):
        if shutil.which(program) and (not config or os.access(config, os.R_OK)):
            return _controller_of(settings, program, port, config, "/")
    return None


def _controller_of(settings: Settings, program: str, port: int, config: str, directory: str) -> Controller:
    def run(argv: list[str]) -> tuple[int, str, str]:
        return run_program(argv, WAIT_TIMEOUT, directory, {})

    options = ["--config", config] if config else []
    return Controller(run, program, settings.api_host, port, options, program)


def _chained(pattern: str, environ: Mapping[str, str]) -> int:
    """Run the site's own scripts for a hook, as Slurm would; the exit code of the first that fails."""
    for path in sorted(glob.glob(pattern)):
        code = subprocess.run([path], env=dict(environ), check=False).returncode
        if code != DONE:
            log(f"{path} ended with {code}")
            return code if code > 0 else 128 - code
    return DONE
