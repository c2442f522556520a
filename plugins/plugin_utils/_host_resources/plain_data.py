# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resources as plain data: for the tasks of a role, which write them with ordinary modules, and for a look. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from .resources import Absent, Directory, File, KernelParameter, Link, Made, Packages, Resources, Unit


def for_tasks(resources: Resources) -> dict[str, Any]:
    """The resources by their kind, each kind in its order.

    What a command of the role makes is not among them. The content of a secret file has no secret in it.
    """
    files = [each for each in resources if isinstance(each, File)]
    packages = [each for each in resources if isinstance(each, Packages)]
    return {
        "files": [_attributes(file) for file in files if not file.is_secret],
        "secret_files": [{**_attributes(file), "source": file.source} for file in files if file.is_secret],
        "directories": [asdict(each) for each in resources if isinstance(each, Directory)],
        "links": [asdict(each) for each in resources if isinstance(each, Link)],
        "absent": [each.path for each in resources if isinstance(each, Absent)],
        "units": [_unit(each) for each in resources if isinstance(each, Unit)],
        "packages": [name for each in packages for name in each.names],
        "packages_by_os_family": {
            family: list(names) for each in packages for family, names in each.by_os_family.items()
        },
        "kernel_parameters": {each.name: each.value for each in resources if isinstance(each, KernelParameter)},
    }


def _attributes(file: File) -> dict[str, Any]:
    return {name: getattr(file, name) for name in ("path", "content", "owner", "group", "mode")}


def _unit(unit: Unit) -> dict[str, Any]:
    return {**asdict(unit), "restarted_by": list(unit.restarted_by)}


def looked_resources(resources: Resources) -> dict[str, list[str]]:
    """What a look has to read so that things can be compared: the options of host_look for its part ``things``."""
    files = [each for each in resources if isinstance(each, File)]
    units = [each for each in resources if isinstance(each, Unit)]
    packages = [each for each in resources if isinstance(each, Packages)]
    names = (name for each in packages for group in (each.names, *each.by_os_family.values()) for name in group)
    return {
        "paths": _each_once(
            [
                *(each.path for each in resources if hasattr(each, "path")),
                *(each.creates for each in resources if isinstance(each, Made)),
                *(path for unit in units for path in unit.restarted_by),
            ]
        ),
        "texts": _each_once(file.path for file in files if not file.is_secret),
        "secrets": _each_once(file.path for file in files if file.is_secret),
        "units": _each_once(unit.name for unit in units),
        "packages": _each_once(names),
        "kernel_parameters": _each_once(each.name for each in resources if isinstance(each, KernelParameter)),
    }


def _each_once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
