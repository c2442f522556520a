# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sending over both of Ansible's connections to EOS, as they behave beneath the module."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest
from ansible.module_utils.connection import ConnectionError as AnsibleConnectionError

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor import connection as connection_module
from ansible_collections.ipu.pod.plugins.module_utils._tor.connection import sender, way_to
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import CommandRefused


class Httpapi:
    """Like the httpapi plugin of arista.eos: one answer is no list."""

    error: AnsibleConnectionError | None = None

    def __init__(self, _socket_path: str) -> None:
        self.sent: list[Any] = []

    def send_request(self, commands: list[str], output: str) -> Any:
        if self.error:
            raise self.error
        self.sent.append((commands, output))
        answers = [f"answer to {command}" for command in commands]
        return answers[0] if len(answers) == 1 else answers


class NetworkCli:
    """Like the cliconf plugin of arista.eos: one command at a time."""

    def __init__(self, _socket_path: str) -> None:
        self.sent: list[str] = []
        self.options: dict[str, Any] = {}

    def send_request(self, *_: Any, **__: Any) -> Any:
        raise AnsibleConnectionError("Method not found", code=-32601)

    def get_option(self, name: str) -> Any:
        return self.options[name]

    def get(self, command: str) -> str:
        self.sent.append(command)
        if "wrong" in command or self.sent[0] == "lost":
            raise AnsibleConnectionError("% Invalid input", code=-32603)
        return f"answer to {command}"


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a connection in the place of Ansible's and give it and a sender over it."""

    def connect(kind: Any) -> Any:
        one = kind("socket")
        monkeypatch.setattr(connection_module, "Connection", lambda _path: one)
        return one, sender("socket")

    return connect


def test_eapi_sends_all_commands_in_one_request(over: Any) -> None:
    connection, send = over(Httpapi)
    assert send(["a", "b"], "text") == ["answer to a", "answer to b"]
    assert send(["c"], "json") == ["answer to c"]
    assert connection.sent == [(["show version"], "text"), (["a", "b"], "text"), (["c"], "json")]


def test_command_line_gets_one_command_after_the_other(over: Any) -> None:
    connection, send = over(NetworkCli)
    assert send(["a", "b"], "text") == ["answer to a", "answer to b"]
    assert send(["c"], "json") == ["answer to c | json"]
    assert connection.sent == ["a", "b", "c | json"]


def test_command_line_leaves_configuration_mode_after_a_refused_line(over: Any) -> None:
    connection, send = over(NetworkCli)
    with pytest.raises(DeviceError, match="% Invalid input"):
        send(["configure session x", "wrong", "never sent"], "text")
    assert connection.sent == ["configure session x", "wrong", "end"]


def test_lost_command_line_is_reported_once(over: Any) -> None:
    connection, send = over(NetworkCli)
    with pytest.raises(DeviceError, match="% Invalid input"):
        send(["lost", "never sent"], "text")
    assert connection.sent == ["lost", "end"]


def test_refusal_of_the_switch_and_an_unreachable_switch_read_differently(
    over: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, send = over(Httpapi)
    monkeypatch.setattr(Httpapi, "error", AnsibleConnectionError("Invalid\n input", code=1002))
    with pytest.raises(DeviceError, match=r"^the switch refused it: Invalid input$"):
        send(["wrong"], "text")
    monkeypatch.setattr(Httpapi, "error", AnsibleConnectionError("no route to host"))
    with pytest.raises(DeviceError, match=r"^the switch could not be asked: no route to host$"):
        send(["a"], "text")


def test_switch_out_of_reach_from_the_beginning(over: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Httpapi, "error", AnsibleConnectionError("no route to host", code=-32603))
    with pytest.raises(DeviceError, match=r"^the switch could not be asked: no route to host$"):
        over(Httpapi)


@pytest.mark.parametrize(
    ("error", "is_refused"),
    [
        (AnsibleConnectionError("Invalid input", code=1002), True),
        (AnsibleConnectionError("show x\n% Invalid input\ntor#", code=-32603), True),
        (AnsibleConnectionError("timed out, 30% done", code=-32603), False),
    ],
)
def test_a_refused_command_is_distinguished_from_a_lost_connection(
    over: Any, monkeypatch: pytest.MonkeyPatch, error: AnsibleConnectionError, is_refused: bool
) -> None:
    _, send = over(Httpapi)
    monkeypatch.setattr(Httpapi, "error", error)
    with pytest.raises(DeviceError) as raised:
        send(["show x"], "json")
    assert isinstance(raised.value, CommandRefused) == is_refused


def test_eapi_always_takes_a_new_connection(over: Any) -> None:
    over(Httpapi)
    assert way_to("socket")[1]()


@pytest.mark.parametrize(("greeting", "is_ssh"), [(b"SSH-2.0-OpenSSH", True), (b"", False), (b"HTTP/1.1", False)])
def test_command_line_is_greeted_anew(over: Any, greeting: bytes, is_ssh: bool) -> None:
    connection, _ = over(NetworkCli)
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection.options = {"host": "127.0.0.1", "port": server.getsockname()[1]}

        def greet() -> None:
            accepted, _address = server.accept()
            accepted.sendall(greeting)
            accepted.close()

        greeter = threading.Thread(target=greet)
        greeter.start()
        assert way_to("socket")[1]() is is_ssh
        greeter.join()
    assert not way_to("socket")[1]()


def test_other_connections_are_refused() -> None:
    with pytest.raises(Refused, match=r"set ansible_connection to ansible.netcommon.httpapi"):
        sender(None)
