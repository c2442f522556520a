# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration as Open vSwitch settings: the pure part, and the driver on a real Open vSwitch."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from podsim.eos.config import Editor
from podsim.eos.hardware import empty_config
from podsim.eos.ovs_ports import NOWHERE, OvsPort, ovs_ports
from tests.contract.eos_simulator.conftest import RunningSwitch
from tests.support.packets.ports import ports_of
from tests.support.packets.running_flow import RunningFlow
from tests.support.processes import wait_until

L2_MTU = 9214
BLOCKED = OvsPort("trunk", None, (NOWHERE,), L2_MTU)
SHUT = OvsPort("trunk", None, (NOWHERE,), L2_MTU, lit=False)


def settings(*commands: str, port: str = "Ethernet9/1") -> OvsPort:
    """The settings of a port after these commands."""
    root = empty_config()
    editor = Editor(root)
    for command in commands:
        editor.enter(command)
    return next(settings for names, settings in ovs_ports(root).items() if port in names)


PORT = "interface Ethernet9/1"
TRUNK = (PORT, "switchport mode trunk")


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ((), OvsPort("access", 1, (), L2_MTU)),
        (("vlan 10", PORT, "switchport access vlan 10"), OvsPort("access", 10, (), L2_MTU)),
        ((PORT, "switchport access vlan 10"), BLOCKED),
        (("vlan 10", "state suspend", PORT, "switchport access vlan 10"), BLOCKED),
        ((PORT, "shutdown"), SHUT),
        ((PORT, "no switchport"), OvsPort("trunk", None, (NOWHERE,), 1500)),
        ((PORT, "mtu 9000"), OvsPort("access", 1, (), 9000)),
        (("vlan 10,20", *TRUNK), OvsPort("native-untagged", 1, (1, 10, 20), L2_MTU)),
        (
            ("vlan 10,20", *TRUNK, "switchport trunk allowed vlan 10,20,30"),
            OvsPort("trunk", None, (10, 20), L2_MTU),
        ),
        (
            ("vlan 10,20", *TRUNK, "switchport trunk allowed vlan 10,20", "switchport trunk native vlan 20"),
            OvsPort("native-untagged", 20, (10, 20), L2_MTU),
        ),
        ((*TRUNK, "switchport trunk allowed vlan none"), BLOCKED),
        (
            ("vlan 10", "interface Port-Channel1", "switchport access vlan 10", PORT, "channel-group 1 mode active"),
            OvsPort("access", 10, (), L2_MTU, lacp="active"),
        ),
        (
            ("vlan 10", "interface Port-Channel1", "switchport access vlan 10", PORT, "channel-group 1 mode on"),
            OvsPort("access", 10, (), L2_MTU),
        ),
        ((PORT, "channel-group 1 mode on", "shutdown"), SHUT),
        ((PORT, "channel-group 1 mode on", "interface Port-Channel1", "shutdown"), BLOCKED),
    ],
)
def test_configuration_as_port_settings(commands: tuple[str, ...], expected: OvsPort) -> None:
    assert settings(*commands) == expected


BRIDGE = "tor"


