# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the layers of a pod contradict each other, each with both places and the remedy. Pure: gathered facts only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .._declaration.declaration import parse_declaration
from .._pod.devices import devices_of
from .._pod.model import Declaration
from .address_findings import address_findings
from .entity_findings import entity_findings
from .gathered_rack import Finding, Rack
from .link_findings import link_findings, neighbour_findings, vlan_findings


@dataclass(frozen=True)
class Gathered:
    """A pod as it was read; devices that did not answer are missing.

    Args:
        switches: ToR to what tor_info returned.
        servers: Poplar server to ``gathered`` of rnic_network, and perhaps ``nics`` of rnic_info.
        controllers: V-IPU controller to what vipu_info returned.
        leases: a host that serves DHCP to the lines of dnsmasq's leases there.
    """

    switches: Mapping[str, Mapping[str, Any]]
    servers: Mapping[str, Mapping[str, Any]]
    controllers: Mapping[str, Mapping[str, Any]]
    leases: Mapping[str, list[str]]


def findings(document: Mapping[str, Any], gathered: Gathered, port_map: Mapping[str, Any] | None = None) -> list[Any]:
    """Everything that contradicts itself, as plain ``device``, ``finding`` and ``remedy``.

    Args:
        document: the pods.yml that says what was read.
        gathered: what was read.
        port_map: the pods.yml whose cabling counts, where it is another one.
    """
    declaration = parse_declaration(document)
    devices = devices_of(declaration)
    rack = Rack(devices, gathered.switches, gathered.servers)
    cabled = rack if port_map is None else Rack(devices_of(parse_declaration(port_map)), *rack.read)
    found: list[Finding] = [
        *link_findings(rack),
        *neighbour_findings(cabled, gathered.controllers),
        *vlan_findings(rack),
        *entity_findings(rack, gathered.controllers, _waiting(declaration)),
        *address_findings(rack, gathered.controllers, gathered.leases),
    ]
    return [asdict(finding) for finding in found]


def _waiting(declaration: Declaration) -> set[str]:
    """The users of vPODs that are for jobs, and so have no allocation."""
    return {user for vpod in declaration.vpods.values() if vpod.is_for_jobs for user in vpod.users}
