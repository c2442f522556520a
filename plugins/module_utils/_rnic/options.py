# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of rnic_network, said once for the module and for plans; the documentation is in the module."""

from __future__ import annotations

from typing import Any, Dict

from .backends import AUTO, BACKENDS

Spec = Dict[str, Any]

_VIRTUAL_FUNCTION: Spec = {
    "index": {"type": "int", "required": True},
    "mac": {"type": "str", "required": True},
    "vlan": {"type": "int", "default": 0},
    "trust": {"type": "bool", "default": False},
    "spoof_check": {"type": "bool", "default": True},
}

_INTERFACE: Spec = {
    "name": {"type": "str", "required": True},
    "type": {"type": "str", "choices": ["nic", "vlan", "bond"], "default": "nic"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "mac": {"type": "str"},
    "pci": {"type": "str"},
    "addresses": {"type": "list", "elements": "str"},
    "mtu": {"type": "int"},
    "description": {"type": "str"},
    "parent": {"type": "str"},
    "vlan_id": {"type": "int"},
    "members": {"type": "list", "elements": "str"},
    "mode": {"type": "str", "choices": ["active-backup", "802.3ad"]},
    "virtual_functions": {"type": "list", "elements": "dict", "options": _VIRTUAL_FUNCTION},
}

INTERFACES: Spec = {"type": "list", "elements": "dict", "options": _INTERFACE}

BACKEND: Spec = {"type": "str", "choices": [AUTO, *BACKENDS], "default": AUTO}
