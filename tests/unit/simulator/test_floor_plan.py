# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pieces that `podsim up` creates for a floor: names, links, DHCP, containers."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

import pytest
import yaml

from podsim.floor.cloud import configure, physical_networks
from podsim.floor.data_plane import dhcp_flows
from podsim.floor.dhcp import configuration, server_addresses
from podsim.floor.errors import FloorError
from podsim.floor.facts import Software
from podsim.floor.facts_file import facts_from, read_facts
from podsim.floor.keys import make_keys
from podsim.floor.machines import create_arguments, make_device_classes
from podsim.floor.plan import Floor, Kind, Machine, plan
from podsim.floor.state import StateDirectory
from podsim.floor.switch import surroundings

INVENTORIES = Path(__file__).parents[3] / "inventories"
PODS_FILE = INVENTORIES / "sim_pod64" / "pods.yml"
OPENSTACK = INVENTORIES / "sim_openstack" / "pods.yml"
TWO_PODS = INVENTORIES / "sim_pod128" / "pods.yml"


@pytest.fixture(name="floor")
def _floor() -> Floor:
    return plan(read_facts(PODS_FILE))


def machine(floor: Floor, name: str) -> Machine:
    return next(machine for machine in floor.machines if machine.name == name)


def test_every_link_has_a_name_of_its_own_that_linux_takes(floor: Floor) -> None:
    links = [
        *(machine.management_link for machine in floor.machines),
        *(rnic.switch_link for machine in floor.machines for rnic in machine.rnics),
        *(name for switch in floor.switches for name in (switch.bridge, switch.dhcp_link, switch.management_link)),
    ]
    assert len(links) == len(set(links)) == 21 + 24 + 3
    assert all(link.startswith("ps") and len(link) <= 15 for link in links)


def test_a_cable_joins_its_rnic_to_its_port(floor: Floor) -> None:
    [rnic] = machine(floor, "pod001-ipum1").rnics
    [port] = [port for port in floor.switches[0].ports if port.name == "Ethernet9/1"]
    assert (port.link, port.mac) == (rnic.switch_link, rnic.mac) == ("pst1e9-1", "0c:42:a1:00:01:01")


def test_a_switch_knows_what_its_cables_lead_to(floor: Floor) -> None:
    seen = surroundings(floor.switches[0])
    assert seen["neighbours"]["Ethernet9/1"] == {"device": "pod001-ipum1", "port": "rnic0", "mac": "0c:42:a1:00:01:01"}
    assert seen["namespaces"]["Ethernet9/1"] == f"/run/netns/{machine(floor, 'pod001-ipum1').container}"
    assert len(seen["neighbours"]) == len(seen["namespaces"]) == 24


def test_an_uplink_is_one_cable_between_two_switches_that_see_each_other() -> None:
    floor = plan(read_facts(TWO_PODS))
    assert floor.uplinks == (("pst1e1-1", "pst2e1-1"),)
    for switch, other in zip(floor.switches, reversed(floor.switches), strict=True):
        [uplink] = switch.uplinks
        assert (uplink.name, uplink.switch, uplink.port) == ("Ethernet1/1", other.name, "Ethernet1/1")
        assert uplink.openflow_port not in {port.openflow_port for port in switch.ports}
        seen = surroundings(switch)
        assert seen["neighbours"]["Ethernet1/1"].items() >= {"device": other.name, "port": "Ethernet1/1"}.items()
        # A switch is never switched off.
        assert "Ethernet1/1" not in seen["namespaces"]


