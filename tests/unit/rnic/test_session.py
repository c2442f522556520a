# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run on a server with each back end, and how many programs it costs."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused, converge
from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import BACKENDS
from ansible_collections.ipu.pod.plugins.module_utils._rnic.client import Client
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.session import Session
from tests.support.in_memory.rnic_runs import (
    changed,
    checkpoint_on,
    client_of,
    confirmed,
    networkd_server,
    persistent,
    running,
    server_with,
)
from tests.support.in_memory.server import TinyServer

MAC = "04:3f:72:00:01:02"
FILE = "/etc/systemd/network/50-ipu-rnic0.network"
WANTED = {"name": "rnic0", "addresses": ["10.5.1.101/16"], "mtu": 9000}
BOND = [
    {"name": "rnic0"},
    {"name": "rnic1"},
    {"name": "bond0", "type": "bond", "members": ["rnic0", "rnic1"], "mode": "802.3ad", "mtu": 9000},
]
VLAN = {"name": "tenant", "type": "vlan", "parent": "rnic0", "vlan_id": 101, "addresses": ["10.7.1.1/16"]}
FUNCTIONS = [{"index": 0, "mac": "02:00:00:00:01:00", "vlan": 101}, {"index": 1, "mac": "02:00:00:00:01:01"}]
backends = pytest.mark.parametrize("backend", sorted(BACKENDS))


def test_file_as_a_person_finds_it() -> None:
    server = networkd_server()
    confirmed(server, [{**WANTED, "mac": MAC, "description": "IPU data plane"}])
    assert server.files.files[FILE].content == (
        "# Written by ipu.pod.rnic_network, which overwrites what is changed here by hand.\n"
        "\n[Match]\nMACAddress=04:3f:72:00:01:02\nType=ether\n"
        "\n[Link]\nMTUBytes=9000\nRequiredForOnline=no\n"
        "\n[Network]\nAddress=10.5.1.101/16\nConfigureWithoutCarrier=yes\nDHCP=no\nDescription=IPU data plane\n"
        "IPv6AcceptRA=no\nLinkLocalAddressing=ipv6\n"
    )


@backends
def test_vlan_comes_and_goes(backend: str) -> None:
    server = server_with(backend)
    confirmed(server, [WANTED])
    before, files = running(server), persistent(server)
    outcome = confirmed(server, [WANTED, VLAN])
    assert [(step.action, step.name, step.risk) for step in outcome.steps] == [("create", "tenant", "none")]
    tenant = server.nics["tenant"]
    assert (tenant.parent, tenant.vlan_id, tenant.mtu, tenant.up) == ("rnic0", 101, 9000, True)
    assert tenant.addresses == ["10.7.1.1/16"]
    outcome = confirmed(server, [{"name": "rnic0"}, {"name": "tenant", "type": "vlan", "state": "absent"}])
    assert [(step.action, step.name, step.risk) for step in outcome.steps] == [("remove", "tenant", "destructive")]
    assert (running(server), persistent(server)) == (before, files)


@backends
def test_bond_comes_and_goes(backend: str) -> None:
    server = server_with(backend)
    confirmed(server, BOND)
    assert {server.nics[name].master for name in ("rnic0", "rnic1")} == {"bond0"}
    assert {server.nics[name].mtu for name in ("rnic0", "rnic1", "bond0")} == {9000}
    confirmed(server, [*BOND[:2], {"name": "bond0", "type": "bond", "state": "absent"}])
    assert {server.nics[name].master for name in ("rnic0", "rnic1")} == {None}
    assert "bond0" not in server.nics
    assert not [path for path in persistent(server) if "bond0" in path]


