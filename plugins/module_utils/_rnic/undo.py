# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The script that puts back what a change did, for a server where nobody is left to ask. Pure.

It needs no Python and nothing of Ansible: files, a shell, and the programs that configure the network anyway.
"""

from __future__ import annotations

import shlex
from typing import Any, Mapping, Sequence

from .._plan.steps import Step
from . import virtual_functions
from .profile import Backend, Commands, device_before, own_texts

DIRECTORY = "/var/lib/ipu-pod/rnic-network"
SCRIPT = f"{DIRECTORY}/undo"
OLD_FILES = "old"
# Whoever renames the first of these decides: a confirmation, or the script.
ARMED, CONFIRMED, UNDOING, UNDONE = "armed", "confirmed", "undoing", "undone"
# How the name of a file ends that is not whole yet; as of all that are written here.
_UNFINISHED = "ipu_undo"
# Gone after a reboot, when the old files alone bring back the old settings.
SAME_BOOT = "/run/ipu-rnic-armed"

UNIT = "ipu-rnic-undo.service"
TIMER = "ipu-rnic-undo.timer"
UNIT_PATH = f"/etc/systemd/system/{UNIT}"
UNIT_TEXT = f"""\
# Written by ipu.pod.rnic_network while a change waits for its confirmation; removed with it.
[Unit]
Description=Put back the network settings of a change that nobody confirmed
DefaultDependencies=no
RequiresMountsFor={DIRECTORY}
# The root file system is mounted read-only first.
After=systemd-remount-fs.service local-fs.target
Wants=network-pre.target
Before=network-pre.target systemd-networkd.service NetworkManager.service

[Service]
Type=oneshot
ExecStart=/bin/sh {SCRIPT}

[Install]
WantedBy=multi-user.target
"""

# Seconds until undoing that has failed, on a full disk for example, is tried again.
AGAIN = 30

_HEAD = """\
#!/bin/sh
# Puts back the network settings of a change that nobody confirmed: {names}.
# Runs when its timer has elapsed, or at boot before the network starts. By hand: systemctl start {unit}
# The journal has what it did: journalctl -u {unit}
cd {directory} || exit 0

# For the journal, and for the report.
say() {{
    echo "$*"
    {{ echo "$*" >>log; }} 2>/dev/null
}}

# What fails must not stop the rest.
try() {{
    say "+ $*"
    output=$("$@" 2>&1) || output="${{output:+$output
}}failed: $*"
    [ -z "$output" ] || say "$output"
}}

# The old file, written beside its place and renamed into it: what fails leaves the present one whole.
put_back() {{
    new="${{1%/*}}/.${{1##*/}}.{unfinished}"
    if output=$({{ cp -p "{old}$1" "$new" && sync "$new" && mv -f "$new" "$1" && sync "${{1%/*}}" &&
        cmp "{old}$1" "$1"; }} 2>&1); then
        say "put back $1"
    else
        rm -f "$new"
        left="${{left:+$left }}$1"
        say "not put back, $1: $output"
    fi
}}

# A file that was not there.
remove() {{
    if output=$({{ rm -f "$1" && sync "${{1%/*}}"; }} 2>&1); then
        say "removed $1"
    else
        left="${{left:+$left }}$1"
        say "not removed, $1: $output"
    fi
}}

not_undone() {{
    say "not undone: $1; tried again in {again} s"
    # If this was at boot, the network goes on with the new files.
    : >{same_boot}
    systemctl stop {timer}
    {timed}
    exit 1
}}

output=$(mv {armed} {undoing} 2>&1)
[ ! -e {armed} ] || not_undone "$output"
[ -e {undoing} ] || exit 0
rm -f log
left=
"""

_SETTLE = """\

