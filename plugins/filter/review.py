# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for plan.yml, apply.yml and drift.yml: the plan as a document, and what people read of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.degraded import undamaged
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import Placement, place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._review.drift import drift_markdown, drift_report, drift_table
from ansible_collections.ipu.pod.plugins.plugin_utils._review.ignore_rules import parse_rules
from ansible_collections.ipu.pod.plugins.plugin_utils._review.junit import junit_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.markdown import markdown_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.moved import moved, not_carried_out
from ansible_collections.ipu.pod.plugins.plugin_utils._review.not_ours import (
    not_ours_on_controllers,
    not_ours_on_switches,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._review.page import page_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.plan_document import (
    guessed_places,
    parse_plan,
    plan_document,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._review.rack import rack_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.table import table_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.vpod_table import vpod_table


def plan_document_of(
    steps: Any, declaration: Any, allocations: Any, run: Any, unseen: Any, not_ours: Any, told: Any = ()
) -> dict[str, Any]:
    """The plan that the recorded steps of a dry run make."""
    parsed, placement = _with_absent(*_placed(declaration, allocations, told), allocations)
    foretold = [step for step in steps if step["foretold"]]
    unknown = [*unseen, *guessed_places(parsed, allocations)]
    return plan_document(parsed, placement, foretold, unknown, not_ours, run["started"], run["by"])


def racks_of(declaration: Any, allocations: Any, told: Any = ()) -> dict[str, Any]:
    """What stands in the racks, for the page of a plan."""
    return rack_of(*_placed(declaration, allocations, told))


def not_ours_of(declaration: Any, allocations: Any, held: Any, gathered: Any) -> list[dict[str, str]]:
    """What is on controllers and switches and belongs to somebody else."""
    parsed, placement = _placed(declaration, allocations)
    # What is left alone because an IPU-Machine is excluded is nobody else's.
    wanted = desired(undamaged(parsed), placement)
    switches = {**wanted["tor_switches"], **wanted["management_switches"]}
    controllers = not_ours_on_controllers(wanted["vipu_controllers"], held)
    return [*controllers, *not_ours_on_switches(switches, gathered)]


def drift_report_of(plan: Any, looked_at: Any, rules: Any, today: str) -> dict[str, Any]:
    """The plan as a report of drift."""
    try:
        return drift_report(plan, looked_at, parse_rules(rules), today)
    except Refused as error:
        raise AnsibleFilterError(str(error)) from None


def moved_since(now: Any, saved: str, source: str) -> list[str]:
    """What has moved since a plan was saved."""
    try:
        return moved(parse_plan(saved, source), now)
    except Refused as error:
        raise AnsibleFilterError(str(error)) from None


def not_carried_out_of(steps: Any, saved: str, source: str) -> list[str]:
    """How a real run has differed from the plan that it was to carry out."""
    try:
        return not_carried_out(parse_plan(saved, source), [step for step in steps if not step["foretold"]])
    except Refused as error:
        raise AnsibleFilterError(str(error)) from None


def vpod_table_of(declaration: Any, plan: Any, only: Any = None) -> list[str]:
    """Where each vPOD stands, by the plan that is still to be carried out."""
    parsed = parse_declaration(declaration)
    return vpod_table(parsed, plan["steps"], [*parsed.absent, *parsed.vpods] if only is None else only)


def _with_absent(parsed: Declaration, placement: Placement, allocations: Any) -> tuple[Declaration, Placement]:
    """Those that are to go still feel what is taken from them, as long as nobody else has it."""
    held = {name: fields["agents"] for names in allocations.values() for name, fields in names.items()}
    there = {name: held.get(name, []) for name in parsed.absent}
    return replace(parsed, vpods={**parsed.absent, **parsed.vpods}), {**there, **placement}


def _placed(declaration: Any, allocations: Any, told: Any = ()) -> tuple[Declaration, Placement]:
    agents = {host: {name: fields["agents"] for name, fields in names.items()} for host, names in allocations.items()}
    try:
        parsed = parse_declaration(declaration)
        return parsed, place(parsed, agents, told)
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "drift_junit": junit_of,
            "drift_markdown": drift_markdown,
            "drift_report": drift_report_of,
            "drift_table": drift_table,
            "moved_since": moved_since,
            "not_carried_out": not_carried_out_of,
            "not_ours": not_ours_of,
            "plan_document": plan_document_of,
            "plan_markdown": markdown_of,
            "plan_page": page_of,
            "plan_table": table_of,
            "racks": racks_of,
            "vpod_table": vpod_table_of,
        }
