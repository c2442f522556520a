# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The teardown of a run: vPODs that are removed, and what others leave behind. Pure.

It is the desired state without these vPODs, applied to their devices in the reverse of the order in which they came
up: IPUoF, partitions, users, NICs, switch ports, and the allocation last.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import changed_fields, reason_for
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import ALLOCATION, KINDS, PARTITION, USER, plural

from .._desired.desired import desired
from .._desired.tenant_vlans import without_former_vlans
from .._placement.placement import Placement
from .._pod.model import ABSENT, Declaration
from .changes import KEEP, REMOVE, VpodChange, without
from .scope import Desired, Options, keeping_clients, of_devices, users_of, vlans_gone
from .strays import Seen

# What a controller holds, as vipu_info returns it: allocations, users and partitions; and the same by its host.
Entities = Mapping[str, Mapping[str, Any]]
Held = Mapping[str, Entities]
# The removals on a host without the controller of a cluster.
NOTHING: Options = {"reasons": {}, "allocations": [], "partitions": [], "users": []}


def teardown(
    declaration: Declaration,
    changes: Mapping[str, VpodChange],
    placement: Placement,
    wanted: Desired,
    held: Held,
    seen: Seen,
    first: Collection[str],
) -> Desired:
    """Return the desired state of the affected devices after the teardown.

    Those are ``tor_switches`` and ``poplar_servers`` with module options, and ``vipu_controllers`` with ``users``,
    ``partitions`` and ``allocations`` to remove, in ``removed`` the vPODs whose dedicated controllers go, in
    ``emptied`` what goes on dedicated controllers (of vPODs that are made again all, else partitions that are), and in
    ``reasons`` why, by vPOD of the controller, kind and name. Of ``held`` and ``seen``, what was not read is missing.
    ``first`` are the IPU-Machines whose ports leave the VLANs of these vPODs, see :func:`changes.leaving_first`.
    """
    down = [change for change in changes.values() if change.goes_down]
    gone = [declaration.absent[change.vpod] for change in down if change.kind == REMOVE]
    servers = {server for vpod in gone for server in vpod.poplar_servers}
    kept = {
        each["name"]
        for options in wanted["poplar_servers"].values()
        for each in options["containers"]
        if each["vipu_kept"]
    }
    is_quiet = not down and not first
    rest = wanted if is_quiet else _at_rest(declaration, changes, placement, seen, first)
    switches = of_devices(declaration, rest["tor_switches"], {*servers, *first})
    for switch, options in switches.items():
        options["vlans"] += vlans_gone(rest["tor_switches"][switch], gone)
        # No server can send ARP probes in the quarantine VLAN, so its machines may be silent.
        options["arp_probes"] = {}
        ports = {port["name"] for port in options["ports"]}
        options["cables"] = [cable for cable in options["cables"] if cable["port"] in ports]
    return {
        "tor_switches": switches,
        "poplar_servers": {name: keeping_clients(rest["poplar_servers"][name], kept) for name in servers},
        "vipu_controllers": {
            host: entities
            for host in dict.fromkeys((*wanted["vipu_controllers"], *wanted["dedicated_controllers"]))
            for entities in [_entities(declaration, host, down, wanted, held.get(host, {}))]
            if any(entities[kind] for kind in ("users", "partitions", "allocations", "removed", "emptied"))
        },
    }


def regranted(wanted: Options, held: Entities) -> dict[str, list[str]]:
    """The users of a controller who are there with other allocations than they are to have, with those they have.

    V-IPU cannot change that: they are made again, with another access key.
    """
    users = held.get("users") or {}
    return {
        user["name"]: list(users[user["name"]]["allocations"])
        for user in wanted["users"]
        if user["name"] in users and sorted(users[user["name"]]["allocations"]) != sorted(user["allocations"])
    }


def reshaped(wanted: Options, held: Entities) -> dict[str, str]:
    """The declared partitions of a controller that are there with other fields, with what differs, in words.

    V-IPU cannot change that either: they are made again.
    """
    found = {}
    for partition in wanted["partitions"]:
        there = (held.get("partitions") or {}).get(partition["name"])
        if there:
            changes = changed_fields(there, {field: value for field, value in partition.items() if field in there})
            if changes:
                found[partition["name"]] = reason_for(there, changes)
    return found


def dedicated_of(held: Entities, vpod: str) -> Entities:
    """Return the entities of a vPOD's dedicated controller; empty if unknown or if it has none."""
    return (held.get("dedicated") or {}).get(vpod) or {}


def bring_up(wanted: Desired, torn_down: Desired) -> Desired:
    """The desired state after the teardown, without the parts that have converged on the switches by then."""
    switches = {
        name: _not_converged(options, torn_down["tor_switches"].get(name, {}))
        for name, options in wanted["tor_switches"].items()
    }
    return {**wanted, "tor_switches": switches}


def converged_servers(wanted: Desired, torn_down: Desired) -> list[str]:
    """The Poplar servers that need nothing more once they are as the teardown wants them."""
    return sorted(
        name for name, options in torn_down["poplar_servers"].items() if wanted["poplar_servers"].get(name) == options
    )


