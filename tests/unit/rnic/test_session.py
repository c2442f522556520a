# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused on a server, what is put back after a failure, and how many programs a run costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused, converge
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.networkd import Networkd
from ansible_collections.ipu.pod.plugins.module_utils._rnic.session import Session
from tests.unit.rnic.tiny_server import Nic, TinyServer

MAC = "04:3f:72:00:01:02"
FILE = "/etc/systemd/network/50-ipu-rnic0.network"
WANTED = {"name": "rnic0", "addresses": ["10.5.1.101/16"], "mtu": 9000}


@pytest.fixture
def server() -> TinyServer:
    return TinyServer({"eno1": Nic("d0:94:66:00:00:01", addresses=["10.3.1.101/24"]), "rnic0": Nic(MAC)})


def run(server: TinyServer, *options: dict[str, Any], check_mode: bool = False) -> Outcome:
    backend = Networkd(server.run, server.files, frozenset({"10.3.1.101"}), clock=server.clock, pause=server.pause)
    session = Session(backend, interfaces_from(options))
    return converge(session.read, session.plan, session.apply, check_mode)


def test_file_as_a_person_finds_it(server: TinyServer) -> None:
    run(server, {**WANTED, "mac": MAC, "description": "IPU data plane"})
    assert server.files.files[FILE].content == (
        "# Written by ipu.pod.rnic_network, which overwrites what is changed here by hand.\n"
        "\n[Match]\nMACAddress=04:3f:72:00:01:02\nType=ether\n"
        "\n[Link]\nMTUBytes=9000\nRequiredForOnline=no\n"
        "\n[Network]\nAddress=10.5.1.101/16\nConfigureWithoutCarrier=yes\nDHCP=no\nDescription=IPU data plane\n"
        "IPv6AcceptRA=no\nLinkLocalAddressing=ipv6\n"
    )


def test_addresses_stay_while_only_the_file_changes(server: TinyServer) -> None:
    """``networkctl reconfigure`` would take the addresses away from under running jobs."""
    run(server, WANTED)
    server.calls.clear()
    outcome = run(server, {**WANTED, "description": "IPU data plane"})
    assert [(step.reason, step.risk) for step in outcome.steps] == [("file is not as wanted", "none")]
    assert ["networkctl", "reload"] in server.calls
    assert ["networkctl", "reconfigure", "rnic0"] not in server.calls


def test_no_change_costs_five_programs(server: TinyServer) -> None:
    run(server, WANTED)
    server.calls.clear()
    assert not run(server, WANTED).changed
    assert len(server.calls) == 5


def other_file_first(server: TinyServer) -> None:
    server.files.files["/run/systemd/network/10-netplan-rnic0.network"] = File("[Match]\nName=rnic*\n")
    server.reload()


def file_of_others(server: TinyServer) -> None:
    server.files.files[FILE] = File("[Match]\nName=rnic0\n")


def same_mac(server: TinyServer) -> None:
    server.nics["rnic1"] = Nic(MAC)


def bond_port(server: TinyServer) -> None:
    server.nics["rnic0"].master = "bond0"


def dhcp(server: TinyServer) -> None:
    server.nics["rnic0"].addresses = server.nics["rnic0"].dynamic = ["10.5.9.9/16"]


def networkd_stopped(server: TinyServer) -> None:
    server.networkd_runs = False


def as_it_is(server: TinyServer) -> None:
    """Nothing special about the server."""


@pytest.mark.parametrize(
    ("arrange", "options", "message"),
    [
        (
            as_it_is,
            {"name": "rnic7"},
            "no NIC with name rnic7; its NICs are: eno1 (d0:94:66:00:00:01), rnic0 (",
        ),
        (as_it_is, {"name": "x", "mac": "04:3f:72:00:01:99"}, "no NIC with MAC 04:3f:72:00:01:99"),
        (same_mac, {"name": "rnic0", "mac": MAC}, "is found on rnic0 and rnic1; declare the interface by name"),
        (as_it_is, {"name": "rnic0", "mtu": 10000}, "mtu 10000 is not possible on rnic0, which takes 68 to 9978"),
        (as_it_is, {"name": "eno1"}, "interface eno1: eno1 carries this SSH connection and is never changed"),
        (as_it_is, {"name": "rnic0", "addresses": ["10.3.1.101/16"]}, "has 10.3.1.101 on eno1 already"),
        (bond_port, {"name": "rnic0"}, "rnic0 is a port of bond0"),
        (dhcp, {"name": "rnic0"}, "rnic0 has 10.5.9.9/16 from DHCP or a router; declare its addresses"),
        (other_file_first, WANTED, "/run/systemd/network/10-netplan-rnic0.network already configures rnic0"),
        (file_of_others, WANTED, f"{FILE} was not written by this collection; move it away"),
        (networkd_stopped, WANTED, "systemd-networkd is not running on this server; start it with"),
    ],
)
def test_refused_and_nothing_touched(
    server: TinyServer, arrange: Callable[[TinyServer], None], options: dict[str, Any], message: str
) -> None:
    arrange(server)
    files = dict(server.files.files)
    with pytest.raises(Refused) as refused:
        run(server, options)
    assert message in str(refused.value)
    assert server.files.files == files
    assert not any(call[:2] in (["networkctl", "reload"], ["networkctl", "reconfigure"]) for call in server.calls)


def test_default_route_is_management_too(server: TinyServer) -> None:
    server.default_device = "rnic0"
    with pytest.raises(Refused, match="rnic0 carries the default route and is never changed"):
        run(server, WANTED)


def test_a_file_that_networkd_prefers_after_all_ends_in_the_old_settings(server: TinyServer) -> None:
    """Somebody put it there, but networkd did not know it yet."""
    other = "/etc/systemd/network/10-site.network"
    server.files.files[other] = File("[Match]\nName=rnic0\n")
    outcome = run(server, WANTED)
    assert f"its network_file is '{other}', not '{FILE}'; the old settings are back" in str(outcome.failure)
    assert set(server.files.files) == {other}
    assert (server.nics["rnic0"].mtu, server.nics["rnic0"].addresses) == (1500, [])


def test_a_failure_stops_before_the_next_interface(server: TinyServer) -> None:
    server.nics["rnic1"] = Nic("04:3f:72:00:01:03")
    server.refused_mtus = {9000}
    result = run(server, WANTED, {"name": "rnic1", "mtu": 4200}).result()
    assert result["failed_step"]["error"] == (
        "interface rnic0: after 30 s its mtu is 1500, not 9000; the old settings are back"
    )
    assert [step["name"] for step in result["not_tried"]] == ["rnic1"]
    assert result["after"] == result["before"]
    assert not result["changed"]


def test_missing_program_is_an_error() -> None:
    def no_program(argv: list[str]) -> tuple[int, str, str]:
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    with pytest.raises(DeviceError, match="systemctl could not be run on this server: No such file or directory"):
        Networkd(no_program, TinyServer({}).files).survey([])
