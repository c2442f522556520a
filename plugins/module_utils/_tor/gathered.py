# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of a switch as options of tor_switch that change nothing there. Pure."""

from __future__ import annotations

from typing import Any

from .._plan.steps import Fields
from .declared import EXTERNAL
from .running_config import DSCPS, PFC_WATCHDOG, PROFILES, QUEUES, SWITCH, TRAFFIC_CLASSES, VNIS, RunningConfig, thing
from .settings import FROM_CHANNEL, QUEUE_DEFAULTS, WATCHDOG_DEFAULTS, default_traffic_class
from .spelling import ACCESS, CHANNEL, TRUNK

_MEMBER_FIELDS = ("channel_group", "lacp", "lldp")


def gathered(running: RunningConfig) -> dict[str, Any]:
    """Return all VLANs and ports in running-config order, and quality of service that is not EOS's default."""
    return {
        "vlans": [
            {"vlan_id": int(vlan_id), **fields, **(thing(running.state, VNIS, vlan_id) or {})}
            for vlan_id, fields in running.vlans.items()
        ],
        "ports": [_port(name, fields) for name, fields in running.ports.items()],
        "qos": _qos(running),
    }


def _port(name: str, fields: Fields) -> dict[str, Any]:
    """Ports that tor_switch does not configure (routed, tunnel, ...) are somebody else's."""
    if fields["mode"] not in (ACCESS, TRUNK):
        return {"name": name, "owner": EXTERNAL, "description": fields["description"]}
    left_out = [
        *(FROM_CHANNEL if fields["channel_group"] else ("lacp",)),
        *(_MEMBER_FIELDS if name.startswith(CHANNEL) else ()),
        # Half of LLDP, and no trust at all, can be kept but not declared.
        *(("lldp",) if not isinstance(fields["lldp"], bool) else ()),
        *(("qos_trust",) if fields["qos_trust"] == "none" else ()),
    ]
    return {"name": name, **{field: value for field, value in fields.items() if field not in left_out}}


def _qos(running: RunningConfig) -> dict[str, Any]:
    state = running.state
    return {
        "dscp_to_traffic_class": {
            int(dscp): fields["traffic_class"]
            for dscp, fields in state[DSCPS].items()
            if fields["traffic_class"] != default_traffic_class(int(dscp))
        },
        "traffic_class_to_tx_queue": {
            int(name): fields["tx_queue"]
            for name, fields in state[TRAFFIC_CLASSES].items()
            if fields["tx_queue"] != int(name)
        },
        "profiles": [_profile(running, name, fields) for name, fields in state[PROFILES].items()],
        "watchdog": state[PFC_WATCHDOG][SWITCH] if state[PFC_WATCHDOG][SWITCH] != WATCHDOG_DEFAULTS else None,
    }


def _profile(running: RunningConfig, name: str, fields: Fields) -> dict[str, Any]:
    queues = [
        {"queue": int(key.split()[1]), **_queue(queue)}
        for key, queue in running.state[QUEUES].items()
        if key.split()[0] == name and queue != QUEUE_DEFAULTS
    ]
    declarable = {field: value for field, value in fields.items() if value not in ("none", "")}
    return {"name": name, **declarable, "queues": queues}


def _queue(fields: Fields) -> Fields:
    """Thresholds that do not count in bytes can be kept but not declared."""
    return {field: value for field, value in fields.items() if not (field == "ecn" and isinstance(value, str))}
