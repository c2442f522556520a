# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tagged VLANs on a real kernel by networkd, netplan and NetworkManager; jumbo frames, isolation, marked RoCE v2."""

from __future__ import annotations

import re
from typing import Any

import pytest

SERVERS = {"pod001-poplar1": "10.5.1.101", "pod001-poplar2": "10.5.1.102"}
# The first RNIC of the first server, seen from the switch.
PORT = "pst1e25-1"
JUMBO = 9000 - 28


@pytest.fixture(scope="module", autouse=True)
def _declared(bed: Any) -> None:
    run = bed.play("declared")
    assert run.code == 0, run.messages


@pytest.fixture(name="one")
def _one(bed: Any) -> Any:
    return bed.server("pod001-poplar1")


@pytest.fixture(name="two")
def _two(bed: Any) -> Any:
    return bed.server("pod001-poplar2")


@pytest.fixture(scope="module", name="gids")
def _gids(bed: Any, _declared: None) -> dict[str, int]:
    """The GID index of the tenant's VLAN on the RDMA device of each server's first RNIC."""
    return {name: gid_index(bed.server(name), address) for name, address in SERVERS.items()}


def gid_index(server: Any, address: str) -> int:
    """The index of the RoCE v2 GID that is this IPv4 address on the VLAN interface."""
    # Most of the 1024 entries are empty, and reading their attributes is an error.
    listed = server.run("cd /sys/class/infiniband/rxe0/ports/1 && grep -rs . gids gid_attrs").stdout
    values = dict(line.split(":", 1) for line in listed.splitlines())
    gid = "0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}".format(*map(int, address.split(".")))
    [index] = [
        int(index)
        for index in (path.split("/")[1] for path, value in values.items() if value == gid)
        if values[f"gid_attrs/ndevs/{index}"] == "rnic0.101" and values[f"gid_attrs/types/{index}"] == "RoCE v2"
    ]
    return index


def ping(address: str, options: str = "") -> str:
    return f"ping -c 2 -i 0.2 -W 3 {options} {address}"


def tags(frames: list[str]) -> set[str]:
    """The VLANs of these frames, as tcpdump prints them."""
    return {vlan for frame in frames for vlan in re.findall(r" vlan (\d+)", frame)}


def test_every_frame_is_tagged_on_the_wire(bed: Any, one: Any) -> None:
    with bed.wire(PORT, "icmp", frames=8) as seen:
        one.check_output(ping("10.5.1.102"))
        one.check_output(ping("10.6.1.102"))
    assert all("ethertype 802.1Q (0x8100)" in frame for frame in seen)
    assert tags(seen) == {"101", "300"}


@pytest.mark.parametrize("address", ["10.5.1.102", "10.5.1.112", "10.5.1.1"])
def test_jumbo_frames_pass_the_tenants_vlan(one: Any, address: str) -> None:
    """At the server by netplan, at its other port by NetworkManager, and at the IPU-Machine's untagged port."""
    one.check_output(ping(address, f"-M do -s {JUMBO}"))


def test_one_byte_more_than_the_mtu_does_not_leave(one: Any) -> None:
    result = one.run(ping("10.5.1.102", f"-M do -s {JUMBO + 1}"))
    assert result.rc != 0
    assert "message too long" in result.stderr


def test_a_vlan_with_a_smaller_mtu_takes_no_jumbo_frame(one: Any) -> None:
    one.check_output(ping("10.6.1.102", "-M do -s 1472"))
    assert "message too long" in one.run(ping("10.6.1.102", "-M do -s 1473")).stderr


def test_a_machine_of_another_vlan_does_not_answer(bed: Any, one: Any) -> None:
    assert one.run(ping("10.5.1.2", "-I rnic0.101")).rc == 1
    assert not bed.answers("pod001-ipum2", "10.5.1.101")
    assert bed.answers("pod001-ipum1", "10.5.1.101")


def rping(one: Any, two: Any) -> None:
    """RDMA between the servers, which the RDMA CM connects."""
    two.check_output("systemd-run --quiet --collect --unit rping-server rping -s -a 10.5.1.102 -C 5")
    one.check_output("timeout 120 rping -c -a 10.5.1.102 -C 5 -v")


def test_roce_goes_over_the_vlan(bed: Any, one: Any, two: Any) -> None:
    with bed.wire(PORT, "udp port 4791", frames=10) as seen:
        rping(one, two)
    assert all("ethertype 802.1Q (0x8100)" in frame for frame in seen)
    assert tags(seen) == {"101"}


def test_roce_is_marked_as_declared(bed: Any, one: Any, two: Any) -> None:
    """DSCP 26, which stands in the upper bits of the second byte of an IP header, and ECN's ECT(0)."""
    with bed.wire(PORT, "udp port 4791 and ip[1] == 106", frames=10):
        rping(one, two)


def test_the_rings_are_as_declared(one: Any) -> None:
    current = one.check_output("ethtool -g rnic0").partition("Current hardware settings:")[2]
    assert dict(re.findall(r"^(RX|TX):\s+(\d+)$", current, re.MULTILINE)) == {"RX": "128", "TX": "64"}


def test_rdma_writes_arrive(one: Any, two: Any, gids: dict[str, int]) -> None:
    common = "ib_write_bw -d rxe0 -m 4096 -s 65536 -n 100 -x"
    two.check_output(
        f"systemd-run --quiet --collect --unit write-server {common} {gids['pod001-poplar2']} && "
        "until ss -Hltn sport = :18515 | grep -q .; do sleep 0.2; done"
    )
    report = one.check_output(f"timeout 120 {common} {gids['pod001-poplar1']} 10.5.1.102")
    assert re.search(r"^ 65536 +100 ", report, re.MULTILINE), report


def test_an_interface_in_use_is_refused_with_its_user(bed: Any, one: Any, gids: dict[str, int]) -> None:
    waiting = f"ibv_rc_pingpong -d rxe0 -g {gids['pod001-poplar1']}"
    one.check_output(
        f"systemd-run --quiet --collect --unit pingpong {waiting} && "
        "until rdma resource show qp | grep -q pingpong; do sleep 0.2; done"
    )
    interfaces = [{"name": "rnic0", "mtu": 9100}]
    run = bed.play("change", server="pod001-poplar1", backend="networkd", interfaces=interfaces, confirm_within=60)
    one.check_output("systemctl stop pingpong")
    assert run.code != 0
    assert "ibv_rc_pingpong" in run.messages
    assert "mtu 9000" in one.check_output("ip link show rnic0")
