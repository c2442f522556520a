# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for preflight: whether the two ends of each cable between a Poplar server and its switch agree."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._cross.check import declared_mismatches, seen_mismatches
from ansible_collections.ipu.pod.plugins.plugin_utils._cross.claims import Claim
from ansible_collections.ipu.pod.plugins.plugin_utils._cross.server import SeenServer, Server, Switch

ADDRESSES = ("rnic_address", "management_address", "bmc_address", "gateway_address")


def declared_mismatches_of(hosts: Any, groups: Any, desired: Any) -> list[str]:
    """What variables of roles and pods.yml say that cannot both be right."""
    servers = _servers(hosts, groups, desired)
    return declared_mismatches(servers, _switches(hosts, groups, desired), _planned(hosts, groups))


def seen_mismatches_of(hosts: Any, groups: Any, desired: Any, repaired: Any = ()) -> list[str]:
    """What was read of servers and switches that cannot work."""
    servers = _servers(hosts, groups, desired)
    switches, planned = _switches(hosts, groups, desired), _planned(hosts, groups)
    return seen_mismatches(servers, switches, planned, tuple(repaired))


def _servers(hosts: Any, groups: Any, desired: Any) -> list[Server]:
    """Those that the run is about."""
    names = (name for name in groups["poplar_servers"] if name in desired["poplar_servers"])
    return [_server(name, hosts[name], desired) for name in names]


def _server(name: Any, variables: Any, desired: Any) -> Server:
    options = desired["poplar_servers"][name]
    return Server(
        name=str(name),
        pod=str(variables["ipu_pod"]),
        switch=str(variables["switch"]),
        ports=[str(port) for port in variables["switch_ports"]],
        rnic=str(options["interfaces"][0]["name"]),
        vlan=variables.get("rnic_vlan"),
        interfaces=[*options["interfaces"], *variables.get("poplar_server_more_interfaces", [])],
        roce=variables.get("poplar_server_roce", []),
        seen=_seen(variables),
    )


def _seen(variables: Any) -> SeenServer | None:
    network, nics = variables.get("preflight_network"), variables.get("preflight_nics")
    if not network or not nics or "gathered" not in network or "nics" not in nics:
        return None
    roce = variables.get("preflight_roce") or {}
    return SeenServer(network["gathered"], nics["nics"], nics["minimum"], roce.get("gathered", []))


def _switches(hosts: Any, groups: Any, desired: Any) -> dict[str, Switch]:
    names = [name for name in groups["tor_switches"] if name in desired["tor_switches"]]
    seen = {name: hosts[name].get("preflight_switch") or {} for name in names}
    return {
        str(name): Switch(str(name), desired["tor_switches"][name], answer if "ports" in answer else None)
        for name, answer in seen.items()
    }


def _planned(hosts: Any, groups: Any) -> list[Claim]:
    devices = [name for group in ("ipu_machines", "poplar_servers", "vipu_controllers") for name in groups[group]]
    return [
        Claim(str(hosts[name][fact]), str(name), f"{name} ({hosts[name][fact]} is its {fact} in pods.yml)")
        for name in dict.fromkeys(devices)
        for fact in ADDRESSES
        if fact in hosts[name]
    ]


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"declared_mismatches": declared_mismatches_of, "seen_mismatches": seen_mismatches_of}
