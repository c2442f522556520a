# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The management network, a cloud's control network and every machine's cables.

A network is a bridge on the host, and each container has a network namespace.

The namespaces exist before the containers, so that a machine boots with its cables plugged in and keeps them when it
is restarted. The switches' ports are in a namespace of their own, because the host would answer ARP on them. Of the
host only these bridges are seen; its sysctls and its firewall are not touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from ipaddress import IPv4Interface, IPv4Network

from podsim.floor.commands import ip_batch, run
from podsim.floor.errors import FloorError
from podsim.floor.plan import (
    BMC_PORT,
    CONTROL_BRIDGE,
    CONTROL_PORT,
    DATA_PLANE_NAMESPACE,
    LINK_PREFIX,
    MACHINES_PORT,
    MANAGEMENT_BRIDGE,
    MANAGEMENT_PORT,
    NAMESPACE_PREFIX,
    Floor,
    Machine,
)
from podsim.floor.state import StateDirectory

# The switch's end of a cable takes every frame; the switch's own configuration sets the port's MTU.
SWITCH_LINK_MTU = 9216
SWITCH_MANAGEMENT_PORT = "ma1"


def owner() -> str | None:
    """The state directory of the pod that runs on this machine, or None: the management bridge carries its name."""
    links = {link["ifname"]: link for link in json.loads(run("ip", "-j", "link", "show"))}
    alias = links.get(MANAGEMENT_BRIDGE, {}).get("ifalias")
    return None if alias is None else str(alias)


def refuse_overlap(networks: Iterable[IPv4Network]) -> None:
    """Refuse when the host already reaches one of the pod's networks in another way."""
    routes = json.loads(run("ip", "-4", "-j", "route", "show", "table", "all"))
    for network in networks:
        for route in routes:
            if route["dst"] == "default" or route.get("dev") in (MANAGEMENT_BRIDGE, CONTROL_BRIDGE):
                continue
            if network.overlaps(IPv4Network(route["dst"])):
                raise FloorError(
                    f"the host's route to {route['dst']} through {route.get('dev', 'another interface')} overlaps the "
                    f"management network {network}; change the management networks and addresses in the sim: section."
                )


def build_management(floor: Floor, state: StateDirectory) -> None:
    """The management bridge with the control node's addresses, and each switch's management port on it."""
    if MANAGEMENT_BRIDGE not in _links():
        ip_batch([f"link add {MANAGEMENT_BRIDGE} type bridge"])
    ip_batch(
        [
            f'link set {MANAGEMENT_BRIDGE} alias "{state.root}"',
            *(f"address replace {address} dev {MANAGEMENT_BRIDGE}" for address in floor.control_node),
            f"link set {MANAGEMENT_BRIDGE} addrgenmode none up",
        ]
    )
    add_namespaces(*(switch.namespace for switch in floor.switches))
    existing = _links()
    for switch in floor.switches:
        if switch.management_link not in existing:
            _add_cable(switch.management_link, MANAGEMENT_BRIDGE, SWITCH_MANAGEMENT_PORT, switch.namespace)
        ip_batch(_management_port(SWITCH_MANAGEMENT_PORT, (switch.management,), floor.networks), switch.namespace)


def build_control_network(floor: Floor) -> None:
    """The bridge of a cloud's control network with the control node's address, and a cable to each machine in it.

    Hypervisors have Open vSwitch in user space, which fills in no checksums.
    """
    if floor.cloud is None:
        return
    if CONTROL_BRIDGE not in _links():
        ip_batch([f"link add {CONTROL_BRIDGE} type bridge"])
    node = floor.cloud.control_node
    # A port of Open vSwitch in user space has room for some 90 frames: after a larger burst others' are dropped, too.
    route = f"route replace {node.network} dev {CONTROL_BRIDGE} proto kernel scope link src {node.ip} cwnd lock 32"
    ip_batch(
        [
            f"address replace {node} dev {CONTROL_BRIDGE}",
            f"link set {CONTROL_BRIDGE} addrgenmode none up",
            route,
        ]
    )
    run("ethtool", "-K", CONTROL_BRIDGE, "tx", "off")
    existing = _links()
    for machine in floor.containers:
        if machine.control is None:
            continue
        if machine.control.link not in existing:
            _add_cable(machine.control.link, CONTROL_BRIDGE, CONTROL_PORT, machine.container)
        disable_transmit_checksum(CONTROL_PORT, machine.container)


def build_cables(floor: Floor) -> None:
    """A network namespace per container and for the data plane, with all cables; repeating it changes nothing."""
    add_namespaces(*(machine.container for machine in floor.containers), DATA_PLANE_NAMESPACE)
    existing = _links()
    for machine in floor.containers:
        _add_management_cables(machine, existing)
        for rnic in machine.rnics:
            add_data_plane_cable(rnic.link, f"{rnic.name} address {rnic.mac} netns {machine.container}")
            if rnic.embedded_switch:
                _add_uplink(rnic.switch_link, rnic.embedded_switch.uplink)
            disable_transmit_checksum(rnic.name, machine.container)
        if machine.bmc_mac:
            _plug_in_without_addresses(machine)
        else:
            ip_batch(_management_port(MANAGEMENT_PORT, machine.management, floor.networks), machine.container)
    _fill_in_checksums(floor)
    for machine in floor.virtual_machines:
        if machine.management_link not in existing:
            _add_tap(machine.management_link, f"master {MANAGEMENT_BRIDGE}")
        plugged = _links(DATA_PLANE_NAMESPACE)
        for rnic in machine.rnics:
            if rnic.switch_link not in plugged:
                _add_tap(rnic.switch_link, f"mtu {SWITCH_LINK_MTU}", DATA_PLANE_NAMESPACE)
    for one, other in floor.uplinks:
        _add_uplink(one, other)


