# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mismatches between the two ends of a cable, one sentence each. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import vlan_ranges

from .ends import NicEnd, PortEnd

TRUST_OF_PORT = {"dscp": "dscp", "pcp": "cos"}
"""The switch's word for what a NIC trusts."""


@dataclass(frozen=True)
class Mismatch:
    """One setting of which two ends say different things.

    Attributes:
        setting: of the NIC: ``mtu``, ``vlan``, ``tagged``, ``pfc``, ``trust`` or ``dscp_map``.
        ends: both, each with what it says.
        remedy: what would be right.
    """

    setting: str
    ends: tuple[str, str]
    remedy: str

    def __str__(self) -> str:
        return f"{self.ends[0]} and {self.ends[1]}: {self.remedy}"


def mismatches(nic: NicEnd, port: PortEnd) -> list[Mismatch]:
    """Where the ends do not agree; what is not known of one of them is not compared."""
    return [*_mtu(nic, port), *_untagged(nic, port), *_tagged(nic, port), *_pfc(nic, port), *_marks(nic, port)]


def end(name: str, what: str, source: str | None = None) -> str:
    """One end of a mismatch: who, what, and which key path says so."""
    return f"{name} ({what} by {source})" if source else f"{name} ({what})"


def _mtu(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    if nic.mtu is not None and port.mtu is not None and nic.mtu > port.mtu:
        yield Mismatch(
            "mtu",
            (
                end(nic.name, f"MTU {nic.mtu}", nic.source.get("mtu")),
                end(port.name, f"MTU {port.mtu}", port.source.get("mtu")),
            ),
            f"the switch drops longer frames; give the NIC at most {port.mtu}, or the port at least {nic.mtu}",
        )


def _untagged(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    if nic.vlan is not None and port.untagged is not None and nic.vlan != port.untagged:
        yield Mismatch(
            "vlan",
            (
                end(nic.name, f"untagged for VLAN {nic.vlan}", nic.source.get("vlan")),
                end(port.name, f"untagged in VLAN {port.untagged}", port.source.get("vlan")),
            ),
            f"its frames go astray; put untagged frames of the port into VLAN {nic.vlan}",
        )


def _tagged(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    for name, vlan in nic.tagged.items():
        if port.carried is None or vlan in port.carried:
            continue
        carried = f"carries {','.join(vlan_ranges(port.carried))} with tag" if port.carried else "carries no tags"
        untagged = f", {vlan} without" if vlan == port.untagged else ""
        yield Mismatch(
            "tagged",
            (
                end(nic.name, f"VLAN {vlan} with tag on {name}", nic.source.get("tagged")),
                end(port.name, f"{carried}{untagged}", port.source.get("vlan")),
            ),
            f"give the switch VLAN {vlan} and let the port carry it with tag, or remove {name}",
        )


def _pfc(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    if nic.pfc is None or port.no_drop is None or nic.pfc == port.no_drop:
        return
    yield Mismatch(
        "pfc",
        (
            end(nic.name, _lossless(nic.pfc), nic.source.get("pfc")),
            end(port.name, _lossless(port.no_drop), port.source.get("pfc")),
        ),
        "PFC is hop by hop; give both the same priorities",
    )


def _lossless(priorities: Collection[int]) -> str:
    numbers = ", ".join(str(priority) for priority in sorted(priorities))
    return f"PFC on priority {numbers}" if numbers else "no PFC"


def _marks(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    """Compare how both ends mark lossless frames; irrelevant without lossless priorities."""
    if not nic.pfc:
        return
    trust = TRUST_OF_PORT.get(nic.trust or "")
    if trust and port.trust and trust != port.trust:
        yield Mismatch(
            "trust",
            (
                end(nic.name, f"trusts {nic.trust}", nic.source.get("trust")),
                end(port.name, f"trusts {port.trust}", port.source.get("trust")),
            ),
            "they sort the same frames differently; let both trust dscp",
        )
        return
    if trust == "cos" or port.trust == "cos":
        return
    known = port.classes or {}
    differing: dict[tuple[int, int], list[int]] = {}
    for dscp, priority in sorted((nic.dscp_map or {}).items()):
        if priority in nic.pfc and known.get(dscp, priority) != priority:
            differing.setdefault((priority, known[dscp]), []).append(dscp)
    for (priority, traffic_class), dscps in differing.items():
        numbers = ", ".join(str(dscp) for dscp in dscps)
        yield Mismatch(
            "dscp_map",
            (
                end(nic.name, f"DSCP {numbers} is priority {priority}", nic.source.get("dscp_map")),
                end(port.name, f"DSCP {numbers} is traffic class {traffic_class}", port.source.get("dscp_map")),
            ),
            f"map DSCP {numbers} to the same number at both ends",
        )
