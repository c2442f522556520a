# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a vPOD's port on a domain should be, and the steps that bring it there. Pure.

The state has two kinds, by vPOD: ``running_port`` of the domain as it runs, and ``kept_port`` in its definition, with
which it starts the next time.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import CREATE, DISRUPTIVE, NO_RISK, RECREATE, REMOVE, Fields, State, Step, changed_fields, reason_for

RUNNING, KEPT = "running_port", "kept_port"
# A locally administered MAC address: this, and then the four numbers of the port's address. No function begins so.
MAC_PREFIX = "02:fe:"


@dataclass(frozen=True)
class Domains:
    """What there is on a hypervisor.

    Args:
        domain: the one that it is about.
        runs: whether it runs now.
        state: the ports of vPODs on it.
        macs: the MAC addresses of all domains, with the domain that has each; of two, one.
        is_novas: whether the domain is a machine of OpenStack's.
    """

    domain: str
    runs: bool
    state: State
    macs: Mapping[str, str]
    is_novas: bool = False


@dataclass(frozen=True)
class Wanted:
    """A port as it is asked for.

    Args:
        mtu: in bytes; 0 for that of the bridge.
        addresses: those that domains on this hypervisor may have, one of which it gets.
        through: what it is plugged into, by :mod:`.xml`: a bridge, or a virtual function with its MAC address.
        leaving: the vPODs that the domain is detached from before.
        leaving_domains: the domains that are detached before.
    """

    vpod: str
    vlan: int
    mtu: int
    addresses: Sequence[str]
    through: str
    function: int | None = None
    function_mac: str = ""
    leaving: Sequence[str] = ()
    leaving_domains: Sequence[str] = ()


def plan(wanted: Wanted, found: Domains) -> list[Step]:
    """The steps to the port. Raises Refused: it cannot be, or the domain is another vPOD's, or OpenStack's."""
    if found.is_novas:
        raise Refused(
            f"domain {found.domain} is a machine of OpenStack's, which plugs in its ports itself; name it as "
            "machine=CLOUD/NAME, with the name of the cloud in pods.yml and the one that the machine has there"
        )
    others = sorted({vpod for kind in (RUNNING, KEPT) for vpod in found.state[kind]} - {wanted.vpod, *wanted.leaving})
    if others:
        raise Refused(
            f"domain {found.domain} has a port of vPOD {others[0]}, and would join the two; detach it from that first"
        )
    fields = fields_of(wanted, found)
    holder = found.macs.get(fields["mac"], found.domain)
    if holder not in (found.domain, *wanted.leaving_domains):
        raise Refused(f"domain {holder} has the port of vPOD {wanted.vpod} with {fields['mac']}; detach it there first")
    kinds = (RUNNING, KEPT) if found.runs else (KEPT,)
    return [step for kind in kinds for step in _step(kind, wanted.vpod, found.state[kind].get(wanted.vpod), fields)]


def plan_removal(vpod: str, found: Domains) -> list[Step]:
    """The steps after which the domain has no port of the vPOD."""
    return [
        Step(REMOVE, kind, vpod, "is not wanted", DISRUPTIVE if kind == RUNNING else NO_RISK, before=there)
        for kind in (RUNNING, KEPT)
        for there in [found.state[kind].get(vpod)]
        if there is not None
    ]


def fields_of(wanted: Wanted, found: Domains) -> Fields:
    """The port's fields, with the address that it has already, or else the first that no domain has.

    Raises:
        Refused: no address is left.
    """
    if wanted.function is not None:
        # Each function has its own address, as it has its own MAC address.
        if wanted.function >= len(wanted.addresses):
            raise Refused(
                f"virtual function {wanted.function} has none of the hypervisor's {len(wanted.addresses)} addresses; "
                "give the vPOD another virtual_function"
            )
        mac = wanted.function_mac
    else:
        mac = mac_of(_free_address(wanted, found))
    # A function has the MTU that its guest gives it.
    mtu = wanted.mtu if wanted.function is None else 0
    return {"mac": mac, "vlan": wanted.vlan, "mtu": mtu, "through": wanted.through}


def address_in(wanted: Wanted, fields: Fields) -> str:
    """The address that goes with a port's fields."""
    return address_of(fields["mac"]) if wanted.function is None else wanted.addresses[wanted.function]


def mac_of(address: str) -> str:
    """The MAC address of the port with an address."""
    return MAC_PREFIX + ":".join(f"{number:02x}" for number in IPv4Address(address).packed)


def address_of(mac: str) -> str:
    """The address of the port with a MAC address; empty if it says none."""
    if not mac.startswith(MAC_PREFIX):
        return ""
    return str(IPv4Address(bytes.fromhex(mac[len(MAC_PREFIX) :].replace(":", ""))))


def _free_address(wanted: Wanted, found: Domains) -> str:
    for kind in (RUNNING, KEPT):
        has = address_of(found.state[kind].get(wanted.vpod, {}).get("mac", ""))
        if has in wanted.addresses:
            return has
    for address in wanted.addresses:
        if mac_of(address) not in found.macs:
            return address
    raise Refused(
        f"none of the {len(wanted.addresses)} addresses of the hypervisor is left for domain {found.domain}; detach "
        "another domain first"
    )


def _step(kind: str, vpod: str, there: Fields | None, fields: Fields) -> list[Step]:
    if there is None:
        return [Step(CREATE, kind, vpod, "is missing", after=fields)]
    changes = changed_fields(there, fields)
    if not changes:
        return []
    risk = DISRUPTIVE if kind == RUNNING else NO_RISK
    return [Step(RECREATE, kind, vpod, reason_for(there, changes), risk, before=there, after=fields)]
