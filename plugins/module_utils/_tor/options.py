# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of tor_switch; the documentation is in doc_fragments and in the module."""

from __future__ import annotations

from typing import Any, Dict

Spec = Dict[str, Any]

_VLAN: Spec = {
    "vlan_id": {"type": "int", "required": True},
    "name": {"type": "str"},
    "vni": {"type": "int"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}

_PORT: Spec = {
    "name": {"type": "str", "required": True},
    "owner": {"type": "str", "default": "pod"},
    "description": {"type": "str"},
    "mode": {"type": "str", "choices": ["access", "trunk"]},
    "vlan": {"type": "int"},
    "native_vlan": {"type": "int"},
    "allowed_vlans": {"type": "list", "elements": "str"},
    "not_allowed_vlans": {"type": "list", "elements": "str"},
    "mtu": {"type": "int"},
    "enabled": {"type": "bool"},
    "channel_group": {"type": "int"},
    "lacp": {"type": "str", "choices": ["active", "passive", "on"]},
    "spanning_tree_edge": {"type": "bool"},
    "lldp": {"type": "bool"},
    "qos_profile": {"type": "str"},
    "qos_trust": {"type": "str", "choices": ["dscp", "cos"]},
}

_ECN: Spec = {
    "minimum_kbytes": {"type": "int"},
    "maximum_kbytes": {"type": "int"},
    "max_mark_probability": {"type": "int"},
    "weight": {"type": "int"},
}

_QUEUE: Spec = {
    "queue": {"type": "int", "required": True},
    "bandwidth_percent": {"type": "int"},
    "bandwidth_guaranteed_kbps": {"type": "int"},
    "priority": {"type": "str", "choices": ["strict", "none"]},
    "ecn": {"type": "dict", "options": _ECN},
}

_PROFILE: Spec = {
    "name": {"type": "str", "required": True},
    "trust": {"type": "str", "choices": ["dscp", "cos"]},
    "queues": {"type": "list", "elements": "dict", "options": _QUEUE},
    "pfc": {"type": "bool"},
    "no_drop": {"type": "list", "elements": "int"},
    "watchdog": {"type": "bool"},
}

_WATCHDOG: Spec = {
    "timeout": {"type": "float"},
    "recovery_time": {"type": "float"},
    "polling_interval": {"type": "float"},
    "action": {"type": "str", "choices": ["", "drop", "errdisable", "no-drop"]},
}

_QOS: Spec = {
    "dscp_to_traffic_class": {"type": "dict"},
    "traffic_class_to_tx_queue": {"type": "dict"},
    "profiles": {"type": "list", "elements": "dict", "options": _PROFILE},
    "watchdog": {"type": "dict", "options": _WATCHDOG},
}

_SCOPE: Spec = {
    "vlans": {"type": "list", "elements": "str", "default": []},
    "ports": {"type": "list", "elements": "str", "default": []},
}

_OWNED: Spec = {
    "vlans": {"type": "list", "elements": "dict", "default": []},
    "ports": {"type": "list", "elements": "dict", "default": []},
}

_CHECKS: Spec = {
    "lldp": {"type": "bool", "default": True},
    "macs": {"type": "bool", "default": True},
    "errors": {"type": "bool", "default": True},
    "settle_within": {"type": "int", "default": 30},
}

MERGED, REPLACED, OVERRIDDEN = "merged", "replaced", "overridden"
CHANGES = (MERGED, REPLACED, OVERRIDDEN)
GATHERED, RENDERED, CONFIRMED = "gathered", "rendered", "confirmed"

ARGUMENT_SPEC: Spec = {
    "vlans": {"type": "list", "elements": "dict", "default": [], "options": _VLAN},
    "ports": {"type": "list", "elements": "dict", "default": [], "options": _PORT},
    "qos": {"type": "dict", "options": _QOS},
    "state": {"type": "str", "choices": [*CHANGES, GATHERED, RENDERED, CONFIRMED], "default": MERGED},
    "scope": {"type": "dict", "options": _SCOPE},
    "owned": {"type": "dict", "options": _OWNED},
    "canary": {"type": "list", "elements": "str", "default": []},
    "confirm": {"type": "bool", "default": True},
    "confirm_within": {"type": "int", "default": 120},
    "pending": {"type": "dict"},
    "run_key": {"type": "str", "no_log": True, "default": ""},
    "not_probed": {"type": "list", "elements": "str", "default": []},
    "checks": {"type": "dict", "options": _CHECKS, "apply_defaults": True},
}
