# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the desired state that is about some vPODs or some devices alone. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import vpod_of_mark
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import vlan_ids

from .._desired.clouds import OF_VPODS, images_of
from .._desired.tenant_vlans import vlans_of
from .._pod.devices import devices_of, ports_of
from .._pod.model import ABSENT, Declaration, Vpod
from .changes import VpodChange

Options = dict[str, Any]
Desired = dict[str, dict[str, Any]]


def only_declared(declaration: Declaration, names: Collection[str], there: Collection[str]) -> Declaration:
    """The declaration of a run on these vPODs alone.

    Another vPOD counts only where it has its allocation (``there``) or is for jobs, so that it keeps its place; none of
    them goes.
    """
    vpods = {
        name: vpod for name, vpod in declaration.vpods.items() if name in names or name in there or vpod.is_for_jobs
    }
    absent = {name: vpod for name, vpod in declaration.absent.items() if name in names}
    return replace(declaration, vpods=vpods, absent=absent)


def of_devices(declaration: Declaration, switches: Mapping[str, Options], devices: Collection[str]) -> Desired:
    """The switches that these devices are cabled to, each with their ports and the VLANs of these, and no others."""
    known = devices_of(declaration)
    ports: dict[str, set[str]] = {}
    for name in devices:
        if name in known and "switch" in known[name].facts:
            ports.setdefault(known[name].facts["switch"], set()).update(ports_of(known[name]))
    return {switch: _with_ports(switches[switch], names) for switch, names in ports.items()}


def of_vpods(
    desired: Desired, declaration: Declaration, changes: Mapping[str, VpodChange], strays: Collection[str]
) -> Desired:
    """Return the part of :func:`desired.desired` that concerns the vPODs of these changes.

    ``strays`` are Poplar servers and IPU-Machines that were theirs and are nobody's now.
    """
    names = set(changes)
    vpods: list[Vpod] = [vpod for name, vpod in {**declaration.absent, **declaration.vpods}.items() if name in names]
    servers = {*strays, *(server for vpod in vpods for server in vpod.poplar_servers)}
    hosts = {declaration.controller_of(vpod).host_name for vpod in vpods}
    machines = {name for change in changes.values() for name in (*change.before, *change.after)}
    switches = of_devices(declaration, desired["tor_switches"], servers | machines)
    for switch, options in switches.items():
        options["vlans"] += vlans_gone(desired["tor_switches"][switch], vpods)
        options["arp_probes"] = {name: probe for name, probe in options["arp_probes"].items() if name in servers}
    return {
        **desired,
        "tor_switches": switches,
        "management_switches": {},
        "poplar_servers": {
            name: keeping_clients(options, {each["name"] for each in options["containers"]} - names)
            for name, options in desired["poplar_servers"].items()
            if name in servers
        },
        "vipu_controllers": {
            host: _entities_of(options, names, users_of(declaration, host, names))
            for host, options in desired["vipu_controllers"].items()
            if host in hosts
        },
        "dedicated_controllers": {
            host: _named(controllers, names) for host, controllers in desired["dedicated_controllers"].items()
        },
        "removed_controllers": {
            host: [name for name in gone if name in names] for host, gone in desired["removed_controllers"].items()
        },
        "clouds": {
            cloud: _in_cloud(options, vpods)
            for cloud, options in desired["clouds"].items()
            if any(vpod in declaration.vpods_in(cloud) for vpod in vpods)
        },
    }


def keeping_clients(server: Options, vpods: Collection[str]) -> Options:
    """The options of a Poplar server where the V-IPU clients of some vPODs are kept: nobody asks for their keys."""
    return {**server, "containers": [{**each, "vipu_kept": each["name"] in vpods} for each in server["containers"]]}


def vlans_gone(switch: Options, vpods: Iterable[Vpod]) -> list[Options]:
    """The VLANs of these vPODs that the options of a switch take away."""
    names = {name for vpod in vpods for name in vlans_of(vpod).values()}
    return [vlan for vlan in switch["vlans"] if vlan.get("state") == ABSENT and vlan["name"] in names]


def users_of(declaration: Declaration, host: str, names: Collection[str]) -> set[str]:
    """The users that these vPODs have on the controller of their cluster, where that is on this host."""
    return {
        user
        for vpod in declaration.vpods.values()
        if vpod.name in names and not vpod.is_dedicated and declaration.controller_of(vpod).host_name == host
        for user in vpod.users
    }


def _with_ports(switch: Options, names: Collection[str]) -> Options:
    ports = [port for port in switch["ports"] if port["name"] in names]
    channels = {f"Port-Channel{port['channel_group']}" for port in ports if port.get("channel_group")}
    ports += [port for port in switch["ports"] if port["name"] in channels]
    used = {vlan for port in ports for vlan in _vlans_of(port)}
    return {
        **switch,
        "ports": ports,
        "vlans": [vlan for vlan in switch["vlans"] if vlan.get("state") != ABSENT and vlan["vlan_id"] in used],
        "canary": [name for name in switch["canary"] if name in {port["name"] for port in ports}],
    }


def _vlans_of(port: Options) -> set[int]:
    named = {port.get("vlan"), port.get("native_vlan")} - {None}
    return {int(vlan) for vlan in named if vlan} | set(vlan_ids(port.get("allowed_vlans") or []))


def _entities_of(controller: Options, names: Collection[str], users: Collection[str]) -> Options:
    return {
        **controller,
        "allocations": _named(controller["allocations"], names),
        "users": _named(controller["users"], users),
        "partitions": [each for each in controller["partitions"] if each["allocation"] in names],
    }


def _in_cloud(cloud: Options, vpods: Sequence[Vpod]) -> Options:
    """What these vPODs have in a cloud, with the images that they name."""
    names = [vpod.name for vpod in vpods]
    images = [image for vpod in vpods for image in images_of(vpod)]
    mine = {kind: [each for each in cloud[kind] if vpod_of_mark(each["vpod"]) in names] for kind in OF_VPODS}
    absent = [mark for mark in cloud["absent_vpods"] if vpod_of_mark(mark) in names]
    return {**cloud, **mine, "images": _named(cloud["images"], images), "absent_vpods": absent}


def _named(options: Iterable[Options], names: Collection[str]) -> list[Options]:
    return [each for each in options if each["name"] in names]
