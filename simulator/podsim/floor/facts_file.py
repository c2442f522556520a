# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The `sim:` section of a pods.yml, as facts.

Only this section is read, and nothing is derived from it: every MAC, address, cable and MTU is written there. Where
several pods.yml declare different things for one floor, one has the section, and the others its path, alone or as
`floor` beside the `software`, the `clouds` and the `virtual_functions` of RNICs that they add.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any, TypeVar

import yaml

from podsim.floor.errors import FloorError
from podsim.floor.facts import (
    Cable,
    Cloud,
    Controller,
    ControlNetwork,
    Dhcp,
    Facts,
    IpuMachine,
    MachineType,
    Management,
    ManagementMachines,
    PoplarServer,
    ServerRnic,
    Software,
    Switch,
    Uplink,
)

_T = TypeVar("_T")

HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
INTERFACE_NAME = re.compile(r"[a-z][a-z0-9]{0,14}")
MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
USER_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
# As many as a ConnectX NIC has as it is delivered.
MOST_FUNCTIONS = 8
CABLE = re.compile(r"(?P<switch>\S+) (?P<port>Ethernet\d{1,3}(/\d{1,2})?)")


class _At:
    """A value of the file and the place where it stands, so that every refusal can name the place."""

    def __init__(self, value: Any, place: str) -> None:
        self.value = value
        self.place = place

    def wrong(self, needed: str) -> FloorError:
        return FloorError(f"{self.place} is {self.value!r}, but it has to be {needed}.")

    def fields(self, *names: str, **defaults: Any) -> list[_At]:
        """The values of a mapping that has exactly these keys, in this order; those with a default may be missing."""
        found = self.named()
        for name in names:
            if name not in found:
                raise FloorError(f"{self.place} has no `{name}`; it needs {', '.join(names)}.")
        known = (*names, *defaults)
        for name in found:
            if name not in known:
                raise FloorError(f"{self.place} has an unknown key `{name}`; it takes {', '.join(known)}.")
        return [found.get(name, _At(defaults.get(name), f"{self.place}.{name}")) for name in known]

    def named(self) -> dict[str, _At]:
        """The entries of a mapping whose keys are names that the owner chose."""
        if not isinstance(self.value, dict):
            raise self.wrong("a mapping")
        return {str(name): _At(value, f"{self.place}.{name}") for name, value in self.value.items()}

    def items(self) -> list[_At]:
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [_At(value, f"{self.place}[{index}]") for index, value in enumerate(self.value)]

    def some_items(self) -> list[_At]:
        if not self.value:
            raise self.wrong("a list with at least one entry")
        return self.items()

    def text(self, needed: str, pattern: re.Pattern[str]) -> str:
        if not isinstance(self.value, str) or not pattern.fullmatch(self.value):
            raise self.wrong(needed)
        return self.value

    def parsed(self, parse: Callable[[str], _T], needed: str) -> _T:
        try:
            return parse(self.text(needed, re.compile(r"\S+")))
        except ValueError:
            raise self.wrong(needed) from None

    def network(self) -> IPv4Network:
        return self.parsed(IPv4Network, "a network such as 10.1.1.0/24")

    def address(self) -> IPv4Address:
        return self.parsed(IPv4Address, "an IPv4 address such as 10.1.1.1")

    def mac(self) -> str:
        return self.text('a MAC address in quotes and lower case, such as "0c:42:a1:00:01:01"', MAC)

    def mtu(self) -> int:
        if not isinstance(self.value, int) or not 1280 <= self.value <= 9216:
            raise self.wrong("an MTU from 1280 to 9216 bytes")
        return self.value

    def virtual_functions(self) -> int:
        if not isinstance(self.value, int) or not 0 <= self.value <= MOST_FUNCTIONS:
            raise self.wrong(f"a number of virtual functions from 0 to {MOST_FUNCTIONS}")
        return self.value

    def machine_type(self) -> MachineType:
        return self.parsed(MachineType, " or ".join(f"`{each.value}`" for each in MachineType))

    def software(self) -> Software:
        return self.parsed(Software, " or ".join(f"`{each.value}`" for each in Software))

    def dhcp(self) -> Dhcp:
        return self.parsed(Dhcp, " or ".join(f"`{each.value}`" for each in Dhcp))

    def cable(self, switches: Iterable[str]) -> Cable:
        needed = 'a switch of sim.switches and its port, such as "pod001-tor Ethernet9/1"'
        match = CABLE.fullmatch(self.text(needed, CABLE))
        if match is None or match["switch"] not in switches:
            raise self.wrong(needed)
        return Cable(match["switch"], match["port"])

    def machines(self) -> list[tuple[str, _At]]:
        """The entries of a mapping from host names to machines."""
        entries = self.named()
        for name in entries:
            _At(name, f"the name {self.place}.{name}").text("a host name of letters, digits and dashes", HOST_NAME)
        return list(entries.items())


