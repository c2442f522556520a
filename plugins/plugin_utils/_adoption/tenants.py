# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the VLANs at the ports of ToR switches to the tenants that have them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import ACCESS, CHANNEL, TRUNK

from .._declaration.declaration import parse_declaration
from .._desired.degraded import undamaged
from .._placement.placement import Placement, place
from .._pod.devices import POPLAR_SERVER, devices_of
from .._pod.model import Declaration
from .adoption import Adoption, Document, filled
from .switch_ports import Fields

DEFAULT_VLAN = 1


def take_tenants(result: Adoption, tors: Mapping[str, Mapping[str, Any]]) -> None:
    """A vPOD whose IPU-Machines are all in one VLAN has that VLAN, and the free servers whose ports are in it."""
    declaration = parse_declaration(result.document)
    devices = devices_of(declaration)
    tenants: dict[int, str] = {}
    for name, machines in places_at_pins(declaration).items():
        facts = [devices[machine].facts for machine in machines]
        vlans = [access_vlan(tors[fact["switch"]], fact["switch_port"]) for fact in facts if fact["switch"] in tors]
        common = vlans[0] if vlans and vlans.count(vlans[0]) == len(vlans) else None
        if common and result.take(("vpods", name), vlan_words(common, f"vpod-{name}")):
            tenants[common["vlan_id"]] = name
    taken = {server for vpod in declaration.vpods.values() for server in vpod.poplar_servers}
    for device in devices.values():
        if device.kind == POPLAR_SERVER and device.name not in taken and device.facts["switch"] in tors:
            tenant = tenants.get(_untagged(tors[device.facts["switch"]], device.facts["switch_port"]))
            if tenant:
                _take_server(result, tenant, device.name)


def places_at_pins(declaration: Declaration) -> Placement:
    """Where the vPODs lie: at their pins, as these were found, whatever a new one could be pinned to."""
    pins: dict[str, dict[str, Sequence[str]]] = {}
    for vpod in declaration.vpods.values():
        if vpod.ipu_machines:
            pins.setdefault(declaration.controller_of(vpod).host_name, {})[vpod.name] = vpod.ipu_machines
    return place(undamaged(declaration), pins)


def _take_server(result: Adoption, tenant: str, server: str) -> None:
    before, vpod = result.document, result.document["vpods"][tenant]
    words = {"poplar_servers": [*vpod.get("poplar_servers", []), server]}
    # A server that works with IPU-Machines of another rack shows that the racks are joined.
    is_taken = result.take(("vpods", tenant), words) or (
        result.take(("clusters", vpod["cluster"]), {"spine": True}) and result.take(("vpods", tenant), words)
    )
    if not is_taken:
        result.document = before


def _untagged(there: Mapping[str, Any], port: str) -> int:
    """The VLAN of the frames without a tag at a port, or at the channel that it is in; 0 for none."""
    ports = {each["name"]: each for each in there["ports"]}
    fields: Fields = ports.get(port, {})
    if fields.get("channel_group"):
        fields = ports.get(f"{CHANNEL}{fields['channel_group']}", {})
    return int(fields.get({ACCESS: "vlan", TRUNK: "native_vlan"}.get(fields.get("mode", ""), ""), 0))


def access_vlan(there: Mapping[str, Any], port: str) -> Mapping[str, Any] | None:
    """The VLAN of an access port; None for the default one and for other ports."""
    fields: Fields = next((each for each in there["ports"] if each["name"] == port), {})
    vlan_id = fields.get("vlan") if fields.get("mode") == ACCESS else None
    return next((vlan for vlan in there["vlans"] if vlan["vlan_id"] == vlan_id != DEFAULT_VLAN), None)


def vlan_words(vlan: Mapping[str, Any], derived_name: str) -> Document:
    """Return the declaration of a VLAN, with its network, and its name if that is not derived."""
    name = {} if vlan["name"] == derived_name else {"vlan_name": vlan["name"]}
    return {"vlan": vlan["vlan_id"], **filled({"vni": vlan.get("vni")}), **name}
