# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DHCP server of the RNICs: dnsmasq in a network namespace of its own, cabled to every switch.

It answers known MACs only, with their one address; it hands out no gateway and no DNS server.
"""

from __future__ import annotations

from ipaddress import IPv4Interface

from podsim.floor.commands import ip_batch
from podsim.floor.daemons import Daemons
from podsim.floor.errors import FloorError
from podsim.floor.network import add_data_plane_cable, add_namespaces, disable_transmit_checksum
from podsim.floor.plan import DHCP_NAMESPACE, Floor
from podsim.floor.state import StateDirectory

# As short as dnsmasq has it: an RNIC that was moved to another VLAN asks from there while one watches.
LEASE_TIME = "2m"


def server_addresses(floor: Floor) -> list[IPv4Interface]:
    """The server's own address in each leased network: the highest that no RNIC has. Only leased ports ever see it."""
    leases = floor.leases.values()
    taken = {lease.ip for lease in leases}
    addresses = []
    for network in sorted({lease.network for lease in leases}):
        free = network.broadcast_address - 1
        while free in taken:
            free -= 1
        if free not in network or free == network.network_address:
            raise FloorError(f"sim: the leases fill all of {network}; leave one address for the DHCP server.")
        addresses.append(IPv4Interface((free, network.prefixlen)))
    return addresses


def configuration(floor: Floor) -> str:
    """The contents of dnsmasq.conf."""
    lines = ["port=0", "bind-dynamic", "except-interface=lo", "dhcp-authoritative", "no-ping", "leasefile-ro"]
    # An option without a value is not sent: neither gateway nor DNS server.
    lines += ["no-resolv", "no-hosts", "user=root", "dhcp-option=option:router", "dhcp-option=option:dns-server"]
    lines += [
        f"dhcp-range={address.network.network_address},static,{address.network.netmask},{LEASE_TIME}"
        for address in server_addresses(floor)
    ]
    lines += [f"dhcp-host={mac},{lease.ip}" for mac, lease in floor.leases.items()]
    return "".join(f"{line}\n" for line in lines)


def build_dhcp_cables(floor: Floor) -> None:
    """The server's namespace, and in it a link to each switch with the server's addresses."""
    add_namespaces(DHCP_NAMESPACE)
    addresses = server_addresses(floor)
    for switch in floor.switches:
        add_data_plane_cable(switch.dhcp_link, f"{switch.bridge} netns {DHCP_NAMESPACE}")
        disable_transmit_checksum(switch.bridge, DHCP_NAMESPACE)
        ip_batch(
            [
                *(f"address replace {address} dev {switch.bridge}" for address in addresses),
                f"link set {switch.bridge} addrgenmode none up",
                # A renewal is answered to the leased address, which is to be found behind its own switch.
                *(
                    f"route replace {floor.leases[port.mac].ip}/32 dev {switch.bridge}"
                    for port in switch.ports
                    if port.mac in floor.leases
                ),
            ],
            DHCP_NAMESPACE,
        )


def start_dhcp_server(floor: Floor, state: StateDirectory, daemons: Daemons) -> None:
    """Start dnsmasq unless it runs; whoever asked it too early asks again."""
    if not floor.leases or "dnsmasq" in daemons.running():
        return
    file = state.dhcp / "dnsmasq.conf"
    file.write_text(configuration(floor), encoding="ascii")
    log = state.dhcp / "dnsmasq.log"
    options = [f"--conf-file={file}", "--pid-file", f"--log-facility={log}", "--keep-in-foreground"]
    daemons.start("dnsmasq", ["nsenter", f"--net=/run/netns/{DHCP_NAMESPACE}", "dnsmasq", *options], log)
