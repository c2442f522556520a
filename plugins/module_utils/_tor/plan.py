# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a switch has to what is declared, as ordered steps. Pure."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import (
    CREATE,
    DESTRUCTIVE,
    NO_RISK,
    REMOVE,
    UPDATE,
    Fields,
    State,
    Step,
    changed_fields,
    predict,
    reason_for,
)
from .declared import Declared
from .fit import refuse_misfits
from .risk import named_vlans, port_risk, profile_risk, vlan_removal
from .running_config import (
    DSCPS,
    PFC_WATCHDOG,
    PORTS,
    PROFILES,
    QUEUES,
    TRAFFIC_CLASSES,
    VLANS,
    VNI_DEFAULTS,
    VNIS,
    RunningConfig,
    thing,
)
from .settings import FROM_CHANNEL, ONLY_IF_DECLARED, PORT_DEFAULTS, PROFILE_DEFAULTS, QUEUE_DEFAULTS, WATCHDOG_DEFAULTS
from .spelling import ACCESS, CHANNEL, EVERY_VLAN, TRUNK, default_vlan_name, vlan_ids, vlan_ranges

# Later kinds refer to earlier ones. Lines of the whole switch come before the blocks that could take them for theirs.
_DEFAULTS: Mapping[str, Fields] = {
    VNIS: VNI_DEFAULTS,
    DSCPS: {},
    TRAFFIC_CLASSES: {},
    PFC_WATCHDOG: WATCHDOG_DEFAULTS,
    PROFILES: PROFILE_DEFAULTS,
    QUEUES: QUEUE_DEFAULTS,
}
NOT_THERE = "declared, but not on the switch"
NOT_DECLARED = "in the scope, but not declared"


def covered(declared: Declared, running: RunningConfig) -> dict[str, list[str]]:
    """The names of all things that are declared or in the scope, by kind; of QoS only kinds that are declared."""
    names = {kind: list(things) for kind, things in declared.wanted.items() if things or kind in (VLANS, PORTS)}
    for kind in (VLANS, VNIS):
        found = [*_unlisted(declared, running, kind), *_absent(declared, running, kind)]
        if found:
            names[kind] = [*names.get(kind, []), *dict.fromkeys(found)]
    names[PORTS] += _unlisted_ports(declared, running)
    return names


def state_of(names: Mapping[str, Sequence[str]], running: RunningConfig) -> State:
    """Return the state of some things on a switch: ``{"vlan": {"101": ...}, "port": {"Ethernet9/1": ...}}``."""
    found = {kind: {name: thing(running.state, kind, name) for name in names[kind]} for kind in names}
    return {
        kind: {name: fields for name, fields in things.items() if fields is not None} for kind, things in found.items()
    }


def plan(declared: Declared, running: RunningConfig) -> list[Step]:
    """The steps that make the switch what is declared, those of the canary first.

    Raises:
        Refused: the declaration does not fit this switch.
    """
    ports = _port_steps(declared, running)
    left = left_vlans(declared, running, predict(running.state, ports)[PORTS])
    steps = [*_vlan_steps(declared, running), *_other_steps(declared, running, left), *ports]
    steps += _removals(declared, running, steps, left)
    refuse_misfits(declared, running, steps)
    first = [step for step in steps if is_for_canary(declared, running, step)]
    return first + [step for step in steps if step not in first]


def is_for_canary(declared: Declared, running: RunningConfig, step: Step) -> bool:
    """Return whether a step changes a canary port, or creates something unused that such a port may need."""
    if not declared.canary:
        return False
    if step.kind == PORTS:
        return step.name in declared.canary
    if step.kind in (PROFILES, QUEUES):
        return not _users(running, step.name.split()[0])
    return step.kind == VLANS and step.action == CREATE


def _users(running: RunningConfig, profile: str) -> list[str]:
    """The ports that have a profile."""
    return [name for name, fields in running.ports.items() if fields["qos_profile"] == profile]


def _vlan_steps(declared: Declared, running: RunningConfig) -> list[Step]:
    steps = []
    for vlan_id, wanted in declared.wanted[VLANS].items():
        before = running.vlans.get(vlan_id)
        defaults = {"name": default_vlan_name(int(vlan_id))}
        after = _target(defaults if declared.exact or before is None else before, wanted)
        steps += _step(VLANS, vlan_id, before, after)
    return steps


def _unlisted(declared: Declared, running: RunningConfig, kind: str) -> list[str]:
    """The VLANs of the scope that are there and not declared, or the VNIs that have to go with them."""
    names = declared.scope_vlans & running.state[kind].keys() - declared.wanted[VLANS].keys()
    return sorted(names, key=int)


def _absent(declared: Declared, running: RunningConfig, kind: str) -> list[str]:
    """The VLANs that are declared absent and there under their names, or the VNIs that go with them."""
    return [
        vlan_id
        for vlan_id, name in declared.absent_vlans.items()
        if vlan_id in running.state[kind] and name in (None, running.vlans.get(vlan_id, {}).get("name"))
    ]


