# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches in RNICs that have virtual functions (SR-IOV): what a NIC does for its server, by Open vSwitch.

The kernel of the simulated servers knows neither the functions nor the words for them. So a process beside the data
plane does: each server asks it through a socket (see the stand-in for `ip`), and it answers as the kernel would. A new
number of functions, which a server writes into `sriov_numvfs`, it sees before the next question.

A function is an interface of the server whose other end is a port of the RNIC's bridge. In a VLAN, that port tags
every frame and takes none that has a tag; with the check of its MAC address, it takes none that has another one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socketserver
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podsim.floor.commands import ip_batch, run
from podsim.floor.daemons import Daemons
from podsim.floor.data_plane import database
from podsim.floor.errors import FloorError
from podsim.floor.facts_file import read_facts
from podsim.floor.machines import function_device, make_network_device, nic_folder
from podsim.floor.network import SWITCH_LINK_MTU, add_data_plane_cable, disable_transmit_checksum
from podsim.floor.plan import DATA_PLANE_NAMESPACE, EmbeddedSwitch, Floor, Machine, Rnic, plan
from podsim.floor.state import StateDirectory

DAEMON = "functions"
# In the directory that a machine has as /etc/podsim.
SOCKET = "nic.sock"
NO_MAC = "00:00:00:00:00:00"
# After the bridge's two other ports.
FIRST_PORT = 10
SWITCHES = {"on": True, "off": False}
INVALID = "RTNETLINK answers: Invalid argument"


@dataclass
class Function:
    """What `ip link show` says of a virtual function."""

    mac: str = NO_MAC
    vlan: int = 0
    trust: bool = False
    spoof_check: bool = False

    def shown(self, number: int) -> dict[str, Any]:
        """The function in `vfinfo_list`, as iproute2 6.1 prints it."""
        return {
            "vf": number,
            "link_type": "ether",
            "address": self.mac,
            "broadcast": "ff:ff:ff:ff:ff:ff",
            "vlan_list": [{"vlan": self.vlan} if self.vlan else {}],
            "rate": {"max_tx": 0, "min_tx": 0},
            "spoofchk": self.spoof_check,
            "link_state": "auto",
            "trust": self.trust,
            "query_rss_en": False,
        }


@dataclass
class Nic:
    """An RNIC with the functions that it has now."""

    machine: Machine
    rnic: Rnic
    switch: EmbeddedSwitch
    state: StateDirectory
    functions: list[Function] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Its directory `device` in the server's sysfs."""
        return nic_folder(self.state, self.machine, self.rnic) / "device"

    def follow(self) -> None:
        """Have as many functions as the server has written; the kernel takes a number only after none."""
        written = (self.folder / "sriov_numvfs").read_text(encoding="ascii").strip()
        number = int(written) if written.isdigit() else -1
        if number == 0:
            self._remove_all()
        elif not self.functions and 0 < number <= self.switch.functions:
            for each in range(number):
                self._add(each)
        if number != len(self.functions):
            (self.folder / "sriov_numvfs").write_text(f"{len(self.functions)}\n", encoding="ascii")

    def set(self, number: int, words: list[str]) -> str:
        """Set a function; returns what `ip` says where it is refused."""
        if not 0 <= number < len(self.functions) or not words or len(words) % 2:
            return INVALID
        function = self.functions[number]
        for name, value in zip(words[::2], words[1::2], strict=True):
            if name == "mac":
                function.mac = value.lower()
            elif name == "vlan" and value.isdigit() and int(value) < 4095:
                function.vlan = int(value)
            elif name in ("trust", "spoofchk") and value in SWITCHES:
                setattr(function, {"spoofchk": "spoof_check"}.get(name, name), SWITCHES[value])
            else:
                return f'Error: argument "{name} {value}" is wrong: not known to the simulated NIC'
        self._apply(number)
        return ""

    def _add(self, number: int) -> None:
        link, device = self.switch.function(number), function_device(self.rnic, number)
        add_data_plane_cable(link, f"{device} netns {self.machine.container}")
        disable_transmit_checksum(device, self.machine.container)
        ip_batch([f"link set {link} up"], DATA_PLANE_NAMESPACE)
        self._vsctl(
            "--may-exist",
            "add-port",
            self.switch.bridge,
            link,
            "--",
            "set",
            "interface",
            link,
            f"mtu_request={SWITCH_LINK_MTU}",
            f"ofport_request={FIRST_PORT + number}",
        )
        self.functions.append(Function())
        self._apply(number)
        _make_device(self.state, self.machine, self.rnic, number)

    def _remove_all(self) -> None:
        for number in range(len(self.functions)):
            link = self.switch.function(number)
            self._vsctl("--if-exists", "del-port", self.switch.bridge, link)
            ip_batch([f"link delete {link}"], DATA_PLANE_NAMESPACE)
            self._flows("del-flows", f"in_port={FIRST_PORT + number}")
            device = function_device(self.rnic, number)
            shutil.rmtree(self.folder / f"virtfn{number}")
            shutil.rmtree(self.folder.parent.parent / device)
        self.functions.clear()

    def _apply(self, number: int) -> None:
        function, link, port = self.functions[number], self.switch.function(number), FIRST_PORT + number
        vlan = [f"tag={function.vlan}", "vlan_mode=access"] if function.vlan else ["tag=[]", "vlan_mode=[]"]
        self._vsctl("set", "port", link, *vlan)
        self._flows("del-flows", f"in_port={port}")
        if function.spoof_check:
            self._flows("add-flow", f"priority=100,in_port={port},dl_src={function.mac},actions=normal")
            self._flows("add-flow", f"priority=90,in_port={port},actions=drop")

    def _vsctl(self, *words: str) -> None:
        run("ovs-vsctl", f"--db={database(self.state)}", "--timeout=30", *words)

    def _flows(self, action: str, flow: str) -> None:
        run("ovs-ofctl", action, f"unix:{self.state.data_plane}/{self.switch.bridge}.mgmt", flow)


