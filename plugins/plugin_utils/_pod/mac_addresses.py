# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAC addresses in one spelling, by netaddr. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .kinds import DeclarationError

try:
    import netaddr
except ImportError:
    netaddr = None

HEXADECIMAL_DIGITS = 12


def require_netaddr() -> None:
    """Refuse in one sentence if netaddr is missing, before anything needs it."""
    if netaddr is None:
        raise DeclarationError(
            ["the control node lacks the Python package netaddr; install it beside ansible-core: pip install netaddr"]
        )


def mac_address(text: str) -> str | None:
    """A MAC address as ``0c:42:a1:00:01:01``, from any spelling (``0C42.A100.0101``); None where it is none."""
    try:
        address = netaddr.EUI(text, version=48, dialect=netaddr.mac_unix_expanded)
    except netaddr.AddrFormatError:
        return None
    # netaddr fills in digits that are left out; here they are a slip of the pen.
    return str(address) if sum(map(str.isalnum, text)) == HEXADECIMAL_DIGITS else None


def mac_of(octets: Sequence[int]) -> str:
    """The MAC address of six numbers."""
    return str(netaddr.EUI(int.from_bytes(octets), version=48, dialect=netaddr.mac_unix_expanded))
