# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rdma of iproute2, `-j link show` only. Whatever else is asked goes to the real program."""

from __future__ import annotations

import json

from podsim.nic.hardware import Nics
from podsim.nic.reply import Reply


def run(nics: Nics, arguments: list[str]) -> Reply | None:
    """Run the tool; None where the real program has to answer."""
    if arguments != ["-j", "link", "show"] or not nics.ports:
        return None
    links = [
        {
            "ifindex": number,
            "ifname": port.rdma_device,
            "port": 1,
            "state": "ACTIVE",
            "physical_state": "LINK_UP",
            "netdev": device,
        }
        for number, (device, port) in enumerate(nics.ports.items())
    ]
    return Reply(output=json.dumps(links) + "\n")
