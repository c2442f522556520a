# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files, directories, links, units, packages and kernel parameters of a host, and the steps that make them so. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import (
    CREATE,
    DISRUPTIVE,
    NO_RISK,
    REMOVE,
    UPDATE,
    Fields,
    Step,
    changed_fields,
    reason_for,
)

# A command has no before and after.
RUN = "run"

FILE, SERVICE, PACKAGE, KERNEL_PARAMETER, TASK = "file", "service", "package", "kernel_parameter", "task"
ACCOUNT = "account"
SECRET, OTHER_SECRET = "(secret)", "(another secret)"
NOT_THERE = "is not there"

ACTIVE_BY_STATE = {"started": "active", "restarted": "restarted", "stopped": "inactive"}
# What systemd calls a unit that runs already.
RUNNING = ("active", "activating")


@dataclass(frozen=True)
class File:
    """A file with all of its content. That of a secret file has :data:`SECRET` where the secret belongs, or is None."""

    path: str
    content: str | None
    owner: str = "root"
    group: str = "root"
    mode: str = "0644"
    is_secret: bool = False  # the content stays out of plans and logs
    sha256: str | None = None  # of a secret that the control node does not have, as another host's look says it
    source: str = ""  # where that host has it


@dataclass(frozen=True)
class Program:
    """A program of this collection, by the checksum of its file."""

    path: str
    sha256: str
    owner: str = "root"
    group: str = "root"
    mode: str = "0755"


@dataclass(frozen=True)
class Directory:
    """A directory; what is in it is nobody's business here."""

    path: str
    owner: str = "root"
    group: str = "root"
    mode: str = "0755"


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    path: str
    target: str


@dataclass(frozen=True)
class Absent:
    """A path where nothing is."""

    path: str


@dataclass(frozen=True)
class Unit:
    """A systemd unit. ``state`` is that of systemd_service; a change of a file of ``restarted_by`` restarts it."""

    name: str
    enabled: bool | None = True
    state: str | None = "started"
    restarted_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Packages:
    """Packages that are installed, by ``names``, or where these depend on the OS, ``by_os_family`` as Ansible calls it.

    ``otherwise`` is the role's variable that takes names for another family.
    """

    names: tuple[str, ...] = ()
    by_os_family: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    otherwise: str = ""


@dataclass(frozen=True)
class Account:
    """A system user with a group of its own, both with one name, that runs a service and never logs in."""

    name: str
    home: str
    is_there: bool = True  # whether it has to be, or must not be


@dataclass(frozen=True)
class KernelParameter:
    """A kernel parameter and its value, as it is running."""

    name: str
    value: str


@dataclass(frozen=True)
class Made:
    """A command of a role that runs once, until ``creates`` is there; ``name`` is its task's."""

    name: str
    creates: str


Resource = File | Program | Directory | Link | Absent | Unit | Packages | Account | KernelParameter | Made
# In the order in which they are written.
Resources = Sequence[Resource]


def resource_steps(resources: Resources, seen: Mapping[str, Any]) -> list[Step]:
    """The steps that make everything as wanted, in the order of ``resources``; ``seen`` is the part "things" of a look.

    Raises:
        Refused: something else is in the place of a file, or the host does not know what is wanted of it.
    """
    steps: list[Step] = []
    written: set[str] = set()
    for resource in resources:
        if isinstance(resource, Unit):
            steps += _unit(resource, seen, written)
        else:
            found = _COMPARISONS[type(resource)](resource, seen)
            written |= {resource.creates} if found and isinstance(resource, Made) else {step.name for step in found}
            steps += found
    return steps


def differing_resources(resources: Resources, seen: Mapping[str, Any]) -> list[Resource]:
    """Those that are not as wanted, for tasks that say by themselves what they cannot write."""
    return [resource for resource in resources if not _is_as_wanted(resource, seen)]


def _is_as_wanted(resource: Resource, seen: Mapping[str, Any]) -> bool:
    try:
        return not resource_steps([resource], seen)
    except Refused:
        return False


