# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at servers in memory, as host_look would read them, and settings of the role poplar_server for them."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._look.parts import plain
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import Interface
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import RoceClient
from ansible_collections.ipu.pod.plugins.module_utils._roce.declared import RoceInterface
from tests.support.in_memory.rnic_runs import MANAGEMENT, checkpoint_on, client_of
from tests.support.in_memory.roce_server import MACS, PCI, RDMA_DEVICES, TinyRoceServer
from tests.support.in_memory.server import TinyServer

Data = dict[str, Any]

SETTINGS: Data = {
    "poplar_server_packages": [],
    "poplar_server_interfaces": [],
    "poplar_server_more_interfaces": [],
    "poplar_server_network_backend": "auto",
    "poplar_server_start_networkd": False,
    "poplar_server_roce": [],
    "poplar_server_roce_tools": "auto",
    "poplar_server_memlock": "",
    "poplar_server_memlock_units": [],
    "poplar_server_sysctl": {},
}
THINGS: Data = {
    "paths": {},
    "texts": {},
    "units": {},
    "packages": {"os_family": "Debian", "distribution": "Debian", "missing": [], "unknown": False},
    "accounts": [],
    "kernel_parameters": {},
    "secrets": {},
}


def settings(**own: Any) -> Data:
    """The role's variables where nothing but these is wanted of a server."""
    return {**SETTINGS, **{f"poplar_server_{name}": value for name, value in own.items()}}


def look(**parts: Data) -> Data:
    """A look with these parts."""
    return {"host": "poplar1", "outcome": "answered", "message": "", "settings": {}, "parts": {**parts}}


def look_at(server: TinyServer, **things: Any) -> Data:
    """A look at a server's interfaces and ordinary things."""
    client, checkpoint = client_of(server), checkpoint_on(server)
    seen = client.survey()
    refusal = ""
    try:
        checkpoint.refuse_pending()
    except Refused as error:
        refusal = str(error)
    return look(
        links=plain(seen),
        network={
            "gathered": [],
            "lasting": [],
            "pending": bool(refusal),
            "refusal": refusal,
            "undone": None,
            "unloaded": client.unloaded(seen) if "networkd" in seen.services else [],
        },
        uses=plain(client.uses(list(seen.links))),
        things={**THINGS, **things},
    )


def look_at_roce(server: TinyRoceServer, **things: Any) -> Data:
    """A look at a server's lossless settings, too."""
    found = look_at(server.links, **things)
    try:
        host = RoceClient(server.run, server.files, MANAGEMENT, PCI, "auto", RDMA_DEVICES)
        seen = host.survey([RoceInterface(Interface(device)) for device in MACS])
        found["parts"]["roce"] = {
            "server": {"tools": seen.tools.name, "links": plain(seen.links), "interfaces": plain(seen.interfaces)},
            "gathered": [],
            "lasting": [],
            "unread": {},
            "files": {path: file.content for path, file in server.files.files.items() if "ipu-roce" in path},
            "starts": [path for path in server.files.files if ".wants/" in path],
        }
        found["parts"]["uses"] = plain(host.uses())
    except (DeviceError, Refused) as error:
        found["parts"]["roce"] = {"message": str(error)}
    return found
