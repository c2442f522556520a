# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that keeps a cloud from running the machines of vPODs, from its look. Pure.

Hypervisors are looked at and never configured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import vpod_of_mark
from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import Planning
from ansible_collections.ipu.pod.plugins.module_utils._cloud.wanted import vpods_of

from .cloud_steps import PART, declared
from .finding import Finding
from .looks import Look, read

Options = Mapping[str, Any]


class Agent(NamedTuple):
    """An agent of Neutron on hypervisors: how people call it, its program, and the option with its mappings."""

    name: str
    program: str
    option: str


OPEN_VSWITCH = Agent("Open vSwitch", "neutron-openvswitch-agent", "bridge_mappings")
SRIOV = Agent("SR-IOV", "neutron-sriov-nic-agent", "physical_device_mappings")


def cloud_findings(options: Options, look: Look, rnics: Mapping[str, str]) -> list[Finding]:
    """Return the findings on projects that have to stay, and on hypervisors that carry vPODs, each once.

    ``rnics`` are the interfaces of hypervisors of which machines get virtual functions, by hypervisor.
    """
    seen = {each["name"]: each for each in read(look, PART)["hypervisors"]}
    found: dict[tuple[str, str], Finding] = {}
    for trait in options["traits"]:
        physical = [each["physical_network"] for each in options["networks"] if each["vpod"] == trait["vpod"]]
        # One that Nova does not know is refused.
        for name in (name for name in trait["hypervisors"] if name in seen):
            for each in _of_hypervisor(name, seen[name], physical, rnics.get(name, "")):
                found.setdefault((name, each.finding), each)
    return [*_kept(options, look), *found.values()]


def _kept(options: Options, look: Look) -> Iterator[Finding]:
    """What no vPOD wants any more, and stays for what is in it or uses it."""
    there = read(look, PART)
    wanted = declared(options, there)
    for (kind, name), rest in Planning(wanted, there, map(vpod_of_mark, vpods_of(wanted))).occupied.items():
        yield Finding(kind, name, f"{kind} {name} is no vPOD's any more and has {rest}", "remove that, and run again")


def _of_hypervisor(
    name: str, hypervisor: Mapping[str, Any], physical_networks: Sequence[str], rnic: str
) -> Iterator[Finding]:
    """The findings on one; ``rnic`` is its interface where machines get its virtual functions, else empty."""
    if hypervisor["state"] != "up":
        yield Finding("hypervisor", name, f"nova-compute on {name} is {hypervisor['state']}", f"start it on {name}")
    elif hypervisor["status"] != "enabled":
        remedy = f"enable it: openstack compute service set --enable {name} nova-compute"
        yield Finding("hypervisor", name, f"nova-compute on {name} is {hypervisor['status']}", remedy)
    kind = SRIOV if rnic else OPEN_VSWITCH
    agents = [agent for agent in hypervisor["agents"] if agent["binary"] == kind.program and agent["alive"]]
    if not agents:
        finding = f"Neutron has no agent for {kind.name} on {name} that is alive"
        yield Finding("hypervisor", name, finding, f"start {kind.program} on {name}")
        return
    for physical in dict.fromkeys(physical_networks):
        mapped = next((agent["mappings"][physical] for agent in agents if physical in agent["mappings"]), None)
        right = f"{physical}:{rnic or 'BRIDGE'}"
        if mapped is None:
            finding = f"no Neutron agent for {kind.name} on {name} knows physical network {physical}"
            yield Finding("hypervisor", name, finding, f"map it there, in {kind.option}, as {right}")
        elif rnic and rnic not in mapped:
            finding = (
                f"Neutron on {name} has {', '.join(mapped)} for physical network {physical}, and the RNIC is {rnic}"
            )
            yield Finding("hypervisor", name, finding, f"correct {kind.option} there: {right}")
