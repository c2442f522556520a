# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals on a server, in one sentence and before anything is touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from tests.support.in_memory.nic_uses import USES, as_it_is, mounted
from tests.support.in_memory.rnic_runs import changed, confirmed, networkd_server, persistent, running, server_with
from tests.support.in_memory.server import Nic, TinyServer

MAC = "04:3f:72:00:01:02"
FILE = "/etc/systemd/network/50-ipu-rnic0.network"
WANTED = {"name": "rnic0", "addresses": ["10.5.1.101/16"], "mtu": 9000}
OTHER_MTU = {"name": "rnic0", "mtu": 4200}
VLAN = {"name": "tenant", "type": "vlan", "parent": "rnic0", "vlan_id": 101}
BOND = {"name": "bond0", "type": "bond", "members": ["rnic0", "rnic1"], "mode": "802.3ad"}


def other_file_first(server: TinyServer) -> None:
    server.files.files["/etc/systemd/network/10-site.network"] = File("[Match]\nName=rnic*\n")
    server.networkd.reload()


def file_of_others(server: TinyServer) -> None:
    server.files.files[FILE] = File("[Match]\nName=rnic0\n")


def same_mac(server: TinyServer) -> None:
    server.nics["rnic1"] = Nic(MAC)


def port_of_others(server: TinyServer) -> None:
    server.nics["rnic0"].master = "br0"


def dhcp(server: TinyServer) -> None:
    server.nics["rnic0"].addresses = server.nics["rnic0"].dynamic = ["10.5.9.9/16"]


def nothing_runs(server: TinyServer) -> None:
    server.networkd.runs = False


def both_run(server: TinyServer) -> None:
    server.network_manager.runs = True


def both_configure(server: TinyServer) -> None:
    confirmed(server, [WANTED])
    server.network_manager.runs = True
    server.network_manager.boot()


def management_on_a_vlan(server: TinyServer) -> None:
    server.kernel.add("rnic0.3", "vlan", parent="rnic0", number=3)
    server.kernel.default_device = "rnic0.3"


def vlan_on_management(server: TinyServer) -> None:
    server.kernel.add("tenant", "vlan", parent="eno1", number=101)


def vlan_of_others(server: TinyServer) -> None:
    server.kernel.add("tenant", "vlan", parent="rnic0", number=7)


def vlan_of_ours(server: TinyServer) -> None:
    confirmed(server, [{"name": "rnic0"}, VLAN])


def tall_vlan(server: TinyServer) -> None:
    server.nics["rnic0"].mtu = 9000
    server.kernel.add("other", "vlan", parent="rnic0", number=7)


def different_nics(server: TinyServer) -> None:
    server.sysfs.pci = {"rnic0": "0000:81:00.0", "rnic1": "0000:c1:00.0"}


def port_too_many(server: TinyServer) -> None:
    confirmed(server, [{"name": "rnic0"}, {"name": "rnic1"}, BOND])
    server.nics["rnic2"] = Nic("04:3f:72:00:01:04", master="bond0")


