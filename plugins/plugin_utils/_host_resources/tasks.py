# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Things as plain data for the tasks of a role, which write them with ordinary modules. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .resources import Absent, Directory, File, KernelParameter, Link, Packages, Things, Unit


def for_tasks(things: Things) -> dict[str, Any]:
    """The things by their kind, each kind in its order.

    What a command of the role makes is not among them. The content of a secret file has no secret in it.
    """
    files = [thing for thing in things if isinstance(thing, File)]
    packages = [thing for thing in things if isinstance(thing, Packages)]
    return {
        "files": [_attributes(file) for file in files if not file.is_secret],
        "secret_files": [{**_attributes(file), "source": file.source} for file in files if file.is_secret],
        "directories": [asdict(thing) for thing in things if isinstance(thing, Directory)],
        "links": [asdict(thing) for thing in things if isinstance(thing, Link)],
        "absent": [thing.path for thing in things if isinstance(thing, Absent)],
        "units": [_unit(thing) for thing in things if isinstance(thing, Unit)],
        "packages": [name for each in packages for name in each.names],
        "packages_by_os_family": {
            family: list(names) for each in packages for family, names in each.by_os_family.items()
        },
        "kernel_parameters": {thing.name: thing.value for thing in things if isinstance(thing, KernelParameter)},
    }


def _attributes(file: File) -> dict[str, Any]:
    return {name: getattr(file, name) for name in ("path", "content", "owner", "group", "mode")}


def _unit(unit: Unit) -> dict[str, Any]:
    return {**asdict(unit), "restarted_by": list(unit.restarted_by)}
