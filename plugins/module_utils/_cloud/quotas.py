# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a project uses of its quota, from a look. Pure."""

from __future__ import annotations

from typing import Iterator

from .._plan.steps import State
from .entities import FLAVOR, QUOTA, SERVER, VOLUME, Look, things
from .found import Found


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


def _used(look: Look, project_id: str) -> dict[str, int]:
    """What is in use, at least: a server whose flavor is gone counts as one without size."""
    servers, volumes = (
        [each for each in things(look, kind) if each["project_id"] == project_id] for kind in (SERVER, VOLUME)
    )
    flavors = {each["name"]: each for each in things(look, FLAVOR)}
    sizes = [flavors[each["flavor"]] for each in servers if each["flavor"] in flavors]
    return {
        "instances": len(servers),
        "cores": sum(each["vcpus"] for each in sizes),
        "ram": sum(each["ram"] for each in sizes),
        "volumes": len(volumes),
        "gigabytes": sum(each["size"] for each in volumes),
    }