def test_ssh_knows_the_switch(floor: Floor, tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.create()
    make_keys(floor, state)
    known = state.known_hosts.read_text(encoding="ascii")
    assert [line.split()[:2] for line in known.splitlines() if "tor" in line] == [
        ["10.4.1.1,pod001-tor", "ssh-ed25519"]
    ]
    assert "Host pod001-tor\n  HostName 10.4.1.1\n  User admin\n" in state.ssh_config.read_text(encoding="ascii")


def test_an_ipu_machine_serves_on_its_gateway_address(floor: Floor) -> None:
    ipum = machine(floor, "pod001-ipum3")
    assert ipum.kind is Kind.IPU_MACHINE
    assert ipum.address == IPv4Address("10.2.1.3")
    assert ipum.management == (IPv4Interface("10.2.1.3/24"), IPv4Interface("10.1.1.3/24"))
    assert ipum.management_mac == "70:69:79:20:01:07"


def test_dhcp_knows_the_ipu_machines_and_nothing_else(floor: Floor) -> None:
    lines = configuration(floor).splitlines()
    hosts = [line for line in lines if line.startswith("dhcp-host=")]
    assert len(hosts) == 16
    assert "dhcp-host=0c:42:a1:00:01:01,10.5.1.1" in hosts
    assert [line for line in lines if line.startswith("dhcp-range=")] == ["dhcp-range=10.5.0.0,static,255.255.0.0,2m"]
    # Present without a value: not even the defaults are sent.
    assert {"port=0", "dhcp-option=option:router", "dhcp-option=option:dns-server"} <= set(lines)


def test_without_factory_dhcp_the_switch_forwards_what_others_serve() -> None:
    sim = yaml.safe_load(PODS_FILE.read_text(encoding="utf-8"))["sim"]
    floor = plan(facts_from({**sim, "dhcp": "none"}))
    assert floor.leases == {}
    assert server_addresses(floor) == []
    assert dhcp_flows(floor.switches[0], floor) == ["priority=900,in_port=1,actions=drop"]


def test_without_factory_dhcp_an_ipu_machine_asks_at_all_its_ends(tmp_path: Path) -> None:
    sim = yaml.safe_load(PODS_FILE.read_text(encoding="utf-8"))["sim"]
    ipum = machine(plan(facts_from({**sim, "dhcp": "none"})), "pod001-ipum3")
    assert (ipum.management_mac, ipum.bmc_mac) == ("70:69:79:20:01:07", "70:69:79:20:01:06")
    arguments = create_arguments(ipum, "image:tag", StateDirectory(tmp_path))
    assert arguments[arguments.index("image:tag") + 1 :] == [
        *("podsim", "machine", "--agent", "0.0.0.0:8080", "--ask", "eth0", "--ask", "bmc0"),
        *("--rnic", "rnic0", "--mtu", "9000", "pod001-ipum3"),
    ]


def test_the_dhcp_server_takes_no_leased_address(floor: Floor) -> None:
    assert server_addresses(floor) == [IPv4Interface("10.5.255.254/16")]


def test_a_full_lease_network_is_refused(tmp_path: Path) -> None:
    text = PODS_FILE.read_text(encoding="utf-8").replace("10.5.1.16/16", "192.168.9.1/30")
    (tmp_path / "pods.yml").write_text(text.replace("10.5.1.15/16", "192.168.9.2/30"), encoding="utf-8")
    with pytest.raises(FloorError, match=r"^sim: the leases fill all of 192\.168\.9\.0/30; leave one address"):
        server_addresses(plan(read_facts(tmp_path / "pods.yml")))


def test_dhcp_answers_reach_only_the_machine_that_asked(floor: Floor) -> None:
    [switch] = floor.switches
    flows = dhcp_flows(switch, floor)
    port = next(port.openflow_port for port in switch.ports if port.name == "Ethernet9/1")
    assert f"priority=1000,in_port=1,udp,tp_src=67,tp_dst=68,dl_dst=0c:42:a1:00:01:01,actions=output:{port}" in flows
    assert flows[-1] == "priority=900,in_port=1,actions=drop"
    assert f"priority=1000,in_port=1,arp,arp_tpa=10.5.1.1,actions=output:{port}" in flows
    assert "priority=1000,arp,arp_tpa=10.5.255.254,actions=strip_vlan,output:1" in flows
    # A request of every port, one answer for each machine, one for all of them; ARP likewise; and the end.
    assert len(flows) == 1 + 16 + 1 + 1 + 16 + 1


def test_no_container_is_privileged_or_on_a_network_of_podman(floor: Floor, tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "pod")
    for each in floor.machines:
        arguments = create_arguments(each, "image:tag", state)
        assert "--privileged" not in arguments
        assert arguments[arguments.index("--network") + 1] == f"ns:/run/netns/podsim-{each.name}"
        assert arguments[arguments.index("--cap-add") + 1] == "NET_ADMIN,NET_RAW,SYS_CHROOT,AUDIT_WRITE"
    assert not state.root.exists()


def test_a_poplar_server_finds_its_rdma_devices_and_its_own_interfaces(floor: Floor, tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "pod")
    make_device_classes(floor, state)
    classes = state.classes_of("pod001-poplar1")
    assert sorted(path.name for path in (classes / "infiniband").iterdir()) == ["mlx5_0", "mlx5_1"]
    assert str((classes / "net").readlink()) == "../devices/virtual/net"
    arguments = create_arguments(machine(floor, "pod001-poplar1"), "image:tag", state)
    assert f"{classes}:/sys/class:ro" in arguments
    assert not any("/sys/class" in each for each in create_arguments(machine(floor, "ctrl001"), "image:tag", state))


def test_an_rnic_with_virtual_functions_has_a_switch_between_itself_and_its_cable(tmp_path: Path) -> None:
    sim = yaml.safe_load(PODS_FILE.read_text(encoding="utf-8"))["sim"]
    floor = plan(facts_from({**sim, "virtual_functions": {"pod001-poplar2": {"rnic0": 4}}}))
    server, state = machine(floor, "pod001-poplar2"), StateDirectory(tmp_path / "pod")
    first, second = server.rnics
    switch = first.embedded_switch
    assert switch is not None
    assert (first.switch_link, first.link, switch.uplink) == ("pst1e27-1", "psn3-0p", "psn3-0u")
    assert (switch.bridge, switch.function(3), second.link) == ("psn3-0", "psn3-0v3", "pst1e28-1")
    assert [each.name for each in floor.containers if each.with_functions] == ["pod001-poplar2"]
    make_device_classes(floor, state)
    network = state.classes_of("pod001-poplar2") / "net"
    assert sorted(path.name for path in network.iterdir()) == ["eth0", "lo", "rnic0", "rnic1"]
    assert (network / "rnic0" / "device" / "sriov_totalvfs").read_text() == "4\n"
    assert str((network / "rnic1" / "mtu").readlink()) == "/sys/devices/virtual/net/rnic1/mtu"
    arguments = create_arguments(server, "image:tag", state)
    written = "rnic0/device/sriov_numvfs"
    assert f"{network}/{written}:/sys/class/net/{written}" in arguments
    assert [each.split(":")[1] for each in arguments if each.endswith("/sbin/ip:ro")] == ["/usr/local/sbin/ip"]


def test_an_ipu_machine_runs_its_agent_and_no_systemd(floor: Floor, tmp_path: Path) -> None:
    arguments = create_arguments(machine(floor, "pod001-ipum16"), "image:tag", StateDirectory(tmp_path))
    assert arguments[arguments.index("image:tag") + 1 :] == [
        *("podsim", "machine", "--agent", "10.2.1.16:8080", "--rnic", "rnic0", "--mtu", "9000", "pod001-ipum16")
    ]
    assert "--systemd" not in arguments


@pytest.fixture(name="cloudy")
def _cloudy() -> Floor:
    return plan(read_facts(OPENSTACK))


def test_a_cloud_is_a_machine_beside_those_of_the_pod(floor: Floor, cloudy: Floor) -> None:
    assert {each.name for each in cloudy.machines} - {each.name for each in floor.machines} == {
        "cloud001",
        "compute001",
    }
    cloud = machine(cloudy, "cloud001")
    assert (cloud.kind, cloud.address, cloud.rnics) == (Kind.CLOUD, IPv4Address("10.3.1.210"), ())
    assert all(each.control is None for each in floor.machines)


def test_hypervisors_are_in_the_control_network_without_an_address(cloudy: Floor) -> None:
    cables = {each.name: each.control for each in cloudy.machines if each.control}
    assert {name: cable.address for name, cable in cables.items()} == {
        "ctrl001": IPv4Interface("10.6.0.200/16"),
        "cloud001": IPv4Interface("10.6.0.210/16"),
        "compute001": None,
        "pod001-poplar3": None,
        "pod001-poplar4": None,
    }
    links = {cable.link for cable in cables.values()} | {each.management_link for each in cloudy.machines}
    assert len(links) == len(cables) + len(cloudy.machines)


def test_only_machines_of_the_cloud_may_mount_and_see_its_volumes(cloudy: Floor, tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "pod")
    allowed, mounted, taps = set(), set(), set()
    for each in cloudy.machines:
        arguments = create_arguments(each, "image:tag", state, cloudy.cloud)
        if "SYS_ADMIN" in arguments[arguments.index("--cap-add") + 1]:
            allowed.add(each.name)
        if f"{state.volumes('cloud001')}:/srv/volumes" in arguments:
            mounted.add(each.name)
        if "/dev/net/tun" in arguments:
            taps.add(each.name)
    hypervisors = {"compute001", "pod001-poplar3", "pod001-poplar4"}
    assert (allowed, mounted, taps) == ({"cloud001", *hypervisors}, {"cloud001", *hypervisors}, hypervisors)


def test_each_machine_starts_what_it_is_for(cloudy: Floor, tmp_path: Path) -> None:
    def command(name: str) -> list[str]:
        arguments = create_arguments(machine(cloudy, name), "image:tag", StateDirectory(tmp_path), cloudy.cloud)
        return arguments[arguments.index("image:tag") + 1 :]

    assert command("cloud001") == ["/sbin/init", "--unit=cloud.target"]
    assert command("pod001-poplar4") == ["/sbin/init", "--unit=hypervisor.target"]
    assert command("compute001") == ["/sbin/init", "--unit=hypervisor.target"]
    assert command("ctrl001") == ["/sbin/init", "--unit=in-control-network.target"]
    assert command("pod001-poplar1") == []


def test_the_operator_and_each_user_have_an_entry_in_clouds_yaml(cloudy: Floor, tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.create()
    make_keys(cloudy, state)
    configure(cloudy, state)
    entries = yaml.safe_load(state.clouds_yaml.read_text(encoding="ascii"))["clouds"]
    assert list(entries) == ["cloud001", "cloud001-alice", "cloud001-bob"]
    assert {entry["auth"]["auth_url"] for entry in entries.values()} == {"http://10.3.1.210:5000/v3"}
    assert len({entry["auth"]["password"] for entry in entries.values()}) == 3
    before = state.clouds_yaml.read_bytes()
    configure(cloudy, state)
    assert state.clouds_yaml.read_bytes() == before
    assert state.clouds_yaml.stat().st_mode & 0o777 == 0o600


def test_a_hypervisor_knows_the_services_password_and_nobody_elses(cloudy: Floor, tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.create()
    make_keys(cloudy, state)
    configure(cloudy, state)
    passwords = json.loads((state.clouds / "cloud001" / "passwords.json").read_text(encoding="ascii"))
    known = "".join(path.read_text() for path in state.machine("pod001-poplar3").iterdir())
    assert {owner for owner, password in passwords.items() if password in known} == {"service", "messages"}
    assert [path.name for path in state.machine("pod001-poplar1").glob("cloud*")] == []


def test_only_machines_of_a_compute_node_reach_the_management_network(cloudy: Floor) -> None:
    networks = {each.name: physical_networks(each) for each in cloudy.machines if each.is_hypervisor}
    assert networks == {
        "compute001": {"control": "control0", "management": "machines0"},
        "pod001-poplar3": {"rnic": "rnic0", "control": "control0"},
        "pod001-poplar4": {"rnic": "rnic0", "control": "control0"},
    }


def test_servers_with_container_engines_may_do_what_these_need(tmp_path: Path, floor: Floor) -> None:
    state, software = StateDirectory(tmp_path), [Software.CONTAINERS]
    arguments = create_arguments(machine(floor, "pod001-poplar1"), "image:tag", state, None, software)
    # The last one is for programs in containers.
    assert {"SYS_ADMIN", "IPC_LOCK"} <= set(arguments[arguments.index("--cap-add") + 1].split(","))
    assert "/var/lib/docker" in arguments
    for name, chosen in (("pod001-poplar1", []), ("ctrl001", software), ("pod001-ipum1", software)):
        arguments = create_arguments(machine(floor, name), "image:tag", state, None, chosen)
        assert "SYS_ADMIN" not in arguments[arguments.index("--cap-add") + 1]
    arguments = create_arguments(machine(floor, "ctrl001"), "image:tag", state, None, [*software, Software.BACKEND_AI])
    assert "/var/lib/docker" in arguments
