# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two address schemes of the build and test guides: which address stands where in a rack.

=================  ==============  ==============
network            factory         multi-rack
=================  ==============  ==============
BMC                10.1.1.z        10.1.lrack.z
IPU-Gateway        10.1.2.z        10.2.lrack.z
server management  10.1.3.z        10.3.lrack.z
switch management  10.1.4.z        10.4.lrack.z     (assumed: no public source)
RNIC               10.1.5.z/24     10.5.lrack.z/16  (/24 assumed, /16 seen in the field)
=================  ==============  ==============

z is 1 to 16 for IPU-Machines, 101 and up for Poplar servers, 1 for the ToR switch.
"""

from __future__ import annotations

NETWORKS = {"bmc": 1, "gateway": 2, "management": 3, "switch": 4, "rnic": 5}
RNIC_PREFIX = {"factory": 24, "multi-rack": 16}
FIRST_POPLAR_SERVER = 101
TOR_SWITCH = 1


def address(scheme: str, network: str, lrack: int, number: int) -> str:
    """The address of one device.

    Args:
        scheme: ``factory`` or ``multi-rack``.
        network: a key of :data:`NETWORKS`.
        lrack: the logical rack, 1 to 254; the factory scheme has no place for it.
        number: the last part of the address (z).
    """
    third = NETWORKS[network]
    if scheme == "factory":
        return f"10.1.{third}.{number}"
    return f"10.{third}.{lrack}.{number}"