@dataclass
class Ovs:
    """A private Open vSwitch with two cabled hosts; it and they have network namespaces of their own."""

    directory: Path
    switch: str
    hosts: tuple[str, str]

    @property
    def database(self) -> str:
        return f"unix:{self.directory}/db.sock"

    def vsctl(self, *arguments: str) -> None:
        run("ovs-vsctl", f"--db={self.database}", *arguments)

    def get(self, column: str, *interfaces: str) -> list[str]:
        """A column of some interfaces."""
        command = ["ovs-vsctl", f"--db={self.database}"]
        for interface in interfaces:
            command += ["--", "get", "Interface", interface, column]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    def start(self, daemon: str, *arguments: str) -> int:
        """Start a daemon of Open vSwitch in the switch's namespace; its process id."""
        pidfile = self.directory / f"{daemon}.pid"
        environment = {f"OVS_{kind}DIR": str(self.directory) for kind in ("RUN", "LOG", "DB")}
        inside = ["ip", "netns", "exec", self.switch, daemon, *arguments, f"--pidfile={pidfile}"]
        subprocess.run(
            [*inside, "--detach", "--log-file"], check=True, capture_output=True, env=os.environ | environment
        )
        return int(pidfile.read_text())

    def cable(self, host: str, number: int) -> None:
        """Connect a host to the switch's port of that number."""
        port = f"e{number}"
        run(*f"ip -n {self.switch} link add {port} mtu 9216 type veth peer name rnic0 netns {host}".split())
        run(*f"ip -n {self.switch} link set {port} up".split())
        run(*f"ip -n {host} address add 198.18.77.{number}/24 dev rnic0".split())
        run(*f"ip -n {host} link set rnic0 mtu 9000 up".split())
        # Open vSwitch in user space fills in no checksums.
        run(*f"ip netns exec {host} ethtool -K rnic0 tx off".split())
        label = f"external_ids:eos_port=Ethernet{number}/1"
        self.vsctl("add-port", BRIDGE, port, "--", "set", "Port", port, label)

    def uncabled(self, number: int) -> None:
        """A port of that number with nobody at the other end of its cable."""
        run(*f"ip -n {self.switch} link add e{number} mtu 9216 type veth peer name o{number}".split())
        for end in (f"e{number}", f"o{number}"):
            run(*f"ip -n {self.switch} link set {end} up".split())
        label = f"external_ids:eos_port=Ethernet{number}/1"
        self.vsctl("add-port", BRIDGE, f"e{number}", "--", "set", "Port", f"e{number}", label)

    def bonded_server(self) -> None:
        """A server with an LACP bond to the ports 11 and 12; it is a bridge of the same Open vSwitch."""
        for number in (11, 12):
            run(*f"ip -n {self.switch} link add e{number} mtu 9216 type veth peer name s{number}".split())
            for end in (f"e{number}", f"s{number}"):
                run(*f"ip -n {self.switch} link set {end} up".split())
            label = f"external_ids:eos_port=Ethernet{number}/1"
            number_wish = ("--", "set", "Interface", f"e{number}", f"ofport_request={number}")
            self.vsctl("add-port", BRIDGE, f"e{number}", "--", "set", "Port", f"e{number}", label, *number_wish)
        self.vsctl("add-br", "server", "--", "set", "bridge", "server", "datapath_type=netdev")
        self.vsctl("add-bond", "server", "bond0", "s11", "s12", "lacp=active", "other_config:lacp-time=fast")
        run(*f"ip -n {self.switch} address add 198.18.77.11/24 dev server".split())
        run(*f"ip -n {self.switch} link set server up".split())

    def carriers(self) -> list[str]:
        """Of each host's port, whether it has a carrier, as its kernel says."""
        command = "ip netns exec {} cat /sys/class/net/rnic0/carrier"
        return [
            subprocess.run(command.format(host).split(), check=True, capture_output=True, text=True).stdout.strip()
            for host in self.hosts
        ]

    def pings(self, size: int = 56, host: int = 0, to: int = 10) -> bool:
        """Whether a host reaches another with one unfragmented ping of this payload size in bytes."""
        ping = ["ping", "-c1", "-W1", "-M", "do", "-s", str(size), f"198.18.77.{to}"]
        command = ["ip", "netns", "exec", self.hosts[host], *ping]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def ovs(tmp_path: Path) -> Iterator[Ovs]:
    if os.geteuid() != 0 or not shutil.which("ovs-vswitchd"):
        pytest.skip("the data plane test needs root and Open vSwitch")
    switch, *hosts = (f"eos-{name}-{os.getpid()}" for name in ("tor", "host1", "host2"))
    bed = Ovs(tmp_path / "ovs", switch, (hosts[0], hosts[1]))
    bed.directory.mkdir()
    run("ovsdb-tool", "create", f"{bed.directory}/conf.db", "/usr/share/openvswitch/vswitch.ovsschema")
    pids: list[int] = []
    try:
        for namespace in (switch, *hosts):
            run("ip", "netns", "add", namespace)
        pids.append(bed.start("ovsdb-server", f"{bed.directory}/conf.db", f"--remote=p{bed.database}"))
        bed.vsctl("--no-wait", "init")
        pids.append(bed.start("ovs-vswitchd", bed.database))
        bed.vsctl("add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev", "fail-mode=standalone")
        for host, number in zip(hosts, (9, 10), strict=True):
            bed.cable(host, number)
        yield bed
    finally:
        for pid in reversed(pids):
            os.kill(pid, signal.SIGTERM)
        for namespace in (switch, *hosts):
            subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True)


