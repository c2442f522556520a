# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that only pods.yml has: MAC addresses, ports, VLANs, the differences from the RoCE profile. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import port_name, vlan_ids

from .._desired.roce import DEFAULTS
from .._pod.kinds import NO_TEMPLATE, WITHOUT_TEMPLATES, Key, Kind, Record, either, integer, scalar, text
from .._pod.mac_addresses import mac_address
from .._pod.switches import REFERENCE, is_range


def _port(value: Any) -> Any:
    try:
        return value if isinstance(value, str) and re.fullmatch(ANY_PORT, value) and port_name(value) else None
    except ValueError:
        return None


def _mac(value: Any) -> str | None:
    address = mac_address(value) if isinstance(value, str) else None
    if address is None:
        return None
    if address == "00:00:00:00:00:00" or int(address[:2], 16) % 2:
        raise ValueError(f"{address} is no address of a single interface; write the one on its label")
    return address


def _roce(value: Any) -> Any:
    """The differences, none for the reference; :mod:`_desired.roce` knows what may stand there."""
    return {} if value == REFERENCE else dict(value) if isinstance(value, Mapping) else None


def _of_profile(defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a profile, whose ranges the switch's rules check, with their defaults."""
    return {
        name: {"type": "object", "additionalProperties": False, "properties": _of_profile(value)}
        if isinstance(value, Mapping)
        else {"default": value}
        for name, value in defaults.items()
    }


ANY_PORT = r"[Ee][Tt][A-Za-z]*\d+(/\d+)*|[Pp][Oo][A-Za-z-]*\d+"
PORT_OR_CHANNEL = scalar(
    "a port such as Ethernet9/1 or Et9, or a port channel such as Port-Channel5",
    {"type": "string", "pattern": f"^({ANY_PORT})$"},
    "is not a port such as Ethernet9/1 or Et9, or a port channel such as Port-Channel5",
    _port,
)
MAC_ADDRESS = scalar(
    "a MAC address",
    {"type": "string", "pattern": "^[^0-9A-Fa-f]*([0-9A-Fa-f][^0-9A-Fa-f]*){12}$"},
    "is not a MAC address such as 0c:42:a1:00:01:01",
    _mac,
)
INTERFACE = text(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}",
    "the name of a network interface: letters, digits, '.', '_' and '-', at most 15, as Linux has it",
    "an interface",
)
VLAN_NAME = text(
    rf"(?!\d+(-\d+)?$){NO_TEMPLATE}[!-~]{{1,32}}",
    f"a VLAN name of 1 to 32 characters without spaces, and no number; {WITHOUT_TEMPLATES}",
    "a VLAN name",
)
VLAN_ID, ANY_VLAN_ID = integer(2, 4094), integer(1, 4094)
VLAN_RANGE = scalar(
    "a range", {"type": "string", "pattern": r"^\d+-\d+$"}, "", lambda value: vlan_ids([value]) and value
)
VNI = integer(1, (1 << 24) - 1)
_ID_ALONE = Kind("", VLAN_ID.json_schema, lambda value, path, problems: {"id": VLAN_ID.check(value, path, problems)})
_ID_AND_VNI = Record(Key("id", VLAN_ID, required=True).means("its number"), Key("vni", VNI).means("its VXLAN network"))
NAMED_VLAN = either(
    "2 to 4094, or a mapping of `id` and `vni`",
    (_ID_ALONE, _ID_AND_VNI),
    lambda value: _ID_AND_VNI if isinstance(value, Mapping) else _ID_ALONE,
)
VLAN_REFERENCE = either(
    "a name in `vlans`, or 1 to 4094",
    (ANY_VLAN_ID, VLAN_NAME),
    lambda value: VLAN_NAME if isinstance(value, str) else ANY_VLAN_ID,
)
VLAN_REFERENCES = either(
    "a name in `vlans`, 1 to 4094, or a range such as `100-110`",
    (ANY_VLAN_ID, VLAN_NAME, VLAN_RANGE),
    lambda value: VLAN_RANGE if isinstance(value, str) and is_range(value) else VLAN_REFERENCE,
)
ROCE_DIFFERENCES = scalar(
    f"`{REFERENCE}`, or what differs from it",
    {
        "anyOf": [
            {"const": REFERENCE},
            {"type": "object", "additionalProperties": False, "properties": _of_profile(DEFAULTS)},
        ]
    },
    "is no quality of service; write reference, or what differs from it",
    _roce,
)
