# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that keeps a cloud from running the machines of vPODs, from its look. Pure.

Hypervisors are looked at and never configured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .cloud_steps import PART
from .finding import Finding
from .looks import Look, read

Options = Mapping[str, Any]


def cloud_findings(options: Options, look: Look) -> list[Finding]:
    """Return the findings on the hypervisors that carry vPODs, each once."""
    seen = {each["name"]: each for each in read(look, PART)["hypervisors"]}
    found: dict[tuple[str, str], Finding] = {}
    for trait in options["traits"]:
        physical = [each["physical_network"] for each in options["networks"] if each["vpod"] == trait["vpod"]]
        # One that Nova does not know is refused.
        for name in (name for name in trait["hypervisors"] if name in seen):
            for each in _of_hypervisor(name, seen[name], physical):
                found.setdefault((name, each.finding), each)
    return list(found.values())


def _of_hypervisor(name: str, hypervisor: Mapping[str, Any], physical_networks: Sequence[str]) -> Iterator[Finding]:
    if not hypervisor["up"]:
        yield Finding("hypervisor", name, f"nova-compute on {name} is down", f"start it on {name}")
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