def test_the_switch_moves_frames_as_configured(ovs: Ovs, start_switch: Callable[..., RunningSwitch]) -> None:
    switch = start_switch("--dataplane", ovs.database, "--bridge", BRIDGE)
    assert ovs.pings(8972)

    tables = switch.run("show vlan", "show mac address-table", "show interfaces status")
    assert set(tables[0]["vlans"]["1"]["interfaces"]) == {"Ethernet9/1", "Ethernet10/1"}
    entries = tables[1]["unicastTable"]["tableEntries"]
    assert {(entry["interface"], entry["vlanId"]) for entry in entries} == {("Ethernet9/1", 1), ("Ethernet10/1", 1)}
    status = {name: entry["linkStatus"] for name, entry in tables[2]["interfaceStatuses"].items()}
    assert [status[f"Ethernet{number}/1"] for number in (9, 10, 11)] == ["connected", "connected", "notconnect"]

    switch.run("configure", "vlan 10", "interface Ethernet9/1", "switchport access vlan 10")
    assert ("Ethernet9/1", 1) not in {(entry["interface"], entry["vlanId"]) for entry in _macs(switch)}
    assert not ovs.pings()
    switch.run("configure", "interface Ethernet10/1", "switchport access vlan 10")
    assert ovs.pings()
    switch.run("configure", "no vlan 10")
    assert not ovs.pings()
    switch.run("configure", "vlan 10", "interface Ethernet10/1", "mtu 2000")
    assert ovs.pings()
    assert not ovs.pings(8972)
    switch.run("configure", "interface Ethernet10/1", "no mtu", "shutdown")
    assert not ovs.pings()
    switch.run("configure", "interface Ethernet10/1", "no shutdown")
    assert ovs.pings(8972)
    assert switch.run("show interfaces counters")[0]["interfaces"]["Ethernet9/1"]["inOctets"] > 8972
    run(*f"ip -n {ovs.hosts[0]} link set rnic0 down".split())
    wait_until(lambda: {entry["interface"] for entry in _macs(switch)} == {"Ethernet10/1"})


def test_a_port_that_is_shut_takes_the_carrier_of_the_other_end(
    ovs: Ovs, start_switch: Callable[..., RunningSwitch]
) -> None:
    switch = start_switch("--dataplane", ovs.database, "--bridge", BRIDGE)
    assert ovs.carriers() == ["1", "1"]
    switch.run("configure", "interface Ethernet9/1", "shutdown")
    assert ovs.carriers() == ["0", "1"]
    switch.run("configure", "vlan 10", "interface Ethernet9/1", "switchport access vlan 10")
    assert ovs.carriers() == ["0", "1"]
    switch.run("configure", "interface Ethernet9/1", "no shutdown")
    assert ovs.carriers() == ["1", "1"]


def test_a_change_of_other_ports_costs_an_untouched_one_nothing(
    ovs: Ovs, start_switch: Callable[..., RunningSwitch]
) -> None:
    switch = start_switch("--dataplane", ovs.database, "--bridge", BRIDGE)
    for number in range(11, 25):
        ovs.uncabled(number)
    hosts = [ports_of(host)["rnic0"] for host in ovs.hosts]
    with RunningFlow({"untouched": hosts}) as flow:
        for vlan in range(100, 130):
            lines = [f"interface Ethernet{vlan % 14 + 11}/1", f"switchport access vlan {vlan}", "mtu 9000"]
            switch.run("configure", f"vlan {vlan}", *lines)
        untouched = flow.end()["untouched"]
    assert untouched.sent > 0
    assert (untouched.lost, untouched.duplicated, untouched.reordered) == (0, 0, 0)


