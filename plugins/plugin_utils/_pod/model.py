# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a pod as types: what a declaration holds once it has been checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .clouds import Cloud, CloudShare
from .machines import RunningMachine
from .switches import QUARANTINE, ManagementSwitch, Tor, Vlan

INSECURE, SECURE = "insecure", "secure"
ENVIRONMENT, FILES = "environment", "files"
SHARED, DEDICATED = "shared", "dedicated"
OWN, JOBS = "own", "jobs"
MACVLAN = "macvlan"
PRESENT, ABSENT = "present", "absent"
SWITCH_LAYER, SERVERS_LAYER, CONTROLLER_LAYER = LAYERS = ("switch", "servers", "controller")
# Below the ports that Linux gives to clients, and apart from those that controllers of clusters usually have.
FIRST_PORT = 10000
PORTS_OF_ONE = 4
# What a controller serves its metrics on where nobody says otherwise.
METRICS_PORT = 2113
# What Slurm makes for a job: V-IPU has no labels, so a name is all that tells.
NAMES_OF_JOBS = {"allocation": r"c[0-9]+", "partition": r"(p|slurm_)[0-9]+", "user": r"j[0-9]+"}
OF_A_JOB = "named as Slurm names what it makes for a job"


@dataclass(frozen=True)
class PodModel:
    """A product: how many IPU-Machines stand in one rack of it."""

    name: str
    machine: str
    ipu_machines: int


POD_MODELS = {
    model.name: model for model in (PodModel("ipu-pod64", "IPU-M2000", 16), PodModel("bow-pod64", "Bow-2000", 16))
}


@dataclass(frozen=True)
class Pod:
    """One rack: IPU-Machines, Poplar servers and their ToR switch.

    ``overrides`` maps a device's name to the host variables that differ from what would be derived.
    ``vlans`` maps names (storage, control, quarantine ...) to the VLANs of the ToR switch that belong to no tenant.
    ``rnic_vlan`` and ``rnic_mtu`` of None mean: keep what is there.
    ``managed`` are those of :data:`LAYERS` that may be changed; the others are read at most.
    ``canary`` names switches and Poplar servers that are changed before all others.
    ``excluded`` are IPU-Machines that are out of order: no vPOD gets them, and nothing is done to them.
    ``hypervisors`` are the Poplar servers that may carry several vPODs, each with
    ``virtual_functions`` of its RNIC, or none.
    """

    name: str
    model: PodModel
    lrack: int
    addressing: str
    poplar_servers: int
    rnic_interface: str
    rnic_vlan: int | None
    rnic_vni: int | None
    rnic_vlan_name: str | None
    rnic_mtu: int | None
    tor: Tor
    management_switch: ManagementSwitch | None
    names: Mapping[str, str]
    vlans: Mapping[str, Vlan]
    overrides: Mapping[str, Mapping[str, Any]]
    managed: tuple[str, ...]
    canary: tuple[str, ...]
    excluded: tuple[str, ...]
    hypervisors: tuple[str, ...]
    virtual_functions: int

    @property
    def rest_vlan(self) -> int | None:
        """The VLAN of RNICs that no vPOD has; None: they stay in the VLAN that they are in."""
        if self.rnic_vlan is not None or QUARANTINE not in self.vlans:
            return self.rnic_vlan
        return self.vlans[QUARANTINE].vlan_id


@dataclass(frozen=True)
class Controller:
    """A V-IPU controller: on a host of the pod (``host``) or on a host of its own (``address``).

    ``strict_sizes`` follows the vendor's lists of sizes to the letter; ``any_replica_size`` lets replicas have any.
    """

    name: str
    host: str | None
    address: str | None
    mode: str
    user_port: int
    admin_port: int
    strict_sizes: bool
    any_replica_size: bool

    @property
    def host_name(self) -> str:
        """The inventory host it runs on."""
        return self.host or self.name

    @property
    def is_secure(self) -> bool:
        """Whether it authenticates its users."""
        return self.mode == SECURE


@dataclass(frozen=True)
class Cluster:
    """The IPU-Machines of one or more pods, in ILD order, under one controller.

    ``spine`` says whether RNICs of different racks reach each other.
    """

    name: str
    controller: str
    pods: tuple[str, ...]
    topology: str | None
    looped: bool | None
    spine: bool


@dataclass(frozen=True)
class Partition:
    """A partition inside a vPOD; ``poplar_servers`` empty means all servers of the vPOD.

    With several GCDs, several ``poplar_servers`` are one for each GCD, in their order; a server may have several.
    What is None is the controller's choice. ``relocatable`` and ``disable_auto_reset`` count at creation only.
    """

    name: str
    ipus: int
    gcds: int | None
    replicas: int | None
    reconfigurable: bool
    routing: str | None
    gw_routing: str | None
    sync_type: str | None
    relocatable: bool | None
    disable_auto_reset: bool | None
    poplar_servers: tuple[str, ...]

    @property
    def is_shared_out(self) -> bool:
        """Whether each GCD has a server of its own, instead of all servers having all GCDs."""
        return len(self.poplar_servers) > 1 and (self.gcds or 1) > 1

    def gcds_of(self, server: str) -> list[int]:
        """The GCDs that a Poplar server of the vPOD runs; none for a server that does not use the partition."""
        if self.is_shared_out:
            return [gcd for gcd, name in enumerate(self.poplar_servers) if name == server]
        return list(range(self.gcds or 1)) if server in self.poplar_servers or not self.poplar_servers else []


