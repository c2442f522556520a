# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a decision means for people: the plan document, what is somebody else's, what was left out, notes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .._desired.degraded import undamaged
from .._desired.desired import desired
from .._drift.not_ours import not_ours_on_controllers, not_ours_on_switches
from .._placement.placement import Placement
from .._pod.devices import CONTROLLER, MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, devices_of
from .._pod.managed import unmanaged, wholly_unmanaged
from .._pod.model import CONTROLLER_LAYER, SERVERS_LAYER, SWITCH_LAYER, Declaration
from .._reports.plan_document import Document, plan_document
from .decision import Decision, Request
from .looks import Look, part
from .tenancy import Tenancy


def document_of(
    decision: Decision, looks: Mapping[str, Look], declaration: Declaration, made: str, by: str
) -> Document:
    """The plan as a document."""
    tenancy = decision.tenancy
    if tenancy is None:
        unknown = [{"device": "pods.yml", "message": message} for message in decision.refusals]
        return plan_document(replace(declaration, vpods={}), {}, [], unknown or decision.unseen, [], made, by)
    steps = [{key: value for key, value in step.items() if key != "stage"} for step in decision.plan.steps]
    with_absent, placement = _with_absent(tenancy)
    return plan_document(with_absent, placement, steps, decision.unseen, not_ours(tenancy, looks), made, by)


def not_ours(tenancy: Tenancy, looks: Mapping[str, Look]) -> list[dict[str, str]]:
    """Return what others own on controllers and switches."""
    # What is left alone because an IPU-Machine is excluded is nobody else's.
    wanted = desired(undamaged(tenancy.declaration), tenancy.placement)
    switches = {**wanted["tor_switches"], **wanted["management_switches"]}
    gathered = {
        host: found
        for host, look in looks.items()
        for found in [part(look, "gathered")]
        if found is not None and host in switches
    }
    held = {host: entities for host, entities in tenancy.held.items() if host in wanted["vipu_controllers"]}
    controllers = not_ours_on_controllers(wanted["vipu_controllers"], held)
    return [*controllers, *not_ours_on_switches(switches, gathered)]


def _with_absent(tenancy: Tenancy) -> tuple[Declaration, Placement]:
    """Those that are to go still feel what is taken from them, as long as nobody else has it."""
    declaration = tenancy.declaration
    held = {name: agents for names in tenancy.allocations.values() for name, agents in names.items()}
    there = {name: held.get(name, []) for name in declaration.absent}
    everybody = replace(declaration, vpods={**declaration.absent, **declaration.vpods})
    return everybody, {**there, **tenancy.placement}


def left_out(declaration: Declaration, request: Request) -> list[str]:
    """Return lines on devices that a run leaves out, by ``--limit`` and by ``managed``."""
    only_read = wholly_unmanaged(declaration)
    hosts = set(request.hosts)
    kinds = (TOR, MANAGEMENT_SWITCH, POPLAR_SERVER, CONTROLLER)
    known = [device.name for device in devices_of(declaration).values() if device.kind in kinds]
    by_limit = [name for name in known if name not in hosts and name not in only_read]
    words = {SWITCH_LAYER: "switches", SERVERS_LAYER: "Poplar servers", CONTROLLER_LAYER: "V-IPU controllers on"}
    by_layer = [f"{words[layer]} {', '.join(names)}" for layer, names in unmanaged(declaration).items() if names]
    return [
        *([f"Left out by --limit: {', '.join(by_limit)}"] if by_limit else []),
        *([f"Not managed by pods.yml: {'; '.join(by_layer)}"] if by_layer else []),
    ]


def notes(looks: Mapping[str, Look]) -> list[str]:
    """Return lines on changes in progress, by somebody else or by an interrupted run."""
    found = []
    for host, look in looks.items():
        sessions, network = part(look, "sessions") or {}, part(look, "network") or {}
        if sessions.get("timer") is not None:
            found.append(f"{host}: a commit timer is running; the switch undoes that commit in {sessions['timer']} s")
        if sessions.get("busy"):
            found.append(f"{host}: configuration sessions are open: {', '.join(sorted(sessions['busy']))}")
        if network.get("pending"):
            found.append(f"{host}: a change of its NICs is not confirmed yet and undoes itself")
        if network.get("undone"):
            found.append(f"{host}: a change of its NICs was not confirmed; the old settings are back")
    return found
