# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a decision means for the plays that follow and for people: who is in which stage, the plan document. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._desired.degraded import undamaged
from .._desired.desired import desired
from .._placement.placement import Placement
from .._pod.devices import CONTROLLER, MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, devices_of
from .._pod.hosts import IDLE, canaries_first
from .._pod.managed import unmanaged, wholly_unmanaged
from .._pod.model import CONTROLLER_LAYER, SERVERS_LAYER, SWITCH_LAYER, Declaration
from .._pod.stages import PARTS, SERVERS, STAGES, SWITCHES, SWITCHES_DOWN, VERIFICATION, group_of
from .._review.not_ours import not_ours_on_controllers, not_ours_on_switches
from .._review.plan_document import Document, plan_document
from .decision import Decision, Request
from .looks import Look, part
from .tenancy import Tenancy

Member = dict[str, Any]


def members(
    decision: Decision, declaration: Declaration, looks: Mapping[str, Look], request: Request, verifies_all: bool
) -> list[Member]:
    """The devices that have something to do: ``host``, the ``groups`` that it joins, and its ``options`` in each stage.

    Where has to be decided again, there are none of the stages after that. A run that leaves layers out verifies
    nothing: what it does not carry out may still be missing.
    """
    names = [stage.name for stage in STAGES]
    last = names.index(decision.point) if decision.point else len(names)
    by_host: dict[str, dict[str, Any]] = {}
    for name in names[: last + 1]:
        for host, options in decision.plan.options.get(name, {}).items():
            is_switch = name in (SWITCHES, SWITCHES_DOWN)
            by_host.setdefault(host, {})[name] = _with_helpers(options, looks) if is_switch else options
    is_whole = set(PARTS) <= set(request.parts)
    if decision.tenancy is not None and not decision.point and (is_whole or verifies_all):
        for host, options in _verified(decision.tenancy, request.hosts if verifies_all else by_host).items():
            by_host.setdefault(host, {})[VERIFICATION] = options
    may_be = set(request.hosts)
    places = {device.name: place for place, device in enumerate(canaries_first(declaration))}
    return [
        {"host": host, "groups": [*map(group_of, options), *_state(options, looks.get(host))], "options": options}
        for host, options in sorted(by_host.items(), key=lambda each: places.get(each[0], len(places)))
        if host in may_be
    ]


def _state(options: Mapping[str, Any], look: Look | None) -> list[str]:
    """Whether it is a Poplar server on which nobody has an RDMA connection to lose: the NICs are down."""
    nics = (part(look, "nics") or {}).get("nics", [])
    rdma = [each["up"] for each in nics if each["rdma_device"]]
    return [IDLE] if SERVERS in options and rdma and not any(rdma) else []


def _with_helpers(switch: Mapping[str, Any], looks: Mapping[str, Look]) -> Mapping[str, Any]:
    """The switch's options, with ARP probes only from servers whose RNIC is up."""
    arp_probes = {
        name: arp_probe
        for name, arp_probe in switch.get("arp_probes", {}).items()
        if _is_up(looks.get(name), arp_probe["interface"])
    }
    return {**switch, "arp_probes": arp_probes}


def _is_up(look: Look | None, interface: str) -> bool:
    links: Mapping[str, Any] = (part(look, "links") or {}).get("links", {})
    return bool(links.get(interface, {}).get("up"))


def _verified(tenancy: Tenancy, changing: Collection[str]) -> dict[str, Any]:
    """The Poplar servers that show whether everything works in the pods in which something changes."""
    devices, only_read = devices_of(tenancy.declaration), unmanaged(tenancy.declaration)
    pods = {devices[host].pod for host in changing if host in devices and devices[host].pod}
    of_controllers = {
        pod
        for cluster in tenancy.declaration.clusters.values()
        if tenancy.declaration.controllers[cluster.controller].host_name in changing
        for pod in cluster.pods
    }
    return {
        name: {"interface": options["interfaces"][0]["name"], **{key: options[key] for key in ("peers", "partitions")}}
        for name, options in tenancy.wanted["poplar_servers"].items()
        if devices[name].kind == POPLAR_SERVER
        and devices[name].pod in pods | of_controllers
        and name not in only_read[SERVERS_LAYER]
    }


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
    """What is on controllers and switches and belongs to somebody else."""
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


def helpers(found: Sequence[Member], kept: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """The devices that a run contacts besides those with steps, or for more than their steps, each with what ``for``.

    Args:
        found: the members of the stages.
        kept: host to the pods whose locks it keeps.
    """
    probes = [
        {"device": server, "for": f"sends ARP probes to IPU-Machines on {each['host']}"}
        for each in found
        for stage in (SWITCHES_DOWN, SWITCHES)
        for server in each["options"].get(stage, {}).get("arp_probes", {})
    ]
    return [
        *({"device": host, "for": f"keeps the locks of {', '.join(pods)}"} for host, pods in kept.items()),
        *probes,
        *({"device": each["host"], "for": "verifies"} for each in found if VERIFICATION in each["options"]),
    ]


def changing(found: Sequence[Member]) -> list[str]:
    """The devices that a run changes, without those that only verify."""
    return [each["host"] for each in found if set(each["options"]) - {VERIFICATION}]


def verifying(found: Sequence[Member]) -> bool:
    """Whether a run shows in the end that what it has changed works."""
    return any(VERIFICATION in each["options"] for each in found)


def left_out(declaration: Declaration, request: Request) -> list[str]:
    """What a run does not look at, by ``--limit`` and by ``managed``."""
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
    """What is under way on devices, by somebody else or by a run that has broken off."""
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


def by_stage(steps: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[Mapping[str, Any]]]]:
    """Stage to device to its steps there."""
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for step in steps:
        found.setdefault(step["stage"], {}).setdefault(step["device"], []).append(step)
    return found
