# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands typed at a switch over its eAPI, with nothing of the collection in between."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from ssl import SSLContext
from typing import Any
from urllib.request import Request, urlopen


def run_commands(
    url: str,
    commands: Sequence[str | dict[str, Any]],
    user: str,
    password: str,
    context: SSLContext | None = None,
    **params: Any,
) -> dict[str, Any]:
    """The switch's answer with a result or an error; it shows text unless ``params`` say otherwise."""
    params = {"version": 1, "format": "text", "cmds": list(commands), **params}
    body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "runCmds", "params": params}).encode()
    with urlopen(request(url, body, user, password), timeout=30, context=context) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


def request(url: str, body: bytes, user: str, password: str) -> Request:
    """A request as a user."""
    secret = base64.b64encode(f"{user}:{password}".encode()).decode()
    return Request(url, body, {"Authorization": f"Basic {secret}"})
