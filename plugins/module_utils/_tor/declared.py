# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The declaration of a switch, validated and in one spelling. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence, Tuple, TypeVar

from .._plan.converge import Refused
from .._plan.steps import Fields, State
from .declared_qos import declare_qos
from .options import MERGED, OVERRIDDEN, REPLACED
from .running_config import PORTS, VLANS, VNIS
from .settings import PORT_DEFAULTS
from .spelling import CHANNEL, MTU_BYTES, VLAN_IDS, VNI_NUMBERS, port_name, vlan_ids, vlan_ranges

EXTERNAL = "external"
CHANNEL_GROUPS = range(2001)

Given = TypeVar("Given")
Spelled = TypeVar("Spelled")


@dataclass(frozen=True)
class Declared:
    """The desired state of a switch.

    Attributes:
        wanted: the fields of each declared thing (None: not given). External ports are left out.
        owners: our ports to their owners, ``pod`` or ``vpod NAME``.
        external: ports that are never touched.
        exact: whether fields that are not given go to EOS's defaults.
        scope_vlans: VLANs, as text, that are removed unless they are declared.
        scope_ports: ports that go back to EOS's defaults unless they are declared.
        canary: our ports that are changed first.
        absent_vlans: VLANs, as text, that go once no port has them, each with the name that it must have (None: any).
        not_allowed: our ports to the VLANs that they must not carry.
    """

    wanted: State
    owners: dict[str, str]
    external: frozenset[str] = frozenset()
    exact: bool = False
    scope_vlans: frozenset[str] = frozenset()
    scope_ports: frozenset[str] = frozenset()
    canary: frozenset[str] = frozenset()
    absent_vlans: Mapping[str, str | None] = field(default_factory=dict)
    not_allowed: Mapping[str, frozenset[int]] = field(default_factory=dict)


def declare(
    vlans: Sequence[Mapping[str, Any]],
    ports: Sequence[Mapping[str, Any]],
    qos: Mapping[str, Any] | None = None,
    state: str = MERGED,
    scope: Mapping[str, Any] | None = None,
    canary: Sequence[str] = (),
) -> Declared:
    """Check the module's options and spell them as EOS does.

    Raises:
        Refused: something is wrong that no switch is needed to see.
    """
    owners = _owners(ports)
    our_ports = {name: owner for name, owner in owners.items() if owner != EXTERNAL}
    places = {name: f"ports[{number}] ({name})" for number, name in enumerate(owners)}
    fields = {name: _port_fields(places[name], name, port) for name, port in zip(owners, ports) if name in our_ports}
    scope_vlans, scope_ports = _scope(state, scope)
    exact = state in (REPLACED, OVERRIDDEN)
    absent, present = _absent_apart(vlans)
    return Declared(
        wanted={**_vlans(present, exact), PORTS: fields, **declare_qos(qos or {})},
        owners=our_ports,
        external=frozenset(owners) - frozenset(our_ports),
        exact=exact,
        scope_vlans=scope_vlans,
        scope_ports=scope_ports,
        canary=frozenset(_canary(number, name, our_ports) for number, name in enumerate(canary)),
        absent_vlans=absent,
        not_allowed={
            name: vlan_ids(_vlan_list(f"{places[name]}.not_allowed_vlans", port["not_allowed_vlans"]))
            for name, port in zip(owners, ports)
            if name in our_ports and port.get("not_allowed_vlans")
        },
    )


NumberedVlan = Tuple[int, Mapping[str, Any]]


def _absent_apart(vlans: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str | None], list[NumberedVlan]]:
    """The VLANs that are to go, with their names, and the others, with their numbers in the list."""
    absent: dict[str, str | None] = {}
    present: list[NumberedVlan] = []
    seen = set()
    for number, vlan in enumerate(vlans):
        place = f"vlans[{number}]"
        vlan_id = str(_vlan_id(f"{place}.vlan_id", vlan["vlan_id"]))
        if vlan_id in seen:
            raise Refused(f"{place}: VLAN {vlan_id} is declared twice; declare it once")
        seen.add(vlan_id)
        if vlan.get("state") != "absent":
            present.append((number, vlan))
        elif vlan_id == "1":
            raise Refused(f"{place}: VLAN 1 is EOS's own and stays; leave it out")
        else:
            absent[vlan_id] = _vlan_name(f"{place}.name", vlan.get("name"))
    return absent, present


def _vlans(vlans: Sequence[NumberedVlan], exact: bool) -> State:
    """Return the VLANs, and separately the VNIs that are declared for them."""
    found: dict[str, Fields] = {}
    vnis: dict[str, Fields] = {}
    for number, vlan in vlans:
        place, vlan_id = f"vlans[{number}]", str(vlan["vlan_id"])
        vni = vlan.get("vni")
        if vni and vni not in VNI_NUMBERS:
            raise Refused(f"{place}.vni: {vni} is no VNI; give {VNI_NUMBERS[0]} to {VNI_NUMBERS[-1]}, or 0 for none")
        found[vlan_id] = {"name": _vlan_name(f"{place}.name", vlan.get("name"))}
        if exact or vni is not None:
            vnis[vlan_id] = {"vni": vni}
    return {VLANS: found, VNIS: vnis}


