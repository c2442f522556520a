# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `podsim`: start and remove the simulated pod, and run its parts."""

from __future__ import annotations

import importlib
import sys

# Each part is imported alone: a machine carries only the libraries that its own part needs.
PARTS = {
    "agent": "podsim.vipu.agent",
    "eos": "podsim.eos.server",
    "functions": "podsim.floor.functions",
    "machine": "podsim.floor.machine",
    "tap-launcher": "podsim.floor.tap_launcher",
    "vipu-archive": "podsim.vipu.archive",
}
THE_POD = "podsim.floor.cli"


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    part = PARTS.get(arguments[0]) if arguments else None
    if part:
        return int(importlib.import_module(part).main(arguments[1:]))
    return int(importlib.import_module(THE_POD).main(arguments))


if __name__ == "__main__":
    sys.exit(main())
