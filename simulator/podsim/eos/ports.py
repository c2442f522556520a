# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a configuration means for each switch port: VLANs, link, MTU. Pure; the shows and the data plane use it."""

from __future__ import annotations

from dataclasses import dataclass

from podsim.eos.config import Node
from podsim.eos.hardware import SWITCHED_MTU
from podsim.eos.syntax_interfaces import ALLOWED_VLANS, allowed_vlans

DEFAULT_ROUTED_MTU = 1500


@dataclass(frozen=True)
class Vlan:
    """A VLAN of the VLAN database; one with trunk groups is only on trunks of one of them."""

    vlan_id: int
    name: str
    active: bool
    trunk_groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Port:
    """The settings of an interface, defaults filled in.

    `mode` is `access`, `trunk` or `routed`; `mtu` is in bytes without Ethernet header; `channel` is the port channel
    that the port belongs to and takes its VLANs from, `channel_mode` is `on`, `active` or `passive` then.
    """

    name: str
    description: str
    shutdown: bool
    mode: str
    access_vlan: int
    native_vlan: int | None
    allowed_vlans: frozenset[int]
    mtu: int
    channel: str | None
    channel_mode: str = ""
    trunk_groups: frozenset[str] = frozenset()

    def carried(self, vlans: dict[int, Vlan]) -> frozenset[int]:
        """The VLANs that this port forwards: allowed on it, and active there by the VLAN database."""
        active = {vlan_id for vlan_id, vlan in vlans.items() if vlan.active}
        if self.mode == "routed":
            return frozenset()
        if self.mode == "access":
            return frozenset({self.access_vlan} & active)
        grouped = {vlan_id: vlan.trunk_groups for vlan_id, vlan in vlans.items() if vlan.trunk_groups}
        elsewhere = {vlan_id for vlan_id, groups in grouped.items() if groups.isdisjoint(self.trunk_groups)}
        return frozenset(self.allowed_vlans & active - elsewhere)


def vlans(config: Node) -> dict[int, Vlan]:
    """The VLAN database by VLAN id."""
    found = {}
    for block in config.blocks("vlan"):
        if block.line.split()[1].isdecimal():
            vlan_id = int(block.line.split()[1])
            default_name = "default" if vlan_id == 1 else f"VLAN{vlan_id:04}"
            is_active = not block.has("state suspend")
            found[vlan_id] = Vlan(vlan_id, block.value("name") or default_name, is_active, _words(block, "trunk group"))
    return found


def ports(config: Node) -> dict[str, Port]:
    """All interfaces by name; a member of a port channel has the VLANs of that channel."""
    blocks = {block.line.split()[1]: block for block in config.blocks("interface")}
    return {name: _port(name, block, blocks) for name, block in blocks.items()}


def _port(name: str, block: Node, blocks: dict[str, Node]) -> Port:
    group = block.value("channel-group")
    channel = f"Port-Channel{group.split()[0]}" if group else None
    switching = blocks.get(channel, block) if channel else block
    routed = not name.startswith(("Ethernet", "Port-Channel")) or switching.has("no switchport")
    allowed = switching.value(ALLOWED_VLANS)
    native = switching.value("switchport trunk native vlan")
    return Port(
        name=name,
        description=block.value("description") or "",
        shutdown=block.has("shutdown"),
        mode="routed" if routed else switching.value("switchport mode") or "access",
        access_vlan=int(switching.value("switchport access vlan") or 1),
        native_vlan=None if native == "tag" else int(native or 1),
        allowed_vlans=allowed_vlans(allowed),
        mtu=int(switching.value("mtu") or (DEFAULT_ROUTED_MTU if routed else SWITCHED_MTU)),
        channel=channel,
        channel_mode=group.split()[-1] if group else "",
        trunk_groups=_words(switching, "switchport trunk group"),
    )


def _words(block: Node, line: str) -> frozenset[str]:
    """The last words of all lines that begin so."""
    words = line.split()
    found = (child.line.split() for child in block.ordered_children())
    return frozenset(each[-1] for each in found if each[: len(words)] == words)
