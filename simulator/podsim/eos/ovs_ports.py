# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A configuration as Open vSwitch ports. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from podsim.eos.config import Node
from podsim.eos.interface_names import natural_order
from podsim.eos.ports import Port, Vlan, ports, vlans

# Open vSwitch reads an empty `trunks` as all VLANs; a trunk for the reserved VLAN 4095 alone forwards nothing.
NOWHERE = 4095


@dataclass(frozen=True)
class OvsPort:
    """The columns of an Open vSwitch port and its interfaces that make a switch port; `mtu` in bytes.

    The cable of a port that is not `lit` is dark: who is at its other end has no carrier.
    """

    vlan_mode: str
    tag: int | None
    trunks: tuple[int, ...]
    mtu: int
    lacp: str = "off"
    lit: bool = True

    def blocked(self) -> OvsPort:
        """The same port when it forwards nothing."""
        return replace(self, vlan_mode="trunk", tag=None, trunks=(NOWHERE,))


def ovs_port(port: Port, database: dict[int, Vlan]) -> OvsPort:
    """The settings of a switch port in Open vSwitch. A VLAN that is suspended or unknown does not forward."""
    carried = port.carried(database)
    trunk = OvsPort("trunk", None, tuple(sorted(carried)), port.mtu, lit=not port.shutdown)
    if port.shutdown or not carried:
        return trunk.blocked()
    if port.mode == "access":
        return OvsPort("access", port.access_vlan, (), port.mtu)
    if port.native_vlan in carried:
        return replace(trunk, vlan_mode="native-untagged", tag=port.native_vlan)
    return trunk


def ovs_ports(config: Node) -> dict[tuple[str, ...], OvsPort]:
    """The Open vSwitch port of every switch port, or of the members that share a port channel, by their EOS names.

    A member that is shut down is a port of its own, and so are all when the port channel is shut down.
    """
    database, every = vlans(config), ports(config)
    groups: dict[str, list[Port]] = {}
    for name, port in every.items():
        if name.startswith("Ethernet"):
            groups.setdefault(port.channel if port.channel and _joins(port, every) else name, []).append(port)
    found = {}
    for group, members in groups.items():
        settings = ovs_port(members[0], database)
        if members[0].channel == group:
            settings = replace(settings, lacp=_LACP[members[0].channel_mode])
        elif members[0].channel:
            settings = settings.blocked()
        found[tuple(sorted((port.name for port in members), key=natural_order))] = settings
    return found


def _joins(port: Port, every: dict[str, Port]) -> bool:
    return port.channel is not None and not port.shutdown and not every[port.channel].shutdown


_LACP = {"on": "off", "active": "active", "passive": "passive"}
