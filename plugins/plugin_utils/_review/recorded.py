# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the result of one task to the steps that it carried out, or in a dry run foretells. Pure.

A recorded step is plain data: ``device``, ``layer``, ``action``, ``kind``, ``name``, ``from`` and ``to`` (only the
fields that differ; None where the thing is not there), ``reason``, ``risk``, and ``observed`` (all fields as read; None
where the thing is not there). Steps of roles that are no layer of a pod are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import NO_RISK, UPDATE, Fields

from .recorded_tasks import task_step

Recorded = dict[str, Any]

LAYER_OF_ROLE = {
    "tor_switch": "switch",
    "poplar_server": "server",
    "poplar_host": "server",
    "pod_services": "server",
    "vipu_controller": "controller",
    "vpod": "vpod",
}
# Two modules look after an interface of a server, so what the second one does has a kind of its own.
KIND_OF_MODULE = {("rnic_roce", "interface"): "roce"}


@dataclass(frozen=True)
class Task:
    """What a result came from: the role without its collection, the module without its, the task's name, arguments."""

    role: str
    module: str
    name: str
    arguments: Mapping[str, Any]


def recorded_steps(task: Task, device: str, result: Mapping[str, Any]) -> list[Recorded]:
    """The steps in the result of ``task`` on ``device``, in order."""
    layer = LAYER_OF_ROLE.get(task.role)
    if layer is None:
        return []
    if "plan" in result:
        return [_recorded(device, layer, **{**step, "kind": _kind(task, step["kind"])}) for step in _planned(result)]
    if not result.get("changed"):
        return []
    return [_recorded(device, layer, **task_step(task.module, task.name, task.arguments, result))]


def looked_at(task: Task, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kind and name of everything that the task compared with what is declared, whether it differs or not."""
    if task.role not in LAYER_OF_ROLE or (result.get("skipped") and not result.get("changed")):
        return []
    if "plan" in result:
        states = [result.get(state) or {} for state in ("before", "after")]
        things = ((_kind(task, kind), name) for state in states for kind, names in state.items() for name in names)
        return list(dict.fromkeys(things))
    step = task_step(task.module, task.name, task.arguments, result)
    return [] if step["kind"] == "task" and not result.get("changed") else [(step["kind"], step["name"])]


def _kind(task: Task, kind: str) -> str:
    return KIND_OF_MODULE.get((task.module, kind), kind)


def _planned(result: Mapping[str, Any]) -> Iterator[Fields]:
    """The steps of one of the collection's own modules; after a failure those that were done."""
    differing = result.get("diff") or {}
    for step in result.get("done", result["plan"]):
        kind, name = step["kind"], step["name"]
        yield {
            **step,
            "from": _of(differing.get("before"), kind, name),
            "to": _of(differing.get("after"), kind, name),
            "observed": _of(result.get("before"), kind, name),
        }


def _of(state: Any, kind: str, name: str) -> Any:
    return ((state or {}).get(kind) or {}).get(name)


def _recorded(device: str, layer: str, **step: Any) -> Recorded:
    """The step in the one order of keys that documents have."""
    whole = {"action": UPDATE, "from": None, "to": None, "reason": "", "risk": NO_RISK, "observed": None, **step}
    keys = ("action", "kind", "name", "from", "to", "reason", "risk", "observed")
    return {"device": device, "layer": layer, **{key: whole[key] for key in keys}}
