# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions that are found before any change: variables, cables, early clusters. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .._desired.degraded import undamaged, unmade_clusters
from .._desired.desired import desired
from .._inventory.hosts import host_variables
from .._link_checks.addresses import Claim
from .._link_checks.devices import SeenServer, Server, Switch
from .._link_checks.every_cable import SERVERS, SWITCHES, declared_mismatches, seen_mismatches
from .._placement.placement import Placement, place
from .._pod.devices import CONTROLLER, IPU_MACHINE, POPLAR_SERVER, devices_of
from .._pod.kinds import DeclarationError
from .._pod.managed import unmanaged
from .._pod.model import CONTROLLER_LAYER, SERVERS_LAYER, SWITCH_LAYER, Declaration
from .._vpods.scope import Desired
from .looks import Look, part
from .tenancy import Tenancy

ADDRESSES = ("rnic_address", "management_address", "bmc_address", "gateway_address")
# What a playbook that carries out a part of a run sets right.
REPAIRED = {"switches": SWITCHES, "servers": SERVERS}


def contradictions(
    declaration: Declaration, tenancy: Tenancy, looks: Mapping[str, Look], parts: Collection[str]
) -> list[str]:
    """Why what is declared, or what was seen, cannot work, one sentence each; ``parts`` are what the run sets right."""
    only_read = unmanaged(declaration)
    ends = _ends(declaration, tenancy.wanted, looks, (*only_read[SERVERS_LAYER], *only_read[SWITCH_LAYER]))
    repaired = [REPAIRED[each] for each in parts if each in REPAIRED]
    return [*declared_mismatches(*ends), *seen_mismatches(*ends, repaired)]


def too_early(declaration: Declaration, looks: Mapping[str, Look]) -> list[str]:
    """Why clusters cannot be made yet, one sentence each."""
    agents = {
        host: controllers[""].get("agents") or {}
        for host, look in looks.items()
        for controllers in [part(look, "controllers")]
        if controllers and host not in unmanaged(declaration)[CONTROLLER_LAYER]
    }
    return unmade_clusters(declaration, agents)


def declared_contradictions(declaration: Declaration, settings: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return contradictions between pods.yml and ``settings``, role variables by Poplar server, one sentence each.

    That does not depend on where the vPODs lie, which only the controllers know.
    """
    wanted = desired(declaration, _anywhere(declaration))
    looks = {name: {"settings": each, "parts": {}} for name, each in settings.items()}
    return declared_mismatches(*_ends(declaration, wanted, looks, only_read=()))


def _anywhere(declaration: Declaration) -> Placement:
    """Where the vPODs could lie; nowhere, if they fit only as they lie now."""
    try:
        return place(undamaged(declaration), {})
    except DeclarationError:
        return {name: [] for name in declaration.vpods}


def _ends(
    declaration: Declaration, wanted: Desired, looks: Mapping[str, Look], only_read: Collection[str]
) -> tuple[list[Server], dict[str, Switch], list[Claim]]:
    """Both ends of the cables, without what was seen of those that are only read, and the addresses of the plan."""
    variables = host_variables(declaration)
    servers = [
        _server(name, variables[name], options, looks.get(name), name in only_read)
        for name, options in wanted["poplar_servers"].items()
    ]
    switches = {
        name: Switch(name, options, None if name in only_read else part(looks.get(name), "info"))
        for name, options in wanted["tor_switches"].items()
    }
    return servers, switches, claims_of(variables, declaration)


def claims_of(variables: Mapping[str, Mapping[str, Any]], declaration: Declaration) -> list[Claim]:
    """The addresses that pods.yml gives to devices."""
    kinds = (IPU_MACHINE, POPLAR_SERVER, CONTROLLER)
    names = [device.name for kind in kinds for device in devices_of(declaration).values() if device.kind == kind]
    return [
        Claim(str(variables[name][fact]), name, f"{name} ({variables[name][fact]} is its {fact} in pods.yml)")
        for name in names
        for fact in ADDRESSES
        if fact in variables[name]
    ]


def _server(
    name: str, variables: Mapping[str, Any], options: Mapping[str, Any], look: Look | None, is_only_read: bool
) -> Server:
    settings = look["settings"] if look else {}
    return Server(
        name=name,
        pod=variables["ipu_pod"],
        switch=variables["switch"],
        ports=list(variables["switch_ports"]),
        rnic=options["interfaces"][0]["name"],
        vlan=variables.get("rnic_vlan"),
        interfaces=[*options["interfaces"], *settings.get("poplar_server_more_interfaces", [])],
        roce=settings.get("poplar_server_roce", []),
        seen=None if is_only_read else seen_server(look),
    )


def seen_server(look: Look | None) -> SeenServer | None:
    """Return a server's NICs as read; None if unknown."""
    network, nics, roce = (part(look, name) for name in ("network", "nics", "roce"))
    if network is None or nics is None:
        return None
    return SeenServer(network["gathered"], nics["nics"], nics["minimum"], (roce or {}).get("gathered", []))