@backends
def test_an_address_moves_away_from_what_becomes_absent(backend: str) -> None:
    server = server_with(backend)
    nic = {"name": "rnic0", "addresses": [], "mtu": 9000}
    vlan = {"type": "vlan", "parent": "rnic0", "addresses": ["10.5.1.101/16"]}
    confirmed(server, [nic, {**vlan, "name": "rnic0.101", "vlan_id": 101}])
    confirmed(
        server, [nic, {"name": "rnic0.101", "type": "vlan", "state": "absent"}, {**vlan, "name": "t", "vlan_id": 102}]
    )
    assert "rnic0.101" not in server.nics
    assert "10.5.1.101/16" in server.nics["t"].addresses


@backends
def test_a_reboot_keeps_everything(backend: str) -> None:
    server = server_with(backend)
    server.sysfs.limits = {"rnic0": 4}
    options = [{**WANTED, "virtual_functions": FUNCTIONS}, VLAN]
    outcome = confirmed(server, options)
    server.reboot()
    assert changed(server, options, check_mode=True).steps == []
    assert changed(server, options, check_mode=True).after == outcome.after


@backends
def test_missing_device_or_missing_file_alone_is_drift(backend: str) -> None:
    server = server_with(backend)
    confirmed(server, [WANTED, VLAN])
    server.kernel.delete("tenant")
    assert [step.name for step in confirmed(server, [WANTED, VLAN]).steps] == ["tenant"]
    assert server.nics["tenant"].addresses == ["10.7.1.1/16"]
    path = next(path for path in server.files.files if "tenant" in path and path.startswith("/etc"))
    server.files.remove(path)
    assert f"{path} is missing" in confirmed(server, [WANTED, VLAN]).steps[0].reason
    assert path in server.files.files


def test_virtual_functions_run_and_are_made_at_boot() -> None:
    server = networkd_server()
    server.sysfs.limits = {"rnic0": 4}
    confirmed(server, [{"name": "rnic0", "virtual_functions": FUNCTIONS}])
    assert [(f["mac"], f["vlan"], f["trust"], f["spoof_check"]) for f in server.nics["rnic0"].functions] == [
        ("02:00:00:00:01:00", 101, False, True),
        ("02:00:00:00:01:01", 0, False, True),
    ]
    assert server.systemd.is_enabled("ipu-vf-rnic0.service")
    server.files.remove("/etc/systemd/system/multi-user.target.wants/ipu-vf-rnic0.service")
    assert confirmed(server, [{"name": "rnic0"}]).steps[0].reason.endswith("ipu-vf-rnic0.service is missing")
    confirmed(server, [{"name": "rnic0", "virtual_functions": []}])
    assert server.nics["rnic0"].functions == []
    assert not server.systemd.is_enabled("ipu-vf-rnic0.service")


def test_replaced_gives_the_defaults_to_what_is_not_declared() -> None:
    server = networkd_server()
    confirmed(server, [{**WANTED, "description": "IPU data plane"}])
    confirmed(server, [{"name": "rnic0"}], replaced=True)
    assert (server.nics["rnic0"].mtu, server.nics["rnic0"].addresses) == (1500, [])
    assert "Description" not in server.files.files[FILE].content


def test_addresses_stay_while_only_the_file_changes() -> None:
    """``networkctl reconfigure`` would take the addresses away from under running jobs."""
    server = networkd_server()
    confirmed(server, [WANTED])
    server.calls.clear()
    outcome = confirmed(server, [{**WANTED, "description": "IPU data plane"}])
    assert [(step.reason, step.risk) for step in outcome.steps] == [("its files are not as wanted", "none")]
    assert ["networkctl", "reload"] in server.calls
    assert not [call for call in server.calls if call[:2] == ["networkctl", "reconfigure"]]


@pytest.mark.parametrize(("backend", "programs"), [("networkd", 5), ("netplan", 5), ("networkmanager", 6)])
def test_programs_of_a_run_without_change(backend: str, programs: int) -> None:
    server = server_with(backend)
    confirmed(server, [WANTED])
    server.calls.clear()
    assert not changed(server, [WANTED]).changed
    assert len(server.calls) == programs


