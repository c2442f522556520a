# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of all that a floor needs on the host: a pure translation of the facts into named pieces.

Linux allows 15 characters in an interface name, so links are numbered: `psm3` is the management cable of the
third machine, `psc3` its cable to a cloud's control network, `psn3-0` the switch in its first RNIC, `pst1e9-1` is port
Ethernet9/1 of the first switch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from itertools import count

from podsim.floor.facts import Cable, Cloud, ControlNetwork, Dhcp, Facts, MachineType, Software, Switch

MANAGEMENT_BRIDGE = "ps-mgmt"
CONTROL_BRIDGE = "ps-control"
LINK_PREFIX = "ps"
# A machine's container and its network namespace; the dot sets the two others apart from any machine's name.
NAMESPACE_PREFIX = "podsim"
DATA_PLANE_NAMESPACE = f"{NAMESPACE_PREFIX}.dataplane"
DHCP_NAMESPACE = f"{NAMESPACE_PREFIX}.dhcp"
DHCP_OPENFLOW_PORT = 1
MANAGEMENT_PORT = "eth0"
CONTROL_PORT = "control0"
# Of a compute node, beside its own port.
MACHINES_PORT = "machines0"
BMC_PORT = "bmc0"
IPU_MACHINE_RNIC = "rnic0"
SWITCH_USER = "admin"


class Kind(Enum):
    """The kinds of machine that stand on the floor."""

    CONTROLLER = "controller"
    CLOUD = "cloud"
    COMPUTE_NODE = "compute node"
    POPLAR_SERVER = "Poplar server"
    IPU_MACHINE = "IPU-Machine"


@dataclass(frozen=True)
class EmbeddedSwitch:
    """The switch in an RNIC that has virtual functions: its OVS bridge, and the bridge's links.

    `uplink` leads to the cable, `port` to the RNIC itself, and there are at most so many `functions`.
    """

    bridge: str
    functions: int

    @property
    def uplink(self) -> str:
        """The link to the end of the RNIC's cable."""
        return f"{self.bridge}u"

    @property
    def port(self) -> str:
        """The link to the physical function, which is the RNIC as its server sees it."""
        return f"{self.bridge}p"

    def function(self, number: int) -> str:
        """The link to a virtual function."""
        return f"{self.bridge}v{number}"


@dataclass(frozen=True)
class Rnic:
    """One RNIC and the switch end of its cable; an IPU-Machine's has an MTU in bytes, and an address from DHCP."""

    name: str
    mac: str
    switch_link: str
    lease: IPv4Interface | None = None
    mtu: int | None = None
    embedded_switch: EmbeddedSwitch | None = None

    @property
    def link(self) -> str:
        """The other end of the RNIC's own link."""
        return self.embedded_switch.port if self.embedded_switch else self.switch_link


@dataclass(frozen=True)
class ControlCable:
    """A cable to a cloud's control network, and the address of who is in it; a hypervisor only passes frames on."""

    link: str
    address: IPv4Interface | None


@dataclass(frozen=True)
class Machine:
    """One machine: its management port `eth0` and its RNICs. The first management address is the one it serves on.

    With a `bmc_mac` its management addresses are those that somebody has yet to serve: its gateway asks for one on
    `eth0`, its BMC on `bmc0`, which shares the cable. With a `machines_link` it has a second cable to the management
    network, for machines that run on it.
    """

    name: str
    kind: Kind
    type: MachineType
    management: tuple[IPv4Interface, ...]
    management_link: str
    management_mac: str | None
    rnics: tuple[Rnic, ...]
    bmc_mac: str | None = None
    control: ControlCable | None = None
    machines_link: str | None = None

    @property
    def with_functions(self) -> tuple[Rnic, ...]:
        """Its RNICs that can have virtual functions."""
        return tuple(rnic for rnic in self.rnics if rnic.embedded_switch)

    @property
    def is_hypervisor(self) -> bool:
        """Whether machines of a cloud run on it."""
        return self.kind in (Kind.POPLAR_SERVER, Kind.COMPUTE_NODE) and self.control is not None

    @property
    def container(self) -> str:
        """The name of its container and of its network namespace."""
        return container_name(self.name)

    @property
    def address(self) -> IPv4Address:
        """Where it is reached: a gateway's agent, or sshd."""
        return self.management[0].ip