def _file(file: File, seen: Mapping[str, Any]) -> list[Step]:
    if file.is_secret:
        return _secret_file(file, seen)
    found = _found(file.path, "file", seen)
    content = file.content or ""
    if found is None:
        return [Step(CREATE, FILE, file.path, NOT_THERE, after={"lines": content.splitlines()})]
    # Of what holds a secret there is no checksum; it is not what is wanted.
    old, new = _contents(content, found.get("sha256", ""), seen["texts"].get(file.path))
    attributes = changed_fields(found, _attributes(file))
    reasons = [*(["content differs"] if new else []), reason_for(found, attributes)]
    return _updated(file, found, old, new, ", ".join(filter(None, reasons)))


def _contents(wanted: str, found: str, text: str | None) -> tuple[Fields, Fields]:
    """Return the difference in content: removed and added lines, or checksums if the text is unknown."""
    digest = sha256(wanted.encode()).hexdigest()
    if digest == found:
        return {}, {}
    removed, added = _lines(text.splitlines(), wanted.splitlines()) if text is not None else ([], [])
    if removed or added:
        return {"lines": removed}, {"lines": added}
    return {"sha256": found}, {"sha256": digest}


def _program(program: Program, seen: Mapping[str, Any]) -> list[Step]:
    """Only its checksum is shown."""
    found = _found(program.path, "file", seen)
    wanted = {"sha256": program.sha256, **_attributes(program)}
    if found is None:
        return [Step(CREATE, FILE, program.path, NOT_THERE, after=wanted)]
    return _changed(program.path, {"sha256": "", **{name: found[name] for name in wanted if name in found}}, wanted)


