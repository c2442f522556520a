# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses and networks as a person writes them. Pure."""

from __future__ import annotations

import ipaddress
from typing import Any

from .._plan.converge import Refused


def address_from(place: str, text: Any) -> ipaddress.IPv4Address:
    """An IPv4 address. Raises Refused: it is none; the sentence begins with ``place``."""
    try:
        return ipaddress.IPv4Address(str(text))
    except ValueError:
        raise Refused(f"{place}: {str(text)!r} is no IPv4 address; write it like 10.3.1.101") from None


def network_from(place: str, text: Any) -> ipaddress.IPv4Network:
    """An IPv4 network. Raises Refused: it is none; the sentence begins with ``place``."""
    try:
        return ipaddress.IPv4Network(str(text))
    except ValueError:
        raise Refused(f"{place}: {str(text)!r} is no IPv4 network; write it like 10.5.0.0/16") from None
