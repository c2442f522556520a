# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts that an IPU-Machine reports: names, versions and the attributes of its four IPUs."""

from __future__ import annotations

from typing import Any

IPUS = 4
GWSW_VERSION = "2.0.5"
IPUOF_SERVER_VERSION = "v1.3.3"
SYSTEM_SOFTWARE_VERSION = "2.6.0"
PLATFORM = {
    "Platform": "ipum-p2",
    "Manufacturer": "Graphcore",
    "Runtime version": "1.0.48",
    "Part number": "GC-ADA2-00-ES1 Rev. C",
    "GWSW Version": GWSW_VERSION,
    "IPUoF server version": IPUOF_SERVER_VERSION,
    "HDF Version": "1.0.1",
    "HDF Hash": "1275acb46311f7a46e05f721d73d180c44975e7e",
}


def facts(name: str, release: str, rnic: str, exporter_port: int) -> dict[str, Any]:
    """Everything about the machine of that name; `rnic` is the RNIC's address, '' when it has none now."""
    serial = _serial(name)
    return {
        "name": name,
        "rnic": rnic,
        "exporter_port": exporter_port,
        "virm_version": release,
        "ipuof_server_version": IPUOF_SERVER_VERSION,
        "gwsw_version": GWSW_VERSION,
        "ipum_sw_version": SYSTEM_SOFTWARE_VERSION,
        "board_serial_number": f"{serial:07d}-0007",
        "platform": PLATFORM,
        "ipus": [_ipu_attributes(serial, ipu) for ipu in range(IPUS)],
    }


def _serial(name: str) -> int:
    """A board serial number that belongs to the name: the same after every start, different for each machine."""
    serial = 8203921
    for character in name:
        serial = (serial * 131 + ord(character)) % 10_000_000
    return serial


def _ipu_attributes(serial: int, ipu: int) -> dict[str, str]:
    return {
        "board ipu index": str(ipu % 2),
        "board serial number": f"0024.0002.{serial:07d}",
        "board type": "M2000",
        "clock": "1330MHz",
        "driver version": "1.0.58",
        "firmware major version": "2",
        "firmware minor version": "4",
        "firmware patch version": "4",
        "firmware version": "2.4.4",
        "hexopt active size (bytes)": "0",
        "hexopt total device size (bytes)": "0",
        "ipu architecture": "ipu2",
        "ipu id": str(ipu),
        "number of tiles": "1472",
        "pci id": str(ipu),
        "power": "62.5W",
        "temperature": "31.2C",
        "total number of tiles": "1472",
    }
