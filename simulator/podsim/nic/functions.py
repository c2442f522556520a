# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ip of iproute2 about virtual functions: `link set dev NIC vf NUMBER ...`, and `vfinfo_list` in what it shows.

Everything else is the real program's answer.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

REAL = "/usr/sbin/ip"
NIC = "/etc/podsim/nic.sock"
# What iproute2 ends with where the kernel refuses, and where it does not understand.
REFUSED, NOT_UNDERSTOOD = 2, 255


def main(arguments: list[str]) -> int:
    """Run it; returns the exit code."""
    if arguments[:3] == ["link", "set", "dev"] and arguments[4:5] == ["vf"]:
        return _set(arguments[3], arguments[5:])
    if "vf" in arguments:
        print('Error: "vf" has to follow "link set dev NIC" here.', file=sys.stderr)
        return NOT_UNDERSTOOD
    if "-json" not in arguments or arguments[-1] != "show":
        os.execv(REAL, ["ip", *arguments])
    shown = subprocess.run([REAL, *arguments], stdout=subprocess.PIPE, check=False)
    if shown.returncode:
        return shown.returncode
    functions = _asked({"do": "show"})
    links = json.loads(shown.stdout)
    for link in links:
        if functions.get(link.get("ifname")):
            link["vfinfo_list"] = functions[link["ifname"]]
    print(json.dumps(links))
    return 0


def _set(device: str, words: list[str]) -> int:
    if not words or not words[0].isdigit():
        print('Error: argument "vf" is wrong: Invalid "vf" value', file=sys.stderr)
        return NOT_UNDERSTOOD
    said = str(_asked({"do": "set", "device": device, "vf": int(words[0]), "words": words[1:]})["error"])
    if said:
        print(said, file=sys.stderr)
        return NOT_UNDERSTOOD if said.startswith("Error") else REFUSED
    return 0


def _asked(question: dict[str, object]) -> dict[str, object]:
    with socket.socket(socket.AF_UNIX) as nic:
        nic.connect(NIC)
        nic.sendall(json.dumps(question).encode() + b"\n")
        with nic.makefile() as answer:
            found: dict[str, object] = json.loads(answer.readline())
            return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
