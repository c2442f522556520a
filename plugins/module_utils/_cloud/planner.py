# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What vPODs should have in a cloud against what it holds, as ordered steps. Pure."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator

from .._plan.converge import Refused
from .._plan.steps import (
    CREATE,
    DESTRUCTIVE,
    DISRUPTIVE,
    NO_RISK,
    REMOVE,
    TENANT_OUTAGE,
    UPDATE,
    Fields,
    State,
    Step,
    changed_fields,
    reason_for,
)
from .entities import (
    ERROR,
    FLAVOR,
    IMAGE,
    KEY,
    KINDS,
    MEMBER,
    NETWORK,
    PORT,
    PROJECT,
    QUOTA,
    SECURITY_GROUP,
    SERVER,
    SUBNET,
    TRAIT,
    VOLUME,
    VOLUME_ERROR,
    Desired,
    Look,
    Thing,
    is_of_controller,
    plural,
    things,
    vpod_of_mark,
)
from .found import Entity, Found, is_half_made
from .refusals import refusals
from .wanted import absent_vpods, vpods_of, wanted

# What goes where nobody wants it any more. Volumes and images hold data, and projects may hold others'.
_GOING = (MEMBER, NETWORK, SUBNET, SECURITY_GROUP, FLAVOR, TRAIT, KEY, PORT, SERVER)
# What OpenStack cannot change: the thing is removed and created again, if nobody uses it.
_IMMUTABLE = {
    NETWORK: ("physical_network",),
    SUBNET: ("network", "cidr"),
    FLAVOR: ("vcpus", "ram", "disk", "extra_specs"),
    PORT: ("vnic_type",),
    VOLUME: (),
    SERVER: ("flavor", "image", "key"),
}
OTHER_DATA = "its data are not those of the file; what is there is hidden and stays for the machines made of it"
# What keeps a project that nobody wants any more.
_KEEPING = (SERVER, PORT, VOLUME, "snapshot", IMAGE)
_ALLOW = "say with allow_interruption (in a run, vpods_interrupt) that vPOD {vpod} may be interrupted"

# The fields of a server from which something may be taken as it runs.
_LISTS = ("ports", "volumes")
# What goes and why.
Reasons = Dict[Entity, str]


def plan(desired: Desired, look: Look, allow_interruption: Iterable[str] = ()) -> list[Step]:
    """The steps that make a cloud what the options want: removals from children to parents, then the rest.

    What is marked with a vPOD of the options, and not among them, goes; volumes never, projects only when they are
    empty. What is not marked is never touched.

    Args:
        desired: the options of ``ipu.pod.cloud_state``.
        look: what the cloud holds.
        allow_interruption: the vPODs whose machines may be deleted, made again, or lose a network or a volume.

    Raises:
        Refused: something cannot or may not be done. Says all that is wrong.
    """
    return Planning(desired, look, allow_interruption).steps()


def state_of(desired: Desired, look: Look) -> State:
    """What of a look concerns the options, by kind and name: the ``before`` and ``after`` of a change."""
    return Found(desired, look, wanted(desired, look)).state


def without_what_goes(desired: Desired, look: Look, steps: Iterable[Step]) -> Look:
    """The look as it is when the removals among these steps, which were planned on it, have been carried out."""
    found = Found(desired, look, wanted(desired, look))
    gone = {(step.kind, _id(found, step)) for step in steps if step.action == REMOVE}
    return {
        **look,
        **{
            plural(kind): [each for each in things(look, kind) if (kind, each.get("id")) not in gone]
            for kind in KINDS
            if plural(kind) in look
        },
    }


def kept(desired: Desired, look: Look) -> list[str]:
    """One sentence for each thing that no vPOD wants any more and that stays for what is in it or uses it."""
    planning = Planning(desired, look, map(vpod_of_mark, vpods_of(desired)))
    return [
        f"{kind} {name}: no vPOD has it any more, and it is kept for {rest}; remove that, and run again"
        for (kind, name), rest in planning.occupied.items()
    ]


