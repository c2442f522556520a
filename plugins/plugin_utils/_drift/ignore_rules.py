# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift that its owner knows of: which, why, and until when. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

PATTERNS = ("device", "kind", "name")
REQUIRED = ("reason", "until")

USED, UNUSED, EXPIRED = "used", "unused", "expired"


@dataclass(frozen=True)
class Rule:
    """Ignores what all three patterns match (``*`` and ``?``, as of file names) up to and with the day ``until``."""

    device: str
    kind: str
    name: str
    reason: str
    until: str

    def ignores(self, drift: Mapping[str, Any]) -> bool:
        """Whether a step or a finding is what the rule is about."""
        return all(fnmatchcase(str(drift[field]), getattr(self, field)) for field in PATTERNS)

    def is_expired(self, today: str) -> bool:
        """Whether its last day is over; days are written as 2026-12-31."""
        return self.until < today


def parse_rules(declared: Any) -> list[Rule]:
    """The rules of the variable ``drift_ignore``.

    Raises:
        Refused: with everything that is wrong with them.
    """
    if not isinstance(declared, list):
        raise Refused("drift_ignore is not a list; write a list of rules with device, kind, name, reason and until")
    problems = [
        problem for number, rule in enumerate(declared) for problem in _problems(f"drift_ignore[{number}]", rule)
    ]
    if problems:
        raise Refused("; ".join(problems))
    every = dict.fromkeys(PATTERNS, "*")
    return [Rule(**{**every, **{field: str(value) for field, value in rule.items()}}) for rule in declared]


def _problems(path: str, rule: Any) -> list[str]:
    if not isinstance(rule, Mapping):
        return [f"{path} is not a mapping; write device, kind, name, reason and until"]
    unknown = [field for field in rule if field not in (*PATTERNS, *REQUIRED)]
    known = ", ".join((*PATTERNS, *REQUIRED))
    problems = [f"{path}.{field} is not a known key; known are {known}" for field in unknown]
    problems += [
        f"{path}.{field} is missing; every rule says why and until when" for field in REQUIRED if not rule.get(field)
    ]
    if not any(rule.get(field) for field in PATTERNS):
        problems.append(f"{path} would ignore everything; give a pattern for device, kind or name")
    if rule.get("until") and not _is_day(str(rule["until"])):
        problems.append(f"{path}.until: {str(rule['until'])!r} is not a day such as 2026-12-31")
    return problems


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def divide(
    rules: Sequence[Rule], steps: Sequence[Mapping[str, Any]], today: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, str]]]:
    """Return drift that counts, ignored drift with ``ignored_because`` and ``until``, and each rule's state."""
    valid = [rule for rule in rules if not rule.is_expired(today)]
    used = {rule for rule in valid for step in steps if rule.ignores(step)}
    counts: list[dict[str, Any]] = []
    ignored: list[dict[str, Any]] = []
    for step in steps:
        rule = next((rule for rule in valid if rule.ignores(step)), None)
        if rule is None:
            counts.append(dict(step))
        else:
            ignored.append({**step, "ignored_because": rule.reason, "until": rule.until})
    states = [
        {**asdict(rule), "state": EXPIRED if rule.is_expired(today) else USED if rule in used else UNUSED}
        for rule in rules
    ]
    return counts, ignored, states