class Server(socketserver.UnixStreamServer):
    """Answers the questions of one server, one at a time."""

    def __init__(self, machine: Machine, state: StateDirectory) -> None:
        path = state.machine(machine.name) / SOCKET
        path.unlink(missing_ok=True)
        super().__init__(str(path), Question)
        self.nics = {
            rnic.name: Nic(machine, rnic, rnic.embedded_switch, state)
            for rnic in machine.with_functions
            if rnic.embedded_switch
        }

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question."""
        for nic in self.nics.values():
            nic.follow()
        if question["do"] == "show":
            return {
                name: [function.shown(number) for number, function in enumerate(nic.functions)]
                for name, nic in self.nics.items()
            }
        asked = self.nics.get(question["device"])
        return {"error": asked.set(question["vf"], question["words"]) if asked else INVALID}


class Question(socketserver.StreamRequestHandler):
    """One question and its answer, a line of JSON each."""

    def handle(self) -> None:
        """Answer it."""
        server = self.server
        assert isinstance(server, Server)
        try:
            answer = server.answer(json.loads(self.rfile.readline()))
        except FloorError as error:
            print(error, flush=True)
            answer = {"error": str(error)}
        self.wfile.write(json.dumps(answer).encode() + b"\n")


def start_embedded_switches(floor: Floor, state: StateDirectory, daemons: Daemons) -> None:
    """Start the process, if the floor has such RNICs and it does not run."""
    if any(machine.with_functions for machine in floor.containers) and DAEMON not in daemons.running():
        command = [sys.executable, "-m", "podsim.cli", "functions", "--state", str(state.root)]
        daemons.start(DAEMON, command, state.data_plane / "functions.log")


def main(arguments: list[str]) -> int:
    """Answer every server until the pod is removed."""
    parser = argparse.ArgumentParser(prog="podsim functions", description="The switches in RNICs.")
    parser.add_argument("--state", required=True, type=Path)
    state = StateDirectory(parser.parse_args(arguments).state)
    machines = [machine for machine in plan(read_facts(state.facts)).containers if machine.with_functions]
    threads = [threading.Thread(target=Server(machine, state).serve_forever) for machine in machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 0


def _make_device(state: StateDirectory, machine: Machine, rnic: Rnic, number: int) -> None:
    """What sysfs says of a function."""
    nic, device = nic_folder(state, machine, rnic), function_device(rnic, number)
    function = nic / "device" / f"virtfn{number}"
    (function / "net" / device).mkdir(parents=True)
    (function / "infiniband_verbs" / f"uverbs{number + 1}").mkdir(parents=True)
    (function / "driver").symlink_to("/sys/bus/pci/drivers/mlx5_core")
    make_network_device(nic.parent, device)
    (nic.parent / device / "device").symlink_to(f"../{rnic.name}/device/virtfn{number}")
