# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data plane: the driver that makes an Open vSwitch bridge what a configuration says."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podsim.eos.config import Node
from podsim.eos.errors import InternalError
from podsim.eos.hardware import MANAGEMENT
from podsim.eos.ovs_ports import OvsPort, ovs_ports

PORT_LABEL = "eos_port"
_INTERFACE_COLUMNS = "_uuid,name,ofport,ofport_request,link_state,external_ids"
# Counters of `ovs-ofctl dump-ports`, by direction.
_COUNTERS = {
    "rx": {"bytes": "inOctets", "pkts": "inUcastPkts", "drop": "inDiscards", "errs": "inErrors", "crc": "fcsErrors"}
    | {"frame": "alignmentErrors"},
    "tx": {"bytes": "outOctets", "pkts": "outUcastPkts", "drop": "outDiscards", "errs": "outErrors"},
}
# Of `ovs-ofctl show`, the name and the configuration of each port.
_PORT_CONFIGURATION = re.compile(r"^ \d+\((?P<name>[^)]+)\):.*\n +config: +(?P<config>.+)$", re.MULTILINE)
_PORT_COUNTERS = re.compile(r"^ +port +(?P<number>\d+): rx (?P<rx>.+)\n +tx (?P<tx>.+)$", re.MULTILINE)
TIMEOUT_SECONDS = 10
RETRY_SECONDS = 0.2


@dataclass(frozen=True)
class Cable:
    """A cable of the bridge, which is an interface of Open vSwitch.

    Its names in EOS and in Open vSwitch, the Open vSwitch port that it belongs to, the number that it has in the data
    plane and the one that it was given, its link, and the LACP mode of its port.
    """

    eos_name: str
    ovs_name: str
    ovs_port: str
    number: int
    requested_number: int | None
    linked: bool
    lacp: str


