# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that keeps the connection to a network device open from one task to the next."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from ansible.module_utils.connection import Connection
from ansible.module_utils.connection import ConnectionError as AnsibleConnectionError

from ...module_utils._plan.converge import DeviceError

SECONDS_TO_END = 30.0
_SECONDS_BETWEEN_LOOKS = 0.05


def end_connection(socket_path: str, within: float = SECONDS_TO_END) -> None:
    """End that process and wait, so many seconds at most, until its socket is gone; the next task starts another.

    It answers first and ends later. A task that began in between would find a socket on which nobody listens.

    Raises:
        DeviceError: its socket is still there.
    """
    with suppress(AnsibleConnectionError):  # It has ended already.
        Connection(socket_path).reset()
    deadline = time.monotonic() + within
    while os.path.exists(socket_path):
        if time.monotonic() > deadline:
            raise DeviceError(
                f"the connection to the switch did not end within {within:g} s: its process still has {socket_path}"
            )
        time.sleep(_SECONDS_BETWEEN_LOOKS)