def _not_converged(switch: Options, torn_down: Options) -> Options:
    """Without the ports that are as they shall be, and the VLANs that are gone; ports may name those that are there."""
    gone = [vlan for vlan in torn_down.get("vlans", ()) if vlan.get("state") == ABSENT]
    ports = [port for port in switch["ports"] if port not in torn_down.get("ports", ())]
    names = {port["name"] for port in ports}
    return {
        **switch,
        "ports": ports,
        "vlans": [vlan for vlan in switch["vlans"] if vlan not in gone],
        "canary": [name for name in switch["canary"] if name in names],
    }


def _at_rest(
    declaration: Declaration,
    changes: Mapping[str, VpodChange],
    placement: Placement,
    seen: Seen,
    first: Collection[str],
) -> Desired:
    """The desired state with those vPODs alone that stay as they are."""
    changing = {name: change for name, change in changes.items() if change.kind != KEEP}
    rest = desired(without(declaration, changing), placement, first)
    return {**rest, "tor_switches": without_former_vlans(declaration, rest["tor_switches"], seen)}


def _entities(declaration: Declaration, host: str, down: list[VpodChange], wanted: Desired, held: Entities) -> Options:
    """Return the removals on the controllers of one host, that of a cluster and dedicated ones."""
    vpods = {**declaration.absent, **declaration.vpods}
    here = [change.vpod for change in down if declaration.dedicated_host(vpods[change.vpod]) == host]
    emptied = _emptied(wanted["dedicated_controllers"][host], here, held)
    shared = _on_shared(declaration, host, down, wanted, held) if host in wanted["vipu_controllers"] else NOTHING
    return {
        **shared,
        "reasons": {
            **shared["reasons"],
            **_reasons_for_emptied(wanted["dedicated_controllers"][host], emptied, here, held),
        },
        "removed": [name for name in wanted["removed_controllers"].get(host, []) if name in here],
        "emptied": [
            {"name": vpod, **{kind: _absent(going.get(kind, [])) for kind in map(plural, KINDS)}}
            for vpod, going in emptied.items()
        ],
    }


def _on_shared(declaration: Declaration, host: str, down: list[VpodChange], wanted: Desired, held: Entities) -> Options:
    """Return the removals on the controller of a cluster: allocations, their entities, and their declared users.

    Users without an allocation are those of vPODs that are for jobs, and go with them.
    """
    vpods = {**declaration.absent, **declaration.vpods}
    here = [change.vpod for change in down if declaration.controller_of(vpods[change.vpod]).host_name == host]
    allocations = [name for name in here if name in (held.get("allocations") or {})]
    other = reshaped(wanted["vipu_controllers"][host], held)
    partitions = [
        name
        for name, each in (held.get("partitions") or {}).items()
        if name in other or each["allocation"] in allocations
    ]
    changes = {change.vpod: str(change) for change in down}
    named = {user for vpod in vpods.values() for user in vpod.users}
    again = regranted(wanted["vipu_controllers"][host], held)
    absent = {
        user
        for vpod in declaration.absent.values()
        if declaration.controller_of(vpod).host_name == host
        for user in vpod.users
    }
    left = absent - users_of(declaration, host, declaration.vpods)
    users = [
        name
        for name, each in (held.get("users") or {}).items()
        if name in again
        or (name in named and set(each["allocations"]) & set(allocations))
        or (name in left and not each["allocations"] and not each.get("admin"))
    ]
    return {
        "admin_port": wanted["vipu_controllers"][host]["admin_port"],
        "reasons": {
            **{("", ALLOCATION, name): changes[name] for name in allocations},
            **{
                ("", PARTITION, name): other.get(name) or _goes(held["partitions"][name]["allocation"])
                for name in partitions
            },
            **{("", USER, name): _why_user(again.get(name), held["users"][name], allocations) for name in users},
        },
        "allocations": _absent(allocations),
        "partitions": _absent(partitions),
        "users": _absent(users),
    }


def _goes(*allocations: str) -> str:
    return f"allocation {', '.join(allocations)} goes"


def _why_user(granted: list[str] | None, user: Mapping[str, Any], going: list[str]) -> str:
    lost = [name for name in user["allocations"] if name in going]
    if lost:
        return _goes(*lost)
    return "no vPOD has them any more" if granted is None else f"is to have other vPODs than {', '.join(granted)}"


def _reasons_for_emptied(
    controllers: list[Options], emptied: Mapping[str, Mapping[str, list[str]]], again: list[str], held: Entities
) -> dict[tuple[str, str, str], str]:
    other = {each["name"]: reshaped(each, dedicated_of(held, each["name"])) for each in controllers}
    return {
        (vpod, kind, name): _goes(vpod) if vpod in again else other[vpod][name]
        for vpod, going in emptied.items()
        for kind in KINDS
        for name in going.get(plural(kind), ())
    }


def _emptied(controllers: list[Options], again: list[str], held: Entities) -> dict[str, dict[str, list[str]]]:
    """vPOD to what goes on its dedicated controller, by kind.

    That is everything but its administrators if the vPOD is made again, and else the partitions that are.
    """
    found = {}
    for controller in controllers:
        vpod, there = controller["name"], dedicated_of(held, controller["name"])
        if vpod in again:
            found[vpod] = {
                kind: [name for name, each in names.items() if not each.get("admin")] for kind, names in there.items()
            }
        elif reshaped(controller, there):
            found[vpod] = {"partitions": list(reshaped(controller, there))}
    return found


def _absent(names: list[str]) -> list[Options]:
    return [{"name": name, "state": ABSENT} for name in names]
