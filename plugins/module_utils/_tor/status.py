# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether ports and VLANs of an EOS switch carry frames, from the JSON of its show commands. Pure.

The running-config says what they should do; here is what keeps them from doing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from .observed import VLAN_MEMBERS, full_name, understood, vlan_members

LINKS = "show interfaces status"
BLOCKED = "show spanning-tree blockedports"
STATUS = (VLAN_MEMBERS, LINKS, BLOCKED)

CONNECTED, ERRDISABLED = "connected", "errdisabled"
ACTIVE = "active"


@dataclass(frozen=True)
class Status:
    """The status of a switch.

    Attributes:
        links: port to the state of its link, in EOS's word: ``connected``, ``notconnect``, ``disabled`` by its
            configuration, or ``errdisabled``.
        vlans: VLAN ID as text to its state, ``active`` or ``suspended``.
        members: VLAN ID as text to the ports on which it is active, as `show vlan` says.
        blocked: instance of spanning tree to the ports that it blocks.
    """

    links: Mapping[str, str]
    vlans: Mapping[str, str]
    members: Mapping[str, list[str]]
    blocked: Mapping[str, list[str]]


def status(answers: Mapping[str, str]) -> Status:
    """Understand the JSON answers to the commands of :data:`STATUS`.

    Raises:
        DeviceError: an answer is not what EOS documents; the message names the command.
    """
    return Status(
        links=understood(LINKS, _links, answers),
        vlans=understood(VLAN_MEMBERS, _vlans, answers),
        members=understood(VLAN_MEMBERS, vlan_members, answers),
        blocked=understood(BLOCKED, _blocked, answers),
    )


def _links(answer: Any) -> dict[str, str]:
    return {full_name(name): str(port["linkStatus"]) for name, port in answer["interfaceStatuses"].items()}


def _vlans(answer: Any) -> dict[str, str]:
    return {vlan_id: str(vlan["status"]) for vlan_id, vlan in answer["vlans"].items()}


def _blocked(answer: Any) -> dict[str, list[str]]:
    return {
        instance: [full_name(name) for name in each["spanningTreeBlockedPorts"]]
        for instance, each in answer["spanningTreeInstances"].items()
    }