def read_facts(path: Path) -> Facts:
    """Read the `sim:` section of a pods.yml; what is wrong with it is a FloorError that names the place."""
    file = floor_file(path)
    try:
        return facts_from(sim_section(path))
    except FloorError as error:
        raise FloorError(f"{file}: {error}") from None


def floor_file(path: Path) -> Path:
    """The pods.yml that says what stands on the floor of this one: itself, or the one whose path it gives instead."""
    section = _section(path)
    floor = section.get("floor") if isinstance(section, dict) else section
    return path.parent / floor if isinstance(floor, str) else path


def sim_section(path: Path) -> Any:
    """The whole `sim:` section of a pods.yml, also where it has its floor from another one."""
    section, file = _section(path), floor_file(path)
    if file == path:
        return section
    added = {name: value for name, value in section.items() if name != "floor"} if isinstance(section, dict) else {}
    _At(added, "sim").fields(software=[], control=None, clouds={}, virtual_functions={})
    return {**_section(file), **added}


def _section(path: Path) -> Any:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FloorError(f"{path} can not be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FloorError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(document, dict) or "sim" not in document:
        raise FloorError(f"{path} has no `sim:` section; it says what stands on the simulated floor.")
    return document["sim"]


def facts_from(sim: Any) -> Facts:
    """The facts that a parsed `sim:` section declares."""
    management, switches, controllers, servers, machines, dhcp, uplinks, software, control, clouds, functions = _At(
        sim, "sim"
    ).fields(
        *("management", "switches", "controllers", "poplar_servers", "ipu_machines"),
        dhcp=Dhcp.FACTORY.value,
        uplinks=[],
        software=[],
        control=None,
        clouds={},
        virtual_functions={},
    )
    numbers = _functions(functions, servers.named())
    networks, control_node = management.fields("networks", "control_node")
    switch_names = switches.named().keys()
    facts = Facts(
        management=Management(
            networks=tuple(at.network() for at in networks.some_items()),
            control_node=tuple(at.address() for at in control_node.some_items()),
        ),
        switches=tuple(Switch(name, at.fields("management")[0].address()) for name, at in switches.machines()),
        controllers=tuple(
            Controller(name, at.fields("management")[0].address()) for name, at in controllers.machines()
        ),
        poplar_servers=tuple(
            _poplar_server(name, at, switch_names, numbers.get(name, {})) for name, at in servers.machines()
        ),
        ipu_machines=tuple(_ipu_machine(name, at, switch_names) for name, at in machines.machines()),
        dhcp=dhcp.dhcp(),
        uplinks=tuple(_uplink(at, switch_names) for at in uplinks.items()),
        software=tuple(at.software() for at in software.items()),
        control=_control_network(control, controllers.named()) if control.value is not None else None,
        clouds=tuple(_cloud(name, at, servers.named()) for name, at in clouds.machines()),
    )
    _refuse_contradictions(facts)
    return facts


def _poplar_server(name: str, at: _At, switches: Iterable[str], functions: Mapping[str, int]) -> PoplarServer:
    management, rnics, machine = at.fields("management", "rnics", machine=MachineType.CONTAINER.value)
    return PoplarServer(
        name,
        management.address(),
        tuple(_server_rnic(rnic, at, switches, functions) for rnic, at in rnics.named().items()),
        machine.machine_type(),
    )


def _functions(at: _At, servers: Mapping[str, _At]) -> dict[str, dict[str, int]]:
    """Server and RNIC to how many virtual functions the RNIC can have."""
    found: dict[str, dict[str, int]] = {}
    for server, rnics in at.named().items():
        if server not in servers:
            raise FloorError(f"{rnics.place} is no Poplar server of sim.poplar_servers; name one of them.")
        known = servers[server].named()["rnics"].named()
        for name, number in rnics.named().items():
            if name not in known:
                raise FloorError(f"{number.place} is no RNIC of {server}; name one of {', '.join(known)}.")
            found.setdefault(server, {})[name] = number.virtual_functions()
    return found


def _server_rnic(name: str, at: _At, switches: Iterable[str], functions: Mapping[str, int]) -> ServerRnic:
    _At(name, f"the name {at.place}").text("an interface name such as rnic0", INTERFACE_NAME)
    mac, cable = at.fields("mac", "cable")
    return ServerRnic(name, mac.mac(), cable.cable(switches), functions.get(name, 0))


def _ipu_machine(name: str, at: _At, switches: Iterable[str]) -> IpuMachine:
    bmc, gateway, rnic = at.fields("bmc", "gateway", "rnic")
    bmc_mac, bmc_address = bmc.fields("mac", "address")
    gateway_mac, gateway_address = gateway.fields("mac", "address")
    rnic_mac, cable, lease, mtu = rnic.fields("mac", "cable", "lease", "mtu")
    return IpuMachine(
        name=name,
        bmc_mac=bmc_mac.mac(),
        bmc_address=bmc_address.address(),
        gateway_mac=gateway_mac.mac(),
        gateway_address=gateway_address.address(),
        rnic_mac=rnic_mac.mac(),
        cable=cable.cable(switches),
        lease=lease.parsed(IPv4Interface, "an address with its prefix, such as 10.5.1.1/16"),
        mtu=mtu.mtu(),
    )


def _control_network(at: _At, controllers: Iterable[str]) -> ControlNetwork:
    network, control_node, hosts, machines = at.fields("network", "control_node", "controllers", "machines")
    for name, host in hosts.named().items():
        if name not in controllers:
            raise FloorError(f"{host.place} is no controller of sim.controllers; name one of them or leave it out.")
    addresses = tuple((name, host.address()) for name, host in hosts.named().items())
    return ControlNetwork(network.network(), control_node.address(), addresses, machines.network())


def _cloud(name: str, at: _At, servers: Iterable[str]) -> Cloud:
    management, control, hypervisors, users, nodes, machines = at.fields(
        "management", "control", "hypervisors", "users", compute_nodes={}, management_machines=None
    )
    for server in hypervisors.some_items():
        if server.value not in servers:
            raise server.wrong("a Poplar server of sim.poplar_servers")
    return Cloud(
        name,
        management.address(),
        control.address(),
        tuple(server.value for server in hypervisors.items()),
        tuple(user.text("the name of a user, such as alice", USER_NAME) for user in users.items()),
        tuple((node, address.address()) for node, address in nodes.machines()),
        _management_machines(machines) if machines.value is not None else None,
    )


def _management_machines(at: _At) -> ManagementMachines:
    network, addresses = at.fields("network", "addresses")
    return ManagementMachines(network.network(), addresses.network())


def _uplink(at: _At, switches: Iterable[str]) -> Uplink:
    ends = at.items()
    if len(ends) != 2:
        raise at.wrong("the two ends of a cable between switches")
    return Uplink((ends[0].cable(switches), ends[1].cable(switches)))


def _refuse_contradictions(facts: Facts) -> None:
    """One name, address, MAC and switch port belongs to one machine; the management network covers them all."""
    servers, machines = facts.poplar_servers, facts.ipu_machines
    hosts: list[Switch | Controller | Cloud | PoplarServer] = [
        *facts.switches,
        *facts.controllers,
        *facts.clouds,
        *servers,
    ]
    compute_nodes = [node for cloud in facts.clouds for node in cloud.compute_nodes]
    managed = [
        *(("the control node", address) for address in facts.management.control_node),
        *((host.name, host.management) for host in hosts),
        *compute_nodes,
        *((machine.name, machine.bmc_address) for machine in machines),
        *((machine.name, machine.gateway_address) for machine in machines),
    ]
    for owner, address in managed:
        if not any(address in network for network in facts.management.networks):
            raise FloorError(f"sim: the management address {address} of {owner} is in none of sim.management.networks.")
    server_rnics = [(server.name, rnic) for server in servers for rnic in server.rnics]
    names = [*(host.name for host in (*hosts, *machines)), *(name for name, _address in compute_nodes)]
    _unique("name", ((name, name) for name in names))
    _unique("management address", managed)
    _unique("RNIC address", ((machine.name, machine.lease.ip) for machine in machines))
    _unique(
        "MAC",
        (
            *((name, rnic.mac) for name, rnic in server_rnics),
            *((m.name, mac) for m in machines for mac in (m.bmc_mac, m.gateway_mac, m.rnic_mac)),
        ),
    )
    _unique(
        "switch port",
        (
            *((name, f"{rnic.cable.switch} {rnic.cable.port}") for name, rnic in server_rnics),
            *((m.name, f"{m.cable.switch} {m.cable.port}") for m in machines),
            *(("an uplink", f"{end.switch} {end.port}") for uplink in facts.uplinks for end in uplink.ends),
        ),
    )
    _refuse_loops(facts.uplinks)
    _refuse_wrong_clouds(facts)
    for server in servers:
        if server.machine is MachineType.VIRTUAL_MACHINE and any(rnic.virtual_functions for rnic in server.rnics):
            raise FloorError(f"sim: {server.name} is a virtual machine, whose RNICs have no virtual_functions.")
    if Software.BACKEND_AI in facts.software and Software.CONTAINERS not in facts.software:
        raise FloorError("sim.software: the agents of `backend-ai` make containers; add `containers`, too.")
    virtual = [server.name for server in servers if server.machine is MachineType.VIRTUAL_MACHINE]
    if facts.software and virtual:
        raise FloorError(f"sim.software: {virtual[0]} is a virtual machine, and only containers have it; leave it out.")


def _refuse_wrong_clouds(facts: Facts) -> None:
    """A floor has at most one cloud, with its software, hypervisors with an RNIC, and a network to its machines."""
    if not facts.clouds and facts.control is None:
        return
    if len(facts.clouds) != 1:
        names = ", ".join(cloud.name for cloud in facts.clouds) or "none"
        raise FloorError(f"sim.clouds: a floor with a control network has one cloud, not {names}; declare one.")
    [cloud] = facts.clouds
    if Software.OPENSTACK not in facts.software:
        raise FloorError(f"sim.clouds.{cloud.name} needs its software; add `openstack` to sim.software.")
    for server in facts.poplar_servers:
        if server.name in cloud.hypervisors and not server.rnics:
            raise FloorError(
                f"sim.clouds.{cloud.name}.hypervisors: {server.name} has no RNIC for the cloud's machines."
            )
    if facts.control is None:
        raise FloorError(f"sim.clouds.{cloud.name} needs a network to its machines; declare it as sim.control.")
    if bool(cloud.compute_nodes) is not (cloud.management_machines is not None):
        raise FloorError(
            f"sim.clouds.{cloud.name} has compute_nodes for machines with management_machines as addresses; declare "
            "both, or none."
        )
    _refuse_wrong_control_network(facts.control, cloud, facts.management.networks)


def _refuse_wrong_control_network(control: ControlNetwork, cloud: Cloud, management: Iterable[IPv4Network]) -> None:
    """It is a network of its own, and everybody's address is there, but not among those of machines."""
    for network in management:
        if network.overlaps(control.network):
            raise FloorError(f"sim.control.network {control.network} overlaps the management network {network}.")
    if not control.machines.subnet_of(control.network):
        raise FloorError(
            f"sim.control.machines {control.machines} is not within sim.control.network {control.network}."
        )
    residents = [("the control node", control.control_node), *control.controllers, (cloud.name, cloud.control)]
    for owner, address in residents:
        if address not in control.network or address in control.machines:
            raise FloorError(
                f"sim: the control address {address} of {owner} has to be in {control.network}, but not in "
                f"{control.machines}, which is for machines."
            )
    _unique("control address", residents)


def _refuse_loops(uplinks: Iterable[Uplink]) -> None:
    """A frame would go round for ever: the simulated switches have no spanning tree."""
    joined: dict[str, frozenset[str]] = {}
    for uplink in uplinks:
        one, other = (joined.get(end.switch, frozenset({end.switch})) for end in uplink.ends)
        if one & other:
            first, second = (f"{end.switch} {end.port}" for end in uplink.ends)
            raise FloorError(f"sim.uplinks: the cable from {first} to {second} makes a loop; leave it out.")
        joined.update(dict.fromkeys(one | other, one | other))


def _unique(what: str, owned: Iterable[tuple[str, object]]) -> None:
    owners: dict[object, str] = {}
    for owner, thing in owned:
        if thing in owners:
            raise FloorError(f"sim: {owners[thing]} and {owner} both have the {what} {thing}; each needs its own.")
        owners[thing] = owner
