# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin: which IPUs there are, who has them, and what a container with IPUs gets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from ai.backend.accelerator.ipu import programs
from ai.backend.agent.docker.resources import get_resource_spec_from_container
from ai.backend.agent.resources import (
    AbstractAllocMap,
    AbstractComputeDevice,
    AbstractComputePlugin,
    DeviceSlotInfo,
    DiscretePropertyAllocMap,
)
from ai.backend.agent.stats import ContainerMeasurement, Measurement, MetricTypes, NodeMeasurement, ProcessMeasurement
from ai.backend.agent.types import Container, MountInfo
from ai.backend.common.config import read_from_file
from ai.backend.common.types import (
    AcceleratorMetadata,
    DeviceId,
    DeviceModelInfo,
    DeviceName,
    MetricKey,
    MountTypes,
    SlotName,
    SlotTypes,
)
from aiodocker import Docker

KEY = DeviceName("ipu")
SLOT = SlotName("ipu.device")
# Inside of a container; the variable names this file whatever the server's own is called.
DIRECTORY = Path("/etc/ipuof.conf.d")
CONTAINER_FILE = DIRECTORY / "ipuof.conf"
Allocation = Mapping[SlotName, Mapping[DeviceId, Decimal]]


class Ipu(AbstractComputeDevice):
    """An IPU: its place is the address of its IPU-Machine and its number there."""

    def __init__(self, ipu: Mapping[str, str], machine: str, model: str) -> None:
        super().__init__(DeviceId(ipu["ID"]), f"{machine}:{ipu['PCIe ID']}", 0, 0, numa_node=0)
        self.machine = machine
        self.model = model


