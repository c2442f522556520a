# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A NIC that is as declared by somebody else's file stays with that file, and only then."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import lasting
from tests.support.in_memory.rnic_runs import changed, client_of, confirmed, persistent, running, server_with
from tests.support.in_memory.server import TinyServer

THEIRS = "[Match]\nName=rnic0\n[Link]\nMTUBytes=9000\n[Network]\nAddress=10.5.1.101/16\n"
KEYFILE = "[connection]\nid=site\ntype=ethernet\ninterface-name=rnic0\n[ethernet]\nmtu=9000\n[ipv4]\nmethod=manual\n"
WANTED = {"name": "rnic0", "addresses": ["10.5.1.101/16"], "mtu": 9000}
OF_NETPLAN = "network:\n  version: 2\n  ethernets:\n    rnic0:\n      mtu: 9000\n      addresses: [10.5.1.101/16]\n"


def with_their_file(path: str = "/etc/systemd/network/20-site.network", text: str = THEIRS) -> TinyServer:
    server = server_with("networkd")
    server.files.write(path, File(text))
    server.networkd.reload()
    return server


@pytest.mark.parametrize("name", ["20-site", "90-site"])
def test_what_another_file_does_already_gets_none_of_ours(name: str) -> None:
    server = with_their_file(f"/etc/systemd/network/{name}.network")
    files, kernel = persistent(server), running(server)
    assert lasting(client_of(server).survey()) == ["rnic0"]
    assert confirmed(server, [WANTED]).steps == []
    assert (persistent(server), running(server)) == (files, kernel)


def test_a_netplan_file_of_others_counts_as_well() -> None:
    server = server_with("netplan")
    server.files.write("/etc/netplan/90-site.yaml", File(OF_NETPLAN, mode="0600"))
    server.netplan.generate()
    server.networkd.reload()
    assert lasting(client_of(server).survey()) == ["rnic0"]
    assert changed(server, [WANTED], check_mode=True).steps == []
    # What netplan has generated is gone after a restart, unless its own file is there.
    server.files.remove("/etc/netplan/90-site.yaml")
    assert lasting(client_of(server).survey()) == []
    assert [step.name for step in changed(server, [WANTED], check_mode=True).steps] == ["rnic0"]


def test_a_keyfile_of_networkmanager_counts_as_well() -> None:
    server = server_with("networkmanager")
    path = "/etc/NetworkManager/system-connections/site.nmconnection"
    server.files.write(path, File(KEYFILE + "address1=10.5.1.101/16\n", mode="0600"))
    server.network_manager.boot()
    assert lasting(client_of(server).survey()) == ["rnic0"]
    assert changed(server, [WANTED], check_mode=True).steps == []


def lost_address(server: TinyServer) -> None:
    server.nics["rnic0"].addresses = ["10.5.1.101/16", "10.5.1.102/16"]


def other_mtu(server: TinyServer) -> None:
    server.nics["rnic0"].mtu = 4200


def says_something_else(server: TinyServer) -> None:
    server.files.write("/etc/systemd/network/90-site.network", File(THEIRS.replace("9000", "1500")))


def is_gone(server: TinyServer) -> None:
    server.files.remove("/etc/systemd/network/90-site.network")


@pytest.mark.parametrize("meanwhile", [lost_address, other_mtu])
def test_what_would_be_something_else_after_a_restart_is_not_left(meanwhile: Any) -> None:
    server = with_their_file("/etc/systemd/network/90-site.network")
    meanwhile(server)
    assert lasting(client_of(server).survey()) == []
    assert [step.name for step in changed(server, [WANTED], check_mode=True).steps] == ["rnic0"]


@pytest.mark.parametrize("meanwhile", [says_something_else, is_gone])
def test_an_edit_of_theirs_that_is_not_in_force_is_their_business_first(meanwhile: Any) -> None:
    server = with_their_file("/etc/systemd/network/90-site.network")
    meanwhile(server)
    assert lasting(client_of(server).survey()) == []
    with pytest.raises(Refused, match=r"somebody edited /etc/systemd/network/90-site\.network and did not"):
        changed(server, [WANTED], check_mode=True)


@pytest.mark.parametrize("line", ["Bond=bond0", "Bridge=br0", "VRF=red"])
def test_what_would_be_a_port_after_a_restart_is_not_left(line: str) -> None:
    """As after a bond that was deleted by hand: its files are still there."""
    server = with_their_file()
    server.files.write("/etc/systemd/network/20-site.network", File(THEIRS + line + "\n"))
    assert lasting(client_of(server).survey()) == []
    with pytest.raises(Refused, match=r"20-site\.network already configures rnic0 and would win; move it away"):
        changed(server, [WANTED], check_mode=True)


def test_a_profile_of_networkmanager_that_makes_a_port_is_not_left() -> None:
    server = server_with("networkmanager")
    path = "/etc/NetworkManager/system-connections/site.nmconnection"
    server.files.write(path, File(KEYFILE + "address1=10.5.1.101/16\n", mode="0600"))
    server.network_manager.boot()
    port = KEYFILE.replace("[ethernet]", "master=bond0\nslave-type=bond\n[ethernet]")
    server.files.write(path, File(port + "address1=10.5.1.101/16\n", mode="0600"))
    assert lasting(client_of(server).survey()) == []


def test_what_lies_below_run_does_not_survive_a_restart() -> None:
    server = with_their_file()
    path = "/run/systemd/network/90-site.network"
    server.files.write(path, server.files.files.pop("/etc/systemd/network/20-site.network"))
    server.networkd.used["rnic0"] = path
    assert lasting(client_of(server).survey()) == []


@pytest.mark.parametrize(
    "options",
    [
        [{**WANTED, "mtu": 4200}],
        [{**WANTED, "addresses": ["10.5.1.102/16"]}],
        [{**WANTED, "description": "IPU data plane"}],
        [WANTED, {"name": "tenant", "type": "vlan", "parent": "rnic0", "vlan_id": 101}],
    ],
)
def test_what_is_declared_otherwise_is_refused_with_the_name_of_the_file(options: list[dict[str, Any]]) -> None:
    with pytest.raises(Refused, match=r"20-site.network already configures rnic0 and would win; move it away"):
        changed(with_their_file(), options)


def test_replaced_takes_the_interface_over() -> None:
    server = with_their_file("/etc/systemd/network/90-site.network")
    assert [step.name for step in changed(server, [WANTED], check_mode=True, replaced=True).steps] == ["rnic0"]


def test_addresses_from_dhcp_come_back_where_the_file_asks_for_them() -> None:
    server = with_their_file(text="[Match]\nName=rnic0\n[Link]\nMTUBytes=9000\n[Network]\nDHCP=yes\n")
    server.nics["rnic0"].addresses = server.nics["rnic0"].dynamic = ["10.5.1.101/16"]
    assert changed(server, [WANTED], check_mode=True).steps == []
