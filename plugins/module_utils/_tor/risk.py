# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The risk of a step. Pure."""

from __future__ import annotations

from typing import Sequence

from .._plan.converge import Refused
from .._plan.steps import DESTRUCTIVE, DISRUPTIVE, NO_RISK, TENANT_OUTAGE, Fields, Step, changed_fields, predict
from .declared import Declared
from .running_config import PORTS, RunningConfig
from .spelling import EVERY_VLAN, TENANT_VLAN, TRUNK, vlan_ids


def carried_vlans(fields: Fields) -> frozenset[int]:
    """The VLANs that a port carries by its own words; all of them for a trunk that is not restricted."""
    if not fields["enabled"]:
        return frozenset()
    return vlan_ids(fields["allowed_vlans"]) if fields["mode"] == TRUNK else frozenset({fields["vlan"]})


def named_vlans(fields: Fields) -> frozenset[int]:
    """The VLANs that a port uses by name; none for a trunk that carries whatever the switch has, but its native one."""
    if fields["mode"] != TRUNK:
        return frozenset({fields["vlan"]})
    allowed = [] if fields["allowed_vlans"] == EVERY_VLAN else fields["allowed_vlans"]
    return vlan_ids(allowed) | {fields["native_vlan"]}


def port_risk(running: RunningConfig, before: Fields, after: Fields) -> str:
    """Whether frames that pass today may stop passing, and whether they are a tenant's (by the VLAN's name)."""
    lost = {str(vlan_id) for vlan_id in carried_vlans(before) - carried_vlans(after)}
    if not after["channel_group"] and any(
        running.vlans[vlan_id]["name"].startswith(TENANT_VLAN) for vlan_id in lost & running.vlans.keys()
    ):
        return TENANT_OUTAGE
    changes = changed_fields(before, after)
    harmless = {"description"}
    if changes.get("enabled"):
        harmless.add("enabled")
    if vlan_ids(before["allowed_vlans"]) <= vlan_ids(changes.get("allowed_vlans", EVERY_VLAN)):
        harmless.add("allowed_vlans")
    return NO_RISK if set(changes) <= harmless else DISRUPTIVE


def profile_risk(users: Sequence[str] | None) -> str:
    """Return the risk of a changed profile for the ports that have it; None if it concerns the whole switch."""
    return NO_RISK if users is not None and not users else DISRUPTIVE


def vlan_removal(declared: Declared, running: RunningConfig, steps: Sequence[Step], vlan_id: str) -> tuple[str, str]:
    """The end of the reason, and the risk, of removing a VLAN once all other steps are done.

    Raises:
        Refused: what is not ours needs the VLAN.
    """
    if vlan_id in running.routed_vlans:
        raise Refused(f"VLAN {vlan_id}: it has an interface of its own, Vlan{vlan_id}; take it out of scope.vlans")
    ports = predict(running.state, steps)[PORTS]
    users = [name for name, fields in ports.items() if int(vlan_id) in named_vlans(fields)]
    for name in users:
        if name in declared.external:
            raise Refused(f"VLAN {vlan_id}: {name}, which is external, uses it; take it out of scope.vlans")
    if users:
        return f", and still used by {', '.join(users)}", TENANT_OUTAGE
    return "", DESTRUCTIVE
