# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a project uses of its quota, and what is to be made needs of it. Pure."""

from __future__ import annotations

from typing import Collection, Iterator, Mapping, Sequence

from .._plan.steps import Fields, State
from .entities import FLAVOR, QUOTA, SERVER, VOLUME, Look, fields_in, things
from .found import Found
from .wanted import QUOTAS


def too_small(look: Look, wanted: State, found: Found) -> Iterator[str]:
    """One sentence for each quota that would become smaller than what is in use."""
    for project, quota in wanted[QUOTA].items():
        used, there = _used(look, found.project_id(project)), found.state[QUOTA].get(project, {})
        for field, limit in quota.items():
            # Below 0 there is no limit.
            if limit != there.get(field) and 0 <= limit < used[field]:
                yield (
                    f"quota {project}: {field} would be {limit}, and {used[field]} are in use; declare more, or have "
                    "the tenant give something back"
                )


def exceeded(
    look: Look, wanted: State, found: Found, making: Mapping[str, Sequence[str]], going: Collection[str]
) -> Iterator[str]:
    """One sentence for each quota that what is to be made would exceed.

    Args:
        making: server and volume to the names of those that are to be made.
        going: the names of the servers that go before that.
    """
    gone = {found.things[SERVER, name]["id"] for name in going}
    for project in dict.fromkeys(wanted[kind][name]["project"] for kind, names in making.items() for name in names):
        limits = {**_limits(look, found, project), **wanted[QUOTA].get(project, {})}
        used, more = _used(look, found.project_id(project), gone), _needed(wanted, project, making)
        for field, limit in limits.items():
            if more[field] and 0 <= limit < used[field] + more[field]:
                yield (
                    f"quota {project}: {field} is {limit}, {used[field]} are in use, and what the run is to make needs "
                    f"{more[field]}; declare a larger quota, or fewer or smaller machines and volumes"
                )


def _limits(look: Look, found: Found, project: str) -> Fields:
    """The quota of a project as it is, or as one is that is made now."""
    there = [each for each in things(look, QUOTA) if each["project_id"] == found.project_id(project)]
    return fields_in(there[0] if there else look.get("default_quota") or {}, *QUOTAS)


def _needed(wanted: State, project: str, making: Mapping[str, Sequence[str]]) -> dict[str, int]:
    servers, volumes = (
        [wanted[kind][name] for name in making[kind] if wanted[kind][name]["project"] == project]
        for kind in (SERVER, VOLUME)
    )
    sizes = [wanted[FLAVOR][each["flavor"]] for each in servers if each["flavor"] in wanted[FLAVOR]]
    return _sums(len(servers), sizes, volumes)


def _used(look: Look, project_id: str, gone: Collection[str] = ()) -> dict[str, int]:
    """What is in use, at least: a server whose flavor is gone counts as one without size."""
    servers, volumes = (
        [each for each in things(look, kind) if each["project_id"] == project_id and each["id"] not in gone]
        for kind in (SERVER, VOLUME)
    )
    flavors = {each["name"]: each for each in things(look, FLAVOR)}
    return _sums(len(servers), [flavors[each["flavor"]] for each in servers if each["flavor"] in flavors], volumes)


def _sums(instances: int, sizes: Sequence[Fields], volumes: Sequence[Fields]) -> dict[str, int]:
    return {
        "instances": instances,
        "cores": sum(each["vcpus"] for each in sizes),
        "ram": sum(each["ram"] for each in sizes),
        "volumes": len(volumes),
        "gigabytes": sum(each["size"] for each in volumes),
    }
