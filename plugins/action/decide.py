# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what a run does, from pods.yml and what the devices have answered. Everything that decides is pure."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.this_run import this_run
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.looks import answered
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.machine_findings import MACHINE
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.site_hooks import hooks_of
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_members import (
    by_stage,
    changing,
    disturbed,
    helpers,
    members,
    verifying,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import document_of, left_out, notes
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import PARTS
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.managed import lock_hosts
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.plan_document import (
    moved,
    parse_plan,
    unrecognised,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.run_report import with_done
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.wording import finding_text
from ansible_collections.ipu.pod.plugins.plugin_utils._tried.warnings import untried

OPTIONS = {
    "parts": {"type": "list", "elements": "str", "choices": list(PARTS), "default": list(PARTS)},
    "vpods": {"type": "list", "elements": "str"},
    "interrupt": {"type": "list", "elements": "str", "default": []},
    "plan": {"type": "path"},
    "cables": {"type": "bool", "default": True},
    "verify": {"type": "bool", "default": False},
    "goes_on": {"type": "bool", "default": False},
    "hooks": {"type": "path"},
}


class ActionModule(PodAction):
    """The thin shell: looks and pods.yml to the pure part, its plan to the folder of the run."""

    spec = OPTIONS
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The plan in short; the whole of it is in the folder of the run."""
        folder = RunFolder()
        declaration = declaration_of(variables, self._loader)
        looks = folder.fresh_looks()
        request = Request(
            hosts=[str(host) for host in variables["ansible_play_hosts_all"]],
            only=None if options["vpods"] is None else tuple(options["vpods"]),
            allowed=tuple(options["interrupt"]),
            parts=tuple(options["parts"]),
            checks_cables=options["cables"],
            goes_on=options["goes_on"],
        )
        decision = decide(declaration, looks, request)
        run = this_run()
        made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = members(decision, declaration, looks, request, options["verify"])
        kept = lock_hosts(declaration, changing(found))
        document = {
            **document_of(decision, looks, declaration, made, f"{run.user}@{run.host}"),
            "helpers": helpers(found, kept),
        }
        digest = folder.write("plan", "document", document)
        before = folder.read("plan", "reading") or {"stages": {}}
        around = {
            "stages": with_done(by_stage(decision.plan.steps), before["stages"], folder.done()),
            "looked_at": sorted(_answered(looks)),
            "left_out": left_out(declaration, request),
            "notes": notes(looks),
            "verifying": verifying(found),
        }
        folder.write("plan", "reading", {**_reading(decision), **around})
        refusals, warnings = _since(options["plan"], document)
        hooks, misnamed = _hooks(options["hooks"])
        return {
            "refusals": [*decision.refusals, *refusals, *misnamed],
            "warnings": [*warnings, *untried(looks)],
            "looked_at": len(_answered(looks)),
            "steps": len(document["steps"]),
            "findings": [finding_text(each) for each in decision.findings if each["kind"] != MACHINE],
            "undecided": decision.point,
            "digest": digest,
            "made_at": int(time.time()),
            "folder": str(folder.folder),
            "hooks": hooks,
            "members": found,
            "changing": changing(found),
            "disturbed": disturbed(decision.plan.steps),
        }


def _answered(looks: dict[str, Any]) -> list[str]:
    return [host for host, look in looks.items() if answered(look)]


def _reading(decision: Decision) -> dict[str, Any]:
    """The facts that reports need besides the plan."""
    tenancy = decision.tenancy
    return {
        "compared": decision.plan.compared,
        "degraded": tenancy.wanted["degraded"] if tenancy else [],
        "refusals": decision.refusals,
        "allocations": tenancy.allocations if tenancy else {},
        "placement": tenancy.placement if tenancy else {},
        "wanted": tenancy.wanted if tenancy else {},
    }


def _hooks(folder: str | None) -> tuple[dict[str, str], list[str]]:
    """The site's own task files, and why some are refused; both empty where there are none."""
    if folder is None:
        return {}, []
    try:
        return hooks_of(folder, [path.name for path in Path(folder).iterdir()])
    except OSError as error:
        return {}, [f"site_hooks: {error.strerror}: {folder}; name a folder with task files, or leave site_hooks out"]


def _since(path: str | None, document: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Why a saved plan is not carried out, and what it cannot tell; both empty where there is none."""
    if path is None:
        return [], []
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Refused(str(error)) from None
    saved = parse_plan(text, path)
    found = moved(saved, document)
    refusals = [f"The plan of {path} is not carried out. Since it was made:", *found] if found else []
    return refusals, unrecognised(saved, path)
