# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task with one of Ansible's own modules does, as one step: a file, a service, packages, or the task itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import (
    CREATE,
    DISRUPTIVE,
    NO_RISK,
    REMOVE,
    Fields,
    reason_for,
)

FILE_MODULES = ("file", "copy", "template", "lineinfile", "blockinfile")
SERVICE_MODULES = ("systemd_service", "systemd", "service")
PACKAGE_MODULES = ("package", "apt", "dnf")
# A command has no before and after.
RUN = "run"
SECRET = "(secret)"
LINES = "lines"
ABSENT = "absent"

ACTIVE_BY_STATE = {"started": "active", "restarted": "restarted", "reloaded": "reloaded", "stopped": "inactive"}


def task_step(module: str, task: str, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> Fields:
    """The step of a task with ``module``; for a result without a change it has the right ``kind`` and ``name``."""
    if module in FILE_MODULES:
        path = next((arguments[key] for key in ("dest", "path", "name") if arguments.get(key)), "")
        return {"kind": "file", "name": str(path), **_file(result)}
    if module in SERVICE_MODULES:
        return {"kind": "service", "name": str(arguments.get("name") or "systemd"), **_service(arguments, result)}
    if module in PACKAGE_MODULES:
        names = arguments.get("name") or []
        listed = ", ".join([names] if isinstance(names, str) else names)
        return {"kind": "package", "name": listed, "reason": "is not as wanted", "from": {}, "to": {}}
    made = arguments.get("creates")
    reason = f"{made} is not there" if made else "is not as wanted"
    return {"action": RUN, "kind": "task", "name": task, "from": {}, "to": {}, "reason": reason}


def _file(result: Mapping[str, Any]) -> Fields:
    """Content and attributes of a file that differ. What is kept out of logs is not in the result, so not here.

    Without diff mode Ansible says no more than that the file differs.
    """
    if "censored" in result:
        secret = {"content": SECRET}
        return {"from": secret, "to": secret, "reason": "content or attributes differ", "observed": secret}
    if not result.get("diff"):
        return {"from": {}, "to": {}, "reason": "is not as wanted", "observed": {}}
    before: Fields = {}
    after: Fields = {}
    for old, new in _differences(result.get("diff")):
        before.update(old)
        after.update(new)
    if not before or before.get("state") == ABSENT:
        return {"action": CREATE, "from": None, "to": after, "reason": "is not there", "observed": None}
    observed = {field: _digest(value) if field == LINES else value for field, value in before.items()}
    if after.get("state") == ABSENT:
        return {"action": REMOVE, "from": before, "to": None, "reason": "is there", "observed": observed}
    changed = [field for field in after if before.get(field) != after[field]]
    attributes = {field: after[field] for field in changed if field != LINES}
    reasons = [*(["content differs"] if LINES in changed else []), reason_for(before, attributes)]
    old = {field: before.get(field) for field in changed}
    new = {field: after[field] for field in changed}
    if LINES in changed:
        old[LINES], new[LINES] = _lines(before.get(LINES, []), after[LINES])
    return {"from": old, "to": new, "reason": ", ".join(filter(None, reasons)), "observed": observed}


def _lines(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines that go and the lines that come."""
    changes = [change for change in SequenceMatcher(None, before, after, False).get_opcodes() if change[0] != "equal"]
    removed = [line for _what, start, end, _start, _end in changes for line in before[start:end]]
    added = [line for _what, _start, _end, start, end in changes for line in after[start:end]]
    return removed, added


def _differences(diff: Any) -> Iterator[tuple[Fields, Fields]]:
    """Before and after of each part of Ansible's diff, as fields; before is empty where the file is not there."""
    for part in [diff] if isinstance(diff, Mapping) else diff or []:
        before, after = part.get("before"), part.get("after")
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield _without_path(before), _without_path(after)
        elif isinstance(before, str) and isinstance(after, str):
            yield {LINES: before.splitlines()} if "before_header" in part else {}, {LINES: after.splitlines()}


def _without_path(fields: Mapping[str, Any]) -> Fields:
    return {field: value for field, value in fields.items() if field != "path"}


def _digest(lines: Sequence[str]) -> str:
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _service(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> Fields:
    """What a unit does and whether it starts with the host. A unit that is yet to be written has no status."""
    status = result.get("status") or {}
    is_there = bool(status) and status.get("LoadState") != "not-found"
    there = {"state": status.get("ActiveState"), "enabled": status.get("UnitFileState") == "enabled"}
    wanted: Fields = {}
    if arguments.get("state"):
        wanted["state"] = ACTIVE_BY_STATE.get(str(arguments["state"]), str(arguments["state"]))
    if arguments.get("enabled") is not None:
        wanted["enabled"] = str(arguments["enabled"]).lower() in ("true", "yes", "1", "on")
    if not is_there:
        return {"action": CREATE, "from": None, "to": wanted, "reason": "is not there"}
    new = {field: value for field, value in wanted.items() if value != there[field]}
    old = {field: there[field] for field in new}
    is_felt = old.get("state") == "active"
    return {
        "from": old,
        "to": new,
        "reason": reason_for(old, new) or "its unit is read again",
        "risk": DISRUPTIVE if is_felt else NO_RISK,
        "observed": there,
    }
