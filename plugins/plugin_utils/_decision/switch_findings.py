# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that keeps the declared ports and VLANs of a switch from carrying frames, from its look. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Fields, Step
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import PORTS, VLANS, parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import ACCESS, vlan_ids
from ansible_collections.ipu.pod.plugins.module_utils._tor.status import ACTIVE, CONNECTED, ERRDISABLED, Status
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import NAME, STARTUP

from .._pod.model import ABSENT
from .._pod.switches import EXTERNAL, SPARE, UPLINK
from .finding import Finding
from .looks import Look, read
from .switch_steps import unsaved_after

Options = Mapping[str, Any]

OPENED = (
    "give the port `enabled: true` in pods.yml, and the next run opens it, or `enabled: false` where it is to stay so"
)


def switch_findings(options: Options, look: Look, steps: Sequence[Step]) -> list[Finding]:
    """Return the findings on a switch.

    ``options`` are those of :func:`.switch_steps.switch_steps`, with the ``roles`` of ports; ``steps`` all that the
    plan does there. Refused if what has to be known of it could not be read.
    """
    status = Status(**read(look, "status"))
    ports = parse(read(look, "running_config")["text"]).after(steps).ports
    changed = {step.name for step in steps if step.kind == PORTS}
    declared = [str(vlan["vlan_id"]) for vlan in options["vlans"] if vlan.get("state") != ABSENT]
    # What this plan makes was not there to be seen.
    seen = [vlan_id for vlan_id in declared if vlan_id in status.vlans]
    found = [each for vlan_id in seen for each in _of_vlan(vlan_id, status)]
    active = [vlan_id for vlan_id in seen if status.vlans[vlan_id] == ACTIVE]
    roles = options.get("roles", {})
    for port in options["ports"]:
        name = port["name"]
        if port.get("owner") == EXTERNAL or port.get("enabled") is False or name not in ports:
            continue
        if roles.get(name) != SPARE:
            vlans = [] if name in changed else active
            found += _of_port(port, ports[name], status, vlans, roles.get(name) == UPLINK)
    return found


def saving_findings(options: Options, look: Look, steps: Sequence[Step]) -> list[Finding]:
    """Return the finding that what is ours cannot be saved, because of others; ``steps`` are all of the plan there."""
    left = unsaved_after(steps, options, look["settings"], look)
    return [Finding(STARTUP, NAME, left.problem, left.remedy)] if left.problem else []


def _of_vlan(vlan_id: str, status: Status) -> Iterator[Finding]:
    state = status.vlans[vlan_id]
    if state != ACTIVE:
        remedy = f"ask who has done that, then enter `state active` below `vlan {vlan_id}` on the switch"
        yield Finding(VLANS, vlan_id, f"VLAN {vlan_id} is {state}, so no port carries it", remedy)


def _of_port(
    port: Options, fields: Fields, status: Status, vlans: Sequence[str], may_be_blocked: bool
) -> Iterator[Finding]:
    """Return the fault of one port, the first of all that would follow from it; ``vlans`` are active on the switch."""
    name = port["name"]
    what = f"port {name} ({port['owner']})" if port.get("owner") else f"port {name}"
    blocking = [instance for instance, names in status.blocked.items() if name in names]
    missing = [each for each in _carried(fields, vlans) if name not in status.members.get(each, ())]
    if not fields["enabled"]:
        yield Finding(PORTS, name, f"{what} is shut down", OPENED)
    elif status.links.get(name) == ERRDISABLED:
        remedy = (
            "`show interfaces status errdisabled` on the switch says why; put that right, then enter `shutdown` and "
            "`no shutdown` at the port"
        )
        yield Finding(PORTS, name, f"{what} is err-disabled", remedy)
    elif blocking and not may_be_blocked:
        remedy = "look for a second way to what is at this port, which makes a loop, and take it away"
        yield Finding(PORTS, name, f"{what} is blocked by spanning tree ({', '.join(blocking)})", remedy)
    elif missing and status.links.get(name) == CONNECTED:
        nouns = "VLAN" if len(missing) == 1 else "VLANs"
        remedy = f"compare `show vlan {missing[0]}` on the switch: a VLAN with trunk groups is only on trunks of these"
        yield Finding(PORTS, name, f"{what} carries {nouns} {', '.join(missing)} by its configuration only", remedy)


def _carried(fields: Fields, vlans: Sequence[str]) -> list[str]:
    """Those of some VLANs that a port should carry; a member of a channel leaves that to the channel."""
    if fields["channel_group"]:
        return []
    own = {fields["vlan"]} if fields["mode"] == ACCESS else vlan_ids(fields["allowed_vlans"])
    return [vlan_id for vlan_id in vlans if int(vlan_id) in own]
