# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the command-line tools find their controller: flag, else environment, else configuration file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

SYSTEM_FILE = Path("/etc/vipu/vipu-cli.hcl")
_NAMES = ("api-host", "api-port", "api-user-id", "api-access-key", "tls-certs")
_LINE = re.compile(r'\s*([a-z-]+)\s*=\s*"([^"]*)"\s*')


class SettingsError(Exception):
    """A configuration that cannot be used."""


class Settings(NamedTuple):
    """The settings of a connection; user id and access key are empty where the controller asks for none."""

    host: str
    port: int
    user_id: str
    access_key: str
    tls_certs: str


def settings(flags: Mapping[str, Any], environment: Mapping[str, str], default_port: int) -> Settings:
    """The settings in force. Raises SettingsError."""
    from_file = _read(Path(flags["config"]), must_exist=True) if "config" in flags else _read(SYSTEM_FILE, False)
    from_environment = {name: environment[_variable(name)] for name in _NAMES if environment.get(_variable(name))}
    found = {**from_file, **from_environment, **{name: flags[name] for name in _NAMES if name in flags}}
    port = str(found.get("api-port", default_port))
    if not (port.isdigit() and 1 <= int(port) <= 65535):
        raise SettingsError(f"api-port '{port}' is not a port: use 1 to 65535")
    return Settings(
        found.get("api-host") or "localhost",
        int(port),
        found.get("api-user-id", ""),
        found.get("api-access-key", ""),
        found.get("tls-certs", ""),
    )


def write_user_file(path: Path, host: str, user_id: str, access_key: str) -> None:
    """A configuration file with which its owner is that user."""
    content = f'api-host="{host}"\napi-user-id="{user_id}"\napi-access-key="{access_key}"\n'
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(content)


def _variable(name: str) -> str:
    return "VIPU_CLI_" + name.upper().replace("-", "_")


def _read(path: Path, must_exist: bool) -> dict[str, str]:
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        if must_exist:
            raise SettingsError(f"configuration file {path} does not exist") from None
        return {}
    except OSError as error:
        raise SettingsError(f"configuration file {path} cannot be read: {error.strerror}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", "//")):
            continue
        match = _LINE.fullmatch(line)
        if not match or match[1] not in _NAMES:
            raise SettingsError(f'{path} line {number} is not understood: use key="value" with {", ".join(_NAMES)}')
        found[match[1]] = match[2]
    return found
