# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-ins for NIC tools: as strict as the real ones, and one NIC behind all of them."""

from __future__ import annotations

import json
import marshal
import os
from pathlib import Path

import pytest

from podsim.nic import rdma
from podsim.nic.cli import answer
from podsim.nic.hardware import Nics
from podsim.nic.reply import Reply


@pytest.fixture
def nics() -> Nics:
    return Nics(["rnic1", "rnic0"])


def done(nics: Nics, line: str) -> Reply:
    program, *arguments = line.split()
    reply = answer(program, nics, arguments)
    assert reply is not None
    return reply


def test_what_one_tool_sets_the_other_shows(nics: Nics) -> None:
    assert done(nics, "mlnx_qos -i rnic0 --trust dscp").status == 0
    assert done(nics, "mlnx_qos -i rnic0 --dscp2prio set,26,5").status == 0
    assert done(nics, "mlnx_qos -i rnic0 --pfc 0,0,0,0,0,1,0,0").status == 0
    assert [26, 5] in json.loads(done(nics, "dcb -j app show dev rnic0").output)["dscp_prio"]
    assert json.loads(done(nics, "dcb -j pfc show dev rnic0").output)["prio_pfc"] == [p == 5 for p in range(8)]
    assert "\tprio:5 dscp:26,\n" in done(nics, "mlnx_qos -i rnic0").output.replace(
        "47,46,45,44,43,42,41,40,\n\tprio:5 dscp:", ""
    )
    assert json.loads(done(nics, "dcb -j app show dev rnic1").output) == {}


def test_the_last_mapping_takes_the_trust_with_it(nics: Nics) -> None:
    done(nics, "dcb app add dev rnic0 dscp-prio 26:3")
    assert "Priority trust state: dscp" in done(nics, "mlnx_qos -i rnic0").output
    done(nics, "dcb app del dev rnic0 dscp-prio 26:3")
    assert "Priority trust state: pcp" in done(nics, "mlnx_qos -i rnic0").output


def test_replace_stumbles_over_a_mapping_that_the_driver_dropped(nics: Nics) -> None:
    done(nics, "dcb app add dev rnic0 dscp-prio 26:3")
    replaced = done(nics, "dcb app replace dev rnic0 dscp-prio 26:4")
    assert (replaced.status, replaced.errors) == (1, "Attribute write: No such file or directory\n")
    assert nics.ports["rnic0"].applications == {26: 4}


def test_rdma_devices_are_numbered_by_name(nics: Nics) -> None:
    links = json.loads(done(nics, "rdma -j link show").output)
    assert [(link["ifname"], link["netdev"]) for link in links] == [("mlx5_0", "rnic0"), ("mlx5_1", "rnic1")]
    assert done(nics, "cma_roce_mode -d mlx5_1 -p 1 -m 1").output == "IB/RoCE v1\n"
    assert done(nics, "cma_roce_tos -d mlx5_1 -t 106").output == "106\n"
    assert done(nics, "cma_roce_mode -d mlx5_0").output == "RoCE v2\n"


def test_queue_pairs_live_as_long_as_their_programs(
    nics: Nics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdma, "QUEUE_PAIRS", str(tmp_path))
    (tmp_path / str(os.getpid())).write_text("mlx5_1 271\n")
    (tmp_path / "9999999").write_text("mlx5_0 272\n")
    pairs = json.loads(done(nics, "rdma -j resource show qp").output)
    command = Path("/proc/self/comm").read_text().strip()
    assert [(pair["ifname"], pair["lqpn"], pair["type"], pair.get("pid"), pair["comm"]) for pair in pairs] == [
        ("mlx5_0", 1, "GSI", None, "ib_core"),
        ("mlx5_1", 1, "GSI", None, "ib_core"),
        ("mlx5_1", 271, "RC", os.getpid(), command),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "mlnx_qos",
        "mlnx_qos -i rnic7",
        "mlnx_qos -i rnic0 --pfc 1,0",
        "mlnx_qos -i rnic0 --pfc 0,0,0,2,0,0,0,0",
        "mlnx_qos -i rnic0 --pfc",
        "mlnx_qos -i rnic0 --trust vlan",
        "mlnx_qos -i rnic0 --trust dscp --dscp2prio set,26,3",
        "mlnx_qos -i rnic0 --dscp2prio set,64,3",
        "mlnx_qos -i rnic0 --dscp2prio del,26,3",
        "mlnx_qos -i rnic0 --buffer_size 999999,0,0,0,0,0,0,0",
        "mlnx_qos -i rnic0 --ecn 0,0,0,1,0,0,0,0",
        "cma_roce_mode -d mlx5_9",
        "cma_roce_mode -d mlx5_0 -m 3",
        "cma_roce_mode -d mlx5_0 -p 2",
        "cma_roce_tos -d mlx5_0 -t 256",
        "cma_roce_tos -x mlx5_0",
        "dcb pfc set dev rnic0",
        "dcb pfc set dev rnic0 prio-pfc 8:on",
        "dcb pfc set dev rnic0 prio-pfc 3:yes",
        "dcb app del dev rnic0 dscp-prio 26:3",
        "dcb app add dev rnic0 dscp-prio 26",
        "dcb app flush dev rnic0",
        "dcb pfc flush dev rnic0",
        "dcb buffer set dev rnic0 buffer-size 0:999999",
        "ethtool -A rnic0",
        "ethtool -A rnic0 rx maybe",
        "ethtool -A rnic0 autoneg on",
        "ethtool -G rnic0 rx 8193",
        "ethtool -G rnic0 rx on",
        "ethtool -a rnic0 rx",
    ],
)
def test_what_the_real_tools_refuse_is_refused_and_changes_nothing(nics: Nics, line: str) -> None:
    before = nics.kept()
    reply = done(nics, line)
    assert reply.status > 0
    assert reply.output or reply.errors
    assert nics.kept() == before


@pytest.mark.parametrize("line", ["ethtool -K rnic0 tx off", "ethtool -a eth0", "dcb ets show dev rnic0", "rdma dev"])
def test_everything_else_is_for_the_real_tool(nics: Nics, line: str) -> None:
    program, *arguments = line.split()
    assert answer(program, nics, arguments) is None


def test_what_is_kept_is_there_again(nics: Nics) -> None:
    done(nics, "mlnx_qos -i rnic0 --trust dscp")
    done(nics, "ethtool -G rnic1 rx 512")
    again = Nics(nics.ports, marshal.loads(marshal.dumps(nics.kept())))
    assert again.kept() == nics.kept()
