# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pods.yml in the order in which a person would write it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Document = dict[str, Any]

SECTIONS = ("plugin", "schema", "pods", "controllers", "clusters", "vpods")
POD = (
    "model",
    "lrack",
    "addressing",
    "poplar_servers",
    "managed",
    "canary",
    "names",
    "rnic",
    "vlans",
    "tor",
    "management_switch",
    "overrides",
)
TOR = (
    "address",
    "ipu_machine_order",
    "descriptions",
    "mtu",
    "spanning_tree_edge",
    "roce",
    "spare_ports",
    "canary",
    "ports",
)
VPOD = ("cluster", "ipus", "vlan", "vni", "vlan_name", "poplar_servers", "ipu_machines", "users", "ipuof", "partitions")
COMMENTS = {
    "pods": "The racks. What follows from the port map and the addresses of a rack is not said; exceptions are named.",
    "controllers": "The V-IPU controllers.",
    "clusters": "Which racks each of them has, in the order of the IPU-Link domains.",
    "vpods": "The tenants: their IPU-Machines, Poplar servers, VLANs and partitions.",
}


def ordered(document: Mapping[str, Any]) -> Document:
    """The same document in that order."""
    sections = _in_order(document, SECTIONS)
    sections["pods"] = {name: _pod(words) for name, words in document["pods"].items()}
    if "vpods" in sections:
        sections["vpods"] = {name: _in_order(words, VPOD) for name, words in document["vpods"].items()}
    return sections


def _pod(words: Mapping[str, Any]) -> Document:
    pod = _in_order(words, POD)
    return {**pod, "tor": _in_order(pod["tor"], TOR)} if "tor" in pod else pod


def _in_order(words: Mapping[str, Any], order: Sequence[str]) -> Document:
    keys = [*(key for key in order if key in words), *(key for key in words if key not in order)]
    return {key: words[key] for key in keys}
