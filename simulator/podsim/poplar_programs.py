# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`gc-monitor` and `gc-inventory`: what Poplar says of the IPUs of a partition, as JSON. Nothing runs on these IPUs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from podsim.ipuof_settings import NoConfiguration, gcds
from podsim.vipu.cli_settings import SettingsError
from podsim.vipu.errors import Refused
from podsim.vipu.rpc import Unreachable

POPLAR_VERSION = "3.3.0"
# As gc-info says of each IPU of an M2000.
HEXOATT_BYTES = 34082914304
HEXOPT_BYTES = 268435456
USAGES = {
    "gc-monitor": "usage: gc-monitor --help | version | -j\n  -j  the IPUs of the partition, by IPU-Machine, as JSON\n",
    "gc-inventory": "usage: gc-inventory --help | -2\n  -2  attributes of each IPU of the partition, as JSON\n",
}


def main(program: str, arguments: Sequence[str]) -> int:
    """Run one of them; returns the exit code."""
    if list(arguments) == ["--help"]:
        print(USAGES[program], end="")
        return 0
    if (program, *arguments) == ("gc-monitor", "version"):
        print(f"Poplar version: {POPLAR_VERSION}")
        return 0
    answer = ANSWERS[program].get(" ".join(arguments))
    if answer is None:
        words = " ".join(arguments) or "without options"
        print(f"{program}: {words} is unknown here\n{USAGES[program]}", end="", file=sys.stderr)
        return 2
    try:
        [configuration] = gcds(os.environ, Path.home())[:1]
    except (NoConfiguration, Refused, SettingsError, Unreachable) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer(configuration["devices"]), indent=2))
    return 0


def cards(devices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The IPU-Machines and the IPUs of each, which have numbers in the order of the partition."""
    machines: dict[str, list[dict[str, str]]] = {}
    for number, device in enumerate(devices):
        ipu = {"ID": str(number), "PCIe ID": str(device["device_id"]), "Serial": device["chip_id"]}
        machines.setdefault(device["ip"], []).append(ipu)
    return {"cards": [{"IPU-M": address, "Type": "M2000", "ipus": ipus} for address, ipus in machines.items()]}


def inventory(devices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All attributes are strings."""
    return {
        "devices": [
            {
                "id": str(number),
                "ipuof host": device["ip"],
                "pci id": str(device["device_id"]),
                "hexoatt active size (bytes)": "0",
                "hexoatt total size (bytes)": str(HEXOATT_BYTES),
                "hexopt active size (bytes)": "0",
                "hexopt total size (bytes)": str(HEXOPT_BYTES),
                "ipu utilisation": "0.00%",
            }
            for number, device in enumerate(devices)
        ]
    }


ANSWERS = {"gc-monitor": {"-j": cards}, "gc-inventory": {"-2": inventory}}