class OpenVSwitch:
    """Drives one bridge. Its ports carry `external_ids:eos_port=Ethernet9/1`; a port without cable has no record.

    The members of a port channel are one bond there, and their interfaces carry the label.
    """

    def __init__(self, database: str, bridge: str) -> None:
        self._database = database
        self._directory = Path(database.removeprefix("unix:")).parent
        self._bridge = bridge
        self._monitor: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()

    def watch(self, cabled: Callable[[], None]) -> None:
        """From now on, call `cabled` when a port is plugged in or out."""
        self._monitor = self._start_monitor()
        threading.Thread(target=self._follow, args=(self._monitor, cabled), daemon=True).start()

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()
        if self._monitor:
            self._monitor.terminate()
            self._monitor.wait()

    def _start_monitor(self) -> subprocess.Popen[bytes]:
        command = ["ovsdb-client", "--format=json", "monitor", self._database, "Port", "name,external_ids"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _follow(self, monitor: subprocess.Popen[bytes], cabled: Callable[[], None]) -> None:
        while True:
            with monitor:
                for _update in monitor.stdout or ():
                    # A data plane that is just being started takes no settings yet; it says so when it does.
                    with contextlib.suppress(InternalError):
                        cabled()
            # It ends with the database; when that is back, it begins with all ports that there are.
            if self._closed.wait(RETRY_SECONDS):
                return
            self._monitor = monitor = self._start_monitor()
            if self._closed.is_set():
                monitor.terminate()

    def apply(self, running: Node) -> None:
        """Make the bridge's ports what this configuration says, in one transaction."""
        cables = {cable.eos_name: cable for cable in self._cables()}
        now: dict[str, set[str]] = {}
        for cable in cables.values():
            now.setdefault(cable.ovs_port, set()).add(cable.eos_name)
        wanted = {_port_name(there, port): (there, port) for there, port in _cabled(ovs_ports(running), cables)}
        moved = [name for name, (there, _) in wanted.items() if now.get(name) != {cable.eos_name for cable in there}]
        gone = {cable.ovs_port for name in moved for cable in wanted[name][0]}
        arguments = [word for name in sorted(gone) for word in ("--", "--if-exists", "del-port", self._bridge, name)]
        for name in moved:
            arguments += _plug(self._bridge, name, wanted[name][0])
        for name, (there, port) in wanted.items():
            arguments += _settings(name, there, port)
        if arguments:
            self._vsctl(*arguments)
        dark = self._dark()
        for there, port in wanted.values():
            for cable in there:
                if port.lit == (cable.ovs_name in dark):
                    self._ofctl("mod-port", cable.ovs_name, "up" if port.lit else "down")

    def connected(self) -> set[str]:
        """The interfaces that have a link, and the management interface, which is not in the bridge."""
        return {cable.eos_name for cable in self._cables() if cable.linked} | {MANAGEMENT}

    def unbundled(self) -> set[str]:
        """The members of port channels that found no LACP partner."""
        asking = {cable.ovs_name: cable.eos_name for cable in self._cables() if cable.lacp != "off"}
        answered = (
            re.findall(r"^\w+: (\S+): current attached$", self._appctl("lacp/show"), re.MULTILINE) if asking else []
        )
        return {eos_name for ovs_name, eos_name in asking.items() if ovs_name not in answered}

    def mac_table(self) -> list[tuple[str, int, str]]:
        """The learned addresses as (MAC, VLAN, interface)."""
        by_number = {str(cable.number): cable.eos_name for cable in self._cables()}
        rows = [line.split() for line in self._appctl("fdb/show", self._bridge).splitlines()[1:]]
        return [(mac, int(vlan), by_number[number]) for number, vlan, mac, _ in rows if number in by_number]

    def statistics(self) -> dict[str, dict[str, int]]:
        """The frames and bytes of each cabled port, which Open vSwitch sees from its own side as EOS does.

        By OpenFlow, which counts to this moment: the database follows every five seconds.
        """
        by_number = {str(cable.number): cable.eos_name for cable in self._cables()}
        return {
            by_number[port["number"]]: _counters(port)
            for port in _PORT_COUNTERS.finditer(self._ofctl("dump-ports"))
            if port["number"] in by_number
        }

    def _dark(self) -> set[str]:
        """The interfaces that are shut; by OpenFlow, as the database follows later."""
        ports = _PORT_CONFIGURATION.finditer(self._ofctl("show"))
        return {port["name"] for port in ports if "PORT_DOWN" in port["config"]}

    def _cables(self) -> list[Cable]:
        names = set(self._vsctl("list-ports", self._bridge).split())
        interfaces = {row["_uuid"]: row for row in self._rows("Interface", _INTERFACE_COLUMNS)}
        cables = []
        for port in self._rows("Port", "name,external_ids,interfaces,lacp"):
            if port["name"] not in names:
                continue
            for row in _referred(port["interfaces"], interfaces):
                label = {**port["external_ids"], **row["external_ids"]}.get(PORT_LABEL)
                if label:
                    numbers = (row["ofport"] or -1, row["ofport_request"])
                    state = (row["link_state"] == "up", port["lacp"] or "off")
                    cables.append(Cable(label, row["name"], port["name"], *numbers, *state))
        return cables

    def _rows(self, table: str, columns: str) -> list[dict[str, Any]]:
        answer = json.loads(self._vsctl("--format=json", f"--columns={columns}", "list", table))
        return [dict(zip(answer["headings"], map(_plain, row), strict=True)) for row in answer["data"]]

    def _vsctl(self, *arguments: str) -> str:
        return _output("ovs-vsctl", f"--db={self._database}", f"--timeout={TIMEOUT_SECONDS}", *arguments)

    def _ofctl(self, verb: str, *arguments: str) -> str:
        control = f"unix:{self._directory / f'{self._bridge}.mgmt'}"
        return _output("ovs-ofctl", f"--timeout={TIMEOUT_SECONDS}", verb, control, *arguments)

    def _appctl(self, *arguments: str) -> str:
        control = next(self._directory.glob("ovs-vswitchd.*.ctl"), None)
        if control is None:
            raise InternalError(f"no ovs-vswitchd control socket in {self._directory}")
        return _output("ovs-appctl", f"--target={control}", f"--timeout={TIMEOUT_SECONDS}", *arguments)


def _counters(port: re.Match[str]) -> dict[str, int]:
    """The counters of one port as EOS names them; those that the port does not have ("?") count zero."""
    counted: dict[str, int] = {}
    for direction, names in _COUNTERS.items():
        figures = dict(figure.split("=") for figure in port[direction].split(", "))
        counted |= {eos: int(figures[name]) if figures[name].isdecimal() else 0 for name, eos in names.items()}
    return counted


def _referred(references: str | list[str], rows: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that a column refers to, as far as they were there when they were read."""
    listed = [references] if isinstance(references, str) else references
    return [rows[reference] for reference in listed if reference in rows]


def _cabled(wanted: dict[tuple[str, ...], OvsPort], cables: dict[str, Cable]) -> Iterator[tuple[list[Cable], OvsPort]]:
    """The ports that have at least one cable, with their cables."""
    for members, port in wanted.items():
        there = [cables[name] for name in members if name in cables]
        if there:
            yield there, port


def _port_name(cables: list[Cable], port: OvsPort) -> str:
    """A port of its own has the name of its cable."""
    return cables[0].ovs_name if len(cables) == 1 and port.lacp == "off" else f"{cables[0].ovs_name}-b"


def _plug(bridge: str, name: str, cables: list[Cable]) -> list[str]:
    """The `ovs-vsctl` commands that make a port of these cables; each keeps its number, which OpenFlow entries name."""
    names = [cable.ovs_name for cable in cables]
    words = ["--", "add-port", bridge, name]
    if name not in names:
        # A bond holds its members back until their partner answers, and it has at least two: a dead one, if need be.
        idle = [f"{name}-0"] if len(names) == 1 else []
        words = ["--", "add-bond", bridge, name, *names, *idle]
        words += [word for other in idle for word in ("--", "set", "Interface", other, "type=internal")]
    for cable in cables:
        words += ["--", "set", "Interface", cable.ovs_name, f"external_ids:{PORT_LABEL}={cable.eos_name}"]
        words += [f"ofport_request={cable.requested_number}"] if cable.requested_number else []
    return words


def _settings(name: str, cables: list[Cable], port: OvsPort) -> list[str]:
    """The `ovs-vsctl` commands that give a port these settings."""
    trunks = f"trunks={','.join(map(str, port.trunks))}" if port.trunks else "trunks=[]"
    tag = "[]" if port.tag is None else str(port.tag)
    words = ["--", "--if-exists", "set", "Port", name, f"vlan_mode={port.vlan_mode}", f"tag={tag}", trunks]
    words += [f"lacp={port.lacp}", "bond_mode=balance-slb"]
    for cable in cables:
        words += ["--", "--if-exists", "set", "Interface", cable.ovs_name, f"mtu_request={port.mtu}"]
    return words


def _plain(value: Any) -> Any:
    """An OVSDB value as a plain one: references as text, sets as a list (None when empty), maps as a dict."""
    if isinstance(value, list) and value[0] == "uuid":
        return value[1]
    if isinstance(value, list) and value[0] == "map":
        return dict(value[1])
    if isinstance(value, list) and value[0] == "set":
        return [_plain(each) for each in value[1]] or None
    return value


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * TIMEOUT_SECONDS).stdout
    except subprocess.CalledProcessError as error:
        raise InternalError(f"data plane: {command[0]}: {error.stderr.strip()}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InternalError(f"data plane: {error}") from None
