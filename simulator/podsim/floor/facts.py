# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated floor as described: machines, switches, and the cables between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network


@dataclass(frozen=True)
class Management:
    """The management network: its subnets, and the addresses of the machine that runs the simulation."""

    networks: tuple[IPv4Network, ...]
    control_node: tuple[IPv4Address, ...]


@dataclass(frozen=True)
class Cable:
    """Where a cable ends: a switch by name and its port, e.g. `Ethernet9/1`."""

    switch: str
    port: str


@dataclass(frozen=True)
class Uplink:
    """A cable between two switches."""

    ends: tuple[Cable, Cable]


@dataclass(frozen=True)
class Switch:
    """A top-of-rack switch and its management address."""

    name: str
    management: IPv4Address


@dataclass(frozen=True)
class Controller:
    """A V-IPU controller that is a machine of its own, and its management address."""

    name: str
    management: IPv4Address


class MachineType(Enum):
    """How a Poplar server is simulated: as a container, or as a virtual machine with a kernel of its own."""

    CONTAINER = "container"
    VIRTUAL_MACHINE = "vm"


@dataclass(frozen=True)
class ServerRnic:
    """One RNIC of a Poplar server, as it left the factory: a MAC and a cable, no address.

    Its firmware lets it have so many virtual functions (SR-IOV).
    """

    name: str
    mac: str
    cable: Cable
    virtual_functions: int = 0


@dataclass(frozen=True)
class PoplarServer:
    """A Poplar server, its management address, its RNICs, and what it is on the host."""

    name: str
    management: IPv4Address
    rnics: tuple[ServerRnic, ...]
    machine: MachineType


@dataclass(frozen=True)
class IpuMachine:
    """An IPU-Machine: BMC and gateway share one management port; the RNIC gets `lease` by DHCP. MTU in bytes."""

    name: str
    bmc_mac: str
    bmc_address: IPv4Address
    gateway_mac: str
    gateway_address: IPv4Address
    rnic_mac: str
    cable: Cable
    lease: IPv4Interface
    mtu: int


class Dhcp(Enum):
    """Who gives the IPU-Machines their addresses: the floor, as in the factory, or nobody until somebody serves them.

    The floor leases RNICs theirs in every VLAN, and BMCs and gateways have theirs from the start.
    """

    FACTORY = "factory"
    NONE = "none"


class Software(Enum):
    """Software installed on controllers and Poplar servers beside that of every machine; nothing of it runs."""

    SLURM = "slurm"
    OPENSTACK = "openstack"
    CONTAINERS = "containers"
    BACKEND_AI = "backend-ai"


@dataclass(frozen=True)
class ControlNetwork:
    """The network by which a cloud's machines are reached: who is there already, and which addresses are theirs."""

    network: IPv4Network
    control_node: IPv4Address
    controllers: tuple[tuple[str, IPv4Address], ...]
    machines: IPv4Network


@dataclass(frozen=True)
class ManagementMachines:
    """What a cloud calls the network of management addresses, and which of them it may give to machines."""

    network: IPv4Network
    addresses: IPv4Network


@dataclass(frozen=True)
class Cloud:
    """An OpenStack: its addresses in the management and the control network, its hypervisors, its users' names.

    Machines on its compute nodes, which are no Poplar servers, reach the management network.
    """

    name: str
    management: IPv4Address
    control: IPv4Address
    hypervisors: tuple[str, ...]
    users: tuple[str, ...]
    compute_nodes: tuple[tuple[str, IPv4Address], ...] = ()
    management_machines: ManagementMachines | None = None


@dataclass(frozen=True)
class Facts:
    """Everything that stands on the floor."""

    management: Management
    switches: tuple[Switch, ...]
    controllers: tuple[Controller, ...]
    poplar_servers: tuple[PoplarServer, ...]
    ipu_machines: tuple[IpuMachine, ...]
    dhcp: Dhcp
    uplinks: tuple[Uplink, ...] = ()
    software: tuple[Software, ...] = ()
    control: ControlNetwork | None = None
    clouds: tuple[Cloud, ...] = ()
