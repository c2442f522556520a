# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which address and which port of the ToR a device has by its number: two address schemes, and one port map. Pure.

=================  ==============  ==============
network            factory         multi-rack
=================  ==============  ==============
BMC                10.1.1.z        10.1.lrack.z
IPU-Gateway        10.1.2.z        10.2.lrack.z
server management  10.1.3.z        10.3.lrack.z
switch management  10.1.4.z        10.4.lrack.z     (assumed: no public source)
RNIC               10.1.5.z/24     10.5.lrack.z/16  (/24 assumed, /16 seen in the field)
=================  ==============  ==============

z is 1 to 16 for IPU-Machines, 101 and up for Poplar servers, 1 for the ToR switch. The schemes are those of the build
and test guides.

Of the ToR's ports, 1 to 8 are uplinks, 9 to 24 the IPU-Machines', 25 to 32 those of four servers with two ports each.
"""

from __future__ import annotations

NETWORKS = {"bmc": 1, "gateway": 2, "management": 3, "switch": 4, "rnic": 5}
RNIC_PREFIX = {"factory": 24, "multi-rack": 16}
FIRST_POPLAR_SERVER = 101
TOR_SWITCH = 1

LAST_UPLINK = 8
FIRST_IPU_MACHINE_PORT = 9
LAST_IPU_MACHINE_PORT = 24
FIRST_SERVER_PORT = 25
LAST_PORT = 32
PORTS_PER_SERVER = 2


def address(scheme: str, network: str, lrack: int, number: int) -> str:
    """The address of one device; ``number`` is its last part (z), and the factory scheme has no place for ``lrack``."""
    third = NETWORKS[network]
    if scheme == "factory":
        return f"10.1.{third}.{number}"
    return f"10.{third}.{lrack}.{number}"


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
