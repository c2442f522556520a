# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to a switch through Ansible's persistent connections of arista.eos: eAPI or a command line over SSH."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Sequence

from ansible.module_utils.connection import Connection
from ansible.module_utils.connection import ConnectionError as AnsibleConnectionError

from .._plan.converge import DeviceError, Refused
from .session import Send

_NO_SUCH_METHOD = -32601
"""JSON-RPC: what a network_cli connection answers to the method that only httpapi has."""


def sender(socket_path: str | None) -> Send:
    """A function that sends commands over the connection behind a module's socket.

    Raises:
        Refused: the module does not run over such a connection.
    """
    if not socket_path:
        raise Refused(
            "the switch cannot be reached over this connection: set ansible_connection to ansible.netcommon.httpapi "
            "or ansible.netcommon.network_cli, and ansible_network_os to arista.eos.eos"
        )
    connection = Connection(socket_path)
    send = _eapi if _answers_eapi(connection) else _command_line
    return lambda commands, output: send(connection, commands, output)


def _answers_eapi(connection: Any) -> bool:
    """Whether this is an httpapi connection. If so, the question also makes it privileged.

    An httpapi connection begins to honour ``ansible_become`` only after its first request.
    """
    try:
        connection.send_request(["show version"], output="text")
    except AnsibleConnectionError as error:
        if getattr(error, "code", None) == _NO_SUCH_METHOD:
            return False
        raise _device_error(error) from error
    return True


def _eapi(connection: Any, commands: Sequence[str], output: str) -> list[str]:
    """All commands in one request."""
    try:
        answers = connection.send_request(list(commands), output=output)
    except AnsibleConnectionError as error:
        raise _device_error(error) from error
    return [answers] if isinstance(answers, str) else list(answers)


def _command_line(connection: Any, commands: Sequence[str], output: str) -> list[str]:
    """Commands typed one by one; if one is refused, configuration mode is left again."""
    answers = []
    try:
        for command in commands:
            answers.append(connection.get(f"{command} | json" if output == "json" else command))
    except AnsibleConnectionError as error:
        # A connection that is lost has left configuration mode already.
        with suppress(AnsibleConnectionError):
            connection.get("end")
        raise _device_error(error) from error
    return answers


def _device_error(error: Exception) -> DeviceError:
    # eAPI's own error codes are positive; the others come from the way to the switch.
    verdict = "the switch refused it" if getattr(error, "code", 0) > 0 else "the switch could not be asked"
    return DeviceError(f"{verdict}: {' '.join(str(error).split())}")
