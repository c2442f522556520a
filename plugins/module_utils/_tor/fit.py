# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions in a switch's configuration, one sentence each. A change that adds one is refused. Pure."""

from __future__ import annotations

from typing import Collection, Iterator, Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import Fields, State, Step, predict
from .declared import Declared
from .running_config import (
    DSCPS,
    PFC_WATCHDOG,
    PORTS,
    PROFILES,
    QUEUES,
    SWITCH,
    TRAFFIC_CLASSES,
    VLANS,
    VNIS,
    RunningConfig,
    thing,
)
from .settings import FROM_CHANNEL, default_traffic_class
from .spelling import CHANNEL, EVERY_VLAN, ROUTED, TRUNK, UNSHOWN_MTU, vlan_ids

RESERVED_CLASS = 7


def refuse_misfits(declared: Declared, running: RunningConfig, steps: Sequence[Step]) -> None:
    """Refuse steps after which something does not fit that fitted before.

    Raises:
        Refused: with the first such thing.
    """
    for name, wanted in declared.wanted[PORTS].items():
        _refuse_channel_settings(name, wanted, running.ports.get(name))
    changed = {step.name for step in steps if step.kind == PORTS}
    for name in changed & running.ports.keys():
        if running.ports[name]["mode"] == ROUTED:
            raise Refused(f"{name}: it is a routed port (no switchport); declare it external, or make it a switch port")
    if not running.has_vxlan:
        for step in steps:
            if step.kind == VNIS and (step.after or {})["vni"]:
                raise Refused(
                    f"VLAN {step.name}: the switch has no interface Vxlan1 with a vxlan source-interface for its vni; "
                    "set up VXLAN first, or leave vni out"
                )
    after = predict(running.state, steps)
    # The ports of other people may still name a VLAN that goes: that is a risk of its removal.
    before = set(misfits(running.state, changed))
    for sentence in misfits(after, changed, _still_unrestricted(declared, running)):
        if sentence not in before:
            raise Refused(sentence)


def _still_unrestricted(declared: Declared, running: RunningConfig) -> set[str]:
    """The trunks that carry whatever the switch has, but for what they must not: their new list is nobody's words."""
    return {
        name
        for name in declared.not_allowed.keys() & running.ports.keys()
        if running.ports[name]["allowed_vlans"] == EVERY_VLAN and not declared.wanted[PORTS][name]["allowed_vlans"]
    }


def misfits(state: State, ports: set[str], unrestricted: Collection[str] = ()) -> Iterator[str]:
    """Return the contradictions in quality of service, VXLAN and these ports; ``unrestricted`` trunks name no VLANs."""
    yield from _vni_misfits(state)
    yield from _channel_misfits(state[PORTS])
    yield from _map_misfits(state)
    yield from _watchdog_misfits(state[PFC_WATCHDOG][SWITCH])
    for name, profile in state[PROFILES].items():
        yield from _profile_misfits(state, name, profile)
    for name in sorted(ports & state[PORTS].keys()):
        yield from _port_misfits(state, name, state[PORTS][name], name in unrestricted)


def _refuse_channel_settings(name: str, wanted: Fields, before: Fields | None) -> None:
    group = (before or {}).get("channel_group", 0) if wanted["channel_group"] is None else wanted["channel_group"]
    if wanted["lacp"] and not group:
        raise Refused(f"{name}: it is in no port channel, so lacp means nothing; give channel_group, or leave lacp out")
    for field in FROM_CHANNEL if group else ():
        if wanted[field] is not None:
            channel = f"{CHANNEL}{group}"
            raise Refused(
                f"{name}: it is a member of {channel}, which decides on {field}; declare {field} at {channel}"
            )


def channel_of(fields: Fields) -> tuple[int, bool]:
    """The port channel of a member, and whether it is a static one; members of one channel agree on that."""
    return fields["channel_group"], fields["lacp"] == "on"


def _channel_misfits(ports: Mapping[str, Fields]) -> Iterator[str]:
    channels = {channel_of(fields) for fields in ports.values() if fields["channel_group"]}
    for group, is_static in sorted(channels):
        if is_static and (group, False) in channels:
            yield f"{CHANNEL}{group}: some members negotiate by LACP and some are static; give all one kind"