@dataclass(frozen=True)
class SwitchPort:
    """A cabled front-panel port: EOS name, link on the host, OpenFlow number; and what the cable leads to."""

    name: str
    link: str
    openflow_port: int
    machine: str
    rnic: str
    mac: str


@dataclass(frozen=True)
class UplinkPort:
    """A front-panel port whose cable leads to another switch: as a SwitchPort, but for the switch and its port."""

    name: str
    link: str
    openflow_port: int
    switch: str
    port: str


@dataclass(frozen=True)
class SwitchPlan:
    """One switch: its management address, OVS bridge, cabled ports, and the links to management and DHCP server.

    `ports` lead to machines, `uplinks` to other switches.
    """

    name: str
    management: IPv4Interface
    bridge: str
    management_link: str
    dhcp_link: str
    ports: tuple[SwitchPort, ...]
    uplinks: tuple[UplinkPort, ...]

    @property
    def cabled(self) -> tuple[SwitchPort | UplinkPort, ...]:
        """All front-panel ports with a cable."""
        return (*self.ports, *self.uplinks)

    @property
    def namespace(self) -> str:
        """The network namespace of its control plane, so that its SSH port is not the host's."""
        return f"{NAMESPACE_PREFIX}.{self.bridge}"

    @property
    def address(self) -> IPv4Address:
        """Where it is reached."""
        return self.management.ip


@dataclass(frozen=True)
class CloudPlan:
    """The cloud of a floor, and the network by which its machines are reached."""

    declared: Cloud
    control: ControlNetwork

    @property
    def hypervisors(self) -> tuple[str, ...]:
        """Where its machines run: Poplar servers and compute nodes."""
        return (*self.declared.hypervisors, *(name for name, _address in self.declared.compute_nodes))

    @property
    def control_node(self) -> IPv4Interface:
        """The address of the machine that runs the simulation."""
        return IPv4Interface((self.control.control_node, self.control.network.prefixlen))


@dataclass(frozen=True)
class Floor:
    """Everything to create, in an order that any part may rely on; an uplink is its links at both ends."""

    networks: tuple[IPv4Network, ...]
    control_node: tuple[IPv4Interface, ...]
    switches: tuple[SwitchPlan, ...]
    uplinks: tuple[tuple[str, str], ...]
    machines: tuple[Machine, ...]
    software: tuple[Software, ...]
    cloud: CloudPlan | None = None

    @property
    def has_machines_in_management(self) -> bool:
        """Whether frames of Open vSwitch in user space, which fills in no checksums, come to management ports."""
        return any(machine.machines_link for machine in self.machines)

    @property
    def reached_networks(self) -> tuple[IPv4Network, ...]:
        """The networks that the host gets."""
        return (*self.networks, *((self.cloud.control.network,) if self.cloud else ()))

    @property
    def containers(self) -> tuple[Machine, ...]:
        """The machines that share the host's kernel."""
        return tuple(machine for machine in self.machines if machine.type is MachineType.CONTAINER)

    @property
    def virtual_machines(self) -> tuple[Machine, ...]:
        """The machines that have a kernel of their own."""
        return tuple(machine for machine in self.machines if machine.type is MachineType.VIRTUAL_MACHINE)

    @property
    def leases(self) -> dict[str, IPv4Interface]:
        """The address that DHCP gives to each RNIC, by MAC."""
        return {rnic.mac: rnic.lease for machine in self.machines for rnic in machine.rnics if rnic.lease}


def container_name(machine: str) -> str:
    """The name of a machine's container and of its network namespace."""
    return f"{NAMESPACE_PREFIX}-{machine}"


