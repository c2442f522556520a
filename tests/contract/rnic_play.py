# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of rnic_network for rnic0 of a server in a container, and what they leave there."""

from __future__ import annotations

import subprocess
from typing import Any

from tests.support.container_server import ContainerServer, begin_play, end_of

STATE = "/var/lib/ipu-pod/rnic-network"
CONFIRM_WITHIN = 20

# No new connection is taken from when a change is armed to when it is undone.
CUT = {
    "cut.path": f"[Path]\nPathExists={STATE}/armed\n",
    "cut.service": "[Service]\nType=oneshot\nExecStart=systemctl stop cut.path ssh.service\n",
    "mend.path": f"[Path]\nPathExists={STATE}/undone\n",
    "mend.service": "[Service]\nType=oneshot\nExecStart=systemctl start ssh.service\n"
    "ExecStart=systemctl stop mend.path\n",
}


def begin_change(server: ContainerServer, mtu: int, address: str, backend: str = "auto") -> subprocess.Popen[str]:
    """Start a run that gives rnic0 an MTU and an address."""
    arguments = {
        "interfaces": [{"name": "rnic0", "mtu": mtu, "addresses": [address]}],
        "backend": backend,
        "confirm_within": CONFIRM_WITHIN,
    }
    play = {"hosts": "all", "gather_facts": False, "tasks": [{"ipu.pod.rnic_network": arguments}]}
    return begin_play(server.folder / "play", [server], [play])


def result_of(run: subprocess.Popen[str]) -> dict[str, Any]:
    """The result that the module has returned."""
    (result,) = end_of(run)["plays"][0]["tasks"][0]["hosts"].values()
    assert isinstance(result, dict)
    return result


def traces(server: ContainerServer) -> str:
    """The files that an armed change has left behind."""
    unit = "/etc/systemd/system/ipu-rnic-undo.service"
    return server.sh(f"ls {STATE} {unit} /run/ipu-rnic-armed 2>/dev/null || true")


def cut_off(server: ContainerServer, ends_the_module: bool) -> None:
    """Have the server take no connection while the next change is armed, and end those that there are as well."""
    ends = "ExecStart=systemctl kill --signal=KILL ssh.service\n" if ends_the_module else ""
    for name, text in {**CUT, "cut.service": CUT["cut.service"].replace("oneshot\n", f"oneshot\n{ends}")}.items():
        server.sh(f"printf '{text}' > /etc/systemd/system/{name}".replace("\n", "\\n"))
    server.sh("systemctl daemon-reload && systemctl start cut.path mend.path")
