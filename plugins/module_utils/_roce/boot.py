# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The boot script that restores lossless settings when a device appears, and its systemd unit. Pure."""

from __future__ import annotations

import json
import re
from typing import Mapping

from .._rnic.virtual_functions import device_unit
from .settings import NAMES, OF_RDMA_DEVICE, Settings
from .tool_sets import Nic, ToolSet, shell_line

HEADER = "# Written by ipu.pod.rnic_roce, which overwrites what is changed here by hand."
UNITS = "/etc/systemd/system"

_DIRECTORY = "/etc/ipu-roce"
_SETTING = re.compile(r"# (\w+): (.+)")


def script_path(name: str) -> str:
    """The script of the interface that is declared as ``name``."""
    return f"{_DIRECTORY}/{name}.sh"


def unit_name(name: str) -> str:
    """The systemd unit of the interface that is declared as ``name``."""
    return f"ipu-roce-{name}.service"


def unit_path(name: str) -> str:
    """The file of that unit."""
    return f"{UNITS}/{unit_name(name)}"


def wants_directory(nic: Nic) -> str:
    """Where systemd looks for what to start when the device appears."""
    return f"{UNITS}/{device_unit(nic.device)}.wants"


def script(nic: Nic, tools: ToolSet, settings: Mapping[str, object]) -> str:
    """A shell script that makes the settings so; each stands before its commands as a comment, too."""
    lines = ["#!/bin/sh", HEADER, f"# RoCE settings of {nic.device}, set whenever the device appears.", "set -eu"]
    if OF_RDMA_DEVICE & settings.keys():
        lines += ["", "# The RDMA device comes after its network device; wait until udev has loaded its drivers."]
        lines += ["udevadm settle", "modprobe rdma_cm"]
    for name in NAMES:
        if name in settings:
            lines += ["", f"# {name}: {json.dumps(settings[name])}"]
            lines += [shell_line(command) for command in tools.commands(nic, name, settings[name], None)]
    return "\n".join(lines) + "\n"


def settings_in(text: str) -> Settings | None:
    """The settings in a script that was rendered here, whatever was changed since; None for anybody else's file."""
    if HEADER not in text.splitlines()[:2]:
        return None
    found = (_SETTING.fullmatch(line) for line in text.splitlines())
    settings = {match.group(1): match.group(2) for match in found if match and match.group(1) in NAMES}
    try:
        return {name: json.loads(value) for name, value in settings.items()}
    except ValueError:
        # Somebody edited the comments; then nothing in it can be kept.
        return {}


def unit(name: str, nic: Nic) -> str:
    """A unit that starts with the device and ends with it, so that a reloaded driver starts it again."""
    device = device_unit(nic.device)
    return (
        f"{HEADER}\n"
        f"[Unit]\nDescription=RoCE settings of {nic.device}\nBindsTo={device}\nAfter={device}\n"
        f"\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh {script_path(name)}\n"
        f"\n[Install]\nWantedBy={device}\n"
    )
