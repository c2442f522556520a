# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared against actual, as a report: what drifted, what is ignored and why, what could not be looked at. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._reports.markdown import markdown_of
from .._reports.table import finding_lines, steps_of, wrapped
from .._reports.wording import counted
from .ignore_rules import EXPIRED, UNUSED, USED, Rule, divide

Report = dict[str, Any]

SAME, DRIFT, COULD_NOT_LOOK = "same", "drift", "could not look"
EXIT_CODES = {SAME: 0, COULD_NOT_LOOK: 1, DRIFT: 2}


def drift_report(
    plan: Mapping[str, Any], looked_at: Mapping[str, Mapping[str, Sequence[str]]], rules: Sequence[Rule], today: str
) -> Report:
    """The report: a plan document whose steps and findings are the drift that counts, and what is said of it.

    Args:
        plan: the plan document of a dry run.
        looked_at: device to kind to the names of all that was compared.
        rules: of the variable ``drift_ignore``.
        today: as 2026-11-21.

    Returns:
        The plan with ``verdict`` and its ``exit_code``, ``steps`` and ``findings`` without what is ignored,
        ``ignored``, ``rules`` with their ``state`` (used, unused, expired) and ``looked_at``. Where something could not
        be looked at, that is the verdict, whatever has drifted besides.
    """
    drifted, ignored, states = divide(rules, [*plan["steps"], *plan["findings"]], today)
    steps, findings = ([each for each in drifted if ("finding" in each) is is_finding] for is_finding in (False, True))
    verdict = COULD_NOT_LOOK if plan["unseen"] else DRIFT if drifted else SAME
    return {
        **{key: plan[key] for key in ("schema", "made", "by", "pods")},
        "verdict": verdict,
        "exit_code": EXIT_CODES[verdict],
        "steps": steps,
        "findings": findings,
        "ignored": [{"reason": each.get("finding"), **each} for each in ignored],
        "rules": states,
        "unseen": plan["unseen"],
        "not_ours": plan["not_ours"],
        "looked_at": {
            device: {kind: list(names) for kind, names in kinds.items()} for device, kinds in looked_at.items()
        },
        "fingerprint": plan["fingerprint"],
    }


def drift_summary(report: Mapping[str, Any]) -> str:
    """One sentence: how much was looked at, and what came of it."""
    things = sum(len(names) for kinds in report["looked_at"].values() for names in kinds.values())
    devices = len(report["looked_at"])
    seen = f"{counted(things, 'thing')} on {counted(devices, 'device')} looked at"
    drifted = {(each["device"], each["kind"], each["name"]) for each in (*report["steps"], *report["findings"])}
    outcome = f"{len(drifted)} not as declared" if drifted else "all as declared"
    ignored = f", {len(report['ignored'])} ignored" if report["ignored"] else ""
    unseen = {each["device"] for each in report["unseen"]}
    missing = f"; {counted(len(unseen), 'device')} could not be looked at" if unseen else ""
    return f"{seen}: {outcome}{ignored}{missing}."


def drift_table(report: Mapping[str, Any]) -> list[str]:
    """The report in the terminal, none of its lines longer than 100 columns."""
    asides = [
        *(f"{each['device']}: could not be looked at: {each['message']}" for each in report["unseen"]),
        *(
            f"ignored: {each['device']} {each['kind']} {each['name']} ({each['reason']}), until {each['until']}: "
            f"{each['ignored_because']}"
            for each in report["ignored"]
        ),
        *map(_rule_text, _remarkable(report["rules"])),
        *(f"not ours: {each['device']} {each['kind']} {each['name']}, {each['owner']}" for each in report["not_ours"]),
    ]
    lines = [line for text in asides for line in wrapped(text, "", "  ")]
    drifted = [*steps_of(report["steps"]), *finding_lines(report["findings"])]
    return [*drifted, *lines, *wrapped(drift_summary(report))]


def drift_markdown(report: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    rules = [_rule_text(rule) for rule in _remarkable(report["rules"])]
    return markdown_of(report, drift_summary(report), report["ignored"], rules)


def _remarkable(rules: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return [rule for rule in rules if rule["state"] != USED]


def _rule_text(rule: Mapping[str, str]) -> str:
    what = f"{rule['device']} {rule['kind']} {rule['name']}"
    sentences = {
        EXPIRED: f"has expired on {rule['until']} and ignores no longer; correct the pod, or give it a new day",
        UNUSED: "matches no drift; remove it",
    }
    return f"rule for {what} ({rule['reason']}) {sentences[rule['state']]}"
