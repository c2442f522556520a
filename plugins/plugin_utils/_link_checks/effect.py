# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run leaves behind: what is declared over what was seen, which stays where nothing is declared. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._roce.settings import NAMES, overlaid

from .server import Options, SeenServer, Server, Switch, settings_of


def kernel_names(declared: Sequence[Options], gathered: Sequence[Options]) -> dict[str, str]:
    """Declared name to the name on the server, where a MAC address finds the NIC."""
    by_mac = {each["mac"]: each["name"] for each in gathered if each.get("mac")}
    names = {each["name"]: by_mac.get((each.get("mac") or "").lower()) for each in declared}
    return {label: name or label for label, name in names.items()}


def server_after(server: Server) -> SeenServer | None:
    """What will be seen of a server once it is as declared; None where it was not looked at."""
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
        interfaces[name] = {**interfaces.get(name, {}), **_said(wanted), **placed}
    roce = [
        {**each, **overlaid(each, {key: value for key, value in _said(wanted).items() if key in NAMES})}
        for each in server.seen.roce
        for wanted in [settings_of(each, [dict(one, name=names.get(one["name"], one["name"])) for one in server.roce])]
    ]
    return replace(server.seen, interfaces=list(interfaces.values()), roce=roce)


def switch_after(switch: Switch, seen: Options) -> Options:
    """What ``tor_info`` will return once a switch is as declared, which has returned ``seen`` now."""
    declared, qos = switch.declared, switch.declared.get("qos") or {}
    return {
        **seen,
        "vlans": [*seen["vlans"], *declared["vlans"]],
        "ports": _merged(seen["ports"], declared["ports"]),
        "qos": {
            "dscp_to_traffic_class": {
                **_numbers(seen["qos"]["dscp_to_traffic_class"]),
                **_numbers(qos.get("dscp_to_traffic_class") or {}),
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
        things[wanted["name"]] = {**things.get(wanted["name"], {}), **_said(wanted)}
    return list(things.values())


def _said(options: Options) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _numbers(mapping: Mapping[Any, Any]) -> dict[int, int]:
    return {int(key): int(value) for key, value in mapping.items()}