def _owners(ports: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The ports by full name, in the order in which they are declared, with their owners."""
    owners: dict[str, str] = {}
    for number, port in enumerate(ports):
        place = f"ports[{number}]"
        name = _spelled(f"{place}.name", port_name, port["name"])
        if name in owners:
            earlier = list(owners).index(name)
            raise Refused(f"{place}: {name} is already declared by ports[{earlier}]; give each port one owner, once")
        owners[name] = port.get("owner") or "pod"
        if not re.fullmatch(r"pod|vpod \S+|external", owners[name]):
            raise Refused(f"{place}.owner: {owners[name]!r} is no owner; write pod, vpod NAME or external")
    return owners


def _port_fields(place: str, name: str, port: Mapping[str, Any]) -> Fields:
    description, mtu, allowed = port.get("description"), port.get("mtu"), port.get("allowed_vlans")
    if description is not None and not description.isprintable():
        raise Refused(f"{place}.description: it has characters that cannot be printed; write it in one line")
    if mtu is not None and mtu not in MTU_BYTES:
        raise Refused(f"{place}.mtu: {mtu} bytes is not possible; give {MTU_BYTES[0]} to {MTU_BYTES[-1]}")
    group = port.get("channel_group")
    if group is not None and group not in CHANNEL_GROUPS:
        raise Refused(f"{place}.channel_group: {group} is no port channel; give 1 to {CHANNEL_GROUPS[-1]}, or 0")
    if group == 0 and port.get("lacp"):
        raise Refused(f"{place}.lacp: a port without channel_group does not negotiate; give one of the two")
    profile = port.get("qos_profile")
    if profile and not re.fullmatch(r"[!-~]+", profile):
        raise Refused(f"{place}.qos_profile: {profile!r} is no name of a profile; write it without spaces")
    for option in ("channel_group", "lacp", "lldp"):
        if name.startswith(CHANNEL) and port.get(option) is not None:
            raise Refused(f"{place}.{option}: a port channel has none; declare it at the member ports")
    return {
        **{field: port.get(field) for field in PORT_DEFAULTS},
        "description": None if description is None else description.strip(),
        "vlan": _vlan_id(f"{place}.vlan", port.get("vlan")),
        "native_vlan": _vlan_id(f"{place}.native_vlan", port.get("native_vlan")),
        "allowed_vlans": None if allowed is None else _vlan_list(f"{place}.allowed_vlans", allowed),
    }


def _scope(state: str, scope: Mapping[str, Any] | None) -> tuple[frozenset[str], frozenset[str]]:
    if (scope is not None) != (state == OVERRIDDEN):
        raise Refused(f"scope: it says what state {OVERRIDDEN} may clear; give both or none of the two")
    given = scope or {}
    vlans = vlan_ids(_vlan_list("scope.vlans", given.get("vlans") or [])) - {1}
    return frozenset(map(str, vlans)), port_names("scope.ports", given.get("ports") or [])


def port_names(place: str, names: Sequence[str]) -> frozenset[str]:
    """A list of ports as EOS spells them; ``place`` is its name for a person.

    Raises:
        Refused: one of them is no port's name.
    """
    return frozenset(_spelled(f"{place}[{number}]", port_name, name) for number, name in enumerate(names))


def _canary(number: int, name: str, our_ports: Mapping[str, str]) -> str:
    spelled = _spelled(f"canary[{number}]", port_name, name)
    if spelled not in our_ports:
        raise Refused(f"canary[{number}]: {spelled} is not among the declared ports that are ours; declare it in ports")
    return spelled


def _vlan_id(place: str, vlan_id: Any) -> Any:
    if vlan_id is not None and vlan_id not in VLAN_IDS:
        raise Refused(f"{place}: {vlan_id} is no VLAN ID; give 1 to 4094")
    return vlan_id


def _vlan_name(place: str, name: Any) -> Any:
    if name is not None and not re.fullmatch(r"[!-~]{1,32}", name):
        raise Refused(f"{place}: {name!r} is no VLAN name; EOS takes 1 to 32 characters without spaces")
    return name


def _vlan_list(place: str, items: Sequence[Any]) -> list[str]:
    return _spelled(place, lambda ranges: vlan_ranges(vlan_ids(ranges)), [str(item) for item in items])


def _spelled(place: str, spell: Callable[[Given], Spelled], value: Given) -> Spelled:
    try:
        return spell(value)
    except ValueError as error:
        raise Refused(f"{place}: {error}") from error
