# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of clouds as types: an OpenStack, and what a vPOD has in it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Who makes the machines of a vPOD: its tenant, or the operator's run.
TENANT, KEPT_MACHINES = "tenant", "kept"
NO_NUMA = "none"


@dataclass(frozen=True)
class Image:
    """An image that a run uploads from ``file``."""

    name: str
    file: str
    disk_format: str


@dataclass(frozen=True)
class ManagementNetwork:
    """Where machines of a cloud reach management addresses: an existing ``network`` of the operator's.

    Machines with a port on it are on ``hypervisors``, which are no Poplar servers, and at TCP port 22 from ``sources``.
    """

    network: str
    sources: tuple[str, ...]
    hypervisors: tuple[str, ...]


@dataclass(frozen=True)
class Cloud:
    """An OpenStack; ``entry`` of clouds.yaml has its credentials.

    ``physical_network`` is what Neutron calls the RNICs' network, and by ``control_network`` machines are reached, at
    TCP port 22 from ``control_sources``; ``controllers`` maps hosts of V-IPU controllers to their addresses there.
    ``management`` is for machines of dedicated controllers.
    """

    name: str
    entry: str
    physical_network: str
    control_network: str
    control_sources: tuple[str, ...]
    controllers: Mapping[str, str]
    images: tuple[Image, ...]
    management: ManagementNetwork | None


@dataclass(frozen=True)
class Machine:
    """The size of a vPOD's machines: ``memory`` in MiB and ``disk`` in GiB; ``numa_nodes`` of None: nothing is said."""

    vcpus: int
    memory: int
    disk: int
    dedicated_cpus: bool
    huge_pages: bool
    numa_nodes: int | None


@dataclass(frozen=True)
class ControllerMachine:
    """The machine of a vPOD's dedicated V-IPU controller.

    The holder of ``key`` gets a shell in it, and ``clients`` reach its TCP port for users on the control network.
    """

    image: str
    key: str
    clients: tuple[str, ...]
    machine: Machine


@dataclass(frozen=True)
class Storage:
    """A storage network of a vPOD; ``is_on_rnics`` where its physical network is that of the RNICs."""

    vlan: int
    physical_network: str
    subnet: str
    is_on_rnics: bool


@dataclass(frozen=True)
class CloudShare:
    """What a vPOD has in the cloud called ``name``.

    ``quota`` has what is not kept. ``machines`` says who makes them; ``volumes``, in GiB, and ``key`` are of those that
    the operator's run keeps.
    ``controller`` is the machine of its dedicated V-IPU controller, None where that is elsewhere.
    ``login`` is the user of their image who has the V-IPU credentials in them, and ``ipus_per_machine`` the ratio of
    IPUs to machines, and so of CPUs to IPUs.
    """

    name: str
    project: str
    domain: str
    users: tuple[str, ...]
    role: str
    quota: Mapping[str, int]
    image: str | None
    login: str
    ipus_per_machine: int
    machine: Machine
    machines: str
    volumes: Mapping[str, int]
    key: str | None
    controller: ControllerMachine | None
    storage: Storage | None

    @property
    def is_kept(self) -> bool:
        """Whether the operator's run keeps its machines."""
        return self.machines == KEPT_MACHINES
