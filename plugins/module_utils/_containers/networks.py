# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container networks as they are and as they should be, and the plan between the two. Pure.

The state has four kinds. ``container_engine`` are those that are installed, each with the ``message`` why it cannot be
used, empty where it can. By ``ENGINE/NAME``, ``container_network`` are the networks that bear the label of this
collection, and ``foreign_network`` all others, with ``driver``, ``interface``, ``subnet``, ``range`` and the
``containers`` that have it. ``virtual_function`` are those of NICs, by ``NIC vf NUMBER``, each with its network
``device``, empty where it has none here. An ``interface`` that is one of these is called so, too, since which device it
is may change with a restart of the server.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from ipaddress import ip_network
from typing import Any, Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import CREATE, DISRUPTIVE, RECREATE, REMOVE, Fields, State, Step, changed_fields, reason_for

ENGINE, NETWORK, FOREIGN = "container_engine", "container_network", "foreign_network"
FUNCTION = "virtual_function"
# By this a network is known again.
LABEL, MARK = "ipu.pod", "network"
MACVLAN = "macvlan"
_VF = " vf "
# The drivers that give containers addresses on the network of an interface.
_ON_AN_INTERFACE = (MACVLAN, "ipvlan")


@dataclass(frozen=True)
class Network:
    """A macvlan network.

    Args:
        interface: the NIC that its containers send through.
        subnet: the subnet that they are in, such as ``10.5.0.0/16``.
        range: the part of it that they have addresses from, such as ``10.5.1.128/27``.
        function: number of the NIC's virtual function that they send through, one container at a time; None: the NIC.
    """

    name: str
    interface: str
    subnet: str
    range: str
    function: int | None = None

    @property
    def place(self) -> str:
        """Its ``interface`` in the state."""
        return self.interface if self.function is None else function_name(self.interface, self.function)

    def fields(self) -> Fields:
        """As in the state."""
        fields = asdict(self)
        del fields["name"], fields["function"]
        return {"driver": MACVLAN, **fields, "interface": self.place, "containers": []}


def function_name(nic: str, number: int) -> str:
    """What a virtual function is called in the state, in the words of ``ip link``."""
    return f"{nic}{_VF}{number}"


def is_function(interface: str) -> bool:
    """Whether an interface of the state is a virtual function: the kernel's own names have no blanks."""
    return _VF in interface


def networks_from(options: Sequence[Mapping[str, Any]]) -> list[Network]:
    """The declared networks.

    Raises:
        Refused: one is malformed, or two have one name or share addresses.
    """
    networks = [
        Network(each["name"], each["interface"], each["subnet"], each["range"], each.get("function"))
        for each in options
    ]
    for number, network in enumerate(networks):
        place = f"network {network.name}"
        subnet, given = (_addresses(place, key, getattr(network, key)) for key in ("subnet", "range"))
        if subnet.version != 4 or given.version != 4:
            raise Refused(f"{place}: RNICs have IPv4 addresses, and {subnet} is IPv6")
        if not given.subnet_of(subnet):
            raise Refused(f"{place}: range {given} is not in subnet {subnet}; give a part of the subnet")
        for other in networks[:number]:
            if other.name == network.name:
                raise Refused(f"{place}: is there twice; give each network its own name")
            if _overlap(other.range, network.range):
                raise Refused(f"{place}: range {given} overlaps with that of network {other.name}; give it another")
    return networks


