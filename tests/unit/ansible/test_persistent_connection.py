# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection has ended when its socket is gone, not when its process has answered."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from ansible.errors import AnsibleActionFail
from ansible.module_utils.connection import recv_data, send_data

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import SwitchModule, end_connection


class ConnectionProcess:
    """Answers `reset` as Ansible's process does; its socket stays until `end`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.methods: list[str] = []
        self.answered = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(1)
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        client, _address = self._socket.accept()
        with client:
            request = json.loads(recv_data(client))
            self.methods.append(request["method"])
            send_data(client, json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": None}).encode())
        self.answered.set()

    def end(self) -> None:
        """Take the socket away."""
        self._socket.close()
        self.path.unlink(missing_ok=True)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[ConnectionProcess]:
    there = ConnectionProcess(tmp_path / "socket")
    yield there
    there.end()


def test_the_end_is_waited_for(process: ConnectionProcess) -> None:
    caller = threading.Thread(target=end_connection, args=(str(process.path),))
    caller.start()
    assert process.answered.wait(10)
    caller.join(0.3)
    assert caller.is_alive(), "it went on although the socket was still there"
    process.end()
    caller.join(10)
    assert not caller.is_alive()
    assert process.methods == ["reset"]


def test_a_process_that_does_not_end_is_named(process: ConnectionProcess) -> None:
    with pytest.raises(
        DeviceError, match=r"did not end within 0.2 s: its process still has .*/socket; end that process"
    ):
        end_connection(str(process.path), within=0.2)


def test_a_process_that_is_gone_has_ended(tmp_path: Path) -> None:
    end_connection(str(tmp_path / "socket"))


def test_a_module_whose_connection_does_not_end_fails_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    room = SwitchModule.__module__
    monkeypatch.setattr(f"{room}.ActionBase.run", lambda *_: {})
    monkeypatch.setattr(f"{room}.end_connection", mock.Mock(side_effect=DeviceError("it did not end")))
    module = SwitchModule.__new__(SwitchModule)
    module._connection = SimpleNamespace(socket_path="/socket")
    monkeypatch.setattr(module, "_execute_module", lambda **_: {"changed": True}, raising=False)
    with pytest.raises(AnsibleActionFail, match=r"^it did not end$"):
        module.run()
