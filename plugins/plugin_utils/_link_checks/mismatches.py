# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mismatches between the two ends of a cable, one sentence each. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import vlan_ranges

from .ends import NicEnd, PortEnd

# The switch's word for what a NIC trusts.
TRUST_OF_PORT = {"dscp": "dscp", "pcp": "cos"}


@dataclass(frozen=True)
class Mismatch:
    """One ``setting`` of a :class:`NicEnd` of which two ends say different things, each end with what it says."""

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


def _mismatch(
    setting: str, nic: NicEnd, says: str, port: PortEnd, other: str, remedy: str, of_port: str = ""
) -> Mismatch:
    """A setting of which the NIC ``says`` one thing and the port the ``other``, which may call it ``of_port``."""
    source = port.source.get(of_port or setting)
    return Mismatch(setting, (end(nic.name, says, nic.source.get(setting)), end(port.name, other, source)), remedy)


def _mtu(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    if nic.mtu is not None and port.mtu is not None and nic.mtu > port.mtu:
        remedy = f"the switch drops longer frames; give the NIC at most {port.mtu}, or the port at least {nic.mtu}"
        yield _mismatch("mtu", nic, f"MTU {nic.mtu}", port, f"MTU {port.mtu}", remedy)


def _untagged(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    if nic.vlan is not None and port.untagged is not None and nic.vlan != port.untagged:
        says, other = f"untagged for VLAN {nic.vlan}", f"untagged in VLAN {port.untagged}"
        remedy = f"its frames go astray; put untagged frames of the port into VLAN {nic.vlan}"
        yield _mismatch("vlan", nic, says, port, other, remedy)


def _tagged(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    for name, vlan in nic.tagged.items():
        if port.carried is None or vlan in port.carried:
            continue
        carried = f"carries {','.join(vlan_ranges(port.carried))} with tag" if port.carried else "carries no tags"
        untagged = f", {vlan} without" if vlan == port.untagged else ""
        says = f"VLAN {vlan} with tag on {name}"
        remedy = f"give the switch VLAN {vlan} and let the port carry it with tag, or remove {name}"
        yield _mismatch("tagged", nic, says, port, f"{carried}{untagged}", remedy, of_port="vlan")


def _pfc(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    if nic.pfc is not None and port.no_drop is not None and nic.pfc != port.no_drop:
        remedy = "PFC is hop by hop; give both the same priorities"
        yield _mismatch("pfc", nic, _lossless(nic.pfc), port, _lossless(port.no_drop), remedy)


def _lossless(priorities: Collection[int]) -> str:
    numbers = ", ".join(map(str, sorted(priorities)))
    return f"PFC on priority {numbers}" if numbers else "no PFC"


def _marks(nic: NicEnd, port: PortEnd) -> Iterator[Mismatch]:
    """Compare how both ends mark lossless frames; irrelevant without lossless priorities."""
    if not nic.pfc:
        return
    trust = TRUST_OF_PORT.get(nic.trust or "")
    if trust and port.trust and trust != port.trust:
        remedy = "they sort the same frames differently; let both trust dscp"
        yield _mismatch("trust", nic, f"trusts {nic.trust}", port, f"trusts {port.trust}", remedy)
        return
    if trust == "cos" or port.trust == "cos":
        return
    known = port.classes or {}
    differing: dict[tuple[int, int], list[int]] = {}
    for dscp, priority in sorted((nic.dscp_map or {}).items()):
        if priority in nic.pfc and known.get(dscp, priority) != priority:
            differing.setdefault((priority, known[dscp]), []).append(dscp)
    for (priority, traffic_class), dscps in differing.items():
        numbers = ", ".join(map(str, dscps))
        says, other = f"DSCP {numbers} is priority {priority}", f"DSCP {numbers} is traffic class {traffic_class}"
        yield _mismatch("dscp_map", nic, says, port, other, f"map DSCP {numbers} to the same number at both ends")
