# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a switch has to what is declared: the steps, and the configuration lines that carry them out. Pure."""

from __future__ import annotations

from typing import Sequence

from .._plan.converge import Refused
from .._plan.steps import (
    CREATE,
    DISRUPTIVE,
    NO_RISK,
    UPDATE,
    Fields,
    State,
    Step,
    changed_fields,
    reason_for,
)
from .declared import Declared, Port
from .running_config import RunningConfig
from .spelling import (
    ACCESS,
    EVERY_VLAN,
    PORT_FIELDS,
    ROUTED,
    TRUNK,
    UNSHOWN_MTU,
    default_vlan_name,
    vlan_ids,
    vlan_ranges,
)

VLAN, PORT = "vlan", "port"


def state_of(declared: Declared, running: RunningConfig) -> State:
    """The part of a running-config that is declared: ``{"vlan": {"101": ...}, "port": {"Ethernet9/1": ...}}``."""
    return {
        VLAN: {vlan_id: running.vlans[vlan_id] for vlan_id in declared.vlans if vlan_id in running.vlans},
        PORT: {name: running.ports[name] for name in declared.ports if name in running.ports},
    }


def plan(declared: Declared, running: RunningConfig) -> list[Step]:
    """The steps that make the switch what is declared: VLANs first, then the ports that use them.

    Raises:
        Refused: the declaration does not fit this switch.
    """
    return _vlan_steps(declared, running) + _port_steps(declared, running)


def commands_for(steps: Sequence[Step]) -> list[str]:
    """The EOS configuration lines that carry out the steps."""
    lines: list[str] = []
    for step in steps:
        after = step.after or {}
        if step.kind == VLAN:
            unnamed = default_vlan_name(int(step.name))
            lines.append(f"vlan {step.name}")
            if after["name"] != (step.before or {"name": unnamed})["name"]:
                lines.append("no name" if after["name"] == unnamed else f"name {after['name']}")
        else:
            changes = changed_fields(step.before or {}, after)
            lines.append(f"interface {step.name}")
            lines += [field.line(changes[field.name]) for field in PORT_FIELDS if field.name in changes]
    return lines


def render(declared: Declared) -> list[str]:
    """The EOS configuration lines for all that is declared, whatever the switch has."""
    vlans = [Step(CREATE, VLAN, name, "", after=_new_vlan(name, wanted)) for name, wanted in declared.vlans.items()]
    ports = [Step(UPDATE, PORT, name, "", after=port.fields) for name, port in declared.ports.items()]
    return commands_for(vlans + ports)


def _new_vlan(vlan_id: str, wanted: Fields) -> Fields:
    return {"name": wanted["name"] or default_vlan_name(int(vlan_id))}


def _vlan_steps(declared: Declared, running: RunningConfig) -> list[Step]:
    steps = []
    for vlan_id, wanted in declared.vlans.items():
        before = running.vlans.get(vlan_id)
        if before is None:
            after = _new_vlan(vlan_id, wanted)
            steps.append(Step(CREATE, VLAN, vlan_id, "declared, but not on the switch", after=after))
            continue
        changes = changed_fields(before, wanted)
        if changes:
            after = {**before, **changes}
            steps.append(Step(UPDATE, VLAN, vlan_id, reason_for(before, changes), before=before, after=after))
    return steps


def _port_steps(declared: Declared, running: RunningConfig) -> list[Step]:
    known_vlans = vlan_ids([*declared.vlans, *running.vlans])
    steps = []
    for name, port in declared.ports.items():
        before = running.ports.get(name)
        if before is None:
            raise Refused(f"{name}: the switch has no such port; declare only ports that its running-config shows")
        changes = changed_fields(before, _merged(port, before))
        if changes:
            after = {**before, **changes}
            _refuse_misfit(name, before, after, known_vlans)
            reason = f"{port.owner}: {reason_for(before, changes)}"
            steps.append(Step(UPDATE, PORT, name, reason, _risk(before, changes), before, after))
    return steps


def _merged(port: Port, before: Fields) -> Fields:
    """The wanted fields; on a trunk with a list of its own, the allowed VLANs are added to that list."""
    wanted = port.fields
    own_list = before["mode"] == TRUNK and before["allowed_vlans"] != EVERY_VLAN
    if wanted["allowed_vlans"] is None or not own_list or wanted["mode"] == ACCESS:
        return wanted
    return {**wanted, "allowed_vlans": vlan_ranges(vlan_ids(wanted["allowed_vlans"] + before["allowed_vlans"]))}


def _refuse_misfit(name: str, before: Fields, after: Fields, known_vlans: frozenset[int]) -> None:
    if before["mode"] == ROUTED:
        raise Refused(f"{name}: it is a routed port (no switchport); declare it external, or make it a switch port")
    if after["mtu"] == UNSHOWN_MTU != before["mtu"]:
        raise Refused(f"{name}: EOS does not limit a switched port to mtu {UNSHOWN_MTU}; give another, or leave it out")
    unknown = _used_vlans(after) - _used_vlans(before) - known_vlans
    if unknown:
        spelled = ",".join(vlan_ranges(unknown))
        raise Refused(f"{name}: VLAN {spelled} is not on the switch; declare it in vlans or take it off the port")
    native = after["native_vlan"]
    if _drops_native(after) and not (_drops_native(before) and before["native_vlan"] == native):
        raise Refused(f"{name}: native VLAN {native} is not among its allowed VLANs; add it to allowed_vlans")


def _used_vlans(fields: Fields) -> frozenset[int]:
    """The VLANs that a port names. An unrestricted trunk names none: it carries whatever the switch has."""
    allowed = [] if fields["allowed_vlans"] == EVERY_VLAN else fields["allowed_vlans"]
    return vlan_ids(allowed) | {fields["vlan"], fields["native_vlan"]}


def _drops_native(fields: Fields) -> bool:
    """Whether a trunk drops untagged frames. EOS's default, native VLAN 1, says nothing about the owner's intent."""
    native = fields["native_vlan"]
    return fields["mode"] == TRUNK and native != 1 and native not in vlan_ids(fields["allowed_vlans"])


def _risk(before: Fields, changes: Fields) -> str:
    """Whether frames that pass today may stop passing."""
    harmless = {"description"}
    if changes.get("enabled"):
        harmless.add("enabled")
    if vlan_ids(before["allowed_vlans"]) <= vlan_ids(changes.get("allowed_vlans", EVERY_VLAN)):
        harmless.add("allowed_vlans")
    return NO_RISK if set(changes) <= harmless else DISRUPTIVE
