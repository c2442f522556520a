# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`vipu-admin` and `vipu`: the V-IPU command-line tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from podsim.vipu import cli_commands
from podsim.vipu.cli_client import Controller
from podsim.vipu.cli_grammar import Invocation, UsageError, commands, parse, usage
from podsim.vipu.cli_output import as_json
from podsim.vipu.cli_settings import SettingsError, settings
from podsim.vipu.errors import Refused
from podsim.vipu.releases import LATEST
from podsim.vipu.rpc import Unreachable

DEFAULT_PORTS = {"vipu-admin": 8091, "vipu": 8090}
RELEASE_VARIABLE = "PODSIM_VIPU_RELEASE"
"""Environment variable with the release that the tools are of."""


def admin_main(argv: Sequence[str] | None = None) -> int:
    """`vipu-admin`. Returns the exit code."""
    return _main("vipu-admin", sys.argv[1:] if argv is None else argv)


def user_main(argv: Sequence[str] | None = None) -> int:
    """`vipu`. Returns the exit code."""
    return _main("vipu", sys.argv[1:] if argv is None else argv)


def _main(program: str, arguments: Sequence[str]) -> int:
    release = os.environ.get(RELEASE_VARIABLE, LATEST)
    known = commands(program, release)
    try:
        invocation = parse(program, known, arguments)
    except UsageError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    if invocation.settings.get("help"):
        print(usage(program, known, invocation.verb, invocation.entity))
        return 0
    if invocation.settings.get("version"):
        print(f"version: {release}")
        return 0
    return _ask(program, invocation)


def _ask(program: str, invocation: Invocation) -> int:
    """Carries out a command that needs the controller."""
    showjson = bool(invocation.settings.get("showjson"))
    try:
        found = settings(invocation.settings, os.environ, DEFAULT_PORTS[program])
        controller = Controller(found, admin=program == "vipu-admin")
        if invocation.settings.get("server-version"):
            print(f"version: {controller.version()}\nhost: {found.host}:{found.port}")
            return 0
        session = cli_commands.Session(controller, program == "vipu-admin", Path.home(), _silent if showjson else _show)
        result = cli_commands.run(invocation, session)
    except (UsageError, SettingsError, Unreachable) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except Refused as refusal:
        name = f" ({invocation.name})" if invocation.name else ""
        print(f"{invocation.verb} {invocation.entity}{name}: failed: {refusal}.", file=sys.stderr)
        return 1
    print(as_json(result.json) if showjson else result.text)
    return 0 if result.good else 1


def _show(text: str) -> None:
    print(text, end="", flush=True)


def _silent(_text: str) -> None:
    """Nothing may stand before or in the JSON."""
