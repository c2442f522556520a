# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads NICs from /sys: PCI place, MTU, RDMA devices, virtual functions. Read-only."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@dataclass(frozen=True)
class Function:
    """One SR-IOV virtual function: PCI address, driver, network devices in this namespace, and devices for verbs."""

    index: int
    pci: str
    driver: str | None
    devices: tuple[str, ...]
    verbs: tuple[str, ...] = ()


class Sysfs:
    """The /sys of one host; ``root`` is another folder than that only for tests."""

    def __init__(self, root: str = "/sys") -> None:
        self._root = root

    def pci_addresses(self) -> dict[str, str]:
        """The PCI address of each network device that has one."""
        found = {device: self._target(f"class/net/{device}/device") for device in self._names("class/net")}
        return {device: pci for device, pci in found.items() if pci and _PCI.fullmatch(pci)}

    def mtu(self, device: str) -> str:
        """The MTU of a network device; empty where there is none."""
        return self._text(f"class/net/{device}/mtu") or ""

    def rdma_devices(self) -> list[str]:
        """The RDMA devices, such as ``mlx5_0``."""
        return self._names("class/infiniband")

    def max_virtual_functions(self) -> dict[str, int]:
        """How many virtual functions each network device can have, where it can have any."""
        texts = {device: self._text(f"class/net/{device}/device/sriov_totalvfs") for device in self._names("class/net")}
        return {device: int(text) for device, text in texts.items() if text and text.isdigit() and int(text)}

    def functions(self, device: str) -> list[Function]:
        """The virtual functions that a network device has now."""
        folder = f"class/net/{device}/device"
        names = [name for name in self._names(folder) if re.fullmatch(r"virtfn\d+", name)]
        return sorted((self._function(folder, name) for name in names), key=lambda function: function.index)

    def _function(self, folder: str, name: str) -> Function:
        path = f"{folder}/{name}"
        return Function(
            index=int(name[len("virtfn") :]),
            pci=self._target(path) or "",
            driver=self._target(f"{path}/driver"),
            devices=tuple(self._names(f"{path}/net")),
            verbs=tuple(self._names(f"{path}/infiniband_verbs")),
        )

    def _names(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(os.path.join(self._root, path)))
        except OSError:
            return []

    def _target(self, path: str) -> str | None:
        try:
            return os.path.basename(os.readlink(os.path.join(self._root, path)))
        except OSError:
            return None

    def _text(self, path: str) -> str | None:
        try:
            with open(os.path.join(self._root, path), encoding="ascii") as stream:
                return stream.read().strip()
        except (OSError, UnicodeDecodeError):
            return None
