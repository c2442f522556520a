# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RNIC port of a vPOD on a machine that runs: what a look has of it, and the steps to plug and unplug it. Pure.

The state has two kinds, by the name of the port: ``port``, as Neutron has it, and ``plug``, once the machine has it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator, Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import CREATE, DESTRUCTIVE, DISRUPTIVE, REMOVE, State, Step
from .entities import ACTIVE, NETWORK, PORT, SERVER, Look, Thing, things

PLUG = "plug"


@dataclass(frozen=True)
class Wanted:
    """A port as it is asked for.

    Args:
        machine: the name of a machine of the cloud, or its UUID.
        network: the RNIC network of the vPOD.
        hypervisors: those on which a machine reaches the vPOD's IPU-Machines.
        others: the projects of other vPODs, with the vPOD of each.
        leaving: the vPODs that the machine is detached from before.
    """

    machine: str
    vpod: str
    network: str
    hypervisors: Sequence[str] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    leaving: Sequence[str] = ()


def machine_in(look: Look, name: str) -> Thing:
    """The machine with a name or a UUID. Raises Refused: there is none, or there are several."""
    found = [each for each in things(look, SERVER) if name in (each["id"], each["name"])]
    if not found:
        raise Refused(f"machine {name}: Nova has none of this name; `openstack server list --all` shows those it has")
    if len(found) > 1:
        listed = ", ".join(f"{each['id']} of project {each['project']}" for each in found)
        raise Refused(f"machine {name}: Nova has several of this name, {listed}; name one by its UUID")
    return found[0]


def address_in(look: Look, machine: Thing, network: str) -> str:
    """The address of a machine in a network; empty where it has none."""
    addresses = [each for port in _ports_of(look, machine) if port["network"] == network for each in port["addresses"]]
    return str(addresses[0]) if addresses else ""


def port_in(look: Look, wanted: Wanted, machine: Thing) -> Thing:
    """The port that was made for a machine here; empty where there is none."""
    name = port_name(wanted.vpod, machine)
    return next((each for each in _made_here(look, wanted.vpod) if each["name"] == name), {})


def port_name(vpod: str, machine: Thing) -> str:
    """What the port of a vPOD on a machine is called: by what no other machine of the cloud is called."""
    return f"vpod-{vpod}-{machine['id']}"


def state_of(look: Look, wanted: Wanted) -> State:
    """The ports that were made for attachments to the vPOD, and which of them are plugged in."""
    made = _made_here(look, wanted.vpod)
    return {
        PORT: {each["name"]: {"project": each["project"], "network": each["network"]} for each in made},
        PLUG: {each["name"]: {"machine": each["device_id"]} for each in made if each["device_id"]},
    }


def plan(wanted: Wanted, look: Look) -> list[Step]:
    """The steps after which the machine has a port of the vPOD. Raises Refused: it may not, or it cannot."""
    machine = machine_in(look, wanted.machine)
    problems = [*_machine_problems(look, wanted, machine), *_network_problems(look, wanted)]
    if problems:
        raise Refused("; ".join(problems))
    state, name = state_of(look, wanted), port_name(wanted.vpod, machine)
    # Nova takes a port of the machine's own project alone.
    port, plug = {"project": machine["project"], "network": wanted.network}, {"machine": machine["id"]}
    steps = list(_left_over(look, wanted, state))
    if name not in state[PORT]:
        steps.append(Step(CREATE, PORT, name, "is not there", after=port))
    if name not in state[PLUG]:
        steps.append(Step(CREATE, PLUG, name, f"machine {machine['name']} does not have it", after=plug))
    return steps


def plan_removal(wanted: Wanted, look: Look) -> list[Step]:
    """The steps after which the machine has no port of the vPOD. Raises Refused: it has one that is its tenant's."""
    machine = machine_in(look, wanted.machine)
    own = _own_port(look, wanted, machine)
    if own:
        raise Refused(own)
    state, name = state_of(look, wanted), port_name(wanted.vpod, machine)
    risks = {PLUG: DISRUPTIVE, PORT: DESTRUCTIVE}
    return [
        Step(REMOVE, kind, name, "is not wanted", risk, before=state[kind][name])
        for kind, risk in risks.items()
        if name in state[kind]
    ]


def _left_over(look: Look, wanted: Wanted, state: State) -> Iterator[Step]:
    """Nova keeps a port that it has not made when its machine is deleted."""
    names = {port_name(wanted.vpod, each) for each in things(look, SERVER)}
    for name in sorted(set(state[PORT]) - set(state[PLUG]) - names):
        yield Step(REMOVE, PORT, name, "its machine is gone", DESTRUCTIVE, before=state[PORT][name])


def _machine_problems(look: Look, wanted: Wanted, machine: Thing) -> Iterator[str]:
    name, project = machine["name"], machine["project"]
    if machine["status"] != ACTIVE:
        yield f"machine {name} is {machine['status']} and not {ACTIVE}; start it first"
    if project in wanted.others:
        yield (
            f"machine {name} is of project {project}, which is vPOD {wanted.others[project]}'s; a machine of vPOD "
            f"{wanted.vpod}'s project, or of one that no vPOD has, may have its IPUs"
        )
    if machine["hypervisor"] not in wanted.hypervisors:
        yield (
            f"machine {name} is on {machine['hypervisor']}, which does not carry vPOD {wanted.vpod}; add it to its "
            f"poplar_servers in pods.yml and run vpods.yml, or migrate the machine to {_listed(wanted.hypervisors)}"
        )
    networks = {each["id"]: each for each in things(look, NETWORK)}
    vpods = {networks.get(port["network_id"], {}).get("vpod") for port in _ports_of(look, machine)}
    for other in sorted({each for each in vpods if each} - {wanted.vpod, *wanted.leaving}):
        yield f"machine {name} has a port of vPOD {other}, and would join the two; detach it from that first"
    own = _own_port(look, wanted, machine)
    if own:
        yield own


def _network_problems(look: Look, wanted: Wanted) -> Iterator[str]:
    networks = [each for each in things(look, NETWORK) if each["name"] == wanted.network]
    if not any(each["vpod"] == wanted.vpod for each in networks):
        yield f"vPOD {wanted.vpod} has no network {wanted.network} in this cloud; run openstack.yml first"


def _own_port(look: Look, wanted: Wanted, machine: Thing) -> str:
    """What is wrong where a machine has a port of the vPOD that was not made here; empty if it has none."""
    made = {each["id"] for each in _made_here(look, wanted.vpod)}
    own = [p for p in _ports_of(look, machine) if p["network"] == wanted.network and p["id"] not in made]
    if not own:
        return ""
    return (
        f"machine {machine['name']} has port {own[0]['name'] or own[0]['id']} of its own on network {wanted.network}, "
        "which is not touched; it has the vPOD already"
    )


def _made_here(look: Look, vpod: str) -> list[Thing]:
    """The ports that were made for attachments to a vPOD; a tenant can mark theirs so, but not on its network."""
    ours = {each["id"] for each in things(look, NETWORK) if each["vpod"] == vpod}
    return [each for each in things(look, PORT) if each.get("attached") == vpod and each["network_id"] in ours]


def _ports_of(look: Look, machine: Thing) -> list[Thing]:
    return [each for each in things(look, PORT) if each["device_id"] == machine["id"]]


def _listed(names: Sequence[str]) -> str:
    return " or ".join(names) or "one that does"
