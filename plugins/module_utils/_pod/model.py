# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a pod as types: what a declaration holds once it has been checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from .switches import ManagementSwitch, Tor, Vlan

INSECURE, SECURE = "insecure", "secure"
ENVIRONMENT, FILES = "environment", "files"
SWITCH_LAYER, SERVERS_LAYER, CONTROLLER_LAYER = LAYERS = ("switch", "servers", "controller")


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
    """The IPU-Machines of one or more pods, in ILD order, under one controller."""

    name: str
    controller: str
    pods: tuple[str, ...]
    topology: str | None
    looped: bool | None


@dataclass(frozen=True)
class Partition:
    """A partition inside a vPOD; ``poplar_servers`` empty means all servers of the vPOD.

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


@dataclass(frozen=True)
class Vpod:
    """A tenant's whole IPU-Machines with servers, VLAN and partitions.

    ``ipu_machines`` are pins, empty for none. ``ipuof`` says how its servers learn of the partitions: by environment
    variables or by configuration files. ``vni`` and ``vlan_name`` are of ``vlan``.
    """

    name: str
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


@dataclass(frozen=True)
class Declaration:
    """Everything in pods.yml."""

    pods: Mapping[str, Pod]
    controllers: Mapping[str, Controller]
    clusters: Mapping[str, Cluster]
    vpods: Mapping[str, Vpod]
