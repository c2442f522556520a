# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The show commands: surroundings and configuration, as JSON and as text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podsim.eos.cli import Cli
from podsim.eos.commands import run_command
from podsim.eos.errors import InternalError, NoJsonModel
from podsim.eos.hardware import DCS_7010T_48, DCS_7060CX_32S, Hardware
from podsim.eos.releases import DEFAULT_RELEASE
from podsim.eos.reply import as_json
from podsim.eos.switch import NoDataPlane, Switch

MAC = "0c:42:a1:00:00:01"
NEIGHBOUR = {"Ethernet9/1": {"device": "ipum1", "port": "rnic0", "mac": MAC}}
Show = Callable[[str], dict[str, Any]]


class Bed:
    """A switch without data plane whose surroundings stand in a file."""

    def __init__(self, directory: Path, hardware: Hardware = DCS_7060CX_32S) -> None:
        self.file = directory / "observed"
        self.see()
        files = (directory / "running", directory / "startup")
        plane = NoDataPlane(hardware.ports)
        self.switch = Switch(*files, hardware, DEFAULT_RELEASE, plane, "tor1", observed=self.file)
        self.cli = Cli(self.switch, "admin")
        run_command(self.cli, "enable")

    def see(self, **observed: Any) -> None:
        self.file.write_text(json.dumps(observed))

    def configure(self, *commands: str) -> None:
        for command in ("configure", *commands, "end"):
            run_command(self.cli, command)

    def show(self, command: str) -> dict[str, Any]:
        return as_json(run_command(self.cli, f"show {command}"))

    def text(self, command: str) -> str:
        return run_command(self.cli, f"show {command}").text

    def neighbours(self) -> list[str]:
        return [each["port"] for each in self.show("lldp neighbors")["lldpNeighbors"]]

    def macs(self) -> list[tuple[str, int]]:
        entries = self.show("mac address-table")["unicastTable"]["tableEntries"]
        return [(entry["interface"], entry["vlanId"]) for entry in entries]


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def test_a_neighbour_needs_a_link_and_lldp(bed: Bed) -> None:
    assert bed.neighbours() == []
    bed.see(neighbours=NEIGHBOUR)
    assert bed.show("lldp neighbors")["lldpNeighbors"] == [
        {"port": "Ethernet9/1", "neighborDevice": "ipum1", "neighborPort": "rnic0", "ttl": 120}
    ]
    assert "Et9/1  ipum1               rnic0             120" in bed.text("lldp neighbors")
    for off, on in (
        (("interface Ethernet9/1", "shutdown"), ("interface Ethernet9/1", "no shutdown")),
        (("interface Ethernet9/1", "no lldp receive"), ("interface Ethernet9/1", "lldp receive")),
        (("no lldp run",), ("lldp run",)),
    ):
        bed.configure(*off)
        assert bed.neighbours() == []
        bed.configure(*on)
        assert bed.neighbours() == ["Ethernet9/1"]
    bed.see(neighbours=NEIGHBOUR, unplugged=["Ethernet9/1"])
    assert bed.neighbours() == []
    assert bed.show("interfaces status")["interfaceStatuses"]["Ethernet9/1"]["linkStatus"] == "notconnect"


def test_a_machine_that_is_switched_off_has_no_link(bed: Bed) -> None:
    bed.see(neighbours=NEIGHBOUR, namespaces={"Ethernet9/1": "/proc/self/ns/net"})
    assert bed.neighbours() == ["Ethernet9/1"]
    bed.see(neighbours=NEIGHBOUR, namespaces={"Ethernet9/1": "/run/netns/nobody"})
    assert bed.neighbours() == []


def test_details_of_a_neighbour(bed: Bed) -> None:
    bed.see(neighbours=NEIGHBOUR)
    every = bed.show("lldp neighbors detail")["lldpNeighbors"]
    assert every["Ethernet10/1"] == {"lldpNeighborInfo": []}
    [one] = every["Ethernet9/1"]["lldpNeighborInfo"]
    assert (one["systemName"], one["chassisId"]) == ("ipum1", "0c42.a100.0001")
    assert one["neighborInterfaceInfo"]["interfaceId_v2"] == "rnic0"
    assert bed.show("lldp neighbors Ethernet9/1 detail") == {"lldpNeighbors": {"Ethernet9/1": every["Ethernet9/1"]}}


