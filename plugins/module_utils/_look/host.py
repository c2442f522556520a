# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at a Linux host: reads the parts that any layer compares, independently and side by side."""

from __future__ import annotations

import glob
import platform
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Callable, Mapping

from .._containers.engines import Engines
from .._domain.hypervisor import Hypervisor
from .._host.files import Files
from .._host.programs import Programs, Run, side_by_side
from .._plan.converge import DeviceError, Refused
from .._rnic import plan as interfaces
from .._rnic.checkpoint import Checkpoint
from .._rnic.client import Client
from .._rnic.declared import Interface
from .._rnic.server import management
from .._rnic.sysfs import Sysfs
from .._roce import boot
from .._roce import plan as lossless
from .._roce.client import RoceClient
from .._roce.declared import RoceInterface
from .._roce.inspection import Inspection
from .._roce.survey import Survey, Surveyed, nics_of
from .._vipu.ipuof_files import IpuofFiles
from .controllers import controllers_from, places_of
from .once import Once
from .parts import Part, answer_of, line_of, plain
from .things import (
    accounts_from,
    kernel_parameters_from,
    packages_from,
    paths_from,
    secrets_from,
    texts_from,
    units_from,
)
from .use import running_on

LEASES = ("/var/lib/misc/dnsmasq.leases", "/var/lib/dnsmasq/dnsmasq.leases", "/var/lib/ipu-pod-dhcp/*.leases")


def looked(parts: Mapping[str, Callable[[], Part]]) -> dict[str, Part]:
    """Return the answers of the parts by name; a part that fails has an error message and affects no other."""
    if not parts:
        return {}
    with ThreadPoolExecutor(len(parts)) as pool:
        return dict(zip(parts, pool.map(answer_of, parts.values())))


@dataclass
class HostLook:
    """The parts of one host, read as they are asked for.

    ``run_vipu`` runs vipu-admin. ``ssh_addresses`` are the host's ends of the SSH connections in use, ``options``
    those of the module host_look, and ``distribution`` what Ansible's facts say of the host.
    """

    run: Run
    run_vipu: Run
    files: Files
    sysfs: Sysfs
    ssh_addresses: frozenset[str]
    options: Mapping[str, Any]
    distribution: Callable[[], Mapping[str, Any]]

    def __post_init__(self) -> None:
        self.run = Once(self.run)
        self._programs = Programs(self.run)
        self._client = Client(self._programs, self.files, self.sysfs, self.ssh_addresses)

    def links(self) -> Part:
        """Return all interfaces and the network service that configures each."""
        return dict(plain(self._client.survey()))

    def network(self) -> Part:
        """The same in the words of rnic_network, and what stands in the way of a change."""
        server = self._client.survey()
        checkpoint = Checkpoint(self._programs, self.files)
        undone = checkpoint.undone()
        return {
            "gathered": plain(interfaces.gathered(server)),
            "lasting": interfaces.lasting(server),
            "pending": checkpoint.is_pending(),
            "refusal": _refusal(checkpoint),
            "undone": None if undone is None else undone.splitlines(),
            "unloaded": self._client.unloaded(server) if "networkd" in server.services else [],
        }

    def uses(self) -> Part:
        """Return the uses of the interfaces."""
        return dict(plain(self._client.uses(list(self._client.survey([]).links))))

    def roce(self) -> Part:
        """The lossless settings of every NIC that may be declared, ports of a bond too, and what brings them back."""
        client = RoceClient(
            self.run,
            self.files,
            self.ssh_addresses,
            self.sysfs.pci_addresses(),
            self.options["roce_tools"],
            self.sysfs.rdma_devices(),
        )
        survey = self._client.survey([])
        links, reserved = survey.links, management(survey)

        def survey_of(name: str) -> Surveyed | str:
            try:
                return client.survey([RoceInterface(Interface(name))]).interfaces[name]
            except DeviceError as error:
                return line_of(error)

        names = [nic.device for nic in nics_of(links) if nic.mac and nic.device not in reserved]
        found = dict(zip(names, side_by_side(survey_of, names)))
        surveyed = {name: each for name, each in found.items() if isinstance(each, Surveyed)}
        unread = {name: why for name, why in found.items() if isinstance(why, str)}
        # What is adopted of a bond is the bond.
        alone = Survey(client.tools, links, {name: each for name, each in surveyed.items() if not links[name].master})
        return {
            "server": {"tools": client.tools.name, "links": plain(links), "interfaces": plain(surveyed)},
            "gathered": plain(lossless.gathered(alone)),
            "lasting": plain(lossless.lasting(alone)),
            "unread": unread,
            # By the names that were declared, which the devices need not have.
            "files": texts_from([boot.script_path("*"), boot.unit_path("*")]),
            "starts": sorted(path for path in glob.glob(f"{boot.UNITS}/*.device.wants/{boot.unit_name('*')}")),
        }

    def nics(self) -> Part:
        """Links, GIDs, counters and firmware, in the words of rnic_info."""
        firmware, speed = self.options["minimum_firmware"], self.options["minimum_speed"]
        nics = Inspection(self.run, self.files, firmware, speed).nics()
        return {"nics": nics, "minimum": {"firmware": firmware, "speed": speed}}

    def use(self) -> Part:
        """Jobs and queue pairs, in the words of server_use."""
        in_use, unknown = running_on(self._programs, self.sysfs.rdma_devices())
        return {"in_use": in_use, "unknown": unknown}

    def ipuof(self) -> Part:
        """The files that tell Poplar about its partitions."""
        return dict(IpuofFiles(self.files).read())

    def things(self) -> Part:
        """Files, units, packages, users and kernel parameters, as far as they are asked for."""
        asked = self.options
        return {
            "paths": paths_from(asked["paths"], asked["secrets"]),
            "texts": texts_from(asked["texts"]),
            "units": units_from(self._programs, asked["units"]),
            "packages": packages_from(self._programs, asked["packages"], self.distribution()),
            "accounts": accounts_from(asked["accounts"]),
            "kernel_parameters": kernel_parameters_from(asked["kernel_parameters"]),
            "secrets": secrets_from(asked["secrets"], asked["run_key"] or token_hex()),
            "python": platform.python_version(),
        }

    def controllers(self) -> Part:
        """Return the entities of each V-IPU controller of this host."""
        places = places_of(self.options["controllers"], self.options["dedicated_units"], self.files)
        return controllers_from(places, self.options["ipuof_configurations"], self.run_vipu)

    def domains(self) -> Part:
        """The libvirt domains, and the vPODs of which they have ports, in the words of domain_info."""
        return {"domains": Hypervisor(self._programs).attached()}

    def containers(self) -> Part:
        """The container engines and their networks, in the words of container_networks."""
        return dict(Engines(self._programs, self.sysfs).read())

    def leases(self) -> Part:
        """The addresses that dnsmasq has given out."""
        return {"text": "".join(texts_from(LEASES).values())}


def _refusal(checkpoint: Checkpoint) -> str:
    """Why rnic_network would not begin a change; empty where nothing waits."""
    try:
        checkpoint.refuse_pending()
    except Refused as error:
        return str(error)
    return ""
