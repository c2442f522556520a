# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options that all V-IPU modules share, and the client made from them."""

from __future__ import annotations

from typing import Any

from .cli import Controller

CONNECTION_OPTIONS: dict[str, dict[str, Any]] = {
    "api_host": {"type": "str", "default": "localhost"},
    "api_port": {"type": "int", "default": 8091},
    "program": {"type": "str", "default": "vipu-admin"},
}


def controller_of(module: Any) -> Controller:
    """The client for the options of an ``AnsibleModule``."""

    def run(argv: list[str]) -> tuple[int, str, str]:
        try:
            code, output, errors = module.run_command(argv, handle_exceptions=False)
        except OSError as error:
            return 127, "", f"{argv[0]}: {error.strerror}; install the V-IPU programs or set the option program"
        return int(code), str(output), str(errors)

    return Controller(run, module.params["program"], module.params["api_host"], module.params["api_port"])