def plan(networks: Sequence[Network], actual: State) -> list[Step]:
    """Remove what is not declared, then make what is, in each engine.

    Raises:
        Refused: no engine is there, or one cannot be used; a container has a network that is to go; or that of
            somebody else is in the way.
    """
    engines = actual[ENGINE]
    if networks and not engines:
        raise Refused("this server has neither podman nor Docker; install one of them, or leave containers out")
    for engine, said in engines.items():
        # Without a network to make, an engine that is down has none that anybody uses.
        if networks and said["message"]:
            raise Refused(f"{engine} {said['message']}")
    wanted = {
        f"{engine}/{network.name}": replace(network, range=shares_of(network.range, len(engines))[number])
        for number, engine in enumerate(sorted(engines, reverse=True))
        for network in networks
    }
    for network in networks:
        _refuse_taken_function(network, actual[FUNCTION])
    ours = actual[NETWORK]
    for name, network in wanted.items():
        _refuse_others(name, network, actual[FOREIGN])
    gone = [name for name in ours if name not in wanted]
    steps = [Step(REMOVE, NETWORK, name, "is not declared", before=ours[name]) for name in gone]
    for name, network in wanted.items():
        steps += _made(name, network.fields(), ours.get(name))
    for step in steps:
        if step.before is not None and step.before["containers"]:
            raise Refused(
                f"{_spelled(step.name)} {_why(step)}, and {', '.join(step.before['containers'])} has it; remove that "
                "container first"
            )
    return steps


def shares_of(given: str, number: int) -> list[str]:
    """A range in equal shares, since two engines know nothing of each other's containers."""
    whole = ip_network(given)
    return [str(each) for each in whole.subnets(prefixlen_diff=(number - 1).bit_length())]


def _made(name: str, wanted: Fields, before: Fields | None) -> list[Step]:
    if before is None:
        return [Step(CREATE, NETWORK, name, "is missing", after=wanted)]
    changes = changed_fields({**before, "containers": []}, wanted)
    if not changes:
        return []
    return [Step(RECREATE, NETWORK, name, reason_for(before, changes), DISRUPTIVE, before=before, after=wanted)]


def _refuse_others(name: str, network: Network, others: Mapping[str, Fields]) -> None:
    if name in others:
        raise Refused(
            f"{_spelled(name)} is there and was not made by this collection; remove it, or give the vPOD another name"
        )
    for other, fields in others.items():
        # Without a range it gives out the whole subnet.
        given = fields["range"] or fields["subnet"]
        is_beside = fields["driver"] in _ON_AN_INTERFACE and fields["interface"] == network.place
        if is_beside and network.function is not None:
            raise Refused(
                f"{_spelled(other)} was not made by this collection, and has {network.place}, which is for "
                f"{network.name} alone; remove it"
            )
        if is_beside and given and _overlap(given, network.range):
            raise Refused(
                f"{_spelled(other)} was not made by this collection, and gives out {given} on {network.interface}, of "
                f"which {network.range} is for {network.name}; remove it"
            )


def _refuse_taken_function(network: Network, functions: Mapping[str, Fields]) -> None:
    """One that is not there yet may be made by the same run."""
    if network.function is not None and functions.get(network.place, {}).get("device") == "":
        raise Refused(
            f"virtual function {network.function} of {network.interface}, for network {network.name}, has no network "
            "device on this server; take it back from the virtual machine that has it, or load the NIC's driver for it"
        )


def _why(step: Step) -> str:
    return "is not declared" if step.action == REMOVE else f"is to be made again ({step.reason})"


def _spelled(name: str) -> str:
    engine, _slash, network = name.partition("/")
    return f"network {network} of {engine}"


def _addresses(place: str, key: str, text: str) -> Any:
    try:
        return ip_network(text)
    except ValueError as error:
        raise Refused(f"{place}: {key} {error}; write one like 10.5.0.0/16") from None


def _overlap(one: str, other: str) -> bool:
    # A range that is no network, such as 10.5.1.7-10.5.1.9, is compared by its first and last address.
    first, second = _ends(one), _ends(other)
    return first is None or second is None or (first[0] <= second[1] and second[0] <= first[1])


def _ends(text: str) -> tuple[int, int] | None:
    try:
        if "-" in text:
            start, end = (ip_network(each) for each in text.split("-"))
            return int(start[0]), int(end[0])
        network = ip_network(text)
    except ValueError:
        return None
    return int(network[0]), int(network[-1])
