# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Poplar on a server finds its partitions: the files that say it, and the plan that brings them there. Pure.

The state has two kinds, by path: ``file`` are the files of this collection with ``{content, owner, group, mode}``
(content as a list of lines), ``foreign_file`` the files of others beside them, without any field.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .._plan.converge import Refused
from .._plan.steps import CREATE, REMOVE, UPDATE, Fields, State, Step, changed_fields
from .rules import NAME

PROFILE = "/etc/profile.d/ipuof.sh"
ENVIRONMENTS = "/etc/ipuof.env.d"
CONFIGURATIONS = "/etc/ipuof.conf.d"
MANIFEST = CONFIGURATIONS + "/.ipu.pod.json"

HEADER = "# Written by ipu.pod.ipuof_config, which overwrites what is changed here by hand."

FILE, FOREIGN = "file", "foreign_file"

# Path to lines; None for what is known after apply only.
Wanted = Dict[str, Optional[List[str]]]

_HOST = re.compile(r"[A-Za-z0-9.:_-]{1,253}")


@dataclass(frozen=True)
class Partition:
    """One GCD of a partition, as Poplar reaches it.

    Args:
        api_host: name or address of the V-IPU controller's user end-point; ``api_port`` is its TCP port.
        gcd: number of the graph compile domain that this server runs.
        config: the rendered IPUoF configuration; only needed for files.
        stem: what its files are called after: the partition, and the GCD where several are declared.
    """

    name: str
    api_host: str
    api_port: int
    gcd: int
    config: Mapping[str, Any] | None
    stem: str


@dataclass(frozen=True)
class Ownership:
    """Owner, group and octal mode that all the files get."""

    owner: str = "root"
    group: str = "root"
    mode: str = "0644"


def partitions_from(
    options: Sequence[Mapping[str, Any]], configurations: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[Partition]:
    """The declared partitions, one for each GCD; ``configurations`` has those of each name's GCDs that are known.

    Raises:
        Refused: a name, host or port is malformed, or two of them would share a file.
    """
    names = [option["name"] for option in options]
    partitions = [
        _partition(option, configurations.get(option["name"], ()), several=names.count(option["name"]) > 1)
        for option in options
    ]
    stems: dict[str, Partition] = {}
    for partition in partitions:
        other = stems.setdefault(partition.stem, partition)
        if other is not partition:
            raise Refused(f"{_place(other)} and {_place(partition)} share the file name {partition.stem}; remove one")
    return partitions


def wanted_files(options: Mapping[str, Any], predict: bool = False) -> Wanted:
    """Lines by path, as the options of ipuof_config say.

    Raises:
        Refused: they contradict each other, or something is malformed.
    """
    partitions = partitions_from(options["partitions"], options["configurations"])
    if options["mode"] == "environment":
        return environment_files(partitions, options["login_partition"])
    return configuration_files(partitions, predict)


def environment_files(partitions: Sequence[Partition], login: str | None) -> Wanted:
    """Lines by path: an environment file per partition, and that of login shells for one of them, by default the first.

    Raises:
        Refused: ``login`` is not among them.
    """
    if login is not None and login not in [partition.name for partition in partitions]:
        declared = ", ".join(partition.name for partition in partitions) or "none"
        raise Refused(f"login_partition: {login} is not among the partitions, which are: {declared}")
    files: Wanted = {
        f"{ENVIRONMENTS}/{partition.stem}.env": [HEADER, *(f"{k}={v}" for k, v in _environment(partition).items())]
        for partition in partitions
    }
    for partition in partitions:
        if login in (None, partition.name):
            files[PROFILE] = [HEADER, *(f"export {k}='{v}'" for k, v in _environment(partition).items())]
            break
    return files


def configuration_files(partitions: Sequence[Partition], predict: bool = False) -> Wanted:
    """Lines by path: one IPUoF configuration per partition and GCD, and the manifest that says whose they are.

    With ``predict`` a partition may have no configuration yet, because the same run creates it. Its lines are None.

    Raises:
        Refused: a partition has no configuration.
    """
    files: Wanted = {}
    for partition in partitions:
        if partition.config is None and not predict:
            raise Refused(
                f"{_place(partition)}: is not in configurations; mode files needs the IPUoF configuration of each GCD"
            )
        lines = None if partition.config is None else _json_lines(partition.config)
        files[f"{CONFIGURATIONS}/{partition.stem}_ipuof.conf"] = lines
    if files:
        files[MANIFEST] = _json_lines({"files": sorted(os.path.basename(path) for path in files)})
    return files


def is_place(path: str) -> bool:
    """Whether a file of this collection, or one beside it, may be there."""
    return path == PROFILE or os.path.dirname(path) in (ENVIRONMENTS, CONFIGURATIONS)


def manifest_names(text: str) -> list[str]:
    """The names of our configuration files.

    Raises:
        ValueError: the text is no manifest.
    """
    manifest = json.loads(text)
    names = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) and "/" not in name for name in names):
        raise ValueError("it has no list of files")
    return names


