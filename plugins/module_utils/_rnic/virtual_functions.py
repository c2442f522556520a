# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""SR-IOV virtual functions: the commands that make them, and the systemd unit that does so at every boot. Pure."""

from __future__ import annotations

import re
import shlex
from typing import Any, Mapping, Sequence

from .profile import HEADER, Commands

DIRECTORY = "/etc/systemd/system"
WANTS_DIRECTORY = f"{DIRECTORY}/multi-user.target.wants"

_OWN = re.compile(re.escape(DIRECTORY) + r"/ipu-vf-(.+)\.service")


def unit_of(name: str) -> str:
    """The unit of the NIC that is declared as ``name``."""
    return f"ipu-vf-{name}.service"


def unit_path(name: str) -> str:
    """Where that unit's file is."""
    return f"{DIRECTORY}/{unit_of(name)}"


def interface_of(path: str) -> str | None:
    """The declared name of the NIC whose unit this would be; None for other files."""
    found = _OWN.fullmatch(path)
    return found.group(1) if found else None


def unit_text(device: str, functions: Sequence[Mapping[str, Any]]) -> str:
    """The unit's file: the same commands that can be given by hand."""
    link = device_unit(device)
    lines = [
        HEADER,
        "[Unit]",
        f"Description=SR-IOV virtual functions of {device}",
        f"BindsTo={link}",
        f"After={link}",
        "",
        "[Service]",
        "Type=oneshot",
        "RemainAfterExit=yes",
        *(f"ExecStart={' '.join(map(shlex.quote, command))}" for command in commands(device, functions)),
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    ]
    return "".join(line + "\n" for line in lines)


def device_unit(device: str) -> str:
    """The name of systemd's unit for a network device."""
    escaped = re.sub(r"[^A-Za-z0-9:_.]", lambda found: f"\\x{ord(found.group()):02x}", device)
    return f"sys-subsystem-net-devices-{escaped}.device"


def altered(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The functions that get other settings, where an interface changes in nothing else; None where it does.

    Then neither the interface nor its other functions, which may be somebody else's, have to be touched.
    """
    if not before.get("virtual_functions") or _besides_functions(before) != _besides_functions(after):
        return None
    there, wanted = before["virtual_functions"], after["virtual_functions"]
    if len(there) != len(wanted):
        return None
    return [function for function, old in zip(wanted, there) if function != old]


def _besides_functions(fields: Mapping[str, Any]) -> dict[str, Any]:
    files = {path: text for path, text in fields.get("files", {}).items() if interface_of(path) is None}
    return {**fields, "files": files, "virtual_functions": None}


def setting_commands(device: str, functions: Sequence[Mapping[str, Any]]) -> Commands:
    """Return the commands that configure some existing functions and no others."""
    return [_function_command(device, function) for function in functions]


def commands(device: str, functions: Sequence[Mapping[str, Any]]) -> Commands:
    """Return the commands that configure the functions; they are recreated only if their number differs."""
    count = f"/sys/class/net/{device}/device/sriov_numvfs"
    # The kernel takes a new number only after 0.
    number = f"grep -qx {len(functions)} {count} || {{ echo 0 > {count} && echo {len(functions)} > {count}; }}"
    return [["sh", "-c", number], *setting_commands(device, functions)]


def _function_command(device: str, function: Mapping[str, Any]) -> list[str]:
    settings = {
        "mac": function["mac"],
        "vlan": str(function["vlan"]),
        "trust": "on" if function["trust"] else "off",
        "spoofchk": "on" if function["spoof_check"] else "off",
    }
    words = [word for pair in settings.items() for word in pair]
    return ["ip", "link", "set", "dev", device, "vf", str(function["index"]), *words]


def functions_from(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The functions in ``vfinfo_list`` of ``ip -details -json``, in the form of the option ``virtual_functions``."""
    return sorted((_function(entry) for entry in entries), key=lambda function: int(function["index"]))


def _function(entry: Mapping[str, Any]) -> dict[str, Any]:
    vlans = entry.get("vlan_list") or [entry]
    return {
        "index": entry["vf"],
        # iproute2 before 4.20 says "mac".
        "mac": entry["address"] if "address" in entry else entry["mac"],
        "vlan": vlans[0].get("vlan", 0),
        "trust": bool(entry.get("trust", False)),
        "spoof_check": bool(entry.get("spoofchk", False)),
    }