@pytest.mark.parametrize(
    ("arrange", "options", "message"),
    [
        (as_it_is, [{"name": "rnic7"}], "no NIC with name rnic7; its NICs are: eno1 (d0:94:66:00:00:01), rnic0 ("),
        (as_it_is, [{"name": "x", "mac": "04:3f:72:00:01:99"}], "no NIC with MAC 04:3f:72:00:01:99"),
        (as_it_is, [{"name": "x", "pci": "81:00.0"}], "no NIC with PCI address 0000:81:00.0"),
        (same_mac, [{"name": "rnic0", "mac": MAC}], "is found on rnic0 and rnic1; declare the interface by name alone"),
        (as_it_is, [{"name": "x", "mac": MAC}, {"name": "rnic0"}], "interfaces x and rnic0 are both rnic0; keep one"),
        (as_it_is, [{"name": "rnic0", "mtu": 10000}], "mtu 10000 is not possible on rnic0, which takes 68 to 9978"),
        (
            as_it_is,
            [
                {"name": "rnic0"},
                {"name": "bond0", "type": "bond", "members": ["rnic0"], "mode": "802.3ad", "mtu": 10000},
            ],
            "interface bond0: mtu 10000 is not possible on rnic0, which takes 68 to 9978",
        ),
        (as_it_is, [{"name": "eno1"}], "interface eno1: eno1 carries this SSH connection and is never changed"),
        (management_on_a_vlan, [WANTED], "rnic0 is below rnic0.3, which carries the default route and is never"),
        (vlan_on_management, [{**VLAN, "state": "absent"}], "tenant is above eno1, which carries this SSH connection"),
        (as_it_is, [{"name": "rnic0", "addresses": ["10.3.1.101/16"]}], "has 10.3.1.101 on eno1 already"),
        (port_of_others, [{"name": "rnic0"}], "rnic0 is a port of br0"),
        (dhcp, [{"name": "rnic0"}], "rnic0 has 10.5.9.9/16 from DHCP or a router; declare its addresses"),
        (other_file_first, [WANTED], "/etc/systemd/network/10-site.network already configures rnic0"),
        (file_of_others, [WANTED], f"{FILE} was not written by this collection; move it away"),
        (nothing_runs, [WANTED], "neither systemd-networkd nor NetworkManager runs on this server; start"),
        (both_run, [WANTED], "both run on this server, and none of them has these interfaces; name one as backend"),
        (both_configure, [WANTED], "rnic0 by networkd and rnic0 by networkmanager are configured at the same time"),
        (
            vlan_of_others,
            [{"name": "rnic0"}, VLAN],
            "tenant: it is VLAN 7 on rnic0; make it absent first, then VLAN 101",
        ),
        (vlan_of_others, [{**VLAN, "state": "absent"}], "this collection did not make it, so it is not removed"),
        (
            as_it_is,
            [{"name": "rnic0"}, {**VLAN, "name": "rnic1"}],
            "rnic1: there is a NIC of this name; declare another",
        ),
        (tall_vlan, [OTHER_MTU], "other above it has mtu 9000, which 4200 would cut; declare other, too"),
        (as_it_is, [OTHER_MTU, {**VLAN, "mtu": 9000}], "mtu 9000 is more than the 4200 of its parent rnic0"),
        (
            as_it_is,
            [{"name": "rnic0"}, {**VLAN, "mtu": 9000}],
            "its mtu would be 9000, more than the 1500 of its parent",
        ),
        (
            different_nics,
            [{"name": "rnic0"}, {"name": "rnic1"}, BOND],
            "are ports of different NICs (0000:81:00 and 0000:c1",
        ),
        (
            port_too_many,
            [{"name": "rnic0"}, {"name": "rnic1"}, BOND],
            "bond0: rnic2 is a port of it, too; declare that NIC",
        ),
        (
            port_too_many,
            [{"name": "rnic0"}, {"name": "rnic1"}, {"name": "rnic2"}, {**BOND, "mode": "active-backup"}],
            "bond0: it runs in mode 802.3ad; make it absent first, then active-backup",
        ),
        (
            as_it_is,
            [{"name": "rnic0", "virtual_functions": [{"index": 0, "mac": "02:00:00:00:01:00"}]}],
            "rnic0 can have 0 virtual functions, not 1",
        ),
    ],
)
def test_refused_and_nothing_touched(
    arrange: Callable[[TinyServer], None], options: list[dict[str, Any]], message: str
) -> None:
    server = networkd_server()
    arrange(server)
    before = running(server), persistent(server)
    with pytest.raises(Refused) as refused:
        changed(server, options)
    assert message in str(refused.value)
    assert (running(server), persistent(server)) == before


def test_an_interface_that_carries_the_default_route() -> None:
    server = networkd_server()
    server.kernel.default_device = "rnic1"
    with pytest.raises(Refused, match="rnic1 carries the default route and is never changed; declare RNICs only"):
        changed(server, [{"name": "rnic1"}])


