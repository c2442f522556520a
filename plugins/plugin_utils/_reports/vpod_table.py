# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each vPOD stands, layer by layer, by the steps that are still due, and by what does not work. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import REMOVE
from ansible_collections.ipu.pod.plugins.module_utils._text.table import aligned
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import STARTUP

from .._pod.model import Declaration
from .table import finding_lines

# In the order in which a vPOD comes up; it goes down in the reverse one. The last is there where one has a cloud.
COLUMNS = ("allocation", "switch ports", "servers", "users", "partitions", "IPUoF", "cloud")
CLOUD = COLUMNS[-1]
DONE, GONE, NOT_YET, TO_BE_REMOVED, NONE = "done", "gone", "not yet", "to be removed", "none"
# It is as declared, and there is a finding.
NOT_WORKING = "not working"
# It is as declared, and would not be any more after a reload of the switch.
NOT_SAVED = "not saved"
# What each of Slurm's jobs has instead.
BY_JOBS, OF_JOBS = "by jobs", ("allocation", "partitions")

_OF_KIND = {"allocation": "allocation", "user": "users", "partition": "partitions"}
_OF_LAYER = {"switch": "switch ports", "server": "servers", "vpod": "IPUoF", "cloud": CLOUD}


Things = Sequence[Mapping[str, Any]]


def vpod_table(declaration: Declaration, steps: Things, names: Sequence[str], findings: Things) -> list[str]:
    """The vPODs of these ``names`` as lines of a table, and below it what is wrong with them.

    ``steps`` of a plan are still to be done; ``findings`` are the plan's.
    """
    columns = COLUMNS if declaration.clouds else COLUMNS[:-1]
    rows = [(name, *_states(declaration, steps, findings, name)[: len(columns)]) for name in names]
    about = [each for each in findings if set(names) & set(each["affected"]["vpods"])]
    return [*aligned([("vPOD", *columns), *rows]), *finding_lines(about)]


def _states(declaration: Declaration, steps: Things, findings: Things, name: str) -> list[str]:
    own = [step for step in steps if name in step["affected"]["vpods"] or _is_coming(declaration, step, name)]
    wrong = [finding for finding in findings if name in finding["affected"]["vpods"]]
    unsaved = {_column(each) for each in (*own, *wrong) if each["kind"] == STARTUP}
    own, wrong = ([each for each in some if each["kind"] != STARTUP] for some in (own, wrong))
    actions = {column: {step["action"] for step in own if _column(step) == column} for column in COLUMNS}
    # A vPOD's allocation is its IPU-Machines, each with an agent.
    broken = {"allocation" if each["kind"] == "agent" else _column(each) for each in wrong}
    finished = GONE if name in declaration.absent else DONE
    is_for_jobs = name in declaration.vpods and declaration.vpods[name].is_for_jobs
    vpod = {**declaration.absent, **declaration.vpods}[name]
    has_cloud = name in declaration.absent or vpod.cloud is not None
    without_steps = {
        **{column: BY_JOBS if is_for_jobs and column in OF_JOBS else finished for column in COLUMNS},
        **({} if has_cloud else {CLOUD: NONE}),
        **dict.fromkeys(unsaved, NOT_SAVED),
        **dict.fromkeys(broken, NOT_WORKING),
    }
    return [_due(actions[column], finished) or without_steps[column] for column in COLUMNS]


def _is_coming(declaration: Declaration, step: Mapping[str, Any], name: str) -> bool:
    """Whether a port comes into the VLAN of this vPOD; who loses it, is affected."""
    vlan, to = declaration.vpods[name].vlan if name in declaration.vpods else None, step["to"] or {}
    return step["kind"] == "port" and vlan is not None and vlan in (to.get("vlan"), to.get("native_vlan"))


def _due(actions: set[str], finished: str) -> str:
    """The state that follows from the steps; empty where there is none."""
    if not actions:
        return ""
    return TO_BE_REMOVED if finished == GONE or actions == {REMOVE} else NOT_YET


def _column(thing: Mapping[str, Any]) -> str:
    """The column that a step or a finding belongs to; empty for what is no vPOD's own."""
    return _OF_KIND.get(thing["kind"], "") if thing["layer"] == "controller" else _OF_LAYER.get(thing["layer"], "")
