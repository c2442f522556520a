# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of each agent, from pods.yml and the role's variables. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._vipu.ipuof import CONFIGURATIONS

from .._desired.containers import network_name
from .._pod.hypervisors import hypervisors_of
from .._pod.model import FILES, MACVLAN, Declaration, Partition, Vpod
from .._templates.render import render

HEADER = "# Written by ipu.pod, role backend_ai_agent, which overwrites what is changed here by hand."
DIRECTORY = "/etc/backend.ai"
# The plugin gives a container's configuration this file's name, and says in the container that it is ipuof.conf.
CONFIGURATION = f"{DIRECTORY}/ipuof.conf"
SETTINGS = f"{DIRECTORY}/ipu.toml"
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
# systemd would end the value there, or read the next letter as something else.
_NOT_IN_VALUES = re.compile(r'["\\\x00-\x1f\x7f]')


@dataclass(frozen=True)
class Agent:
    """What the agent of one server has.

    Args:
        source: where the server's vPOD has the IPUoF configuration of the partition.
        network: the network of Docker by which containers reach IPU-Machines.
        files: text by path.
    """

    partition: str
    ipus: int
    source: str
    network: str
    files: dict[str, str]


def agents_of(declaration: Declaration, choice: Mapping[str, Any]) -> dict[str, Agent]:
    """Poplar server to its agent.

    Args:
        declaration: the checked pods.yml.
        choice: what the owner chose, by the names of the role's variables without ``backend_ai_agent_``.

    Raises:
        Refused: pods.yml and the choice do not go together.
    """
    vpod = _vpod(declaration, choice["vpod"])
    drop_in = f"/etc/systemd/system/{choice['service']}.d/ipu-pod.conf"
    environment = {"IPUOF_CONFIG_PATH": CONFIGURATION, **_environment(choice["environment"])}
    network = network_name(vpod)
    files = {
        SETTINGS: render("backend_ai_ipu.toml", header=HEADER, configuration=CONFIGURATION, networks=[network]),
        drop_in: render("backend_ai_agent.conf", header=HEADER, environment=environment),
    }
    return {
        server: Agent(partition.name, partition.ipus, _source(partition), network, files)
        for server, partition in _partitions(vpod).items()
    }


def _vpod(declaration: Declaration, name: str) -> Vpod:
    if name not in declaration.vpods:
        declared = ", ".join(declaration.vpods) or "none"
        raise Refused(f"backend_ai_agent_vpod is {name!r}, and pods.yml declares no such vPOD; it declares {declared}")
    vpod, place = declaration.vpods[name], f"vpods.{name}"
    if vpod.containers != MACVLAN or vpod.ipuof != FILES:
        raise Refused(
            f"{place}: Backend.AI's containers need an RNIC network and IPUoF files; declare containers: {MACVLAN} and "
            f"ipuof: {FILES}"
        )
    if not vpod.poplar_servers:
        raise Refused(f"{place}.poplar_servers is empty, but agents run there; name some")
    for server in vpod.poplar_servers:
        if server in hypervisors_of(declaration):
            raise Refused(
                f"{place}.poplar_servers: {server} is a hypervisor, which other vPODs have, too, and an agent gives "
                "containers all RDMA devices; take bare-metal servers"
            )
    return vpod


def _partitions(vpod: Vpod) -> dict[str, Partition]:
    """The reconfigurable partition of each server, of which its agent gives IPUs to sessions."""
    found = {}
    for server in vpod.poplar_servers:
        own = [
            partition
            for partition in vpod.partitions
            if partition.reconfigurable and (partition.poplar_servers or vpod.poplar_servers) == (server,)
        ]
        if len(own) != 1:
            raise Refused(
                f"vpods.{vpod.name}.partitions: the agent on {server} needs one reconfigurable partition for that "
                f"server alone, and has {' and '.join(each.name for each in own) or 'none'}; declare one, such as "
                f"{_example(vpod, server)}"
            )
        found[server] = own[0]
    return found


def _example(vpod: Vpod, server: str) -> str:
    """A server's share of the vPOD, as pods.yml has it."""
    share = 1 << (vpod.ipus // len(vpod.poplar_servers)).bit_length() - 1
    return f"{vpod.name}-{server}: {{ipus: {share}, reconfigurable: true, poplar_servers: [{server}]}}"


def _source(partition: Partition) -> str:
    """A reconfigurable partition has one GCD."""
    return f"{CONFIGURATIONS}/{partition.name}_ipuof.conf"


def _environment(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The agent's own variables, as systemd reads them."""
    for name, value in chosen.items():
        place = f"backend_ai_agent_environment.{name}"
        if not _VARIABLE.fullmatch(str(name)):
            raise Refused(f"{place}: this is no name of a variable; write one like PATH")
        if _NOT_IN_VALUES.search(str(value)):
            raise Refused(f"{place}: the value has a quote, a backslash or a control character; leave it out")
    return {str(name): str(value).replace("%", "%%") for name, value in chosen.items()}
