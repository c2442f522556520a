# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of rnic_info, from the answers of ip, rdma, ethtool and sysfs."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._roce.inspection import (
    Inspection,
    counters_from,
    firmware_from,
    speed_verdict,
)
from tests.support.in_memory.server import MemoryFiles, Nic, TinyServer

STATISTICS = """NIC statistics:
     rx_packets: 7
     rx_pause_ctrl_phy: 2
     rx_prio3_bytes: 640
     rx_prio3_packets: 10
     rx_prio3_pause: 4
     rx_prio3_pause_duration: 9
     tx_prio3_packets: 11
     tx_prio0_packets: 1
     tx_global_pause: 0
"""
DRIVER = "driver: mlx5_core\nversion: 5.0-0\nfirmware-version: {} (MT_0000000008)\nbus-info: 0000:3b:00.0\n"
PORT = "/sys/class/infiniband/mlx5_0/ports/1"


@pytest.mark.parametrize(
    ("version", "verdict"),
    [("16.26.1040", "ok"), ("16.35.4030", "ok"), ("16.26.1039", "older"), ("16.9.9999", "older"), ("20.1.2", "ok")],
)
def test_firmware_is_compared_number_by_number(version: str, verdict: str) -> None:
    assert firmware_from(DRIVER.format(version), "16.26.1040") == {"version": version, "verdict": verdict}


@pytest.mark.parametrize("answer", ["", "driver: veth\nfirmware-version: \n", "firmware-version: N/A\n"])
def test_firmware_that_is_not_reported_is_unknown(answer: str) -> None:
    assert firmware_from(answer, "16.26.1040") == {"version": None, "verdict": "unknown"}


@pytest.mark.parametrize(
    ("speed", "verdict"), [(100_000, "ok"), (200_000, "ok"), (99_999, "slower"), (None, "unknown")]
)
def test_the_speed_of_a_link(speed: int | None, verdict: str) -> None:
    assert speed_verdict(speed, 100_000) == verdict


def test_counters_of_classes_and_pause_frames() -> None:
    assert counters_from(STATISTICS) == {
        "priorities": {
            "3": {"rx_bytes": 640, "rx_packets": 10, "rx_pause": 4, "tx_packets": 11},
            "0": {"tx_packets": 1},
        },
        "pause": {"rx_pause_ctrl_phy": 2, "tx_global_pause": 0},
    }


def test_a_nic_with_everything() -> None:
    server = TinyServer({"ens2f0": Nic("04:3f:72:00:01:02", mtu=9000, addresses=["10.5.1.101/16"])})
    gid = "0000:0000:0000:0000:0000:ffff:0a05:0165"
    texts = {
        "/sys/class/net/ens2f0/speed": "100000",
        "/sys/class/net/ens2f0/carrier": "1",
        f"{PORT}/gids/0": "0000:0000:0000:0000:0000:0000:0000:0000",
        f"{PORT}/gids/3": gid,
        f"{PORT}/gid_attrs/types/3": "RoCE v2",
        f"{PORT}/gid_attrs/ndevs/3": "ens2f0",
    }
    files = MemoryFiles(**{path: File(text + "\n") for path, text in texts.items()})
    answers = {
        "rdma": json.dumps([{"ifname": "mlx5_0", "port": 1, "netdev": "ens2f0"}]),
        "ethtool -S ens2f0": STATISTICS,
        "ethtool -i ens2f0": DRIVER.format("16.26.1040"),
    }

    def run(argv: list[str]) -> tuple[int, str, str]:
        found = [text for command, text in answers.items() if " ".join(argv).startswith(command)]
        return (0, found[0], "") if found else server.run(argv)

    [nic] = Inspection(run, files, "16.26.1040").nics()
    assert (nic["speed"], nic["carrier"], nic["mtu"], nic["addresses"]) == (100_000, True, 9000, ["10.5.1.101/16"])
    assert nic["rdma_device"] == "mlx5_0"
    assert nic["gids"] == [{"index": 3, "gid": gid, "type": "RoCE v2", "interface": "ens2f0"}]
    assert nic["firmware"]["verdict"] == "ok"
    assert nic["counters"]["priorities"]["3"]["rx_pause"] == 4


def test_a_nic_that_tells_nothing_is_no_error() -> None:
    server = TinyServer({"eno1": Nic("d0:94:66:00:00:01")})

    def run(argv: list[str]) -> tuple[int, str, str]:
        if argv[0] == "ip":
            return server.run(argv)
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    [nic] = Inspection(run, MemoryFiles(), "16.26.1040").nics()
    assert (nic["speed"], nic["rdma_device"], nic["gids"]) == (None, None, [])
    assert nic["firmware"] == {"version": None, "verdict": "unknown"}


def test_a_minimum_that_is_no_version_is_refused() -> None:
    with pytest.raises(Refused, match="minimum_firmware: 'newest' is no version; write it like"):
        Inspection(TinyServer({}).run, MemoryFiles(), "newest")
