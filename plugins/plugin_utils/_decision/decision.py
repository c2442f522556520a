# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``decide(declaration, looks, request)``: the whole plan, from the declaration and the looks at the devices. Pure.

Everything that can be known before anything is touched is known here: what every device should be, what contradicts
what, where the vPODs lie, whose work would end, and the steps of every device, stage by stage. Plan, drift and check
mode show it, a run carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line

from .._inventory import stages
from .._inventory.stages import DOWN, PARTS, STAGES, Stage
from .._pod.devices import CLOUD, CONTROLLER, MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, devices_of
from .._pod.kinds import DeclarationError
from .._pod.managed import unmanaged, wholly_unmanaged
from .._pod.model import CONTROLLER_LAYER, SERVERS_LAYER, SWITCH_LAYER, Declaration
from .cloud_steps import unmade_controllers
from .contradictions import contradictions, too_early
from .controller_steps import held, moved, needs_decision_point, silence
from .findings import findings_of
from .looks import Look, answered
from .reach import trespasses
from .stage_steps import Plan, plan_of
from .tenancy import Tenancy, hosts_of, refused_interruptions, tenancy_of

Looks = Mapping[str, Look]

# A layer of steps to the layer of `managed` in pods.yml, which has none for clouds.
LAYERS = {
    stages.SWITCH: SWITCH_LAYER,
    stages.SERVER: SERVERS_LAYER,
    stages.VPOD: SERVERS_LAYER,
    stages.CONTROLLER: CONTROLLER_LAYER,
}

LOOKED_AT = (TOR, MANAGEMENT_SWITCH, POPLAR_SERVER, CONTROLLER, CLOUD)
# Ansible has failed before the look could begin, and has said why.
NOT_LOOKED_AT = "Ansible could not begin to look at it; see why with -v, and correct how the inventory reaches it"


@dataclass(frozen=True)
class Request:
    """The request of a run."""

    hosts: Collection[str]  # the devices that it may change, those of ``--limit``
    only: tuple[str, ...] | None = None  # the vPODs that it is about (``vpods_only``); None for everything
    allowed: tuple[str, ...] = ()  # the vPODs that may be interrupted (``vpods_interrupt``)
    parts: Sequence[str] = PARTS  # those of :data:`stages.PARTS` that its playbook carries out
    checks_cables: bool = True  # whether what contradicts itself is refused; what nobody changes need not be right
    goes_on: bool = False  # whether it has carried out the stages up to the point where it decides again


@dataclass(frozen=True)
class Decision:
    """The decision of a run: its plan, or its refusals."""

    # What becomes of the vPODs, and what every device should be; None where that cannot be known.
    tenancy: Tenancy | None
    refusals: list[str]  # why the run must not begin, one sentence each
    unseen: list[dict[str, str]]  # ``device`` and ``message`` of what could not be looked at or planned
    # What is wrong and no step puts right, as in a plan document; a run fails for it in the end.
    findings: list[dict[str, str]] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)  # the steps, and what every device with a step should be
    point: str = ""  # the stage after which has to be looked and decided again; empty for none


def decide(declaration: Declaration, looks: Looks, request: Request) -> Decision:
    """The plan. Looks are also taken of controllers that the run does not change: they say where the vPODs lie."""
    try:
        unseen = _unseen(declaration, looks, request)
    except DeclarationError as error:
        return Decision(None, error.problems, [])
    silent = [f"{each['device']}: {each['message']}" for each in unseen]
    only_read = unmanaged(declaration)[CONTROLLER_LAYER]
    try:
        tenancy = tenancy_of(declaration, _held(looks, only_read), looks, request.only, request.allowed)
    except DeclarationError as error:
        return Decision(None, [*silent, *_silent_controllers(declaration, looks, only_read), *error.problems], unseen)
    may_change = _permission(declaration, request)
    plan = plan_of(tenancy, looks, may_change)
    incomplete = _incomplete(tenancy, request.parts) if request.parts else []
    plan.refusals += [] if incomplete else trespasses(tenancy, plan, looks, may_change, request.only)
    refusals = [
        *silent,
        *_silent_controllers(declaration, looks, only_read),
        *_moved_controllers(tenancy, looks, request.only),
        *(contradictions(declaration, tenancy, looks, request.parts) if request.checks_cables else []),
        *too_early(declaration, looks),
        *incomplete,
        *(refused_interruptions(tenancy, looks, request.allowed) if request.parts else []),
        *(_with_device(each) for each in plan.refusals),
    ]
    findings, unread = findings_of(tenancy, plan, looks, _concern(declaration, request), request.only)
    allocating = [host for (host, stage) in plan.made if stage == stages.CONTROLLERS]
    is_by_size = any(needs_decision_point(plan.made[host, stages.CONTROLLERS], looks[host]) for host in allocating)
    point = stages.CONTROLLERS if is_by_size else ""
    unknown = [*unseen, *plan.refusals, *(each for each in unread if each not in plan.refusals)]
    return Decision(tenancy, list(dict.fromkeys(map(one_line, refusals))), unknown, findings, plan, point)