# networkd goes on after it has answered, and leaves alone what it has failed on once.
settle() {
    case "$(networkctl status "$1")" in
    *"(failed)"*) networkctl reconfigure "$1" ;;
    esac
    /lib/systemd/systemd-networkd-wait-online --interface "$1:no-carrier" --timeout 10
    return 0
}
"""


def script(backend: Backend, steps: Sequence[Step]) -> str:
    """The script that undoes the steps, in part or as a whole done; it may run any number of times."""
    names = ", ".join(step.name for step in steps)
    head = _HEAD.format(
        names=names,
        unit=UNIT,
        timer=TIMER,
        directory=DIRECTORY,
        armed=ARMED,
        undoing=UNDOING,
        old=OLD_FILES,
        unfinished=_UNFINISHED,
        same_boot=SAME_BOOT,
        again=AGAIN,
        timed=" ".join(start_in(AGAIN)),
    )
    running = [*backend.unload(steps), *(command for step in steps for command in _running_commands(backend, step))]
    settle = _SETTLE if any(command[0] == "settle" for command in running) else ""
    lines = [
        "",
        "# The old files",
        *_file_lines(steps),
        *_tried([*_unit_commands(steps), *backend.prepare()], ""),
        "",
        "# The old running settings",
        f"if [ -e {SAME_BOOT} ]; then",
        # Of a run by hand, it would find nothing to do, and the next change could not have it.
        *_tried([*running, ["systemctl", "stop", TIMER]], "    "),
        "fi",
        "",
        '[ -z "$left" ] || not_undone "$left"',
        f'output=$({{ mv {UNDOING} {UNDONE} && sync .; }} 2>&1) || not_undone "$output"',
        f"rm -f {SAME_BOOT}",
        'say "undone"',
        "",
        "# What was only there for this; the folder stays for the report.",
        f"systemctl disable {UNIT}",
        f"rm -f {UNIT_PATH}",
        "systemctl daemon-reload",
    ]
    return head + settle + "\n".join(lines) + "\n"


def start_in(seconds: int) -> list[str]:
    """The command that has the script run after so many seconds."""
    timer = ["--timer-property=AccuracySec=100ms", f"--on-active={seconds}", f"--unit={UNIT}"]
    return ["systemd-run", "--quiet", *timer]


def saved_path(path: str) -> str:
    """Where the old content of a file waits."""
    return f"{DIRECTORY}/{OLD_FILES}{path}"


def touched_files(steps: Sequence[Step]) -> dict[str, bool]:
    """Every file that the steps write or remove, with whether it is there before."""
    paths: dict[str, bool] = {}
    for step in steps:
        before, after = (step.before or {}).get("files", {}), (step.after or {}).get("files", {})
        paths.update({path: path in before for path in sorted({*before, *after})})
    return paths


def _file_lines(steps: Sequence[Step]) -> list[str]:
    files = touched_files(steps)
    old = [f"put_back {shlex.quote(path)}" for path, there in files.items() if there]
    return [*old, *(f"remove {shlex.quote(path)}" for path, there in files.items() if not there)]


def _unit_commands(steps: Sequence[Step]) -> Commands:
    """Return the commands after which systemd knows the units among the files as before."""
    files = touched_files(steps)
    units = {path: path.rsplit("/", 1)[1] for path in files if virtual_functions.interface_of(path)}
    enabled = [["systemctl", "enable", "--quiet", unit] for path, unit in units.items() if files[path]]
    links = [f"{virtual_functions.WANTS_DIRECTORY}/{unit}" for path, unit in units.items() if not files[path]]
    reload = [["systemctl", "daemon-reload"]] if units else []
    return [*(["rm", "-f", link] for link in links), *reload, *enabled]


def _running_commands(backend: Backend, step: Step) -> Commands:
    """Return the commands that restore running settings which no file restores."""
    device, before, after = device_before(step), step.before or {}, step.after or {}
    if not device:
        return []
    commands = [["ip", "link", "set", "dev", device, "mtu", str(before["mtu"])]]
    # The change brought some addresses, the old files may bring others that were not running before.
    brought = [*after.get("addresses", ()), *backend.kept(own_texts(before["files"])).addresses]
    new = sorted({address.split("/")[0] for address in brought if address not in before["addresses"]})
    # Flushing, other than deleting, is no error where the address is gone already.
    commands += [["ip", "address", "flush", "dev", device, "to", host] for host in new]
    commands += [["ip", "address", "replace", address, "dev", device] for address in before["addresses"]]
    commands.append(["ip", "link", "set", "dev", device, "up" if before["up"] else "down"])
    return commands + _function_commands(device, before, after)


def _function_commands(device: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Commands:
    if not after or before.get("virtual_functions") == after.get("virtual_functions"):
        return []
    altered = virtual_functions.altered(before=after, after=before)
    if altered is not None:
        return virtual_functions.setting_commands(device, altered)
    return virtual_functions.commands(device, before["virtual_functions"])


def _tried(commands: Commands, indent: str) -> list[str]:
    return [f"{indent}try {' '.join(map(shlex.quote, command))}" for command in commands]