def plan(wanted_files: Mapping[str, Sequence[str] | None], ownership: Ownership, actual: State) -> list[Step]:
    """Remove what is no longer wanted, then the manifest, then the rest.

    In this order every file of ours is in the manifest on disk at any time, also if the run breaks off.
    A file whose content is not known yet is written, whatever is there.

    Raises:
        Refused: a file of others has a name that is wanted.
    """
    ours = actual[FILE]
    for path in wanted_files:
        if path in actual[FOREIGN]:
            raise Refused(f"{path} exists and was not written by this collection; move it away")
    gone = [Step(REMOVE, FILE, path, "is not declared", before=ours[path]) for path in ours if path not in wanted_files]
    steps = [_put(path, lines, ownership, ours.get(path)) for path, lines in wanted_files.items()]
    gone.sort(key=lambda step: step.name == MANIFEST)
    return gone + sorted((step for step in steps if step), key=lambda step: step.name != MANIFEST)


def _put(path: str, lines: Sequence[str] | None, ownership: Ownership, before: Fields | None) -> Step | None:
    wanted: Fields = {} if lines is None else {"content": list(lines)}
    wanted.update(owner=ownership.owner, group=ownership.group, mode=ownership.mode)
    if before is None:
        return Step(CREATE, FILE, path, "is missing", after=wanted)
    changes = changed_fields(before, wanted)
    if lines is not None and not changes:
        return None
    reasons = [f"{field} is {before[field]}, wanted {changes[field]}" for field in changes if field != "content"]
    if lines is None:
        reasons.insert(0, "its partition is yet to be made")
    elif "content" in changes:
        reasons.insert(0, "content is not as wanted")
    return Step(UPDATE, FILE, path, ", ".join(reasons), before=before, after=wanted)


def _partition(option: Mapping[str, Any], configurations: Sequence[Mapping[str, Any]], several: bool) -> Partition:
    name, host, port, gcd = option["name"], option["api_host"], option["api_port"], option["gcd"]
    if not NAME.fullmatch(name):
        raise Refused(
            f"partition {name!r}: the name must be 1 to 64 letters, digits, dots, dashes or underscores, and begin "
            "with a letter or a digit"
        )
    place = f"partition {name}"
    if not _HOST.fullmatch(host):
        raise Refused(f"{place}: api_host {host!r} is no host name or address; write it like 10.3.1.101")
    if not 1 <= port <= 65535:
        raise Refused(f"{place}: api_port {port} is no TCP port; the V-IPU controller's default is 8090")
    if gcd < 0:
        raise Refused(f"{place}: gcd {gcd} is negative; GCDs count from 0")
    config = configurations[gcd] if gcd < len(configurations) else None
    return Partition(name, host, port, gcd, config, f"{name}_gcd{gcd}" if several else name)


def _place(partition: Partition) -> str:
    return f"partition {partition.name}, GCD {partition.gcd}"


def _environment(partition: Partition) -> dict[str, str]:
    """The variables that Poplar reads; the values are free of anything that a shell or systemd would interpret."""
    return {
        "IPUOF_VIPU_API_HOST": partition.api_host,
        "IPUOF_VIPU_API_PORT": str(partition.api_port),
        "IPUOF_VIPU_API_PARTITION_ID": partition.name,
        "IPUOF_VIPU_API_GCD_ID": str(partition.gcd),
    }


def _json_lines(value: Mapping[str, Any]) -> list[str]:
    return json.dumps(value, indent=2, sort_keys=True).split("\n")
