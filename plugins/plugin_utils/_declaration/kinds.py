# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that only pods.yml has: MAC addresses, ports, VLANs, the differences from the RoCE profile. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import port_name, vlan_ids

from .._desired.roce import DEFAULTS
from .._pod.mac_addresses import mac_address
from .._pod.schema import Integer, Key, Kind, Problems, Record, Text
from .._pod.switches import REFERENCE, is_range

VLAN_NAME = Text(
    r"(?!\d+(-\d+)?$)[!-~]{1,32}",
    "a VLAN name of 1 to 32 characters without spaces, and no number",
    "a VLAN name",
)
VLAN_ID = Integer(2, 4094)
VNI = Integer(1, (1 << 24) - 1)


class MacAddress(Kind):
    """A MAC address in any spelling."""

    words = "a MAC address"

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        address = mac_address(value) if isinstance(value, str) else None
        return address or problems.add(path, f"{value!r} is not a MAC address such as 0c:42:a1:00:01:01")

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[^0-9A-Fa-f]*([0-9A-Fa-f][^0-9A-Fa-f]*){12}$"}


class PortName(Text):
    """The name of a port in any spelling of EOS."""

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        checked = super().check(value, path, problems)
        try:
            return checked and port_name(checked) and checked
        except ValueError:
            return problems.add(path, f"{value!r} is not {self.what}")


class NamedVlan(Kind):
    """A VLAN: its number, or ``{id: 300, vni: 10300}``."""

    words = "2 to 4094, or a mapping of `id` and `vni`"
    _record = Record((Key("id", VLAN_ID, "its number", required=True), Key("vni", VNI, "its VXLAN network")))

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, Mapping):
            return self._record.check(value, path, problems)
        return {"id": VLAN_ID.check(value, path, problems)}

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [VLAN_ID.json_schema(), self._record.json_schema()]}


class VlanReference(Kind):
    """A VLAN by its name in ``vlans`` or by its number."""

    words = "a name in `vlans`, or 1 to 4094"
    _number = Integer(1, 4094)

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        return (VLAN_NAME if isinstance(value, str) else self._number).check(value, path, problems)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [self._number.json_schema(), VLAN_NAME.json_schema()]}


class VlanReferences(VlanReference):
    """VLANs as :class:`VlanReference`, or as ranges of numbers such as ``100-110``."""

    words = "a name in `vlans`, 1 to 4094, or a range such as `100-110`"

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and is_range(value):
            try:
                vlan_ids([value])
            except ValueError as error:
                return problems.add(path, str(error))
            return value
        return super().check(value, path, problems)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [*super().json_schema()["anyOf"], {"type": "string", "pattern": r"^\d+-\d+$"}]}


class RoceDifferences(Kind):
    """The word ``reference``, or a mapping of what differs from it; :mod:`_desired.roce` knows what may stand there."""

    words = f"`{REFERENCE}`, or what differs from it"

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if value == REFERENCE:
            return {}
        if isinstance(value, Mapping):
            return dict(value)
        return problems.add(path, f"{value!r} is no quality of service; write reference, or what differs from it")

    def json_schema(self) -> dict[str, Any]:
        differences = {"type": "object", "additionalProperties": False, "properties": _of_profile(DEFAULTS)}
        return {"anyOf": [{"const": REFERENCE}, differences]}


def _of_profile(defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a profile, whose ranges the switch's rules check, with their defaults."""
    return {
        name: {"type": "object", "additionalProperties": False, "properties": _of_profile(value)}
        if isinstance(value, Mapping)
        else {"default": value}
        for name, value in defaults.items()
    }
