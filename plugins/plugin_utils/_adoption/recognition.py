# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which declared pods the agents of a controller are: by the addresses and names that the pods derive. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._desired.controllers import AGENT_PORT
from .._pod.devices import IPU_MACHINE, devices_of_pod
from .._pod.model import Declaration, Pod

# Keys of a pod in pods.yml that have to change so that it has these agents; empty for a pod that fits as it is.
Changes = dict[str, Any]
# The name or gateway address of a pod's first IPU-Machine to the pods that have one there.
Firsts = dict[str, list[Pod]]


def firsts_of(declaration: Declaration) -> Firsts:
    """Where the IPU-Machines of each declared pod begin."""
    firsts: Firsts = {}
    for pod in declaration.pods.values():
        machine = next(device for device in devices_of_pod(pod) if device.kind == IPU_MACHINE)
        for sign in (machine.name, machine.facts["gateway_address"]):
            firsts.setdefault(sign, []).append(pod)
    return firsts


def pods_of(agents: Mapping[str, Mapping[str, Any]], firsts: Firsts) -> dict[str, Changes]:
    """The pods whose IPU-Machines the agents of a cluster are, both in its order; none if that is not so."""
    rest, found = list(agents), {}
    while rest:
        for pod in (*firsts.get(rest[0], ()), *firsts.get(agents[rest[0]]["host"], ())):
            chunk = rest[: pod.model.ipu_machines]
            changes = None if pod.name in found else _changes(pod, chunk, agents)
            if changes is not None:
                found[pod.name] = changes
                rest = rest[len(chunk) :]
                break
        else:
            return {}
    return found


def _changes(pod: Pod, names: Sequence[str], agents: Mapping[str, Mapping[str, Any]]) -> Changes | None:
    """Return the overrides with which the pod has these agents; None if they are not its machines."""
    machines = [device for device in devices_of_pod(pod) if device.kind == IPU_MACHINE]
    if len(names) != len(machines) or any(agents[name]["port"] != AGENT_PORT for name in names):
        return None
    hosts = [agents[name]["host"] for name in names]
    if [machine.name for machine in machines] == list(names):
        # Some of the machines may have other addresses.
        moved = {
            machine.name: {**pod.overrides.get(machine.name, {}), "gateway_address": host}
            for machine, host in zip(machines, hosts, strict=True)
            if machine.facts["gateway_address"] != host
        }
        return {"overrides": {**pod.overrides, **moved}} if moved else {}
    if [machine.facts["gateway_address"] for machine in machines] == hosts:
        return _template(pod, names)
    return None


def _template(pod: Pod, names: Sequence[str]) -> Changes | None:
    """The machines have their addresses, but other names: the template that makes them, if there is one."""
    number = str(len(names))
    parts = names[-1].split(number)
    for place in range(1, len(parts)):
        template = f"{number.join(parts[:place])}{{n}}{number.join(parts[place:])}"
        if [template.format(n=n) for n in range(1, len(names) + 1)] == list(names):
            return {"names": {**pod.names, "ipu_machine": template}}
    return None