def _vni_misfits(state: State) -> Iterator[str]:
    seen: dict[int, str] = {}
    for vlan_id, fields in state[VNIS].items():
        vni = fields["vni"]
        if vni in seen:
            yield f"VLAN {vlan_id}: its vni {vni} is that of VLAN {seen[vni]}; give each VLAN one of its own"
        if vni:
            seen[vni] = vlan_id


def _map_misfits(state: State) -> Iterator[str]:
    for dscp, fields in state[DSCPS].items():
        if fields["traffic_class"] == RESERVED_CLASS != default_traffic_class(int(dscp)):
            yield f"qos.dscp_to_traffic_class[{dscp}]: traffic class 7 is the switch's own; give 0 to 6"
    for name, fields in state[TRAFFIC_CLASSES].items():
        if (int(name) == RESERVED_CLASS) != (fields["tx_queue"] == RESERVED_CLASS):
            yield f"qos.traffic_class_to_tx_queue[{name}]: class and queue 7 are the switch's own; use 0 to 6"


def _watchdog_misfits(watchdog: Fields) -> Iterator[str]:
    times = [watchdog[name] for name in ("timeout", "recovery_time") if watchdog[name]]
    polling = watchdog["polling_interval"]
    if times and polling > min(times) / 2:
        yield (
            f"qos.watchdog.polling_interval: {polling:g} s is more than half of timeout or recovery_time; "
            f"give at most {min(times) / 2:g}"
        )


def _profile_misfits(state: State, name: str, profile: Fields) -> Iterator[str]:
    for priority in profile["no_drop"]:
        if priority == RESERVED_CLASS:
            yield f"profile {name}: priority 7 is the switch's own; give no_drop 0 to 6"
        if profile["trust"] != "cos" and all(each["traffic_class"] != priority for each in state[DSCPS].values()):
            yield (
                f"profile {name}: no DSCP is mapped to traffic class {priority}, so no_drop {priority} stops nothing; "
                "map one in qos.dscp_to_traffic_class"
            )
        number = state[TRAFFIC_CLASSES][str(priority)]["tx_queue"]
        queue = thing(state, QUEUES, f"{name} {number}") or {}
        if queue["priority"] == "strict":
            yield (
                f"profile {name}: queue {number} carries the no-drop priority {priority} and is served strictly, which "
                "starves the others; give it priority none"
            )
        if profile["watchdog"] and not queue["bandwidth_guaranteed_kbps"]:
            yield (
                f"profile {name}: the watchdog does not watch queue {number} without a guaranteed bandwidth; give it "
                "bandwidth_guaranteed_kbps, for example 100"
            )


def _port_misfits(state: State, name: str, fields: Fields, is_unrestricted: bool) -> Iterator[str]:
    if fields["mtu"] == UNSHOWN_MTU:
        yield f"{name}: EOS does not limit a switched port to mtu {UNSHOWN_MTU}; give another, or leave it out"
    for vlan_id in sorted(_mentioned_vlans(fields, is_unrestricted) - vlan_ids(state[VLANS])):
        yield f"{name}: VLAN {vlan_id} is not on the switch; declare it in vlans or take it off the port"
    native = fields["native_vlan"]
    # EOS's default, native VLAN 1, says nothing about the owner's intent.
    if fields["mode"] == TRUNK and native != 1 and native not in vlan_ids(fields["allowed_vlans"]):
        yield f"{name}: native VLAN {native} is not among its allowed VLANs; add it to allowed_vlans"
    if fields["qos_profile"] and fields["qos_profile"] not in state[PROFILES]:
        yield f"{name}: profile {fields['qos_profile']} is not on the switch; declare it in qos.profiles"
    channel = f"{CHANNEL}{fields['channel_group']}"
    if fields["channel_group"] and channel not in state[PORTS]:
        yield f"{name}: {channel} is not on the switch; declare it in ports too"


def _mentioned_vlans(fields: Fields, is_unrestricted: bool) -> frozenset[int]:
    """The VLANs that a port names in any mode. An unrestricted trunk names none: it carries whatever the switch has."""
    allowed = [] if is_unrestricted or fields["allowed_vlans"] == EVERY_VLAN else fields["allowed_vlans"]
    return vlan_ids(allowed) | {fields["vlan"], fields["native_vlan"]}