def test_files_that_are_left_from_another_back_end() -> None:
    server = server_with("netplan")
    confirmed(server, [WANTED])
    server.networkd.used.clear()
    with pytest.raises(Refused, match=r"/etc/netplan/60-ipu-rnic0.yaml is left from netplan; remove it"):
        changed(server, [WANTED], backend="networkd")


def test_a_back_end_that_is_declared_and_another_one_that_does_it() -> None:
    server = server_with("netplan")
    confirmed(server, [WANTED])
    with pytest.raises(
        Refused, match="rnic0 is configured by netplan, not by networkd; declare that, or backend: auto"
    ):
        changed(server, [WANTED], backend="networkd")


def test_a_back_end_whose_daemon_is_stopped() -> None:
    server = networkd_server()
    with pytest.raises(Refused, match="NetworkManager is not running on this server; start it with"):
        changed(server, [WANTED], backend="networkmanager")


@pytest.mark.parametrize(
    "section",
    [
        "ethernets: {data: {match: {macaddress: '04:3F:72:00:01:02'}}}",
        "ethernets:\n    rnic0: {dhcp4: true}",
        "bridges:\n    br0: {interfaces: [rnic1, rnic0]}",
        "bridges:\n    br0:\n      interfaces:\n        - rnic0",
    ],
)
def test_a_netplan_file_of_others_that_has_the_interface(section: str) -> None:
    server = server_with("netplan")
    server.files.write("/etc/netplan/70-site.yaml", File(f"network:\n  version: 2\n  {section}\n", mode="0600"))
    with pytest.raises(Refused, match=r"/etc/netplan/70-site.yaml configures it, too; take it out there"):
        changed(server, [{**WANTED, "mac": MAC}])


def test_a_profile_of_others_that_is_active() -> None:
    server = server_with("networkmanager")
    server.network_manager.active["rnic0"] = "/etc/NetworkManager/system-connections/site.nmconnection"
    with pytest.raises(Refused, match=r"site.nmconnection already configures rnic0 and would win; move it away"):
        changed(server, [WANTED])


@pytest.mark.parametrize(("use", "words"), USES)
@pytest.mark.parametrize("check_mode", [True, False])
def test_an_interface_in_use(use: Callable[[TinyServer], None], words: str, check_mode: bool) -> None:
    server = networkd_server()
    confirmed(server, [WANTED])
    use(server)
    before = running(server), persistent(server)
    with pytest.raises(Refused) as refused:
        changed(server, [OTHER_MTU], check_mode=check_mode)
    assert str(refused.value) == f"interface rnic0: rnic0 is in use: {words}; end that first"
    assert (running(server), persistent(server)) == before


@pytest.mark.parametrize("use", [use for use, _words in USES])
def test_what_disturbs_nobody_is_not_refused(use: Callable[[TinyServer], None]) -> None:
    server = networkd_server()
    confirmed(server, [WANTED])
    use(server)
    assert not changed(server, [WANTED]).steps
    assert [step.risk for step in confirmed(server, [{**WANTED, "description": "data"}]).steps] == ["none"]
    assert [step.risk for step in confirmed(server, [WANTED, VLAN]).steps] == ["none"]


def test_a_mount_over_the_vlan_protects_the_nic_and_not_its_neighbour() -> None:
    server = networkd_server()
    confirmed(server, [{"name": "rnic0", "mtu": 9000}, {**VLAN, "addresses": ["10.5.1.101/16"]}])
    mounted(server)
    with pytest.raises(Refused, match=r"rnic0 is in use: /data \(nfs4"):
        changed(server, [{"name": "rnic0", "mtu": 9216}])
    confirmed(server, [{"name": "rnic1", "mtu": 4200}])
    with pytest.raises(Refused, match=r"tenant is in use: /data \(nfs4"):
        changed(server, [{"name": "rnic0"}, {**VLAN, "state": "absent"}])
