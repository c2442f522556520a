# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option interfaces of rnic_roce, said once for the module and for plans; the documentation is in the module."""

from __future__ import annotations

from typing import Any, Dict

Spec = Dict[str, Any]

_INTERFACE: Spec = {
    "name": {"type": "str", "required": True},
    "mac": {"type": "str"},
    "pci": {"type": "str"},
    "trust": {"type": "str", "choices": ["dscp", "pcp"]},
    "dscp_map": {"type": "dict"},
    "pfc": {"type": "list", "elements": "int"},
    "pause": {"type": "dict", "options": {"rx": {"type": "bool"}, "tx": {"type": "bool"}}},
    "ecn": {"type": "list", "elements": "int"},
    "roce_mode": {"type": "str", "choices": ["v1", "v2"]},
    "roce_tos": {"type": "int"},
    "traffic_class": {"type": "int"},
    "rings": {"type": "dict", "options": {"rx": {"type": "int"}, "tx": {"type": "int"}}},
    "buffer_sizes": {"type": "list", "elements": "int"},
}

INTERFACES: Spec = {"type": "list", "elements": "dict", "options": _INTERFACE}