def test_addresses_are_learned_in_the_vlan_in_which_they_send(bed: Bed) -> None:
    bed.see(macs=[{"mac": MAC, "port": "Ethernet9/1"}, {"mac": MAC, "port": "Ethernet25/1", "vlan": 101}])
    assert bed.macs() == [("Ethernet9/1", 1)]
    bed.configure("vlan 100,101", "interface Ethernet9/1", "switchport access vlan 100")
    bed.configure("interface Ethernet25/1", "switchport mode trunk", "switchport trunk allowed vlan 101")
    assert bed.macs() == [("Ethernet9/1", 100), ("Ethernet25/1", 101)]
    assert [len(bed.show(f"mac address-table {only}")["unicastTable"]["tableEntries"]) for only in
            ("vlan 100", "vlan 102", "interface Et9/1")] == [1, 0, 1]  # fmt: skip
    bed.configure("interface Ethernet25/1", "switchport trunk allowed vlan 100", "interface Ethernet9/1", "shutdown")
    assert bed.macs() == []


def test_a_file_that_says_nothing_readable_is_an_error(bed: Bed) -> None:
    bed.file.write_text('{"lldp": {}}')
    with pytest.raises(InternalError, match="unknown key lldp; it takes blocked, counters, errdisabled, macs"):
        bed.neighbours()


def test_counters(bed: Bed) -> None:
    bed.see(counters={"Ethernet9/1": {"fcsErrors": 2, "rxPause": 5, "txPause": 6, "inOctets": 7, "stuck": {"3": 1}}})
    errors = bed.show("interfaces counters errors")["interfaceErrorCounters"]
    assert (errors["Ethernet9/1"]["fcsErrors"], errors["Ethernet10/1"]["fcsErrors"]) == (2, 0)
    pause = bed.show("priority-flow-control counters")["interfaceCounters"]
    assert (pause["Ethernet9/1"], pause["Ethernet10/1"]) == (
        {"rxFrames": 5, "txFrames": 6},
        {"rxFrames": 0, "txFrames": 0},
    )
    assert bed.show("interfaces counters")["interfaces"]["Ethernet9/1"]["inOctets"] == 7
    assert bed.show("priority-flow-control counters watchdog") == {
        "interfaces": {"Ethernet9/1": {"txQueues": {"3": {"stuckCount": 1, "recoveryCount": 0}}}}
    }


def test_ecn_marks_are_counted_only_where_that_is_switched_on(bed: Bed) -> None:
    bed.see(counters={"Ethernet9/1": {"ecn": {"3": 7}}})
    marks = "qos interfaces ecn counters queue"
    assert bed.show(marks)["intfQueueCounters"]["Ethernet9/1"]["queueCounters"]["3"] == "-"
    bed.configure("interface Ethernet9/1", "uc-tx-queue 3", "random-detect ecn count")
    queues = bed.show(marks)["intfQueueCounters"]["Ethernet9/1"]["queueCounters"]
    assert (queues["3"], queues["4"]) == ("7", "-")


def test_priority_flow_control_of_a_port_and_of_its_profile(bed: Bed) -> None:
    bed.configure("qos profile ROCE", "priority-flow-control on", "priority-flow-control priority 3 no-drop")
    bed.configure("interface Ethernet9/1", "service-profile ROCE", "interface Ethernet10/1", "dcbx mode ieee")
    rows = [line.split() for line in bed.text("priority-flow-control status").splitlines()]
    assert ["Ethernet9/1", "Yes", "3", "Yes", "DCBX", "disabled"] in rows
    assert ["Ethernet10/1", "No", "No"] in rows
    assert bed.text("qos profile ROCE").startswith("qos profile ROCE\n   priority-flow-control on\n")
    assert "Attached to: Ethernet9/1" in bed.text("qos profile summary")


def test_maps(bed: Bed) -> None:
    bed.configure("qos map dscp 26 to traffic-class 4", "qos map traffic-class 4 to tx-queue 5")
    lines = bed.text("qos maps").splitlines()
    assert "      2 :     2  2  2  2  3  3  4  3  3  3" in lines
    assert "     tx-queue:  0  1  2  3  5  5  6  7" in lines


@pytest.mark.parametrize("command", ["priority-flow-control", "qos maps", "qos profile"])
def test_what_has_no_published_json_form_has_none(bed: Bed, command: str) -> None:
    with pytest.raises(NoJsonModel):
        bed.show(command)


def test_port_channels(bed: Bed) -> None:
    bed.configure("interface Ethernet25/1,26/1", "channel-group 5 mode active")
    bed.configure("interface Ethernet27/1", "channel-group 6 mode on")
    bed.see(unplugged=["Ethernet26/1"])
    channel = bed.show("port-channel")["portChannels"]["Port-Channel5"]
    assert list(channel["activePorts"]) == ["Ethernet25/1"]
    assert list(channel["inactivePorts"]) == ["Ethernet26/1"]
    summary = bed.show("port-channel summary")
    assert summary["numberOfChannelsInUse"] == 2
    assert summary["portChannels"]["Port-Channel6"]["protocol"] == "static"
    assert "Po5(U)        LACP      Et25/1(P) Et26/1(D)" in bed.text("port-channel dense")
    lacp = bed.show("lacp neighbor")["portChannels"]
    assert list(lacp) == ["Port-Channel5"]
    assert lacp["Port-Channel5"]["interfaces"]["Ethernet26/1"]["actorPortStatus"] == "noAgg"
    assert bed.show("interfaces status")["interfaceStatuses"]["Port-Channel6"]["linkStatus"] == "connected"


