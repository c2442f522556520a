# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data plane: a configuration as Open vSwitch port settings (pure), and the driver that applies them."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podsim.eos.config import Node
from podsim.eos.errors import InternalError
from podsim.eos.ports import Port, Vlan, ports, vlans

# Open vSwitch reads an empty `trunks` as all VLANs; a trunk for the reserved VLAN 4095 alone forwards nothing.
NOWHERE = 4095
PORT_LABEL = "eos_port"
TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class OvsPort:
    """The columns of an Open vSwitch port and its interface that make a switch port; `mtu` in bytes."""

    vlan_mode: str
    tag: int | None
    trunks: tuple[int, ...]
    mtu: int


BLOCKED = ("trunk", None, (NOWHERE,))


def ovs_port(port: Port, database: dict[int, Vlan]) -> OvsPort:
    """What a switch port is in Open vSwitch. A VLAN that is not in the database or suspended does not forward."""
    carried = port.carried(database)
    if port.shutdown or not carried:
        return OvsPort(*BLOCKED, port.mtu)
    if port.mode == "access":
        return OvsPort("access", port.access_vlan, (), port.mtu)
    if port.native_vlan in carried:
        return OvsPort("native-untagged", port.native_vlan, tuple(sorted(carried)), port.mtu)
    return OvsPort("trunk", None, tuple(sorted(carried)), port.mtu)


def ovs_ports(config: Node) -> dict[str, OvsPort]:
    """The Open vSwitch settings for every switch port of a configuration, by EOS name."""
    database = vlans(config)
    return {name: ovs_port(port, database) for name, port in ports(config).items() if name.startswith("Ethernet")}


@dataclass(frozen=True)
class Cable:
    """A port of the bridge: its names in EOS and in Open vSwitch, its number in the data plane, its link."""

    eos_name: str
    ovs_name: str
    number: int
    linked: bool


class OpenVSwitch:
    """Drives one bridge. Its ports carry `external_ids:eos_port=Ethernet9/1`; a port without cable has no record."""

    def __init__(self, database: str, bridge: str) -> None:
        self._database = database
        self._bridge = bridge
        self._monitor: subprocess.Popen[bytes] | None = None

    def watch(self, cabled: Callable[[], None]) -> None:
        """From now on, call `cabled` when a port is plugged in or out."""
        command = ["ovsdb-client", "--format=json", "monitor", self._database, "Port", "name,external_ids"]
        self._monitor = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        threading.Thread(target=self._follow, args=(self._monitor, cabled), daemon=True).start()

    def close(self) -> None:
        """Stop watching."""
        if self._monitor:
            self._monitor.terminate()
            self._monitor.wait()

    @staticmethod
    def _follow(monitor: subprocess.Popen[bytes], cabled: Callable[[], None]) -> None:
        assert monitor.stdout
        for _update in monitor.stdout:
            cabled()

    def apply(self, running: Node) -> None:
        """Make the bridge's ports what this configuration says, in one transaction."""
        wanted = ovs_ports(running)
        arguments: list[str] = []
        for cable in self._cables():
            if cable.eos_name in wanted:
                arguments += _settings(cable.ovs_name, wanted[cable.eos_name])
        if arguments:
            self._vsctl(*arguments)

    def connected(self) -> set[str]:
        """The interfaces that have a link, and the management interface, which is not in the bridge."""
        return {cable.eos_name for cable in self._cables() if cable.linked} | {"Management1"}

    def mac_table(self) -> list[tuple[str, int, str]]:
        """The learned addresses as (MAC, VLAN, interface)."""
        by_number = {str(cable.number): cable.eos_name for cable in self._cables()}
        rows = [line.split() for line in self._fdb().splitlines()[1:]]
        return [(mac, int(vlan), by_number[number]) for number, vlan, mac, _ in rows if number in by_number]

    def _cables(self) -> list[Cable]:
        names = set(self._vsctl("list-ports", self._bridge).split())
        labels = {
            row["name"]: row["external_ids"][PORT_LABEL]
            for row in self._rows("Port", "name,external_ids")
            if row["name"] in names and PORT_LABEL in row["external_ids"]
        }
        return [
            Cable(labels[row["name"]], row["name"], row["ofport"] or -1, row["link_state"] == "up")
            for row in self._rows("Interface", "name,ofport,link_state")
            if row["name"] in labels
        ]

    def _rows(self, table: str, columns: str) -> list[dict[str, Any]]:
        answer = json.loads(self._vsctl("--format=json", f"--columns={columns}", "list", table))
        return [dict(zip(answer["headings"], map(_plain, row), strict=True)) for row in answer["data"]]

    def _vsctl(self, *arguments: str) -> str:
        return _output("ovs-vsctl", f"--db={self._database}", f"--timeout={TIMEOUT_SECONDS}", *arguments)

    def _fdb(self) -> str:
        directory = Path(self._database.removeprefix("unix:")).parent
        control = next(directory.glob("ovs-vswitchd.*.ctl"), None)
        if control is None:
            raise InternalError(f"no ovs-vswitchd control socket in {directory}")
        return _output("ovs-appctl", f"--target={control}", f"--timeout={TIMEOUT_SECONDS}", "fdb/show", self._bridge)


def _settings(name: str, port: OvsPort) -> list[str]:
    """The `ovs-vsctl` commands that give a port these settings."""
    trunks = f"trunks={','.join(map(str, port.trunks))}" if port.trunks else "trunks=[]"
    tag = "[]" if port.tag is None else str(port.tag)
    return [
        *("--", "--if-exists", "set", "Port", name, f"vlan_mode={port.vlan_mode}", f"tag={tag}", trunks),
        *("--", "--if-exists", "set", "Interface", name, f"mtu_request={port.mtu}"),
    ]


def _plain(value: Any) -> Any:
    """An OVSDB value as a plain one: sets as a list (None when empty), maps as a dict."""
    if isinstance(value, list) and value[0] == "map":
        return dict(value[1])
    if isinstance(value, list) and value[0] == "set":
        return value[1] or None
    return value


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * TIMEOUT_SECONDS).stdout
    except subprocess.CalledProcessError as error:
        raise InternalError(f"data plane: {command[0]}: {error.stderr.strip()}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InternalError(f"data plane: {error}") from None