@dataclass(frozen=True)
class ControllerPorts:
    """The TCP ports of one V-IPU controller."""

    user: int
    admin: int
    metrics: int


def controller_ports(vlan: int | None, declared: Mapping[str, int]) -> ControllerPorts | None:
    """The ports of a dedicated controller: as ``declared``, the others by the vPOD's VLAN, which no other vPOD has.

    None where some are neither declared nor follow from a VLAN.
    """
    first = None if vlan is None else FIRST_PORT + PORTS_OF_ONE * vlan
    derived = {} if first is None else {"user": first, "admin": first + 1, "metrics": first + 2}
    ports = {**derived, **declared}
    return ControllerPorts(**ports) if len(ports) == 3 else None


@dataclass(frozen=True)
class Vpod:
    """A tenant's whole IPU-Machines with servers, VLAN and partitions.

    ``ipu_machines`` are pins, empty for none. ``ipuof`` says how its servers learn of the partitions: by environment
    variables or by configuration files. ``vni`` and ``vlan_name`` are of ``vlan``. ``controller`` is ``shared`` with
    other vPODs of the cluster, or ``dedicated`` to this one; then it has ``ports`` of its own, None where nothing says
    which, and a host of its own where ``controller_address`` is given. ``virtual_function`` is the number of the one
    that it gets on each hypervisor. ``containers`` says how containers on its servers get RNIC addresses of their own;
    None: that is nobody's business here. ``allocation`` is its ``own``, or that of ``jobs``: then it has none, and each
    job of Slurm has one of some of its IPU-Machines. ``cloud`` is what it has in a cloud.
    """

    name: str
    state: str
    cluster: str
    ipus: int
    vlan: int | None
    vni: int | None
    vlan_name: str | None
    poplar_servers: tuple[str, ...]
    ipu_machines: tuple[str, ...]
    users: tuple[str, ...]
    ipuof: str
    partitions: tuple[Partition, ...]
    controller: str
    controller_address: str | None
    ports: ControllerPorts | None
    virtual_function: int | None
    containers: str | None
    allocation: str
    cloud: CloudShare | None = None

    @property
    def storage_vlan(self) -> int | None:
        """The VLAN of its machines' storage network, where that is carried by RNICs."""
        storage = self.cloud.storage if self.cloud else None
        return storage.vlan if storage and storage.is_on_rnics else None

    @property
    def is_dedicated(self) -> bool:
        """Whether it has a V-IPU controller of its own."""
        return self.controller == DEDICATED

    @property
    def controller_host(self) -> str | None:
        """The host that its dedicated controller has to itself; None where that is beside its cluster's."""
        return None if self.controller_address is None else f"{self.name}-controller"

    @property
    def is_for_jobs(self) -> bool:
        """Whether Slurm's jobs have allocations of its IPU-Machines, and it has none itself."""
        return self.allocation == JOBS


@dataclass(frozen=True)
class Declaration:
    """Everything in pods.yml; ``absent`` are the vPODs that are to go, of which no more than the cluster is sure."""

    pods: Mapping[str, Pod]
    controllers: Mapping[str, Controller]
    clusters: Mapping[str, Cluster]
    vpods: Mapping[str, Vpod]
    absent: Mapping[str, Vpod] = field(default_factory=dict)
    clouds: Mapping[str, Cloud] = field(default_factory=dict)
    machines: Mapping[str, RunningMachine] = field(default_factory=dict)

    def vpods_in(self, cloud: str) -> list[Vpod]:
        """Those that have something in a cloud; of one that is to go, pods.yml need not say in which it had."""
        gone = [vpod for vpod in self.absent.values() if vpod.cloud is None or vpod.cloud.name == cloud]
        return [*gone, *(vpod for vpod in self.vpods.values() if vpod.cloud and vpod.cloud.name == cloud)]

    def controller_of(self, vpod: Vpod) -> Controller:
        """The controller of a vPOD's cluster, which holds its allocation."""
        return self.controllers[self.clusters[vpod.cluster].controller]

    def dedicated_host(self, vpod: Vpod) -> str:
        """The host on which a vPOD has, or may have, its dedicated controller; else that of its cluster's."""
        return vpod.controller_host or self.controller_of(vpod).host_name

    def controllers_on(self, host: str) -> list[Controller]:
        """The controllers of clusters that are on a host, or of which vPODs have a dedicated one there."""
        vpods = [vpod for vpod in (*self.absent.values(), *self.vpods.values()) if vpod.controller_host == host]
        names = {self.controller_of(vpod).name for vpod in vpods}
        return [each for each in self.controllers.values() if each.host_name == host or each.name in names]


def is_of_a_job(kind: str, name: str) -> bool:
    """Whether an entity is called as Slurm calls what it makes for a job."""
    return kind in NAMES_OF_JOBS and re.fullmatch(NAMES_OF_JOBS[kind], name) is not None
