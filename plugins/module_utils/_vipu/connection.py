# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options that all V-IPU modules share, and the client made from them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

from .._host import programs
from .._host.programs import NOT_FOUND, TIMED_OUT
from .access import Credentials
from .cli import Controller
from .dialect import ADMIN, USERS

if TYPE_CHECKING:
    from .user_service import UserService

# A controller through a program or through gRPC: both have the same methods to read it and to change partitions.
Client = Union[Controller, "UserService"]

# How long a command or an operation of the controller may take, in seconds, by default.
WAIT_TIMEOUT = 120

# End-point to its program and its default port.
END_POINTS = {"admin": (ADMIN, 8091), "user": (USERS, 8090)}

CONNECTION_OPTIONS: dict[str, dict[str, Any]] = {
    "api_host": {"type": "str", "default": "localhost"},
    "api_port": {"type": "int", "default": 8091},
    "program": {"type": "str", "default": ADMIN},
    "api_user_id": {"type": "str"},
    "api_access_key": {"type": "str", "no_log": True},
    "tls_certs": {"type": "path"},
    "config": {"type": "path"},
}

# The administrator's configuration of vipu-admin on a secure controller's host, as the role vipu_controller writes it.
ADMIN_CONFIGURATION = "/etc/vipu/vipu-admin.hcl"

# For modules that only read, and so have a choice. What is left out follows from the end-point.
READ_OPTIONS: dict[str, dict[str, Any]] = dict(
    CONNECTION_OPTIONS,
    api_port={"type": "int"},
    program={"type": "str"},
    end_point={"type": "str", "choices": list(END_POINTS), "default": "admin"},
    transport={"type": "str", "choices": ["cli", "grpc"], "default": "cli"},
)


def credentials_of(params: Mapping[str, Any]) -> Credentials:
    """The credentials in a module's options."""
    return Credentials(params["api_user_id"] or "", params["api_access_key"] or "", params["tls_certs"] or "")


def configuration_of(params: Mapping[str, Any], end_point: str) -> list[str]:
    """The program's option for its configuration file, if there is one."""
    file = params["config"]
    if file is None and end_point == ADMIN and not params["api_user_id"] and os.path.exists(ADMIN_CONFIGURATION):
        file = ADMIN_CONFIGURATION
    return ["--config", file] if file else []


def controller_of(module: Any, end_point: str = ADMIN) -> Controller:
    """The client for the options of an ``AnsibleModule``."""
    params, credentials = module.params, credentials_of(module.params)
    options = [*configuration_of(params, end_point), *credentials.options()]
    limit = params.get("wait_timeout", WAIT_TIMEOUT)

    def run(argv: list[str]) -> tuple[int, str, str]:
        return run_program(argv, limit, module.tmpdir, credentials.environment())

    return Controller(run, params["program"], params["api_host"], params["api_port"], options, end_point)


def reader_of(module: Any) -> Client:
    """The client for the options of an ``AnsibleModule`` with :data:`READ_OPTIONS`.

    Raises:
        DeviceError: the Python packages of transport grpc are missing.
    """
    params = module.params
    by_grpc = params["transport"] == "grpc"
    program, port = END_POINTS["user" if by_grpc else params["end_point"]]
    params["api_port"] = params["api_port"] or port
    params["program"] = params["program"] or program
    if not by_grpc:
        return controller_of(module, program)
    # Only here: gRPC takes its time to be imported.
    from .user_service import UserService, connect  # noqa: PLC0415

    credentials = credentials_of(params)
    channel = connect(params["api_host"], params["api_port"], credentials)
    return UserService(channel, f"{params['api_host']}:{params['api_port']}", credentials)


def run_program(
    argv: Sequence[str], limit: float, directory: str, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run a program for ``limit`` seconds at most and return its exit code, output and errors.

    In the working ``directory``, ``vipu-admin create user`` leaves a file with the access key. The ``environment`` is
    on top of this process's own.
    """
    variables = {**os.environ, "LC_ALL": "C.UTF-8", **environment}
    try:
        return programs.run_program(argv, limit, directory, variables)
    except subprocess.TimeoutExpired:
        return TIMED_OUT, "", f"no end after {limit:g} s; look at the controller's log, or raise wait_timeout"
    except OSError as error:
        return NOT_FOUND, "", f"{argv[0]}: {error.strerror}; install the V-IPU programs or set the option program"
