# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Poplar server and a switch: what is declared of them, what was seen, and what a run will leave behind. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._roce.settings import NAMES, overlaid

Options = Mapping[str, Any]


@dataclass(frozen=True)
class SeenServer:
    """A server as it was read."""

    interfaces: Sequence[Options]  # "gathered" of rnic_network
    nics: Sequence[Options]  # of rnic_info
    minimum: Options  # of rnic_info
    roce: Sequence[Options] = ()  # "gathered" of rnic_roce; empty where the server has no tools that could tell


@dataclass(frozen=True)
class Server:
    """A Poplar server: what is declared of it, and what was seen, None where it was not looked at."""

    name: str
    pod: str
    switch: str  # the host name of its ToR switch
    ports: Sequence[str]  # of its RNICs, by the port map or overrides
    rnic: str  # the declared name of the interface on the first of them
    vlan: int | None  # that the RNIC is in without tag; None where pods.yml does not tell
    interfaces: Sequence[Options]  # as options of rnic_network
    roce: Sequence[Options] = ()  # as options of rnic_roce
    seen: SeenServer | None = None


@dataclass(frozen=True)
class Switch:
    """A ToR switch."""

    name: str
    declared: Options  # "vlans", "ports" and "qos", as options of tor_switch
    seen: Options | None = None  # what tor_info returned; None where it was not asked

    def declared_port(self, name: str) -> Options:
        """Return the declaration of a port, or an empty one."""
        return next((port for port in self.declared["ports"] if port["name"] == name), {})

    def has_on(self, name: str) -> bool:
        """Whether the switch had a port switched on when it was asked."""
        ports = self.seen["ports"] if self.seen else ()
        return any(port["name"] == name and port.get("enabled", True) for port in ports)


def settings_of(nic: Options, roce: Sequence[Options]) -> Options:
    """The lossless settings that are meant for a NIC, by its MAC address or its name; empty for none."""
    mac = (nic.get("mac") or "").lower()
    by_mac = (each for each in roce if mac and (each.get("mac") or "").lower() == mac)
    by_name = (each for each in roce if not each.get("mac") and each["name"] == nic["name"])
    return next(by_mac, None) or next(by_name, None) or {}


def kernel_names(declared: Sequence[Options], gathered: Sequence[Options]) -> dict[str, str]:
    """Declared name to the name on the server, where a MAC address finds the NIC."""
    by_mac = {each["mac"]: each["name"] for each in gathered if each.get("mac")}
    names = {each["name"]: by_mac.get((each.get("mac") or "").lower()) for each in declared}
    return {label: name or label for label, name in names.items()}


def server_after(server: Server) -> SeenServer | None:
    """Return the predicted look at a converged server; None if it was not looked at."""
    if server.seen is None:
        return None
    names = kernel_names(server.interfaces, server.seen.interfaces)
    interfaces = {each["name"]: each for each in server.seen.interfaces}
    for wanted in server.interfaces:
        name = names[wanted["name"]]
        if wanted.get("state") == "absent":
            interfaces.pop(name, None)
            continue
        placed: dict[str, Any] = {"name": name}
        if wanted.get("parent"):
            placed["parent"] = names.get(wanted["parent"], wanted["parent"])
        if wanted.get("members"):
            placed["members"] = [names.get(member, member) for member in wanted["members"]]
        interfaces[name] = {**interfaces.get(name, {}), **_given(wanted), **placed}
    roce = [
        {**each, **overlaid(each, {key: value for key, value in _given(wanted).items() if key in NAMES})}
        for each in server.seen.roce
        for wanted in [settings_of(each, [dict(one, name=names.get(one["name"], one["name"])) for one in server.roce])]
    ]
    return replace(server.seen, interfaces=list(interfaces.values()), roce=roce)


def switch_after(switch: Switch, seen: Options) -> Options:
    """Return the predicted result of ``tor_info`` for a converged switch that has returned ``seen`` now."""
    declared, qos = switch.declared, switch.declared.get("qos") or {}
    return {
        **seen,
        "vlans": [*seen["vlans"], *declared["vlans"]],
        "ports": _merged(seen["ports"], declared["ports"]),
        "qos": {
            "dscp_to_traffic_class": {
                **numbers(seen["qos"]["dscp_to_traffic_class"]),
                **numbers(qos.get("dscp_to_traffic_class") or {}),
            },
            "profiles": _merged(
                seen["qos"]["profiles"],
                [{"pfc": True if each.get("no_drop") else None, **each} for each in qos.get("profiles") or []],
            ),
        },
    }


def _merged(seen: Sequence[Options], declared: Sequence[Options]) -> list[Options]:
    """Things with names, the declared over those that are there."""
    things = {each["name"]: each for each in seen}
    for wanted in declared:
        things[wanted["name"]] = {**things.get(wanted["name"], {}), **_given(wanted)}
    return list(things.values())


def _given(options: Options) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def numbers(mapping: Mapping[Any, Any]) -> dict[int, int]:
    """With numbers as keys, of which JSON makes text."""
    return {int(key): int(value) for key, value in mapping.items()}
