# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands for a person: `podsim up`, `down`, `status`, `image`, `guest-image` and `prerequisites`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from podsim.floor import lifecycle, prerequisites
from podsim.floor.errors import FloorError, Unavailable
from podsim.floor.progress import Progress
from podsim.floor.state import state_directory


def main(argv: list[str]) -> int:
    """Run one of the commands for a person; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        if options.command == "prerequisites":
            wanted = {"virtual_machines": options.virtual_machines, "clouds": options.clouds}
            if options.install:
                prerequisites.install(**wanted)
            missing = prerequisites.missing_packages(**wanted)
            print("\n".join(missing) if missing else "nothing is missing")
            return 1 if missing else 0
        if options.command == "image":
            lifecycle.provide_image(options.pods, Progress())
        elif options.command == "guest-image":
            print(lifecycle.provide_guest_image(Progress()))
        elif options.command == "up":
            lifecycle.up(options.pods, state_directory(options.state), Progress())
        elif options.command == "down":
            lifecycle.down(state_directory(options.state), Progress())
        else:
            state = state_directory(options.state)
            rows = lifecycle.status(state)
            print(_table(rows) if rows else f"no pod is running from {state.root}")
            return 0 if rows and all(row[2] == "up" for row in rows) else 1
    except FloorError as error:
        print(f"podsim: {error}", file=sys.stderr)
        return os.EX_UNAVAILABLE if isinstance(error, Unavailable) else 1
    except KeyboardInterrupt:
        print("podsim: interrupted; repeat the command, or remove what there is with `podsim down`.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="podsim",
        description="A simulated IPU pod on this machine.",
        epilog="Parts of the pod, which it runs itself: podsim agent|eos|machine --help",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    state = argparse.ArgumentParser(add_help=False)
    state.add_argument("--state", metavar="DIR", help="the pod's directory (default: $PODSIM_STATE or build/podsim)")
    start = commands.add_parser("up", parents=[state], help="start the pod, or what is missing of it")
    start.add_argument("pods", metavar="PODS.yml", type=Path, help="the file whose `sim:` section describes the pod")
    commands.add_parser("down", parents=[state], help="remove all of the pod")
    commands.add_parser("status", parents=[state], help="show every machine and switch; exit code 1 unless all are up")
    images = commands.add_parser("image", help="build the container image that `up` needs, unless it is there")
    images.add_argument("pods", metavar="PODS.yml", type=Path, nargs="?", help="for this pod; else the plain image")
    commands.add_parser("guest-image", help="build the disk of a cloud's virtual machines, unless it is there; show it")
    packages = commands.add_parser(
        "prerequisites",
        help="list the Debian packages that this host lacks",
        epilog=f"exit code {os.EX_UNAVAILABLE}: this host cannot have virtual machines, whatever one installs",
    )
    packages.add_argument("--install", action="store_true", help="install them with apt-get")
    packages.add_argument("--virtual-machines", action="store_true", help="also those for machines of the type vm")
    packages.add_argument("--clouds", action="store_true", help="also those for the image of a cloud's machines")
    return parser


def _table(rows: list[tuple[str, str, str, str]]) -> str:
    table = [("NAME", "KIND", "STATE", "MANAGEMENT"), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(4)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)