def test_an_expired_commit_gives_the_data_plane_back(ovs: Ovs, start_switch: Callable[..., RunningSwitch]) -> None:
    switch = start_switch("--dataplane", ovs.database, "--bridge", BRIDGE)
    switch.run("configure session cut", "interface Ethernet9/1", "shutdown", "commit timer 00:00:02")
    assert not ovs.pings()
    wait_until(ovs.pings)
    assert switch.section("Ethernet9/1$") == "interface Ethernet9/1\n"


def test_a_port_that_is_cabled_later_gets_its_settings(ovs: Ovs, start_switch: Callable[..., RunningSwitch]) -> None:
    switch = start_switch("--dataplane", ovs.database, "--bridge", BRIDGE)
    switch.run("configure", "vlan 10", "interface Ethernet9/1,10/1", "switchport access vlan 10")
    ovs.vsctl("del-port", BRIDGE, "e10")
    assert not ovs.pings()
    ovs.vsctl("add-port", BRIDGE, "e10", "--", "set", "Port", "e10", "external_ids:eos_port=Ethernet10/1")
    wait_until(ovs.pings)
    assert {entry["vlanId"] for entry in _macs(switch)} == {10}


def test_a_port_channel_speaks_lacp(ovs: Ovs, start_switch: Callable[..., RunningSwitch]) -> None:
    switch = start_switch("--dataplane", ovs.database, "--bridge", BRIDGE)
    ovs.bonded_server()
    members = "interface Ethernet11/1,12/1"

    def state() -> list[list[str]]:
        channel = switch.run("show port-channel")[0]["portChannels"]["Port-Channel5"]
        return [list(channel["activePorts"]), list(channel["inactivePorts"])]

    both = ["Ethernet11/1", "Ethernet12/1"]
    switch.run("configure", members, "channel-group 5 mode active")
    wait_until(lambda: state() == [both, []])
    wait_until(lambda: ovs.pings(host=1, to=11))
    assert {entry["interface"] for entry in _macs(switch)} >= {"Ethernet10/1", "Port-Channel5"}

    switch.run("configure", "interface Ethernet11/1", "shutdown")
    # LACP agrees anew about the member that is left, in protocol time.
    wait_until(lambda: state() == [["Ethernet12/1"], ["Ethernet11/1"]])
    wait_until(lambda: ovs.pings(host=1, to=11))
    switch.run("configure", "vlan 10", "interface Port-Channel5", "switchport access vlan 10")
    assert not ovs.pings(host=1, to=11)
    switch.run("configure", "no interface Port-Channel5", members, "no shutdown")
    assert switch.run("show port-channel")[0]["portChannels"] == {}
    numbers = ovs.get("ofport", "e11", "e12")
    assert numbers == ["11", "12"]


def test_a_port_channel_without_partner_carries_nothing(ovs: Ovs, start_switch: Callable[..., RunningSwitch]) -> None:
    switch = start_switch("--dataplane", ovs.database, "--bridge", BRIDGE)
    assert ovs.pings()
    switch.run("configure", "interface Ethernet9/1", "channel-group 1 mode active")
    wait_until(lambda: not ovs.pings())
    assert switch.run("show interfaces status")[0]["interfaceStatuses"]["Port-Channel1"]["linkStatus"] == "notconnect"
    switch.run("configure", "interface Ethernet9/1", "no channel-group", "channel-group 1 mode on")
    assert ovs.pings()


def _macs(switch: RunningSwitch) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = switch.run("show mac address-table")[0]["unicastTable"]["tableEntries"]
    return entries
