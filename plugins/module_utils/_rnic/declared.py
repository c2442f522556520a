# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interfaces of a Poplar server as their owner declares them, checked for what can be wrong by itself. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .._plan.converge import Refused

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


@dataclass(frozen=True)
class Interface:
    """One declared interface. None means: not declared, keep what is there.

    Args:
        name: the kernel's name of the NIC; only a label where ``mac`` is given.
        mac: lower case with colons; finds the NIC whatever the kernel calls it.
        addresses: with prefix length, in canonical form and order.
        mtu: in bytes.
        description: one line; empty for none.
    """

    name: str
    mac: str | None = None
    addresses: tuple[str, ...] | None = None
    mtu: int | None = None
    description: str | None = None


def sorted_addresses(addresses: Sequence[str]) -> list[str]:
    """Addresses with prefix length in canonical form and order, each once."""
    interfaces = {ipaddress.ip_interface(address) for address in addresses}
    return [str(interface) for interface in sorted(interfaces, key=lambda i: (i.version, int(i), i.network.prefixlen))]


def interfaces_from(options: Sequence[Mapping[str, Any]]) -> list[Interface]:
    """The declared interfaces.

    Raises:
        Refused: a name, MAC, address or description is malformed, or is declared twice.
    """
    interfaces = [_interface(option) for option in options]
    _refuse_twice("name", [(interface.name, interface.name) for interface in interfaces])
    _refuse_twice("MAC", [(interface.mac, interface.name) for interface in interfaces if interface.mac])
    _refuse_twice("address", [(_host(a), i.name) for i in interfaces for a in i.addresses or ()])
    return interfaces


def _interface(option: Mapping[str, Any]) -> Interface:
    name = option["name"]
    place = f"interface {name}"
    if not _NAME.fullmatch(name):
        raise Refused(f"{place}: the name is no interface name; use at most 15 letters, digits, dots, dashes")
    mac = option.get("mac")
    if mac is not None:
        mac = mac.lower().replace("-", ":")
        if not _MAC.fullmatch(mac):
            raise Refused(f"{place}: mac {option['mac']!r} is no MAC address; write it like 04:3f:72:00:01:02")
    addresses = option.get("addresses")
    if addresses is not None:
        addresses = tuple(sorted_addresses([_address(place, address) for address in addresses]))
    description = option.get("description")
    if description is not None and description != " ".join(description.split()):
        raise Refused(f"{place}: the description must be one line without leading or double spaces")
    return Interface(name, mac, addresses, option.get("mtu"), description)


def _address(place: str, text: str) -> str:
    if "/" not in text:
        raise Refused(f"{place}: address {text} lacks its prefix length; write it like {text}/16")
    try:
        address = ipaddress.ip_interface(text)
    except ValueError:
        raise Refused(f"{place}: {text!r} is no address with prefix length; write it like 10.5.1.101/16") from None
    network = address.network
    if address.version == 4 and network.prefixlen < 31 and address.ip in (network[0], network[-1]):
        raise Refused(f"{place}: {text} is the first or last address of {network}; a host needs one between them")
    if address.ip.is_multicast or address.ip.is_loopback or address.ip.is_unspecified or address.ip.is_link_local:
        raise Refused(f"{place}: {text} cannot be a NIC's address; use one of the data plane's subnet")
    return str(address)


def _host(address: str) -> str:
    return address.split("/", maxsplit=1)[0]


def _refuse_twice(what: str, uses: Sequence[tuple[str, str]]) -> None:
    users: dict[str, str] = {}
    for value, name in uses:
        if value in users:
            raise Refused(f"interfaces {users[value]} and {name}: the {what} {value} is declared twice; keep one")
        users[value] = name