def test_netplans_files_are_readable_by_root_only() -> None:
    server = server_with("netplan")
    confirmed(server, [WANTED])
    assert server.files.files["/etc/netplan/60-ipu-rnic0.yaml"].mode == "0600"


def test_what_others_edited_and_did_not_apply_is_not_applied_for_them() -> None:
    server = server_with("netplan")
    edited = "network:\n  version: 2\n  ethernets:\n    eno1:\n      addresses: [10.9.9.9/24]\n"
    server.files.write("/etc/netplan/50-site.yaml", File(edited, mode="0600"))
    with pytest.raises(Refused, match=r"netplan would also change /run/systemd/network/10-netplan-eno1.network"):
        changed(server, [WANTED])
    assert server.nics["eno1"].addresses == ["10.3.1.101/24"]


SITE = "/etc/systemd/network/60-site.network"


@pytest.mark.parametrize("backend", ["networkd", "netplan"])
@pytest.mark.parametrize("edit", ["changed", "removed"])
def test_what_others_edited_and_did_not_have_loaded_is_not_loaded_for_them(backend: str, edit: str) -> None:
    server = server_with(backend)
    server.files.write(SITE, File("[Match]\nName=rnic1\n[Network]\nAddress=10.9.9.8/24\n"))
    server.networkd.reload()
    confirmed(server, [WANTED])
    before = running(server), persistent(server)
    server.files.remove(SITE)
    if edit == "changed":
        server.files.write(SITE, File("[Match]\nName=rnic1\n[Network]\nAddress=10.9.9.9/24\n"))
    message = f"systemd-networkd would also change rnic1: somebody edited {SITE} and did not have it loaded; load it"
    with pytest.raises(Refused, match=message):
        changed(server, [{**WANTED, "mtu": 1500}])
    assert running(server) == before[0]
    server.networkd.reload()
    assert confirmed(server, [{**WANTED, "mtu": 1500}]).changed


def test_what_a_reset_in_the_middle_of_a_write_left_goes_with_the_next_change() -> None:
    server = networkd_server()
    left = {
        "/etc/systemd/network/.50-ipu-rnic0.network.a1b2c3d4",
        "/etc/systemd/network/50-ipu-rnic0.network.d/.50-ipu-tenant.conf.a1b2c3d4",
        "/etc/netplan/.60-ipu-rnic0.yaml.a1b2c3d4",
        "/etc/systemd/system/.ipu-vf-rnic0.service.a1b2c3d4",
        "/etc/systemd/system/.ipu-rnic-undo.service.a1b2c3d4",
    }
    of_others = {"/etc/systemd/network/.60-site.network.a1b2c3d4", "/etc/systemd/network/.50-ipu-rnic0.network.swp"}
    for path in left | of_others:
        server.files.write(path, File("half a fi"))
    confirmed(server, [WANTED])
    assert {path for path in server.files.files if "/." in path} == of_others


def test_check_mode_before_the_same_run_starts_networkd() -> None:
    server = networkd_server()
    server.networkd.runs = False
    session = Session(client_of(server), checkpoint_on(server), interfaces_from([WANTED]), "auto", may_be_stopped=True)
    predicted = converge(session.read, session.plan, session.apply, check_mode=True)
    server.networkd.runs = True
    assert confirmed(server, [WANTED]).result() == predicted.result()


@pytest.mark.parametrize("seconds", [19, 3601])
def test_a_time_for_the_confirmation_that_cannot_be_meant(seconds: int) -> None:
    server = networkd_server()
    with pytest.raises(Refused, match=f"confirm_within: {seconds} seconds is no useful time .*; give 20 to 3600"):
        Session(client_of(server), checkpoint_on(server), [], "auto", confirm_within=seconds)


def test_missing_program_is_an_error() -> None:
    def no_program(argv: list[str]) -> tuple[int, str, str]:
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    server = TinyServer({})
    client = Client(Programs(no_program), server.files, server.sysfs, frozenset())
    with pytest.raises(DeviceError, match="ip could not be run on this server: No such file or directory"):
        client.survey([])
