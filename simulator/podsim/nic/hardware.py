# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NICs of one machine as their driver has them: rules of the mlx5 driver, kept values, no command line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

PRIORITIES = range(8)
DSCPS = range(64)
RING_MAXIMUM = 8192
# Receive buffers are handed out in cells, out of a fixed memory. In bytes.
CELL_SIZE = 128
BUFFER_MEMORY = 262_016
ROCE_MODES = ("IB/RoCE v1", "RoCE v2")


class Refusal(Exception):
    """The driver does not take a value; the message is the text of the error number."""


class Port:
    """One NIC port. As delivered: pause frames on, PFC off, the VLAN tag is trusted, RDMA CM on RoCE v2.

    ``applications`` is the kernel's table of DSCP priorities, ``firmware_map`` what the NIC itself holds.
    """

    def __init__(self, rdma_device: str) -> None:
        self.rdma_device = rdma_device
        self.pfc: list[int] = []
        self.applications: dict[int, int] = {}
        self.firmware_map = [dscp // len(PRIORITIES) for dscp in DSCPS]
        self.buffer_sizes = [20_352, 241_536, 0, 0, 0, 0, 0, 0]
        self.pause = {"rx": True, "tx": True}
        self.rings = {"rx": 1024, "tx": 1024}
        self.roce_mode = "RoCE v2"
        self.roce_tos = 0

    @property
    def trust(self) -> str:
        """The driver trusts the DSCP as long as the kernel's table has an entry."""
        return "dscp" if self.applications else "pcp"

    def map_dscp(self, dscp: int, priority: int) -> None:
        """Give a DSCP its one priority; an earlier one is dropped."""
        self.firmware_map[dscp] = priority
        self.applications[dscp] = priority

    def unmap_dscp(self, dscp: int, priority: int) -> None:
        """Take away an entry, which has to be there with this priority."""
        if self.applications.get(dscp) != priority or self.firmware_map[dscp] != priority:
            raise Refusal("No such file or directory")
        del self.applications[dscp]
        self.firmware_map[dscp] = 0

    def trust_pcp(self) -> None:
        """Take all entries away."""
        for dscp, priority in list(self.applications.items()):
            self.unmap_dscp(dscp, priority)

    def set_buffers(self, sizes: Iterable[int]) -> None:
        """Set the sizes of the receive buffers, rounded down to whole cells."""
        rounded = [size // CELL_SIZE * CELL_SIZE for size in sizes]
        if sum(rounded) > BUFFER_MEMORY:
            raise Refusal("Invalid argument")
        self.buffer_sizes = rounded

    def set_rings(self, sizes: dict[str, int]) -> None:
        """Set ring sizes within what the NIC has."""
        if not all(0 < size <= RING_MAXIMUM for size in sizes.values()):
            raise Refusal("Invalid argument")
        self.rings.update(sizes)


class Nics:
    """The ports of one machine, by the name of their network device."""

    def __init__(self, devices: Iterable[str], kept: dict[str, Any] | None = None) -> None:
        self.ports = {device: Port(f"mlx5_{number}") for number, device in enumerate(sorted(devices))}
        for device, values in (kept or {}).items():
            if device in self.ports:
                vars(self.ports[device]).update(values)

    def by_rdma_device(self, name: str) -> Port | None:
        """The port with this RDMA device."""
        return next((port for port in self.ports.values() if port.rdma_device == name), None)

    def kept(self) -> dict[str, Any]:
        """All values, as the constructor takes them again."""
        return {device: vars(port) for device, port in self.ports.items()}
