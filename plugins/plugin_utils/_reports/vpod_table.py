# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each vPOD stands, layer by layer, by the steps that are still due. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import REMOVE
from ansible_collections.ipu.pod.plugins.module_utils._text.table import aligned

from .._pod.model import Declaration

# In the order in which a vPOD comes up; it goes down in the reverse one.
COLUMNS = ("allocation", "switch ports", "servers", "users", "partitions", "IPUoF")
DONE, GONE, NOT_YET, TO_BE_REMOVED = "done", "gone", "not yet", "to be removed"
# What each of Slurm's jobs has instead.
BY_JOBS, OF_JOBS = "by jobs", ("allocation", "partitions")

_OF_KIND = {"allocation": "allocation", "user": "users", "partition": "partitions"}
_OF_LAYER = {"switch": "switch ports", "server": "servers", "vpod": "IPUoF"}


def vpod_table(declaration: Declaration, steps: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """The vPODs of these ``names`` as lines of a table; ``steps`` of a plan are still to be done."""
    return aligned([("vPOD", *COLUMNS), *((name, *_states(declaration, steps, name)) for name in names)])


def _states(declaration: Declaration, steps: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    own = [step for step in steps if name in step["affected"]["vpods"] or _is_coming(declaration, step, name)]
    actions = {column: {step["action"] for step in own if _column(step) == column} for column in COLUMNS}
    finished = GONE if name in declaration.absent else DONE
    is_for_jobs = name in declaration.vpods and declaration.vpods[name].is_for_jobs
    return [_state(actions[column], BY_JOBS if is_for_jobs and column in OF_JOBS else finished) for column in COLUMNS]


def _is_coming(declaration: Declaration, step: Mapping[str, Any], name: str) -> bool:
    """Whether a port comes into the VLAN of this vPOD; who loses it, is affected."""
    vlan, to = declaration.vpods[name].vlan if name in declaration.vpods else None, step["to"] or {}
    return step["kind"] == "port" and vlan is not None and vlan in (to.get("vlan"), to.get("native_vlan"))


def _state(actions: set[str], finished: str) -> str:
    if not actions:
        return finished
    return TO_BE_REMOVED if finished == GONE or actions == {REMOVE} else NOT_YET


def _column(step: Mapping[str, Any]) -> str:
    """The column that a step belongs to; empty for what is no vPOD's own."""
    return _OF_KIND.get(step["kind"], "") if step["layer"] == "controller" else _OF_LAYER.get(step["layer"], "")
