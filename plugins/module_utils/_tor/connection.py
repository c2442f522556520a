# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to a switch through Ansible's persistent connections of arista.eos: eAPI or a command line over SSH."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from typing import Any, Callable, Sequence

from ansible.module_utils.connection import Connection
from ansible.module_utils.connection import ConnectionError as AnsibleConnectionError

from .._plan.converge import DeviceError, Refused
from .._text.line import one_line
from .._text.remedy import turned_away, with_remedy
from .session import CommandRefused, Send

_NO_SUCH_METHOD = -32601
"""JSON-RPC: what a network_cli connection answers to the method that only httpapi has."""

SSH_PORT = 22
SSH_GREETING_SECONDS = 5


def sender(socket_path: str | None) -> Send:
    """A function that sends commands over the connection behind a module's socket.

    Raises:
        Refused: the module does not run over such a connection.
    """
    return way_to(socket_path)[0]


def way_to(socket_path: str | None) -> tuple[Send, Callable[[], bool]]:
    """A function that sends commands, and one that tells whether the switch takes a new connection.

    With eAPI, each request is a new connection. The command line keeps the one that it has, and a module cannot open
    another; so there the switch's SSH server is greeted directly. It may not answer to that, if the way to it leads
    through another host: then its silence after a change means nothing.

    Raises:
        Refused: the module does not run over such a connection.
    """
    if not socket_path:
        raise Refused(
            "the switch cannot be reached over this connection: set ansible_connection to ansible.netcommon.httpapi "
            "or ansible.netcommon.network_cli, and ansible_network_os to arista.eos.eos"
        )
    connection = Connection(socket_path)
    if _answers_eapi(connection):
        return lambda commands, output: _eapi(connection, commands, output), lambda: True
    return lambda commands, output: _command_line(connection, commands, output), lambda: _greets(connection)


def _answers_eapi(connection: Any) -> bool:
    """Return whether this is an httpapi connection. Asking also makes such a connection privileged.

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
    """Send all commands in one request."""
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


def _greets(connection: Any) -> bool:
    """Return whether an SSH server greets a new connection to the host that Ansible is connected to."""
    try:
        address = (connection.get_option("host"), int(connection.get_option("port") or SSH_PORT))
        with socket.create_connection(address, timeout=SSH_GREETING_SECONDS) as greeted:
            return greeted.recv(4) == b"SSH-"
    except (OSError, AnsibleConnectionError):
        return False


def _device_error(error: Exception) -> DeviceError:
    text = one_line(str(error))
    # eAPI's own error codes are positive, and the command line begins its errors with a percent sign; what is left
    # comes from the way to the switch.
    if getattr(error, "code", 0) > 0 or re.search(r"(?:^|\s)% ?[A-Z]", text):
        return CommandRefused(f"the switch refused it: {text}")
    said = f"the switch could not be asked: {text}"
    return DeviceError(with_remedy(said) if turned_away(said) else said)
