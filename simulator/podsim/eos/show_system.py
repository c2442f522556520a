# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`show version`, `show hostname` and the other commands about the switch itself."""

from __future__ import annotations

import hashlib
from typing import Any

from podsim.eos.cli import Cli, Command, command
from podsim.eos.hardware import SERIAL_NUMBER
from podsim.eos.releases import COMMIT_TIMER_FIELDS
from podsim.eos.reply import Reply, table
from podsim.eos.sessions import MAX_COMPLETED, MAX_PENDING

MEMORY_KB = 8_099_732
FREE_MEMORY_KB = 5_270_644


def system_mac(hostname: str) -> str:
    """A MAC address that stays the same for a host name; locally administered."""
    digest = hashlib.sha256(hostname.encode()).hexdigest()
    return ":".join(["02", *(digest[index : index + 2] for index in range(0, 10, 2))])


def _version(cli: Cli, _words: list[str]) -> Reply:
    switch = cli.switch
    model_name, release = switch.hardware.model, switch.release.name
    mac = system_mac(switch.hostname)
    model = {
        "mfgName": "Arista",
        "modelName": model_name,
        "hardwareRevision": "11.00",
        "serialNumber": SERIAL_NUMBER,
        "systemMacAddress": mac,
        "hwMacAddress": mac,
        "configMacAddress": "00:00:00:00:00:00",
        "version": release,
        "architecture": "i686",
        "internalVersion": f"{release}-00000000.podsim",
        "internalBuildId": "00000000-0000-0000-0000-000000000000",
        "imageFormatVersion": "3.0",
        "imageOptimization": "Default",
        "bootupTimestamp": switch.booted,
        "uptime": round(switch.uptime(), 2),
        "memTotal": MEMORY_KB,
        "memFree": FREE_MEMORY_KB,
        "isIntlVersion": False,
    }
    text = (
        f"Arista {model_name}\nHardware version: 11.00\nSerial number: {SERIAL_NUMBER}\nHardware MAC address: {mac}\n"
        f"System MAC address: {mac}\n\nSoftware image version: {release}\nArchitecture: i686\n"
        f"Internal build version: {release}-00000000.podsim\n\nUptime: {int(switch.uptime() // 60)} minutes\n"
        f"Total memory: {MEMORY_KB} kB\nFree memory: {FREE_MEMORY_KB} kB\n"
    )
    return Reply(text, model)


def _hostname(cli: Cli, _words: list[str]) -> Reply:
    domain = cli.switch.running.value("dns domain")
    name = cli.switch.hostname
    fqdn = f"{name}.{domain}" if domain else name
    return Reply(f"Hostname: {name}\nFQDN:     {fqdn}\n", {"hostname": name, "fqdn": fqdn})


def _sessions(cli: Cli, words: list[str]) -> Reply:
    sessions = cli.switch.sessions
    model: dict[str, Any] = {
        "maxSavedSessions": MAX_COMPLETED,
        "maxOpenSessions": MAX_PENDING,
        "mergeOnCommit": False,
        "autosaveOnCommit": False,
        "sessions": {
            name: {"state": session.state, "commitUser": session.user, "description": "", "instances": {}}
            for name, session in sessions.by_name.items()
        },
    }
    timed = sessions.timed
    if timed and words[-1] == "detail":
        if cli.switch.release.has(COMMIT_TIMER_FIELDS):
            model |= {"commitTimerSessionName": timed.name, "commitTimerExpireTime": timed.commit_by}
        else:
            model["sessions"][timed.name]["commitBy"] = timed.commit_by
    text = (
        f"Maximum number of completed sessions: {MAX_COMPLETED}\nMaximum number of pending sessions: {MAX_PENDING}\n"
        "Merge on commit is disabled\nAutosave to startup-config on commit is disabled\n\n"
    )
    return Reply(text + _session_table(cli), model)


def _session_table(cli: Cli) -> str:
    now = cli.switch.uptime()
    rows = []
    for session in cli.switch.sessions.by_name.values():
        left = int(session.commit_by - now) if session.commit_by is not None else None
        clock = "" if left is None else f"{left // 3600:02}:{left // 60 % 60:02}:{left % 60:02}"
        rows.append([session.name, session.state, session.user, clock])
    return table(["Name", "State", "User", "Commit Time Left"], rows)


def _directory(cli: Cli, _words: list[str]) -> Reply:
    files = "".join(f"       -rw-           {name}\n" for name in cli.switch.flash_files())
    return Reply(f"Directory of flash:/\n\n{files}\n", None)


COMMANDS: tuple[Command, ...] = (
    command("show version", _version),
    command("show hostname", _hostname),
    command("show configuration sessions", _sessions),
    command("show configuration sessions detail", _sessions),
    command("dir", _directory, privileged=True),
    command("dir all-filesystems", _directory, privileged=True),
)
