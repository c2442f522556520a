# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resources as plain data: for the tasks of a role, which write them with ordinary modules, and for a look. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeVar

from .resources import Absent, Account, Directory, File, KernelParameter, Link, Made, Packages, Program, Resources, Unit

Kind = TypeVar("Kind")


def for_tasks(resources: Resources) -> dict[str, Any]:
    """The resources by their kind, each kind in its order.

    What a command of the role makes is not among them. The content of a secret file has no secret in it.
    """
    packages = _of(Packages, resources)
    return {
        "files": [_attributes(file) for file in _of(File, resources) if not file.is_secret],
        "secret_files": [
            {**_attributes(file), "source": file.source} for file in _of(File, resources) if file.is_secret
        ],
        "programs": [each.path for each in _of(Program, resources)],
        "directories": [asdict(each) for each in _of(Directory, resources)],
        "links": [asdict(each) for each in _of(Link, resources)],
        "absent": [each.path for each in _of(Absent, resources)],
        "units": [{**asdict(unit), "restarted_by": list(unit.restarted_by)} for unit in _of(Unit, resources)],
        "packages": [name for each in packages for name in each.names],
        "packages_by_os_family": {
            family: list(names) for each in packages for family, names in each.by_os_family.items()
        },
        "accounts": [{"name": each.name, "home": each.home} for each in _of(Account, resources) if each.is_there],
        "kernel_parameters": {each.name: each.value for each in _of(KernelParameter, resources)},
    }


def looked_resources(resources: Resources) -> dict[str, list[str]]:
    """The options of host_look, for its part ``things``, that read all that is compared with these resources."""
    found = {
        "paths": [
            *(each.path for each in resources if hasattr(each, "path")),
            *(each.creates for each in _of(Made, resources)),
            *(path for unit in _of(Unit, resources) for path in unit.restarted_by),
        ],
        "texts": [file.path for file in _of(File, resources) if not file.is_secret],
        "secrets": [file.path for file in _of(File, resources) if file.is_secret],
        "units": [unit.name for unit in _of(Unit, resources)],
        "packages": [
            name
            for each in _of(Packages, resources)
            for names in (each.names, *each.by_os_family.values())
            for name in names
        ],
        "accounts": [each.name for each in _of(Account, resources)],
        "kernel_parameters": [each.name for each in _of(KernelParameter, resources)],
    }
    return {option: list(dict.fromkeys(values)) for option, values in found.items()}


def _of(kind: type[Kind], resources: Resources) -> list[Kind]:
    return [each for each in resources if isinstance(each, kind)]


def _attributes(file: File) -> dict[str, Any]:
    return {name: getattr(file, name) for name in ("path", "content", "owner", "group", "mode")}
