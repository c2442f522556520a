# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ToR's port map: uplinks on 1 to 8, the IPU-Machines on 9 to 24, four servers with two ports each on 25 to 32."""

from __future__ import annotations

LAST_UPLINK = 8
FIRST_IPU_MACHINE_PORT = 9
LAST_IPU_MACHINE_PORT = 24
FIRST_SERVER_PORT = 25
LAST_PORT = 32
PORTS_PER_SERVER = 2


def port_name(number: int) -> str:
    """The EOS name of the first lane of a front panel port."""
    return f"Ethernet{number}/1"


def port_names(first: int, last: int) -> list[str]:
    """The EOS names of the first lanes of some neighbouring front panel ports."""
    return [port_name(number) for number in range(first, last + 1)]


def ipu_machine_port(number: int, order: str) -> str:
    """The port of the RNIC of IPU-Machine ``number`` (1 to 16) in ``ascending`` or ``descending`` order."""
    if order == "descending":
        return port_name(LAST_IPU_MACHINE_PORT + 1 - number)
    return port_name(FIRST_IPU_MACHINE_PORT - 1 + number)


def poplar_server_ports(number: int) -> list[str]:
    """The two ports of Poplar server ``number`` (1 to 4)."""
    first = FIRST_SERVER_PORT + PORTS_PER_SERVER * (number - 1)
    return port_names(first, first + PORTS_PER_SERVER - 1)