def _other_steps(declared: Declared, running: RunningConfig, left: Sequence[str]) -> list[Step]:
    """VNIs, also of VLANs that go because every port has left them, and quality of service."""
    steps = []
    for kind, defaults in _DEFAULTS.items():
        gone = {*left, *_unlisted(declared, running, kind)} if kind == VNIS else set()
        unlisted = sorted(gone & running.state[kind].keys(), key=int)
        for name, wanted in {**declared.wanted[kind], **dict.fromkeys(unlisted, defaults)}.items():
            before = thing(running.state, kind, name)
            after = _target(defaults if declared.exact or before is None else before, wanted)
            users = _users(running, name.split()[0]) if kind in (PROFILES, QUEUES) else None
            steps += _step(kind, name, before, after, profile_risk(users))
    return steps


def _port_steps(declared: Declared, running: RunningConfig) -> list[Step]:
    """Port channels first: members follow into what is there."""
    steps = []
    names = [*declared.owners, *_unlisted_ports(declared, running)]
    for name in sorted(names, key=lambda name: not name.startswith(CHANNEL)):
        before = running.ports.get(name)
        if before is None and not name.startswith(CHANNEL):
            raise Refused(f"{name}: the switch has no such port; declare only ports that its running-config shows")
        owner = declared.owners.get(name, NOT_DECLARED)
        refused = declared.not_allowed.get(name, frozenset())
        after = _port_target(declared.wanted[PORTS].get(name, {}), before, declared.exact, refused)
        risk = port_risk(running, before, after) if before else NO_RISK
        steps += _step(PORTS, name, before, after, risk, owner)
    return steps


def _unlisted_ports(declared: Declared, running: RunningConfig) -> list[str]:
    """The ports of the scope that go back to defaults. A port channel that is not there has them already."""
    names = declared.scope_ports - declared.owners.keys() - declared.external
    return sorted(name for name in names if name in running.ports or not name.startswith(CHANNEL))


def left_vlans(declared: Declared, running: RunningConfig, ports: Mapping[str, Fields]) -> list[str]:
    """The VLANs that are declared absent and go: no port names them any more, and they have no interface."""
    named = {vlan_id for fields in ports.values() for vlan_id in named_vlans(fields)}
    return [
        vlan_id
        for vlan_id in _absent(declared, running, VLANS)
        if int(vlan_id) not in named and vlan_id not in running.routed_vlans
    ]


def _removals(declared: Declared, running: RunningConfig, steps: Sequence[Step], left: Sequence[str]) -> list[Step]:
    """VLANs go when the ports have left them."""
    removed = [
        Step(REMOVE, VLANS, vlan_id, "declared absent, and no port has it", DESTRUCTIVE, running.vlans[vlan_id])
        for vlan_id in left
    ]
    for vlan_id in _unlisted(declared, running, VLANS):
        reason, risk = vlan_removal(declared, running, steps, vlan_id)
        removed.append(Step(REMOVE, VLANS, vlan_id, f"{NOT_DECLARED}{reason}", risk, running.vlans[vlan_id]))
    return removed


def _target(base: Fields, wanted: Fields) -> Fields:
    return {**base, **{field: value for field, value in wanted.items() if value is not None}}


def _port_target(wanted: Fields, before: Fields | None, exact: bool, refused: frozenset[int]) -> Fields:
    """Return all desired fields of a port: the declared ones; the rest as they are, or EOS's defaults if exact.

    Whether it is shut down, MTU and quality of service stay unless they are declared, and so do settings that a member
    has from its channel.
    """
    present = before or PORT_DEFAULTS
    group = (
        present["channel_group"] if wanted.get("channel_group") is None and not exact else wanted.get("channel_group")
    )
    kept = {*ONLY_IF_DECLARED, *(FROM_CHANNEL if group else ())}
    base = {field: present[field] if not exact or field in kept else PORT_DEFAULTS[field] for field in PORT_DEFAULTS}
    after = _without(refused, _target(base, wanted if exact else _merged(wanted, present)))
    return {**after, "lacp": (after["lacp"] or "active") if after["channel_group"] else ""}


def _without(refused: frozenset[int], fields: Fields) -> Fields:
    """A port that carries none of these VLANs; a trunk that carries every VLAN gets a list of the others."""
    if not refused or fields["mode"] != TRUNK or not refused & vlan_ids(fields["allowed_vlans"]):
        return fields
    return {**fields, "allowed_vlans": vlan_ranges(vlan_ids(fields["allowed_vlans"]) - refused)}


def _merged(wanted: Fields, before: Fields) -> Fields:
    """The wanted fields; on a trunk with a list of its own, the allowed VLANs are added to that list."""
    own_list = before["mode"] == TRUNK and before["allowed_vlans"] != EVERY_VLAN
    if wanted["allowed_vlans"] is None or not own_list or wanted["mode"] == ACCESS:
        return wanted
    return {**wanted, "allowed_vlans": vlan_ranges(vlan_ids(wanted["allowed_vlans"] + before["allowed_vlans"]))}


def _step(
    kind: str, name: str, before: Fields | None, after: Fields, risk: str = NO_RISK, owner: str = ""
) -> list[Step]:
    """The step from before to after; none if they are equal."""
    prefix = f"{owner}: " if owner else ""
    if before is None:
        return [Step(CREATE, kind, name, f"{prefix}{NOT_THERE}", NO_RISK, after=after)]
    changes: dict[str, Any] = changed_fields(before, after)
    if not changes:
        return []
    return [Step(UPDATE, kind, name, f"{prefix}{reason_for(before, changes)}", risk, before, after)]
