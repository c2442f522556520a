# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Slurm configuration that a host has, and who wrote it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Iterator, Mapping, Sequence

from .conf import Line, Read, lines_of
from .host_list import expanded
from .paths import HEADER, LUA_HEADER, SCRIPTS, Paths

# Who wrote a file.
ROLE, SITE, NOBODY = "role", "site", ""
# What the include file adds to; all else in slurm.conf is the site's alone.
ADDED_TO = (
    *("PrologSlurmctld", "EpilogSlurmctld", "Prolog", "Epilog", "PrologFlags", "JobSubmitPlugins", "GresTypes"),
    *("CliFilterPlugins", "Licenses", "SchedulerParameters", "AuthInfo", "RequeueExit"),
)
DEFAULT_USER = "root"
VERSION_HEADER = "/usr/include/slurm/slurm_version.h"
_VERSION = re.compile(r"#define SLURM_VERSION_NUMBER 0x(\w\w)(\w\w)(\w\w)\b")


@dataclass(frozen=True)
class Site:
    """The Slurm configuration of one host.

    Args:
        slurm_conf: who wrote it.
        included: whether what the role lets it include is there.
        user: who Slurm's controller runs as.
        values: what it says of :data:`ADDED_TO`, without what the include file says.
        nodes: Slurm's nodes, each with its Gres; in ``features`` each with its features.
        overridden: what it says of :data:`ADDED_TO` after the include file, which then does not count.
        plugins_included: whether plugstack.conf includes all that is in its folder.
        gres_included: whether gres.conf includes what the role writes for it.
        gres_empty: whether there is a gres.conf in which nothing stands, which is an error to Slurm.
        scripts: who wrote job_submit.lua and cli_filter.lua, by these names without their ends.
        site_scripts: for which of them the site's own is kept beside ours.
        version: of Slurm, as its header file says; empty where there is none.
    """

    slurm_conf: str
    included: bool
    user: str
    values: Mapping[str, str]
    nodes: Mapping[str, str]
    features: Mapping[str, str]
    overridden: tuple[str, ...]
    plugins_included: bool
    gres_included: bool
    gres_empty: bool
    scripts: Mapping[str, str]
    site_scripts: tuple[str, ...]
    version: str

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Site:
        """From what the module returned."""
        return cls(**{**found, "overridden": tuple(found["overridden"]), "site_scripts": tuple(found["site_scripts"])})

    def public(self) -> dict[str, Any]:
        """As the module returns it."""
        return {**asdict(self), "overridden": list(self.overridden), "site_scripts": list(self.site_scripts)}


def site_from(read: Read, directory: str) -> Site:
    """Return the Slurm configuration of a host, from the ``directory`` where Slurm has it."""
    paths = Paths(directory)
    conf = read(paths.slurm_conf)
    lines = list(lines_of(read, paths.slurm_conf)) if conf is not None else []
    theirs = [line for line in lines if line.file != paths.included]
    values = dict(_values(theirs))
    return Site(
        slurm_conf=_author(conf, HEADER),
        included=read(paths.included) is not None,
        user=values.get("slurmuser", DEFAULT_USER),
        values={key: values[key.lower()] for key in ADDED_TO if key.lower() in values},
        nodes=dict(_nodes(theirs, ("gres",))),
        features=dict(_nodes(theirs, ("feature", "features"))),
        overridden=tuple(_overridden(theirs, paths.included)),
        plugins_included=_includes(read(paths.plugstack), "include", paths.all_plugstack),
        gres_included=_includes(read(paths.gres_conf), "Include", paths.included_gres),
        gres_empty=read(paths.gres_conf) == "",
        scripts={name: _author(read(paths.script(name)), LUA_HEADER) for name in SCRIPTS},
        site_scripts=tuple(name for name in SCRIPTS if read(paths.site_script(name)) is not None),
        version=_version(read(VERSION_HEADER) or ""),
    )


def _includes(text: str | None, word: str, file: str) -> bool:
    """Whether a line of the text is this one; how far apart its words are does not matter."""
    return [word, file] in map(str.split, (text or "").splitlines())


def _version(header: str) -> str:
    """Three bytes of a number, in the header's words."""
    found = _VERSION.search(header)
    return ".".join(f"{int(part, 16):02d}" for part in found.groups()) if found else ""


def _author(text: str | None, header: str) -> str:
    if text is None:
        return NOBODY
    return ROLE if text.startswith(header) else SITE


def _values(lines: list[Line]) -> Iterator[tuple[str, str]]:
    """Key in lower case to value; what is said last counts."""
    for line in lines:
        for key, value in line.fields:
            yield key.lower(), value


def _nodes(lines: list[Line], keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Node to what its line says by one of the keys; what NodeName=DEFAULT says counts for the lines after it."""
    default = ""
    for line in lines:
        values = {key.lower(): value for key, value in line.fields}
        names, value = values.get("nodename"), next((values[key] for key in keys if key in values), default)
        if names == "DEFAULT":
            default = value
        elif names is not None:
            for name in expanded(names):
                yield name, value


def _overridden(lines: list[Line], included: str) -> Iterator[str]:
    names = {key.lower(): key for key in ADDED_TO}
    is_after = False
    for line in lines:
        is_after = is_after or line.include == included
        for key, _value in line.fields:
            if is_after and key.lower() in names:
                yield names[key.lower()]