def test_a_port_that_is_err_disabled_has_no_link_until_it_is_shut(bed: Bed) -> None:
    bed.see(errdisabled={"Ethernet9/1": "bpduguard"}, neighbours=NEIGHBOUR, macs=[{"mac": MAC, "port": "Ethernet9/1"}])
    bed.configure("interface Ethernet9/1", "description ipum1")
    port = bed.show("interfaces status")["interfaceStatuses"]["Ethernet9/1"]
    assert (port["linkStatus"], port["lineProtocolStatus"]) == ("errdisabled", "down")
    assert bed.show("interfaces status errdisabled") == {
        "interfaceStatuses": {
            "Ethernet9/1": {"description": "ipum1", "status": "errdisabled", "causes": ["bpduguard"]},
        }
    }
    assert "Et9/1  ipum1  errdisabled  bpduguard" in bed.text("interfaces status errdisabled")
    assert "Ethernet9/1 is down, line protocol is down (errdisabled)" in bed.text("interfaces Ethernet9/1")
    assert "Ethernet9/1" not in bed.show("vlan")["vlans"]["1"]["interfaces"]
    assert (bed.neighbours(), bed.macs()) == ([], [])
    bed.configure("interface Ethernet9/1", "shutdown")
    assert bed.show("interfaces status")["interfaceStatuses"]["Ethernet9/1"]["linkStatus"] == "disabled"
    assert bed.show("interfaces status errdisabled") == {"interfaceStatuses": {}}


def test_spanning_tree_blocks_a_port_that_is_up(bed: Bed) -> None:
    assert bed.show("spanning-tree blockedports") == {"spanningTreeInstances": {}}
    bed.see(blocked={"MST0": ["Ethernet9/1", "Ethernet10/1"]}, unplugged=["Ethernet10/1"])
    assert bed.show("spanning-tree blockedports") == {
        "spanningTreeInstances": {"MST0": {"spanningTreeBlockedPorts": ["Ethernet9/1"]}}
    }
    assert "MST0  Et9/1" in bed.text("spanning-tree blockedports")
    bed.configure("interface Ethernet9/1", "shutdown")
    assert bed.show("spanning-tree blockedports") == {"spanningTreeInstances": {}}


def test_a_vlan_is_active_on_a_trunk_that_may_carry_it(bed: Bed) -> None:
    trunk = ("switchport mode trunk", "switchport trunk allowed vlan 101,102")
    bed.configure("vlan 101,102", "interface Ethernet25/1,26/1", *trunk)
    bed.configure("interface Ethernet9/1", "switchport access vlan 101")

    def vlan(number: int) -> tuple[str, list[str]]:
        found = bed.show("vlan")["vlans"][str(number)]
        return found["status"], list(found["interfaces"])

    assert vlan(101) == ("active", ["Ethernet9/1", "Ethernet25/1", "Ethernet26/1"])
    bed.configure("vlan 101", "trunk group peers", "interface Ethernet26/1", "switchport trunk group peers")
    assert vlan(101) == ("active", ["Ethernet9/1", "Ethernet26/1"])
    assert vlan(102) == ("active", ["Ethernet25/1", "Ethernet26/1"])
    bed.configure("vlan 101", "state suspend")
    assert vlan(101) == ("suspended", [])


def test_vxlan(bed: Bed) -> None:
    bed.configure("interface Vxlan1", "vxlan vlan 110 vni 10110")
    bindings = bed.show("vxlan vni")["vxlanIntfs"]["Vxlan1"]["vniBindings"]
    assert (list(bindings), bindings["10110"]["vlan"]) == (["10110"], 110)


def test_the_management_switch(tmp_path: Path) -> None:
    bed = Bed(tmp_path, DCS_7010T_48)
    assert bed.show("version")["modelName"] == "DCS-7010T-48-F"
    status = bed.show("interfaces status")["interfaceStatuses"]
    assert (status["Ethernet48"]["bandwidth"], status["Ethernet49"]["bandwidth"]) == (10**9, 10**10)


def test_an_unknown_model_is_refused() -> None:
    command = [sys.executable, "-m", "podsim.eos.server", "--model", "DCS-9999"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "DCS-7060CX-32S" in done.stderr
