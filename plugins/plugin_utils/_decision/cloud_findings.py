# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that keeps a cloud from running the machines of vPODs, from its look. Pure.

Hypervisors are looked at and never configured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import Planning
from ansible_collections.ipu.pod.plugins.module_utils._cloud.wanted import vpods_of

from .cloud_steps import PART, declared
from .finding import Finding
from .looks import Look, read

Options = Mapping[str, Any]


def cloud_findings(options: Options, look: Look) -> list[Finding]:
    """Return the findings on projects that have to stay, and on hypervisors that carry vPODs, each once."""
    seen = {each["name"]: each for each in read(look, PART)["hypervisors"]}
    found: dict[tuple[str, str], Finding] = {}
    for trait in options["traits"]:
        physical = [each["physical_network"] for each in options["networks"] if each["vpod"] == trait["vpod"]]
        # One that Nova does not know is refused.
        for name in (name for name in trait["hypervisors"] if name in seen):
            for each in _of_hypervisor(name, seen[name], physical):
                found.setdefault((name, each.finding), each)
    return [*_kept(options, look), *found.values()]


def _kept(options: Options, look: Look) -> Iterator[Finding]:
    """What no vPOD wants any more, and stays for what is in it or uses it."""
    there = read(look, PART)
    wanted = declared(options, there)
    for (kind, name), rest in Planning(wanted, there, vpods_of(wanted)).occupied.items():
        yield Finding(kind, name, f"{kind} {name} is no vPOD's any more and has {rest}", "remove that, and run again")


def _of_hypervisor(name: str, hypervisor: Mapping[str, Any], physical_networks: Sequence[str]) -> Iterator[Finding]:
    if hypervisor["state"] != "up":
        yield Finding("hypervisor", name, f"nova-compute on {name} is {hypervisor['state']}", f"start it on {name}")
    elif hypervisor["status"] != "enabled":
        remedy = f"enable it: openstack compute service set --enable {name} nova-compute"
        yield Finding("hypervisor", name, f"nova-compute on {name} is {hypervisor['status']}", remedy)
    agents = [agent for agent in hypervisor["agents"] if agent["alive"]]
    if not agents:
        remedy = f"start neutron-openvswitch-agent, or neutron-sriov-nic-agent, on {name}"
        yield Finding("hypervisor", name, f"Neutron has no agent on {name} that is alive", remedy)
        return
    for physical in dict.fromkeys(physical_networks):
        if not any(physical in agent["mappings"] for agent in agents):
            yield Finding(
                "hypervisor",
                name,
                f"no Neutron agent on {name} knows physical network {physical}",
                f"map it there, in bridge_mappings of Open vSwitch or physical_device_mappings of SR-IOV, as "
                f"{physical}:NAME",
            )
