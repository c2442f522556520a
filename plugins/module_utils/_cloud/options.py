# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of ``ipu.pod.cloud_state``, and of the other modules for clouds. Pure."""

from __future__ import annotations

from typing import Any, Dict

from .entities import (
    DIRECT,
    FLAVOR,
    IMAGE,
    MEMBER,
    NETWORK,
    NORMAL,
    PROJECT,
    QUOTA,
    SECURITY_GROUP,
    SERVER,
    SUBNET,
    TRAIT,
    VOLUME,
    plural,
)
from .wanted import QUOTAS

Spec = Dict[str, Any]

TEXT: Spec = {"type": "str"}
NEEDED: Spec = {"type": "str", "required": True}
NUMBER: Spec = {"type": "int"}
NEEDED_NUMBER: Spec = {"type": "int", "required": True}
NAMES: Spec = {"type": "list", "elements": "str", "default": []}
_MINE: Spec = {"vpod": NEEDED, "project": NEEDED}


def _list(**fields: Spec) -> Spec:
    return {"type": "list", "elements": "dict", "default": [], "options": fields}


READ_OPTIONS: Spec = {"entry": NEEDED}

OPTIONS: Spec = {
    **READ_OPTIONS,
    plural(PROJECT): _list(name=NEEDED, vpod=NEEDED, domain={"type": "str", "default": "Default"}, description=TEXT),
    plural(MEMBER): _list(user=NEEDED, role={"type": "str", "default": "member"}, **_MINE),
    plural(QUOTA): _list(**_MINE, **dict.fromkeys(QUOTAS, NUMBER)),
    plural(NETWORK): _list(name=NEEDED, physical_network=NEEDED, vlan=NEEDED_NUMBER, mtu=NUMBER, **_MINE),
    plural(SUBNET): _list(name=NEEDED, vpod=NEEDED, network=NEEDED, cidr=NEEDED, pools=NAMES),
    plural(SECURITY_GROUP): _list(
        name=NEEDED,
        rules=_list(
            protocol={"type": "str", "default": "tcp"}, port={"type": "str", "default": "any"}, remote=dict(NEEDED)
        ),
        **_MINE,
    ),
    plural(FLAVOR): _list(
        name=NEEDED,
        vcpus=NEEDED_NUMBER,
        ram=NEEDED_NUMBER,
        disk=NEEDED_NUMBER,
        extra_specs={"type": "dict", "default": {}},
        **_MINE,
    ),
    plural(TRAIT): _list(name=NEEDED, vpod=NEEDED, hypervisors={"type": "list", "elements": "str", "required": True}),
    plural(IMAGE): _list(
        name=NEEDED, file={"type": "path", "required": True}, disk_format={"type": "str", "default": "qcow2"}
    ),
    plural(VOLUME): _list(name=NEEDED, size=NEEDED_NUMBER, **_MINE),
    plural(SERVER): _list(
        name=NEEDED,
        flavor=NEEDED,
        image=NEEDED,
        key={"type": "str", "no_log": False},
        ports=_list(
            network=NEEDED,
            address=TEXT,
            security_groups=NAMES,
            vnic_type={"type": "str", "choices": [NORMAL, DIRECT], "default": NORMAL},
        ),
        volumes=NAMES,
        **_MINE,
    ),
    "absent_vpods": NAMES,
    "allow_interruption": NAMES,
    "user_data": {"type": "path"},
    "wait_timeout": {"type": "int", "default": 300},
}

PORT_OPTIONS: Spec = {
    **READ_OPTIONS,
    **dict.fromkeys(("machine", "vpod", "network", "control_network"), NEEDED),
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "hypervisors": NAMES,
    "other_vpods": {"type": "dict", "default": {}},
    "leaving": NAMES,
    "wait_timeout": {"type": "int", "default": 300},
}