def machines_to_make(steps: Iterable[Step]) -> dict[str, str]:
    """VPODs of which a machine is to be made, each with the name of one; those of V-IPU controllers are not theirs."""
    made = [step for step in steps if (step.action, step.kind) == (CREATE, SERVER)]
    vpods = {(step.after or {})["vpod"]: step.name for step in made}
    return {vpod: name for vpod, name in vpods.items() if not is_of_controller(vpod)}


class Planning:
    """One plan on its way: what is wanted, what was found, what goes."""

    def __init__(self, desired: Desired, look: Look, allow_interruption: Iterable[str]) -> None:
        self.look = look
        self.allowed = set(allow_interruption)
        self.wanted = wanted(desired, look)
        self.found = Found(desired, look, self.wanted)
        self.absent = set(absent_vpods(desired))
        self.problems: list[str] = []
        self.goes: Reasons = {}
        self.occupied: dict[Entity, str] = {}
        self._find_what_goes()
        self.problems[:0] = refusals(desired, look, self.wanted, self.found, self.goes)

    def steps(self) -> list[Step]:
        """The ordered steps."""
        steps = [*self._removals(), *self._creations_and_updates()]
        if self.problems:
            raise Refused("; ".join(dict.fromkeys(self.problems)))
        return steps

    def _find_what_goes(self) -> None:
        for kind in _GOING:
            for name in self.found.state[kind]:
                if name not in self.wanted[kind] and self._is_ours(kind, name):
                    self.goes[kind, name] = self._reason_to_go(kind, name)
        for kind in _IMMUTABLE:
            self._find_what_is_made_again(kind)
        self._find_what_goes_with_another()
        for name in self._going_of(NETWORK):
            self._clear_network(name)
        for name in sorted(set(self._going_of(FLAVOR)) & set(self.wanted[FLAVOR])):
            self._refuse_used_flavor(name)
        for name in self._going_of(SECURITY_GROUP):
            self._keep_used_group(name)
        for name in sorted(set(self.found.state[PROJECT]) - set(self.wanted[PROJECT])):
            self._find_project(name)

    def _is_ours(self, kind: str, name: str) -> bool:
        """Whether it is marked; the port of somebody else is on a network of ours."""
        return kind != PORT or self.found.things[kind, name]["vpod"] is not None

    def _is_left_over(self, name: str) -> bool:
        """Whether a port belongs to a machine that is not there: Nova lets go of it later, or never."""
        port = self.found.things[PORT, name]
        return bool(port["device_id"]) and not self.found.server_of(port)

    def _comes_again(self, kind: str, name: str) -> bool:
        return (kind, name) in self.goes and name in self.wanted[kind]

    def _going_of(self, kind: str) -> list[str]:
        return [name for other, name in self.goes if other == kind]

    def _find_what_goes_with_another(self) -> None:
        for name, server in self.found.state[SERVER].items():
            if (FLAVOR, server.get("flavor")) in self.goes:
                self.goes.setdefault((SERVER, name), f"its flavor {server['flavor']} is made again")
            elif replaced := next((port for port in server["ports"] if self._comes_again(PORT, port)), ""):
                self.goes.setdefault((SERVER, name), f"its port {replaced} is made again")
        for name, subnet in self.found.state[SUBNET].items():
            if (NETWORK, subnet["network"]) in self.goes:
                self.goes.setdefault((SUBNET, name), f"its network {subnet['network']} goes")

    def _reason_to_go(self, kind: str, name: str) -> str:
        vpod = self.found.things[kind, name].get("vpod")
        if vpod in self.absent:
            return f"vPOD {vpod} is absent"
        if kind == TRAIT:
            return "its vPOD is absent"
        return f"is not declared for vPOD {vpod}" if vpod else "is not declared"

    def _find_what_is_made_again(self, kind: str) -> None:
        for name, fields in self.wanted[kind].items():
            there = self.found.state[kind].get(name)
            if there is None:
                continue
            comparable = {field: fields[field] for field in _IMMUTABLE[kind] if field in fields and field in there}
            changes = changed_fields(there, comparable)
            if changes:
                self.goes[kind, name] = f"{reason_for(there, changes)}, and that is made again"
            elif kind == SERVER and there["status"] == ERROR:
                said = self.found.things[kind, name].get("fault")
                self.goes[kind, name] = f"it is in ERROR{f' ({said})' if said else ''}, and is made again"
            elif kind == PORT and self._is_left_over(name):
                self.goes[kind, name] = "it is still that of a machine that was deleted, and is made again"
            elif kind == VOLUME and self.found.things[kind, name]["status"] == VOLUME_ERROR:
                self.goes[kind, name] = "Cinder could not make it, and it is made again"

    def _clear_network(self, name: str) -> None:
        """Take what is on a network that goes off it, or say who is there."""
        network = self.found.things[NETWORK, name]
        names = {thing["id"]: name for (kind, name), thing in self.found.things.items() if kind == PORT}
        for port in self.found.on_network(network["id"]):
            port_name = names.get(port["id"], "")
            if (PORT, port_name) in self.goes:
                continue
            server = self.found.server_of(port)
            who = f"machine {server['name']} of project {server['project']}" if server else f"port {port['id']}"
            made_again = name in self.wanted[NETWORK]
            if made_again or not self._may_interrupt(network["vpod"]):
                remedy = "remove it" if made_again else _allow(network["vpod"])
                self.problems.append(f"network {name}: {self.goes[NETWORK, name]}, but {who} is on it; {remedy}")
            else:
                self.goes[PORT, port_name] = f"{who} is on network {name}, which goes"

    def _refuse_used_flavor(self, name: str) -> None:
        going = {self.found.things[SERVER, server]["id"] for server in self._going_of(SERVER)}
        users = [each for each in things(self.look, SERVER) if each["flavor"] == name and each["id"] not in going]
        if users:
            listed = ", ".join(f"{each['name']} of project {each['project']}" for each in users)
            self.problems.append(
                f"flavor {name}: {self.goes[FLAVOR, name]}, but machines were made of it: {listed}; their tenant "
                "deletes them first, or the vPOD keeps its flavor"
            )

    def _keep_used_group(self, name: str) -> None:
        group = self.found.things[SECURITY_GROUP, name]["id"]
        going = self._going()
        users = [each for each in things(self.look, PORT) if group in each["group_ids"]]
        rest = [_called(PORT, each) for each in users if (PORT, each["id"]) not in going]
        if rest:
            self.occupied[SECURITY_GROUP, name] = ", ".join(rest)
            del self.goes[SECURITY_GROUP, name]

    def _find_project(self, name: str) -> None:
        project = self.found.things[PROJECT, name]["id"]
        going = self._going()
        rest = [
            _called(kind, each)
            for kind in _KEEPING
            for each in things(self.look, kind)
            if each.get("project_id") == project and (kind, each["id"]) not in going and not _is_neutrons(each)
        ]
        if rest:
            self.occupied[PROJECT, name] = ", ".join(rest)
        else:
            self.goes[PROJECT, name] = self._reason_to_go(PROJECT, name)

    def _going(self) -> set[tuple[str, str]]:
        """Kinds and ids of what goes and does not come back."""
        return {
            (kind, self.found.things[kind, name]["id"]) for kind, name in self.goes if name not in self.wanted[kind]
        }

    def _removals(self) -> Iterator[Step]:
        for kind in reversed(KINDS):
            for name, before in self.found.state[kind].items():
                reason = self.goes.get((kind, name))
                if reason is not None:
                    if kind in (SERVER, PORT):
                        self._need_permission(kind, name, reason)
                    yield Step(REMOVE, kind, name, reason, _risk_of_removal(kind), before=before)

    def _creations_and_updates(self) -> Iterator[Step]:
        for kind in KINDS:
            for name, fields in self.wanted[kind].items():
                there = self.found.state[kind].get(name)
                if there is None and kind == QUOTA:
                    yield Step(CREATE, kind, name, "is that of a new project", after=fields)
                elif there is None or (kind, name) in self.goes:
                    reason = "is not there" if there is None else "was removed and is created again"
                    yield Step(CREATE, kind, name, reason, after=fields)
                else:
                    yield from self._update(kind, name, there, fields)

    def _update(self, kind: str, name: str, there: Fields, fields: Fields) -> Iterator[Step]:
        kept_by_nova = ("status", *(field for field in _IMMUTABLE.get(kind, ()) if field not in there))
        changes = changed_fields(there, {field: each for field, each in fields.items() if field not in kept_by_nova})
        if not changes:
            return
        reason = OTHER_DATA if kind == IMAGE else reason_for(there, changes)
        risk = self._risk_of_update(kind, name, there, changes, reason)
        yield Step(UPDATE, kind, name, reason, risk, before=there, after={**there, **changes})

    def _risk_of_update(self, kind: str, name: str, there: Fields, changes: Fields, reason: str) -> str:
        if kind == VOLUME:
            self._refuse_size(name, there, changes, reason)
        if kind == SERVER and any(set(there[field]) - set({**there, **changes}[field]) for field in _LISTS):
            self._need_permission(kind, name, reason)
            return DISRUPTIVE
        if kind == PORT and "address" in changes and self.found.things[kind, name]["device_id"]:
            self._need_permission(kind, name, reason)
            return DISRUPTIVE
        if kind == NETWORK and "vlan" in changes:
            self._need_permission_for_network(name, reason)
            return DISRUPTIVE
        return NO_RISK

    def _refuse_size(self, name: str, there: Fields, changes: Fields, reason: str) -> None:
        going = {self.found.things[SERVER, each]["id"] for each in self._going_of(SERVER)}
        if changes["size"] < there["size"]:
            self.problems.append(f"volume {name}: {reason}; Cinder makes no volume smaller: declare the size it has")
        elif set(self.found.things[VOLUME, name]["servers"]) - going:
            self.problems.append(
                f"volume {name}: {reason}; it is attached, and not every Cinder makes such a volume larger: take it "
                "out of its machine's volumes first"
            )

    def _need_permission_for_network(self, name: str, reason: str) -> None:
        thing = self.found.things[NETWORK, name]
        servers = [self.found.server_of(port) for port in self.found.on_network(thing["id"])]
        listed = ", ".join(sorted(f"{each['name']} of project {each['project']}" for each in servers if each))
        if listed and not self._may_interrupt(thing["vpod"]):
            self.problems.append(f"network {name}: {reason}, and machines are on it: {listed}; {_allow(thing['vpod'])}")

    def _need_permission(self, kind: str, name: str, reason: str) -> None:
        thing = self.found.things[kind, name]
        server: Any = thing if kind == SERVER else self.found.server_of(thing)
        vpod = thing["vpod"] or server.get("vpod")
        if not server or is_half_made(server) or vpod is None:
            return
        if kind == SERVER and is_of_controller(vpod) and name in self.wanted[SERVER]:
            # Whoever lets a vPOD be interrupted does not mean that its controller forgets all it has.
            self.problems.append(
                f"server {name}: {reason}; a V-IPU controller keeps its storage there, so no run makes it again; "
                f"declare what it has, or make vPOD {vpod_of_mark(vpod)} absent first"
            )
        elif not self._may_interrupt(vpod):
            self.problems.append(f"{kind} {name}: {reason}; that interrupts machine {server['name']}; {_allow(vpod)}")

    def _may_interrupt(self, mark: str) -> bool:
        """Whether the machines of a mark may be interrupted; who names a vPOD means its controller, too."""
        return vpod_of_mark(mark) in self.allowed


def _allow(mark: str) -> str:
    return _ALLOW.format(vpod=vpod_of_mark(mark))


def _risk_of_removal(kind: str) -> str:
    if kind == SERVER:
        return TENANT_OUTAGE
    if kind == PORT:
        return DISRUPTIVE
    return DESTRUCTIVE


def _called(kind: str, thing: Thing) -> str:
    return f"{kind} {thing.get('name') or thing['id']}"


def _is_neutrons(thing: Thing) -> bool:
    return str(thing.get("device_owner", "")).startswith("network:")


def _id(found: Found, step: Step) -> Any:
    return found.things[step.kind, step.name].get("id")
