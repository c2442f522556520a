# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that two claim in one network. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """Somebody who has an address, or is meant to have it.

    Attributes:
        address: without prefix length.
        host: who.
        words: who, where and by what, for a person.
        vlan: the VLAN in which it counts; None where that is not known, which may be any.
    """

    address: str
    host: str
    words: str
    vlan: int | None = None


def clashes(claims: Sequence[Claim], against: Sequence[Claim]) -> list[str]:
    """A sentence for each address of ``claims`` that another host has there or in ``against``."""
    found: dict[tuple[str, frozenset[str]], str] = {}
    by_address: dict[str, list[Claim]] = {}
    for claim in (*claims, *against):
        by_address.setdefault(claim.address, []).append(claim)
    for claim in claims:
        rivals = by_address[claim.address]
        # Each pair is seen once.
        rivals.remove(claim)
        for other in rivals:
            if claim.host != other.host and _one_network(claim, other):
                pair = (claim.address, frozenset((claim.host, other.host)))
                found.setdefault(pair, f"{claim.words} and {other.words}: give one of them another address")
    return list(found.values())


def _one_network(claim: Claim, other: Claim) -> bool:
    return None in (claim.vlan, other.vlan) or claim.vlan == other.vlan