class IPUPlugin(AbstractComputePlugin):
    """Shares out the IPUs of the one partition whose IPUoF configuration the settings name."""

    key = KEY
    slot_types = ((SLOT, SlotTypes.COUNT),)
    exclusive_slot_types = {str(SLOT)}

    async def init(self, context: Any | None = None) -> None:
        settings, _path = read_from_file(None, "ipu")
        self._file = Path(settings["ipuof-config-path"])
        configuration = json.loads(self._file.read_text(encoding="utf-8"))
        self._attributes = configuration["attributes"]
        self._configured = {f"{each['ip']}:{each['device_id']}": each for each in configuration["devices"]}
        cards = await programs.monitor()
        self._ipus = [Ipu(ipu, card["IPU-M"], card["Type"]) for card in cards for ipu in card["ipus"]]
        self._networks = await _subnets(settings["docker-networks"])

    async def cleanup(self) -> None:
        pass

    async def update_plugin_config(self, plugin_config: Mapping[str, Any]) -> None:
        self.plugin_config = plugin_config

    def get_version(self) -> str:
        return (Path(__file__).parent / "VERSION").read_text(encoding="utf-8").strip()

    def get_metadata(self) -> AcceleratorMetadata:
        return {
            "slot_name": str(SLOT),
            "description": "IPU",
            "human_readable_name": "IPU",
            "display_unit": "IPU",
            "number_format": {"binary": False, "round_length": 0},
            "display_icon": "ipu",
        }

    async def extra_info(self) -> Mapping[str, Any]:
        return {"ipu_support": True, "poplar_version": await programs.poplar_version()}

    async def list_devices(self) -> list[Ipu]:
        return self._ipus

    async def available_slots(self) -> Mapping[SlotName, Decimal]:
        return {SLOT: Decimal(len(self._ipus))}

    async def create_alloc_map(self) -> AbstractAllocMap:
        return DiscretePropertyAllocMap(
            device_slots={ipu.device_id: DeviceSlotInfo(SlotTypes.COUNT, SLOT, Decimal(1)) for ipu in self._ipus},
            exclusive_slot_types=self.exclusive_slot_types,
        )

    async def restore_from_container(self, container: Container, alloc_map: AbstractAllocMap) -> None:
        found = await get_resource_spec_from_container(container.backend_obj)
        if found is not None and KEY in found.allocations:
            alloc_map.apply_allocation(found.allocations[KEY])

    async def generate_mounts(self, source_path: Path, device_alloc: Allocation) -> list[MountInfo]:
        file = source_path / "ipuof.conf.d" / self._file.name
        file.parent.mkdir(parents=True)
        devices = [self._configured[ipu.hw_location] for ipu in self._of(device_alloc)]
        file.write_text(json.dumps({"devices": devices, "attributes": self._attributes}), encoding="utf-8")
        return [MountInfo(MountTypes.BIND, file.parent, DIRECTORY)]

    async def generate_docker_args(self, docker: Docker, device_alloc: Allocation) -> Mapping[str, Any]:
        rdma = {"PathOnHost": "/dev/infiniband", "PathInContainer": "/dev/infiniband", "CgroupPermissions": "rwm"}
        return {
            "Env": [f"IPUOF_CONFIG_PATH={CONTAINER_FILE}"],
            "HostConfig": {
                "CapAdd": ["IPC_LOCK"],
                "IpcMode": "host",
                "Ulimits": [{"Name": "memlock", "Hard": -1, "Soft": -1}],
                "Sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"},
                "Devices": [rdma],
            },
        }

    async def get_docker_networks(self, device_alloc: Allocation) -> list[str]:
        machines = {ip_address(ipu.machine) for ipu in self._of(device_alloc)}
        found = {machine: self._network_of(machine) for machine in machines}
        return sorted(set(found.values()))

    async def get_attached_devices(self, device_alloc: Allocation) -> Sequence[DeviceModelInfo]:
        return [{"device_id": ipu.device_id, "model_name": ipu.model, "data": {}} for ipu in self._of(device_alloc)]

    async def get_hooks(self, distro: str, arch: str) -> Sequence[Path]:
        return []

    async def gather_node_measures(self, ctx: Any) -> Sequence[NodeMeasurement]:
        used = await programs.inventory()
        memory = {DeviceId(name): Measurement(*_memory(device)) for name, device in used.items()}
        busy = {DeviceId(name): Measurement(_utilisation(device), Decimal(100)) for name, device in used.items()}
        return [
            NodeMeasurement(MetricKey("ipu_mem"), MetricTypes.USAGE, _sum(memory), memory, unit_hint="bytes"),
            NodeMeasurement(MetricKey("ipu_util"), MetricTypes.USAGE, _sum(busy), busy, unit_hint="percent"),
        ]

    async def gather_container_measures(self, ctx: Any, container_ids: Sequence[str]) -> Sequence[ContainerMeasurement]:
        return []

    async def gather_process_measures(self, ctx: Any, pid_map: Mapping[int, str]) -> Sequence[ProcessMeasurement]:
        return []

    def _of(self, allocation: Allocation) -> list[Ipu]:
        allocated = allocation.get(SLOT, {})
        return [ipu for ipu in self._ipus if allocated.get(ipu.device_id, 0) > 0]

    def _network_of(self, machine: Any) -> str:
        for subnet, name in self._networks.items():
            if machine in subnet:
                return name
        raise RuntimeError(f"no network of docker-networks has the IPU-Machine {machine}")


async def _subnets(names: Sequence[str]) -> dict[Any, str]:
    """The names of Docker networks, by their IPv4 subnets."""
    async with Docker() as docker:
        networks = {network["Name"]: network for network in await docker.networks.list()}
    subnets = {}
    for name in names:
        if name not in networks:
            raise RuntimeError(f"Docker has no network {name}, which docker-networks names")
        [subnet] = [each["Subnet"] for each in networks[name]["IPAM"]["Config"] if ":" not in each["Subnet"]]
        subnets[ip_network(subnet)] = name
    return subnets


def _memory(device: Mapping[str, str]) -> tuple[Decimal, Decimal]:
    active, total = (
        sum(Decimal(device[f"{table} {size} size (bytes)"]) for table in ("hexoatt", "hexopt"))
        for size in ("active", "total")
    )
    return Decimal(active), Decimal(total)


def _utilisation(device: Mapping[str, str]) -> Decimal:
    return Decimal(device["ipu utilisation"].removesuffix("%"))


def _sum(measured: Mapping[DeviceId, Measurement]) -> Measurement:
    return Measurement(
        sum((each.value for each in measured.values()), Decimal(0)),
        sum((each.capacity or Decimal(0) for each in measured.values()), Decimal(0)),
    )
