# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection to a switch, which Ansible would keep from one task to the next: here each task has its own.

Ansible keeps it in a process that answers first when it is ended, and ends later, or by itself after half a minute
without a request. A task that begins in between finds a socket on which nobody listens, and fails. A connection of its
own also shows that the switch can still be logged in to, before a change is confirmed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.module_utils.connection import Connection
from ansible.module_utils.connection import ConnectionError as AnsibleConnectionError
from ansible.plugins.action import ActionBase

from ...module_utils._plan.converge import DeviceError

SECONDS_TO_END = 30.0
_SECONDS_BETWEEN_LOOKS = 0.02


class SwitchModule(ActionBase):
    """Runs the module of its name over a connection that ends with the task."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of the module."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        try:
            with own_connection(self._connection.socket_path):
                result.update(self._execute_module(task_vars=task_vars))
        except DeviceError as error:
            raise AnsibleActionFail(str(error)) from None
        return result


@contextmanager
def own_connection(socket_path: str | None) -> Iterator[None]:
    """End the connection afterwards, if it is one that outlasts a task.

    Raises:
        DeviceError: it did not end.
    """
    try:
        yield
    finally:
        if socket_path:
            end_connection(socket_path)


def end_connection(socket_path: str, within: float = SECONDS_TO_END) -> None:
    """End the process of a connection and wait, so many seconds at most, until its socket is gone.

    Raises:
        DeviceError: its socket is still there.
    """
    with suppress(AnsibleConnectionError):  # It has ended already.
        Connection(socket_path).reset()
    deadline = time.monotonic() + within
    while os.path.exists(socket_path):
        if time.monotonic() > deadline:
            raise DeviceError(
                f"the connection to the switch did not end within {within:g} s: its process still has {socket_path}; "
                f"end that process, which `fuser {socket_path}` shows, and run the same again"
            )
        time.sleep(_SECONDS_BETWEEN_LOOKS)
