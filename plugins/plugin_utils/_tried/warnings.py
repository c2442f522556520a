# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a pod has a release that this collection was not tried with, from the looks of a run. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .releases import EOS, HOST_PYTHON, TRIED, VIPU, is_tried, tried_of

_PAGE = "docs/tried.md"


def untried(looks: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One sentence for each release that was not tried, with the devices that have it."""
    hosts: dict[tuple[str, str], list[str]] = {}
    for host in sorted(looks):
        for system, release in _releases(looks[host].get("parts", {})):
            if not is_tried(system, release):
                hosts.setdefault((system, release), []).append(host)
    return [
        f"{system} {release} of {', '.join(found)} is untried; {_known(system)}"
        for (system, release), found in hosts.items()
    ]


def _known(system: str) -> str:
    releases = tried_of(system)
    return f"tried are {releases}, see {_PAGE}" if releases else f"see {_PAGE} for those that were tried"


def _releases(parts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """System and release of all that a look tells; what it does not tell is nothing to warn of."""
    things = parts.get("things", {})
    packages = things.get("packages", {})
    told = [
        (EOS, parts.get("release", {}).get("eos")),
        (HOST_PYTHON, things.get("python")),
        (_system(packages), packages.get("distribution_version")),
    ]
    controllers = parts.get("controllers", {})
    told += [(VIPU, each.get("release")) for each in controllers.values() if isinstance(each, Mapping)]
    yield from dict.fromkeys((system, str(release)) for system, release in told if release)


def _system(packages: Mapping[str, Any]) -> str:
    """The distribution; of those that are built from another one's sources, as Rocky is, that one."""
    name, family = str(packages.get("distribution", "")), str(packages.get("os_family", ""))
    return name if any(each.system == name for each in TRIED) or family == "Debian" else family
