# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server in memory whose NIC tools are the simulator's, and whose sysfs, configfs and systemd are the ones below."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, converge
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import RoceClient
from ansible_collections.ipu.pod.plugins.module_utils._roce.declared import roce_interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._roce.session import RoceSession
from podsim.nic.cli import answer
from podsim.nic.hardware import Nics
from tests.support.in_memory.server import MemoryFiles, Nic, TinyServer

MACS = {"rnic0": "04:3f:72:00:01:02", "rnic1": "04:3f:72:00:01:03"}
PCI = {"rnic0": "0000:3b:00.0", "rnic1": "0000:3b:00.1"}
RDMA_DEVICES = ["mlx5_0", "mlx5_1"]
OFED_TOOLS = {"mlnx_qos", "cma_roce_mode", "cma_roce_tos"}
INBOX_TOOLS = {"dcb"}
CONFIGFS = "/sys/kernel/config/rdma_cm"


class KernelFiles(MemoryFiles):
    """Files that keep what is written, and those of sysfs and configfs, which show what the NICs have."""

    def __init__(self, nics: Nics, ofed: bool) -> None:
        super().__init__()
        self.nics = nics
        self.ofed = ofed
        self.configured: set[str] = set()
        self.forget()

    def forget(self) -> None:
        points = [f"{device} {point}" for device in self.nics.ports for point in ("np", "rp")]
        self.ecn = {f"{point} {priority}": "0" for point in points for priority in range(8)}
        self.traffic_classes = dict.fromkeys((port.rdma_device for port in self.nics.ports.values()), -1)

    def read(self, path: str) -> File | None:
        text = self._kernel(path) if path.startswith("/sys/") else None
        return super().read(path) if text is None else File(text + "\n")

    def _kernel(self, path: str) -> str | None:
        match path.split("/")[2:]:
            case ["class", "net", device, "ecn", point, "enable", priority] if self.ofed:
                return self.ecn.get(f"{device} {point.removeprefix('roce_')} {priority}")
            case ["class", "infiniband", device, "tc", "1", "traffic_class"] if self.ofed:
                value = self.traffic_classes[device]
                return f"Global tclass={value}" if value >= 0 else ""
            case ["kernel", "config", "rdma_cm", device, "ports", "1", name] if device in self.configured:
                port = self.nics.by_rdma_device(device)
                assert port
                return {"default_roce_mode": port.roce_mode, "default_roce_tos": str(port.roce_tos)}[name]
        return None

    def poke(self, path: str, line: str) -> None:
        if self._kernel(path) is None:
            raise DeviceError(f"{path} does not take {line}: No such file or directory")
        match path.split("/")[2:]:
            case ["class", "net", device, "ecn", point, "enable", priority]:
                self.ecn[f"{device} {point.removeprefix('roce_')} {priority}"] = line
            case ["class", "infiniband", device, *_]:
                self.traffic_classes[device] = int(line.removeprefix("tclass="))
            case ["kernel", "config", "rdma_cm", device, "ports", "1", name]:
                port = self.nics.by_rdma_device(device)
                assert port
                if name == "default_roce_mode":
                    port.roce_mode = line
                else:
                    port.roce_tos = int(line)


class TinyRoceServer:
    """Two RNICs. ``ofed`` says which drivers and tools are there; ``failing`` are commands that fail."""

    def __init__(self, ofed: bool = True) -> None:
        links = {"eno1": Nic("d0:94:66:00:00:01", addresses=["10.3.1.101/24"])}
        self.links = TinyServer({**links, **{name: Nic(mac) for name, mac in MACS.items()}})
        self.nics = Nics(MACS)
        self.files = KernelFiles(self.nics, ofed)
        self.installed = OFED_TOOLS if ofed else INBOX_TOOLS
        self.failing: set[str] = set()
        self.calls: list[list[str]] = []
        self.queue_pairs: list[dict[str, Any]] = []

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        self.calls.append(argv)
        if any(text in " ".join(argv) for text in self.failing):
            return 1, "", "this was arranged to fail"
        program, *arguments = argv
        if program == "ip":
            return self.links.run(argv)
        if argv == ["rdma", "-j", "resource", "show", "qp"]:
            return 0, json.dumps(self.queue_pairs), ""
        if program in self.installed | {"ethtool", "rdma"}:
            reply = answer(program, self.nics, arguments)
            return (reply.status, reply.output, reply.errors) if reply else (0, "dcb utility, iproute2-6.1.0", "")
        return self._run_on_files(argv)

    def _run_on_files(self, argv: list[str]) -> tuple[int, str, str]:
        match argv:
            case ["systemctl", "daemon-reload"]:
                return 0, "", ""
            case ["systemctl", "reenable", unit]:
                return self._enable(unit)
            case ["mkdir", "-p", folder]:
                return self._make(folder)
            case ["rmdir", folder]:
                self.files.configured.remove(folder.rpartition("/")[2])
                return 0, "", ""
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    def _make(self, folder: str) -> tuple[int, str, str]:
        if not self.nics.by_rdma_device(folder.removeprefix(f"{CONFIGFS}/")):
            return 1, "", f"mkdir: cannot create directory '{folder}': No such file or directory"
        self.files.configured.add(folder.rpartition("/")[2])
        return 0, "", ""

    def _enable(self, unit: str) -> tuple[int, str, str]:
        text = self.files.files[f"/etc/systemd/system/{unit}"].content
        for wanted_by in re.findall("^WantedBy=(.+)$", text, re.MULTILINE):
            self.files.files[f"/etc/systemd/system/{wanted_by}.wants/{unit}"] = File("a link")
        return 0, "", ""

    def reload_driver(self) -> None:
        """The NICs forget everything; then systemd runs what waits for the devices."""
        fresh = Nics(MACS)
        self.nics.ports.update(fresh.ports)
        self.files.forget()
        for path in sorted(self.files.files):
            match = re.fullmatch(r"/etc/systemd/system/sys-subsystem-net-devices-.*\.device\.wants/(.*)", path)
            if match:
                unit = self.files.files[f"/etc/systemd/system/{match.group(1)}"].content
                [script] = re.findall("^ExecStart=/bin/sh (.+)$", unit, re.MULTILINE)
                self.run_script(self.files.files[script].content)

    def run_script(self, text: str) -> None:
        """As sh would run it, with what such a script may contain."""
        for line in text.splitlines():
            command, _, rest = line.partition(" || ")
            words = shlex.split(command, comments=True)
            if not words or words == ["set", "-eu"] or words[0] in {"udevadm", "modprobe"}:
                continue
            if words[0] == "echo":
                self.files.poke(words[3], words[1])
                continue
            status = self.run(words)[0]
            assert status == 0 or f"-eq {status} " in rest, line


def run(server: TinyRoceServer, *options: dict[str, Any], check_mode: bool = False, tools: str = "auto") -> Outcome:
    session = RoceSession(
        RoceClient(server.run, server.files, frozenset({"10.3.1.101"}), PCI, tools, RDMA_DEVICES),
        roce_interfaces_from(options),
    )
    return converge(session.read, session.plan, session.apply, check_mode)
