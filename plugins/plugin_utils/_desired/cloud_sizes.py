# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How flavors and rules of security groups are said in the options of cloud_state. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._pod.clouds import Machine

Options = dict[str, Any]

SSH = 22


def size(machine: Machine, trait: str) -> Options:
    """What a flavor gives a machine, on hypervisors with a trait alone."""
    extra_specs = {f"trait:{trait}": "required"}
    if machine.dedicated_cpus:
        extra_specs["hw:cpu_policy"] = "dedicated"
    if machine.huge_pages:
        extra_specs["hw:mem_page_size"] = "large"
    if machine.numa_nodes is not None:
        extra_specs["hw:numa_nodes"] = str(machine.numa_nodes)
    return {"vcpus": machine.vcpus, "ram": machine.memory, "disk": machine.disk, "extra_specs": extra_specs}


def rules(port: int, sources: Iterable[str]) -> list[Options]:
    """The rules of a security group that let some sources reach a TCP port."""
    return [{"protocol": "tcp", "port": port, "remote": source} for source in sources]
