# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a look has to read of a host, so that things can be compared with it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from .resources import File, KernelParameter, Made, Packages, Things, Unit


def looked_things(things: Things) -> dict[str, list[str]]:
    """The options of host_look for its part ``things``."""
    files = [thing for thing in things if isinstance(thing, File)]
    units = [thing for thing in things if isinstance(thing, Unit)]
    packages = [thing for thing in things if isinstance(thing, Packages)]
    names = (name for each in packages for group in (each.names, *each.by_os_family.values()) for name in group)
    return {
        "paths": _each_once(
            [
                *(thing.path for thing in things if hasattr(thing, "path")),
                *(thing.creates for thing in things if isinstance(thing, Made)),
                *(path for unit in units for path in unit.restarted_by),
            ]
        ),
        "texts": _each_once(file.path for file in files if not file.is_secret),
        "secrets": _each_once(file.path for file in files if file.is_secret),
        "units": _each_once(unit.name for unit in units),
        "packages": _each_once(names),
        "kernel_parameters": _each_once(thing.name for thing in things if isinstance(thing, KernelParameter)),
    }


def _each_once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