def _lines(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines that go and the lines that come."""
    changes = [change for change in SequenceMatcher(None, before, after, False).get_opcodes() if change[0] != "equal"]
    removed = [line for _what, start, end, _start, _end in changes for line in before[start:end]]
    added = [line for _what, _start, _end, start, end in changes for line in after[start:end]]
    return removed, added


def _secret_file(file: File, seen: Mapping[str, Any]) -> list[Step]:
    """A secret is shown only as differing or not."""
    found = _found(file.path, "file", seen)
    if found is None:
        return [Step(CREATE, FILE, file.path, NOT_THERE, after={"content": SECRET})]
    secret = seen["secrets"].get(file.path, {})
    is_same = file.content in (None, secret.get("text")) and file.sha256 in (None, secret.get("secret"))
    if is_same and (file.content, file.sha256) != (None, None):
        return _updated(file, found, {}, {}, "content or attributes differ")
    return _updated(file, found, {"content": SECRET}, {"content": OTHER_SECRET}, "content or attributes differ")


def _updated(file: File, found: Mapping[str, Any], old: Fields, new: Fields, reason: str) -> list[Step]:
    wanted = _attributes(file)
    if not new and not changed_fields(found, wanted):
        return []
    there = {name: found[name] for name in wanted}
    return [Step(UPDATE, FILE, file.path, reason, before={**old, **there}, after={**new, **wanted})]


def _attributes(resource: File | Program | Directory) -> Fields:
    return {"owner": resource.owner, "group": resource.group, "mode": resource.mode}


def _directory(directory: Directory, seen: Mapping[str, Any]) -> list[Step]:
    found = _found(directory.path, "directory", seen)
    if found is None:
        return [Step(CREATE, FILE, directory.path, NOT_THERE, after={"state": "directory"})]
    wanted = _attributes(directory)
    return _changed(directory.path, {name: found[name] for name in wanted}, wanted)


def _link(link: Link, seen: Mapping[str, Any]) -> list[Step]:
    """A file in its place gives way, for example a program of another release."""
    found = seen["paths"].get(link.path)
    wanted = {"state": "link", "src": link.target}
    if found is None:
        return [Step(CREATE, FILE, link.path, NOT_THERE, after=wanted)]
    there = {"state": found["kind"], **({"src": found["target"]} if found["kind"] == "link" else {})}
    return _changed(link.path, there, wanted)


def _changed(path: str, there: Fields, wanted: Fields) -> list[Step]:
    changes = changed_fields(there, wanted)
    return [Step(UPDATE, FILE, path, reason_for(there, changes), before=there, after=wanted)] if changes else []


def _absent(absent: Absent, seen: Mapping[str, Any]) -> list[Step]:
    found = seen["paths"].get(absent.path)
    return [Step(REMOVE, FILE, absent.path, "is there", before={"state": found["kind"]})] if found else []


def _found(path: str, kind: str, seen: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = seen["paths"].get(path)
    if found is not None and found["kind"] != kind:
        what = {"file": "a file", "directory": "a directory", "link": "a link"}.get(found["kind"], "something else")
        raise Refused(f"{path} is {what}, where a {kind} has to be; move it away")
    return found


def _unit(unit: Unit, seen: Mapping[str, Any], written: set[str]) -> list[Step]:
    """Return the steps of a unit; ``written`` are the paths that are written before it."""
    found = seen["units"].get(unit.name, {})
    is_new = not written.isdisjoint(unit.restarted_by)
    state = "restarted" if is_new or _is_owed_a_restart(unit, found, seen) else unit.state
    wanted = {"state": ACTIVE_BY_STATE.get(state or ""), "enabled": unit.enabled}
    wanted = {field: value for field, value in wanted.items() if value is not None}
    if not found.get("there"):
        wanted = {**wanted, **({"state": "active"} if is_new else {})}
        return [Step(CREATE, SERVICE, unit.name, NOT_THERE, after=wanted)]
    there = {"state": "active" if found["active"] in RUNNING else found["active"], "enabled": found["enabled"]}
    if there["state"] == "failed" and unit.state == "stopped":
        wanted.pop("state", None)
    changes = changed_fields(there, wanted)
    if not changes:
        return []
    risk = DISRUPTIVE if there["state"] == "active" and "state" in changes else NO_RISK
    return [Step(UPDATE, SERVICE, unit.name, reason_for(there, changes), risk, before=there, after={**there, **wanted})]


def _is_owed_a_restart(unit: Unit, found: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
    """Whether a unit runs with files that were changed since: a run has failed before it could restart it."""
    started = found.get("started_at")
    if started is None or found["active"] not in RUNNING:
        return False
    files = [seen["paths"][path] for path in unit.restarted_by if path in seen["paths"]]
    return any(file["modified"] > started for file in files)


def _packages(packages: Packages, seen: Mapping[str, Any]) -> list[Step]:
    known = seen["packages"]
    names = packages.names
    if packages.by_os_family:
        if known["os_family"] not in packages.by_os_family:
            raise Refused(
                f"this host runs {known['distribution']}, whose package names are not known; set {packages.otherwise} "
                "to what is needed there, or to [] to install nothing"
            )
        names = packages.by_os_family[known["os_family"]]
    missing = [name for name in names if known["unknown"] or name in known["missing"]]
    if not missing:
        return []
    before: Fields = {"missing": missing}
    return [Step(UPDATE, PACKAGE, ", ".join(names), "is not as wanted", before=before, after={"missing": []})]


def _account(account: Account, seen: Mapping[str, Any]) -> list[Step]:
    is_there = account.name in seen["accounts"]
    if is_there == account.is_there:
        return []
    if is_there:
        return [Step(REMOVE, ACCOUNT, account.name, "is there", before={"home": account.home})]
    return [Step(CREATE, ACCOUNT, account.name, NOT_THERE, after={"home": account.home})]


def _kernel_parameter(parameter: KernelParameter, seen: Mapping[str, Any]) -> list[Step]:
    found = seen["kernel_parameters"].get(parameter.name)
    if found is None:
        raise Refused(f"this host's kernel has no parameter {parameter.name}; correct its name, or load what has it")
    # The kernel separates several values by tabs.
    there, wanted = ({"value": " ".join(value.split())} for value in (found, parameter.value))
    if there == wanted:
        return []
    reason = reason_for(there, wanted)
    return [Step(UPDATE, KERNEL_PARAMETER, parameter.name, reason, before=there, after=wanted)]


def _made(made: Made, seen: Mapping[str, Any]) -> list[Step]:
    if made.creates in seen["paths"]:
        return []
    return [Step(RUN, TASK, made.name, f"{made.creates} is not there", before={}, after={})]


_COMPARISONS: dict[type, Callable[[Any, Mapping[str, Any]], list[Step]]] = {
    File: _file,
    Program: _program,
    Directory: _directory,
    Link: _link,
    Absent: _absent,
    Packages: _packages,
    Account: _account,
    KernelParameter: _kernel_parameter,
    Made: _made,
}