def plan(facts: Facts) -> Floor:
    """The floor that these facts describe."""
    bridges = {switch.name: f"{LINK_PREFIX}t{number}" for number, switch in enumerate(facts.switches, 1)}
    networks = facts.management.networks

    def switch_link(cable: Cable) -> str:
        return bridges[cable.switch] + cable.port.replace("Ethernet", "e").replace("/", "-")

    machines: list[Machine] = []
    cloud = _cloud(facts)
    in_control_network = _in_control_network(cloud)

    def add(
        name: str,
        kind: Kind,
        addresses: tuple[IPv4Address, ...],
        rnics: tuple[Rnic, ...],
        mac: str | None = None,
        machine_type: MachineType = MachineType.CONTAINER,
        bmc_mac: str | None = None,
    ) -> None:
        management = tuple(_on_network(address, networks) for address in addresses)
        number = len(machines) + 1
        link = f"{LINK_PREFIX}m{number}"
        control = None
        if name in in_control_network:
            control = ControlCable(f"{LINK_PREFIX}c{number}", in_control_network[name])
        for_machines = f"{link}v" if kind is Kind.COMPUTE_NODE else None
        machines.append(Machine(name, kind, machine_type, management, link, mac, rnics, bmc_mac, control, for_machines))

    for controller in facts.controllers:
        add(controller.name, Kind.CONTROLLER, (controller.management,), ())
    for declared in facts.clouds:
        add(declared.name, Kind.CLOUD, (declared.management,), ())
        for name, address in declared.compute_nodes:
            add(name, Kind.COMPUTE_NODE, (address,), ())
    for server in facts.poplar_servers:
        rnics = tuple(
            Rnic(
                rnic.name,
                rnic.mac,
                switch_link(rnic.cable),
                embedded_switch=_embedded_switch(rnic.virtual_functions, len(machines) + 1, number),
            )
            for number, rnic in enumerate(server.rnics)
        )
        add(server.name, Kind.POPLAR_SERVER, (server.management,), rnics, machine_type=server.machine)
    for machine in facts.ipu_machines:
        factory = facts.dhcp is Dhcp.FACTORY
        lease, bmc_mac = (machine.lease, None) if factory else (None, machine.bmc_mac)
        rnic = Rnic(IPU_MACHINE_RNIC, machine.rnic_mac, switch_link(machine.cable), lease, machine.mtu)
        addresses = (machine.gateway_address, machine.bmc_address)
        add(machine.name, Kind.IPU_MACHINE, addresses, (rnic,), machine.gateway_mac, bmc_mac=bmc_mac)

    cables = [
        *((rnic.cable, server.name, rnic.name, rnic.mac) for server in facts.poplar_servers for rnic in server.rnics),
        *((machine.cable, machine.name, IPU_MACHINE_RNIC, machine.rnic_mac) for machine in facts.ipu_machines),
    ]
    uplinks = [ends for uplink in facts.uplinks for ends in (uplink.ends, uplink.ends[::-1])]

    def switch_plan(switch: Switch) -> SwitchPlan:
        bridge = bridges[switch.name]
        machines_there = [end for end in cables if end[0].switch == switch.name]
        switches_there = [ends for ends in uplinks if ends[0].switch == switch.name]
        numbers = count(DHCP_OPENFLOW_PORT + 1)
        return SwitchPlan(
            name=switch.name,
            management=_on_network(switch.management, networks),
            bridge=bridge,
            management_link=f"{bridge}m",
            dhcp_link=f"{bridge}dhcp",
            ports=tuple(
                SwitchPort(cable.port, switch_link(cable), next(numbers), machine, rnic, mac)
                for cable, machine, rnic, mac in machines_there
            ),
            uplinks=tuple(
                UplinkPort(near.port, switch_link(near), next(numbers), far.switch, far.port)
                for near, far in switches_there
            ),
        )

    control_node = tuple(_on_network(address, networks) for address in facts.management.control_node)
    return Floor(
        networks,
        control_node,
        tuple(map(switch_plan, facts.switches)),
        tuple((switch_link(one), switch_link(other)) for one, other in (uplink.ends for uplink in facts.uplinks)),
        tuple(machines),
        facts.software,
        cloud,
    )


def _embedded_switch(functions: int, machine: int, rnic: int) -> EmbeddedSwitch | None:
    return EmbeddedSwitch(f"{LINK_PREFIX}n{machine}-{rnic}", functions) if functions else None


def _cloud(facts: Facts) -> CloudPlan | None:
    return CloudPlan(facts.clouds[0], facts.control) if facts.clouds and facts.control else None


def _in_control_network(cloud: CloudPlan | None) -> dict[str, IPv4Interface | None]:
    """The machines with a cable to it, and the address of each that has one there."""
    if cloud is None:
        return {}
    addresses = {**dict(cloud.control.controllers), cloud.declared.name: cloud.declared.control}
    prefix = cloud.control.network.prefixlen
    return {
        **{name: IPv4Interface((address, prefix)) for name, address in addresses.items()},
        **dict.fromkeys(cloud.hypervisors),
    }


def _on_network(address: IPv4Address, networks: tuple[IPv4Network, ...]) -> IPv4Interface:
    network = next(network for network in networks if address in network)
    return IPv4Interface((address, network.prefixlen))
