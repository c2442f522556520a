# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What on a server is in the way of an agent that has IPUs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .agents import Agent

# What Docker says of itself, and what becomes of containers there.
_UNFIT = {
    "name=rootless": "runs without root's rights, and has no network on the RNIC; run it as root",
    "name=userns": "maps users (userns-remap), and root of a container may not lock memory for RDMA; switch that off",
}
_SITE_FIRST = "run playbooks/vpods.yml, which makes it"


def refusals(agent: Agent, found: Mapping[str, Any], choice: Mapping[str, Any]) -> list[str]:
    """One sentence for each thing, by what module backend_ai_info has found on the server."""
    return [*_of_agent(found, choice), *_of_docker(agent, found["docker"]), *_of_ipus(agent, found)]


def _of_agent(found: Mapping[str, Any], choice: Mapping[str, Any]) -> Iterator[str]:
    unit, plugin = found["unit"], found["plugin"]
    if "message" in unit:
        yield f"{choice['service']} could not be asked for ({unit['message']})"
    elif not unit["is_installed"]:
        yield f"there is no {choice['service']}; install Backend.AI's agent, or correct backend_ai_agent_service"
    for place in unit.get("hidden_by", ()):
        yield f"{place} comes before /etc/backend.ai/ipu.toml; remove it"
    if "message" in plugin:
        yield f"{choice['python']} is not the Python of Backend.AI's agent ({plugin['message']})"
    elif not plugin and not choice["plugin"]:
        yield f"{choice['python']} has no accelerator plugin ipu; name one in backend_ai_agent_plugin"


def _of_docker(agent: Agent, docker: Mapping[str, Any]) -> Iterator[str]:
    if "message" in docker:
        yield f"Docker does not answer ({docker['message']}); start it"
        return
    for word, consequence in _UNFIT.items():
        if any(each.split(",")[0] == word for each in docker["security"]):
            yield f"Docker {consequence}"
    if agent.network not in docker["networks"]:
        yield f"Docker has no network {agent.network}; {_SITE_FIRST}"
    elif len(docker["networks"][agent.network]) != 1:
        has = ", ".join(docker["networks"][agent.network]) or "none"
        yield f"network {agent.network} of Docker needs one IPv4 subnet, and has {has}; remove it, and {_SITE_FIRST}"


def _of_ipus(agent: Agent, found: Mapping[str, Any]) -> Iterator[str]:
    ipus = found["ipus"]
    if "message" in ipus:
        yield (
            f"the IPUs of partition {agent.partition} are not known ({ipus['message']}); run playbooks/vpods.yml, and "
            "see that gc-monitor is in the PATH of backend_ai_agent_environment"
        )
    elif ipus["in_file"] != ipus["shown"]:
        both = set(ipus["in_file"]) & set(ipus["shown"])
        yield (
            f"{agent.source} has {len(ipus['in_file'])} IPUs, and gc-monitor shows {len(ipus['shown'])}, of which "
            f"{len(both)} are the same, so the plugin would not know which is which; run playbooks/vpods.yml"
        )
    if not found["has_rdma"]:
        yield "there is no /dev/infiniband, and containers would have no RDMA; load the RNIC's driver"
