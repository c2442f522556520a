# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server in memory: kernel, systemd, systemd-networkd, netplan, NetworkManager and files, behind their programs.

Every program takes exactly the arguments that are used, and refuses all others.
"""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Function, Sysfs
from tests.support.in_memory.files import MemoryFiles
from tests.support.in_memory.kernel import Nic, Refusal, TinyKernel
from tests.support.in_memory.network_manager import TinyNetworkManager
from tests.support.in_memory.networkd import TinyNetplan, TinyNetworkd
from tests.support.in_memory.systemd import TinySystemd

__all__ = ["Killed", "MemoryFiles", "MemorySysfs", "Nic", "TinyServer"]


class Killed(BaseException):
    """The process that changes the server is gone in the middle."""


class MemorySysfs(Sysfs):
    def __init__(self) -> None:
        super().__init__("/nowhere")
        self.pci: dict[str, str] = {}
        self.rdma: list[str] = []
        self.limits: dict[str, int] = {}
        self.taken: dict[str, list[Function]] = {}
        self.mtus: dict[str, str] = {}

    def mtu(self, device: str) -> str:
        return self.mtus[device]

    def pci_addresses(self) -> dict[str, str]:
        return self.pci

    def rdma_devices(self) -> list[str]:
        return self.rdma

    def max_virtual_functions(self) -> dict[str, int]:
        return self.limits

    def functions(self, device: str) -> list[Function]:
        return self.taken.get(device, [])


class TinyServer:
    """Runs programs; ``refused_mtus`` are those that its NICs claim to take, but do not.

    ``killed_at`` is the number of the call at which whoever called is gone.
    """

    def __init__(self, nics: dict[str, Nic], files: dict[str, File] | None = None) -> None:
        self.kernel = TinyKernel(nics)
        self.nics = self.kernel.nics
        self.files = MemoryFiles(**(files or {}))
        self.sysfs = MemorySysfs()
        self.networkd = TinyNetworkd(self.kernel, self.files)
        self.netplan = TinyNetplan(self.files)
        self.network_manager = TinyNetworkManager(self.kernel, self.files)
        self.systemd = TinySystemd(self.files, self._program, self.networkd.settle)
        self.queue_pairs: list[dict[str, Any]] | None = []
        self.rdma_links: list[dict[str, Any]] = []
        self.calls: list[list[str]] = []
        self.killed_at: int | None = None
        self.networkd.reload()

    @property
    def refused_mtus(self) -> set[int]:
        return self.kernel.refused_mtus

    @refused_mtus.setter
    def refused_mtus(self, mtus: set[int]) -> None:
        self.kernel.refused_mtus = mtus

    @property
    def netplan_is_used(self) -> bool:
        return bool(self.files.names("/etc/netplan"))

    def clock(self) -> float:
        return self.systemd.now

    def pause(self, seconds: float) -> None:
        self.systemd.pass_time(seconds)

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        """A program, as the collection runs it."""
        if self.killed_at is not None and len(self.calls) >= self.killed_at:
            raise Killed
        self.calls.append(argv)
        if argv[:2] == ["systemctl", "is-active"]:
            self.systemd.services = {
                "systemd-networkd": self.networkd.runs,
                "NetworkManager": self.network_manager.runs,
            }
            units = [word for word in argv[2:] if not word.startswith("-")]
            states = self.systemd.states(units)
            return 0 if "active" in states else 3, "\n".join(states) + "\n", ""
        try:
            return 0, self._program(argv), ""
        except Refusal as error:
            return 1, "", str(error)

    def reboot(self) -> None:
        """Everything that is not in a file is forgotten; services start in their order."""
        self.systemd.boot()
        for name, nic in list(self.nics.items()):
            if nic.kind:
                del self.nics[name]
            elif name != "eno1":
                nic.mtu, nic.up, nic.addresses, nic.functions, nic.master = 1500, False, [], [], None
        enabled = self.files.names("/etc/systemd/system/multi-user.target.wants")
        # It wants to run before the network.
        for unit in sorted(enabled, key=lambda unit: unit != "ipu-rnic-undo.service"):
            if self.systemd.is_enabled(unit):
                self.systemd.start(unit)
        with contextlib.suppress(Refusal):
            self.netplan.generate()
        self.networkd.used, self.networkd.failed = {}, set()
        if self.networkd.runs:
            self.networkd.reload()
        if self.network_manager.runs:
            self.network_manager.boot()

    def _program(self, argv: list[str]) -> str:
        programs = {
            "ip": self.kernel.ip,
            "networkctl": self.networkd.networkctl,
            "nmcli": self.network_manager.nmcli,
            "systemctl": self.systemd.systemctl,
            "systemd-run": self.systemd.systemd_run,
            "netplan": self.netplan.netplan,
            "rdma": self._rdma,
            "rm": self._rm,
        }
        if argv[0] in programs:
            return programs[argv[0]](argv[1:])
        if argv[:2] == ["sh", "-c"]:
            self._set_function_count(argv[2])
        elif argv[:4] != ["install", "-d", "-m", "0700"] and argv[0] != "sync":
            raise FileNotFoundError(2, "No such file or directory", argv[0])
        return ""

    def _rdma(self, words: list[str]) -> str:
        if self.queue_pairs is None:
            raise FileNotFoundError(2, "No such file or directory", "rdma")
        answers = {
            ("-j", "link", "show"): self.rdma_links,
            ("-j", "resource", "show", "qp"): self.queue_pairs,
        }
        return json.dumps(answers[tuple(words)])

    def _rm(self, words: list[str]) -> str:
        match words:
            case ["-f", path]:
                self.files.remove(path)
            case ["-r" | "-rf", directory]:
                for path in [path for path in self.files.files if path.startswith(directory + "/")]:
                    self.files.remove(path)
            case _:
                raise Refusal(f"rm does not know: {words}")
        return ""

    def _set_function_count(self, command: str) -> None:
        found = re.fullmatch(
            r"grep -qx (\d+) (/sys/class/net/(\w+)/device/sriov_numvfs)"
            r" \|\| \{ echo 0 > \2 && echo \1 > \2; \}",
            command,
        )
        assert found, command
        if int(found[1]) > self.sysfs.limits.get(found[3], 0):
            raise Refusal("write error: Numerical result out of range")
        self.kernel.set_function_count(found[3], int(found[1]))