def add_namespaces(*names: str) -> None:
    """Add the network namespaces that do not exist yet."""
    existing = _namespaces()
    ip_batch(f"netns add {name}" for name in names if name not in existing)


def add_data_plane_cable(switch_link: str, other_end: str) -> None:
    """Add a cable from a switch, unless it is there, to an end given in the words of `ip link`."""
    if switch_link not in _links(DATA_PLANE_NAMESPACE):
        ip_batch(
            [
                f"link add {switch_link} mtu {SWITCH_LINK_MTU} type veth peer name {other_end}",
                # A switch port has no IPv6 address of its own, so it sends nothing by itself.
                f"link set {switch_link} addrgenmode none up",
            ],
            DATA_PLANE_NAMESPACE,
        )
    disable_transmit_checksum(switch_link, DATA_PLANE_NAMESPACE)


def beyond(addresses: Iterable[IPv4Interface], networks: Iterable[IPv4Network]) -> list[IPv4Network]:
    """The management networks in which none of a machine's addresses lies, but which it reaches all the same."""
    attached = {address.network for address in addresses}
    return [network for network in networks if network not in attached]


def disable_transmit_checksum(link: str, namespace: str) -> None:
    """Have the kernel fill in checksums: Open vSwitch in user space does not do it, and TCP would hang."""
    run("nsenter", f"--net=/run/netns/{namespace}", "ethtool", "-K", link, "tx", "off")


def remove_network() -> None:
    """Remove all links and namespaces of the simulated pod; the bridge, which names the owner, goes last."""
    ip_batch(f"link delete {link}" for link in sorted(_links() - {MANAGEMENT_BRIDGE}))
    ip_batch(f"netns delete {namespace}" for namespace in sorted(_namespaces()))
    ip_batch(f"link delete {link}" for link in _links())


def _add_cable(link: str, bridge: str, port: str, namespace: str, mac: str | None = None) -> None:
    address = f"address {mac}" if mac else ""
    ip_batch(
        [
            f"link add {link} type veth peer name {port} {address} netns {namespace}",
            f"link set {link} master {bridge} addrgenmode none up",
        ]
    )


def _fill_in_checksums(floor: Floor) -> None:
    """What goes through the management network to a machine of a cloud passes Open vSwitch in user space."""
    if floor.has_machines_in_management:
        run("ethtool", "-K", MANAGEMENT_BRIDGE, "tx", "off")
        for machine in floor.containers:
            disable_transmit_checksum(MANAGEMENT_PORT, machine.container)


def _add_management_cables(machine: Machine, existing: set[str]) -> None:
    if machine.management_link not in existing:
        end = (MANAGEMENT_PORT, machine.container, machine.management_mac)
        _add_cable(machine.management_link, MANAGEMENT_BRIDGE, *end)
    if machine.machines_link and machine.machines_link not in existing:
        _add_cable(machine.machines_link, MANAGEMENT_BRIDGE, MACHINES_PORT, machine.container)


def _management_port(port: str, addresses: Iterable[IPv4Interface], networks: Iterable[IPv4Network]) -> list[str]:
    return [
        "link set lo up",
        f"link set {port} up",
        *(f"address replace {address} dev {port}" for address in addresses),
        *(f"route replace {network} dev {port}" for network in beyond(addresses, networks)),
    ]


def _plug_in_without_addresses(machine: Machine) -> None:
    """The gateway's and the BMC's port, with a MAC each, on one cable."""
    if BMC_PORT not in _links(machine.container, BMC_PORT):
        bmc = f"link add {BMC_PORT} link {MANAGEMENT_PORT} address {machine.bmc_mac} type macvlan mode bridge"
        ip_batch([bmc], machine.container)
    ip_batch((f"link set {port} up" for port in ("lo", MANAGEMENT_PORT, BMC_PORT)), machine.container)


def _add_tap(link: str, settings: str, namespace: str | None = None) -> None:
    """A cable whose other end a virtual machine holds; the host has no IPv6 address on it, so it sends nothing."""
    ip_batch([f"tuntap add {link} mode tap", f"link set {link} {settings} addrgenmode none up"], namespace)


def _add_uplink(one: str, other: str) -> None:
    """A cable between two switches; in a start that was interrupted, one end may not be up."""
    if one not in _links(DATA_PLANE_NAMESPACE):
        peer = f"type veth peer name {other} mtu {SWITCH_LINK_MTU}"
        ip_batch([f"link add {one} mtu {SWITCH_LINK_MTU} {peer}"], DATA_PLANE_NAMESPACE)
    ip_batch((f"link set {end} addrgenmode none up" for end in (one, other)), DATA_PLANE_NAMESPACE)


def _links(namespace: str | None = None, prefix: str = LINK_PREFIX) -> set[str]:
    where = ("-n", namespace) if namespace else ()
    names = (link["ifname"] for link in json.loads(run("ip", *where, "-j", "link", "show")))
    return {name for name in names if name.startswith(prefix)}


def _namespaces() -> set[str]:
    names = (namespace["name"] for namespace in json.loads(run("ip", "-j", "netns", "list") or "[]"))
    return {name for name in names if name.startswith((f"{NAMESPACE_PREFIX}-", f"{NAMESPACE_PREFIX}."))}
