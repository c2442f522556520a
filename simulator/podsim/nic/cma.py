# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cma_roce_mode and cma_roce_tos of MLNX_OFED: the defaults of the RDMA CM. Without a value they only show it."""

from __future__ import annotations

from podsim.nic.hardware import ROCE_MODES, Nics, Port
from podsim.nic.reply import Reply, on_stderr, on_stdout


def run_mode(nics: Nics, arguments: list[str]) -> Reply:
    """Run cma_roce_mode."""
    port, value = _port(nics, arguments, "-m")
    if value is not None:
        if value not in {"1", "2"}:
            raise on_stderr(f"cma_roce_mode: {value} is no RoCE mode")
        port.roce_mode = ROCE_MODES[int(value) - 1]
    return Reply(output=f"{port.roce_mode}\n")


def run_tos(nics: Nics, arguments: list[str]) -> Reply:
    """Run cma_roce_tos."""
    port, value = _port(nics, arguments, "-t")
    if value is not None:
        if not value.isdigit() or int(value) > 255:
            raise on_stderr("cma_roce_tos: write error: Invalid argument")
        port.roce_tos = int(value)
    return Reply(output=f"{port.roce_tos}\n")


def _port(nics: Nics, arguments: list[str], setting: str) -> tuple[Port, str | None]:
    """The port that is meant, and the value to set, if any."""
    options = {"-d": "mlx5_0", "-p": "1"}
    for flag, value in zip(arguments[::2], [*arguments[1::2], None], strict=False):
        if flag not in {"-d", "-p", setting} or value is None:
            raise on_stderr(f"illegal option -- {flag.lstrip('-')}")
        options[flag] = value
    port = nics.by_rdma_device(options["-d"])
    if port is None:
        raise on_stdout(f"Failed to create configuration for {options['-d']}")
    if options["-p"] != "1":
        raise on_stdout(f"Device {options['-d']} port {options['-p']} does not exist")
    return port, options.get(setting)