def left_servers(declaration: Declaration, looks: Looks, only: Sequence[str]) -> list[str]:
    """The Poplar servers that some vPODs leave, which only the looks at their switches tell."""
    only_read = unmanaged(declaration)[CONTROLLER_LAYER]
    try:
        tenancy = tenancy_of(declaration, _held(looks, only_read), looks, only)
    except DeclarationError:
        # The decision says so.
        return []
    known = (*hosts_of(declaration, only), *wholly_unmanaged(declaration))
    return [name for name in tenancy.wanted["poplar_servers"] if name not in known]


def _held(looks: Looks, only_read: Collection[str]) -> dict[str, Any]:
    found = {host: held(look, host not in only_read) for host, look in looks.items()}
    return {host: there for host, there in found.items() if there is not None}


def _permission(declaration: Declaration, request: Request) -> Callable[[str, Stage], bool]:
    only_read = unmanaged(declaration)
    hosts = set(request.hosts)

    left = STAGES[len(DOWN) + 1 :] if request.goes_on else STAGES

    def may_change(device: str, stage: Stage) -> bool:
        is_due = stage in left and stage.part in request.parts
        return is_due and device in hosts and device not in only_read.get(LAYERS.get(stage.layer, ""), ())

    return may_change


def _concern(declaration: Declaration, request: Request) -> Callable[[str, Stage], bool]:
    """Which stages a run is about on a device; one that changes nothing is about all of them."""
    return _permission(declaration, replace(request, parts=request.parts or PARTS))


def _unseen(declaration: Declaration, looks: Looks, request: Request) -> list[dict[str, str]]:
    """The devices that the run is about and that have not answered."""
    left_alone = wholly_unmanaged(declaration)
    about = set(request.hosts)
    if request.only is not None:
        about &= set(hosts_of(declaration, request.only))
    known = [device.name for device in devices_of(declaration).values() if device.kind in LOOKED_AT]
    unmade = unmade_controllers(declaration, looks)
    # The playbook that makes these machines cannot look at them before; after a removal, nobody misses them.
    makes_them = set(request.parts) == {stages.CLOUDS}
    gone = set(unmade) if makes_them else {vpod.controller_host for vpod in declaration.absent.values()} & set(unmade)
    return [
        {"device": host, "message": unmade.get(host) or (looks[host]["message"] if host in looks else NOT_LOOKED_AT)}
        for host in known
        if host in about and host not in left_alone and host not in gone and not answered(looks.get(host))
    ]


def _with_device(refusal: Mapping[str, str]) -> str:
    """A refusal that says which device it is about, once."""
    device, message = refusal["device"], refusal["message"]
    return message if device in message else f"{device}: {message}"


def _silent_controllers(declaration: Declaration, looks: Looks, only_read: Collection[str]) -> list[str]:
    """The managed controllers that do not say what they hold, although their hosts have answered."""
    hosts = dict.fromkeys(controller.host_name for controller in declaration.controllers.values())
    found = [
        silence(looks[host]) for host in hosts if host in looks and answered(looks[host]) and host not in only_read
    ]
    return [each for each in found if each]


def _moved_controllers(tenancy: Tenancy, looks: Looks, only: Sequence[str] | None) -> list[str]:
    """Users and partitions cannot move between the shared controller of a cluster and one of a vPOD's own."""
    declaration = tenancy.declaration
    found = []
    for host in dict.fromkeys(controller.host_name for controller in declaration.controllers.values()):
        vpods = [
            vpod
            for vpod in (*declaration.absent.values(), *declaration.vpods.values())
            if declaration.controller_of(vpod).host_name == host and (only is None or vpod.name in only)
        ]
        there = [vpod for vpod in vpods if vpod.name in declaration.vpods]
        shared = [vpod.name for vpod in there if not vpod.is_dedicated]
        dedicated = [vpod.name for vpod in there if vpod.is_dedicated]
        elsewhere = {vpod.name: vpod.controller_host for vpod in vpods if vpod.controller_host}
        if host in looks and answered(looks[host]):
            found += moved(shared, dedicated, elsewhere, looks[host])
    return found


def _incomplete(tenancy: Tenancy, parts: Sequence[str]) -> list[str]:
    """A vPOD is carried through all layers, or through none."""
    down = [str(change) for change in tenancy.changes.values() if change.goes_down]
    if not down or "vpods" in parts:
        return []
    return [f"{'; '.join(down)}, which is more than this playbook does; run playbooks/vpods.yml"]
