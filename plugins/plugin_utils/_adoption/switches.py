# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what switches are to the pods.yml that keeps them so. Pure.

What follows from the port map is not said again: a VLAN or an MTU that the RNIC ports have in common is said once, and
only what then still differs is said port by port. Uplinks are the data centre's and left out. A port for which
pods.yml has no words becomes external, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import ACCESS, CHANNEL, SWITCHED_MTU, TRUNK

from .._declaration.declaration import parse_declaration
from .._desired.degraded import undamaged
from .._desired.desired import desired
from .._desired.roce import PROFILE_NAME
from .._placement.placement import Placement, place
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, TOR, devices_of
from .._pod.kinds import DeclarationError
from .._pod.model import Declaration
from .._pod.ports import Place, places_of
from .._pod.switches import EXTERNAL, KEPT, QUARANTINE, REFERENCE, RNIC_OF_MACHINE, SPARE, UPLINK
from .adoption import EXTERNAL_PORT, Adoption, Document, Path, filled, with_words, without
from .cabling import take_cabling
from .parts import Vlans, parts_of
from .roce import roce_settings
from .switch_ports import Fields, disagreements, is_in_use, vlans_at_stake, words_for

Gathered = Mapping[str, Mapping[str, Any]]

DEFAULT_VLAN = 1
VLAN_KEYS = ("vlan", "vni", "vlan_name")
# What is read of a ToR; the rest of what its owner says of it is kept.
TOR_KEYS = ("mtu", "spanning_tree_edge", "roce", "ports", "spare_ports", "descriptions")


def adopted(document: Document, gathered: Gathered) -> Adoption:
    """The pods.yml that keeps switches as they are. Takes as long as there are racks.

    Args:
        document: a pods.yml. What it says of the gathered switches, and of their VLANs, is replaced by what is there.
        gathered: host name of a switch to its VLANs, ports and quality of service, as tor_switch gathers them, and
            perhaps ``neighbours`` and ``macs``, as tor_info sees them.

    Raises:
        DeclarationError: the document is wrong, or declares no such switch.
    """
    declaration = parse_declaration(document)
    devices = devices_of(declaration)
    unknown = [host for host in gathered if host not in devices]
    if unknown:
        raise DeclarationError([f"pods: none has a switch {unknown[0]}; declare its pod, or its name in names"])
    hosts: dict[str, list[str]] = {}
    for host in gathered:
        hosts.setdefault(devices[host].pod, []).append(host)
    parts = [
        (part, [host for pod in part["pods"] for host in hosts.get(pod, [])])
        for part in parts_of(document, declaration)
    ]
    elsewhere = Vlans()
    for part, read in parts:
        if not read:
            elsewhere.add(Vlans.of(part))
    sections = [key for key in ("pods", "clusters", "vpods") if key in document]
    result = Adoption({**document, **{key: dict(document[key]) for key in sections}})
    for part, read in parts:
        if read:
            found = _adopted_part(part, {host: gathered[host] for host in read}, elsewhere)
            for key in sections:
                result.document[key].update(found.document.get(key, {}))
            result.reasons += found.reasons
            elsewhere.add(Vlans.of(found.document))
    # Together the parts have to be as good as each alone.
    parse_declaration(result.document)
    return result


def _adopted_part(document: Document, gathered: Gathered, elsewhere: Vlans) -> Adoption:
    """The part of a fleet that has these switches."""
    devices = devices_of(parse_declaration(document))
    tors = {host: there for host, there in gathered.items() if devices[host].kind == TOR}
    result = Adoption(_without_switches(document, {devices[host].pod for host in tors}), elsewhere=elsewhere)
    for host, there in tors.items():
        take_cabling(result, host, devices[host].pod, there)
    _take_tenants(result, tors)
    for host, there in gathered.items():
        switch = (_Tor if host in tors else _ManagementSwitch)(result, host, devices[host].pod, there)
        switch.take_vlans()
        switch.take_ports()
    return result


def _without_switches(document: Document, pods: Collection[str]) -> Document:
    """The document without what the ToRs of these pods say themselves: VLANs, ports, quality of service.

    Without the VLANs of hypervisors, and of vPODs on them, it would be none; what the ToRs say replaces them later.
    """
    hypervisors = {server for words in document["pods"].values() for server in words.get("hypervisors") or ()}
    stripped = dict(document["pods"])
    for name in pods:
        words = {
            **without(stripped[name], ("vlans",)),
            "rnic": without(stripped[name].get("rnic", {}), () if stripped[name].get("hypervisors") else VLAN_KEYS),
            "tor": without(stripped[name].get("tor", {}), TOR_KEYS),
        }
        stripped[name] = {key: value for key, value in words.items() if value != {}}
    vpods = {
        name: without(words, VLAN_KEYS if hypervisors.isdisjoint(words.get("poplar_servers") or ()) else ())
        for name, words in document.get("vpods", {}).items()
    }
    return {**document, "pods": stripped, **filled({"vpods": vpods})}


def _take_tenants(result: Adoption, tors: Mapping[str, Mapping[str, Any]]) -> None:
    """A vPOD whose IPU-Machines are all in one VLAN has that VLAN, and the free servers whose ports are in it.

    A VLAN with other IPU-Machines is nobody's own, unless it is called as the vPOD's.
    """
    declaration = parse_declaration(result.document)
    devices = devices_of(declaration)
    there = {
        device.name: _access_vlan(tors[device.facts["switch"]], device.facts["switch_port"])
        for device in devices.values()
        if device.kind == IPU_MACHINE and device.facts["switch"] in tors
    }
    tenants: dict[int, str] = {}
    for name, machines in _places_at_pins(declaration).items():
        vlans = [there[machine] for machine in machines if machine in there]
        common = vlans[0] if vlans and vlans.count(vlans[0]) == len(vlans) else None
        others = [machine for machine, vlan in there.items() if vlan == common and machine not in machines]
        is_own = common and (not others or common["name"] == f"vpod-{name}")
        if common and is_own and result.take(("vpods", name), _vlan_words(common, f"vpod-{name}")):
            tenants[common["vlan_id"]] = name
    taken = {server for vpod in declaration.vpods.values() for server in vpod.poplar_servers}
    for device in devices.values():
        if device.kind == POPLAR_SERVER and device.name not in taken and device.facts["switch"] in tors:
            tenant = tenants.get(_untagged(tors[device.facts["switch"]], device.facts["switch_port"]))
            if tenant:
                _take_server(result, tenant, device.name)


def _places_at_pins(declaration: Declaration) -> Placement:
    """Where the vPODs lie: at their pins, as these were found, whatever a new one could be pinned to."""
    pins: dict[str, dict[str, Sequence[str]]] = {}
    for vpod in declaration.vpods.values():
        if vpod.ipu_machines:
            pins.setdefault(declaration.controller_of(vpod).host_name, {})[vpod.name] = vpod.ipu_machines
    return place(undamaged(declaration), pins)


def _take_server(result: Adoption, tenant: str, server: str) -> None:
    before, vpod = result.document, result.document["vpods"][tenant]
    words = {"poplar_servers": [*vpod.get("poplar_servers", []), server]}
    # A server that works with IPU-Machines of another rack shows that the racks are joined.
    is_taken = result.take(("vpods", tenant), words) or (
        result.take(("clusters", vpod["cluster"]), {"spine": True}) and result.take(("vpods", tenant), words)
    )
    if not is_taken:
        result.document = before


def _untagged(there: Mapping[str, Any], port: str) -> int:
    """The VLAN of the frames without a tag at a port, or at the channel that it is in; 0 for none."""
    ports = {each["name"]: each for each in there["ports"]}
    fields: Fields = ports.get(port, {})
    if fields.get("channel_group"):
        fields = ports.get(f"{CHANNEL}{fields['channel_group']}", {})
    return int(fields.get({ACCESS: "vlan", TRUNK: "native_vlan"}.get(fields.get("mode", ""), ""), 0))


def _access_vlan(there: Mapping[str, Any], port: str) -> Mapping[str, Any] | None:
    """The VLAN of an access port; None for the default one and for other ports."""
    fields: Fields = next((each for each in there["ports"] if each["name"] == port), {})
    vlan_id = fields.get("vlan") if fields.get("mode") == ACCESS else None
    return next((vlan for vlan in there["vlans"] if vlan["vlan_id"] == vlan_id != DEFAULT_VLAN), None)


def _vlan_words(vlan: Mapping[str, Any], derived_name: str) -> Document:
    """Return the declaration of a VLAN, with its network, and its name if that is not derived."""
    name = {} if vlan["name"] == derived_name else {"vlan_name": vlan["name"]}
    return {"vlan": vlan["vlan_id"], **filled({"vni": vlan.get("vni")}), **name}


class _ManagementSwitch:
    """Takes what a switch is into the result: its VLANs, and its ports that anybody has configured."""

    def __init__(self, result: Adoption, host: str, pod: str, there: Mapping[str, Any]) -> None:
        self._result = result
        self._host = host
        self._pod: Path = ("pods", pod)
        self._there = there
        self._ports: dict[str, Fields] = {port["name"]: port for port in there["ports"]}
        self._names: dict[int, str] = {}
        self._home: Path = (*self._pod, "management_switch")
        self._vlans: Path = (*self._home, "vlans")

    def take_vlans(self, taken: Collection[int] = ()) -> None:
        """Declare the VLANs that belong to no tenant."""
        for vlan in self._there["vlans"]:
            vlan_id, name = vlan["vlan_id"], vlan["name"]
            if vlan_id == DEFAULT_VLAN or vlan_id in taken:
                continue
            declared = {name: {"id": vlan_id, "vni": vlan["vni"]} if vlan.get("vni") else vlan_id}
            if name not in self._names.values() and self._result.take(self._vlans, declared):
                self._names[vlan_id] = name
            else:
                self._say(f"VLAN {vlan_id} stays as it is, because pods.yml cannot call it {name!r}")

    def take_ports(self) -> None:
        """Declare what differs on each port; on members first, since their channels follow from them."""
        channels = [name for name in self._ports if name.startswith(CHANNEL)]
        self._take_some_ports([name for name in self._ports if name not in channels])
        self._take_some_ports(channels)

    def _take_some_ports(self, names: Iterable[str]) -> None:
        path = (*self._home, "ports")
        derived = self._derived(self._result.document)
        meant = self._to_be_declared(names)
        subjects = [name for name in names if name in derived or name in meant]
        ours = [name for name in subjects if self._ports[name].get("owner") != EXTERNAL]
        # A spare port that is named is not spare any more.
        named = self._derived(with_words(self._result.document, path, {name: {} for name in ours}))
        declared = {
            name: self._words(self._ports[name], named.get(name, {}))
            for name in ours
            if name not in derived or self._words(self._ports[name], derived[name])
        }
        refused: list[str] = []
        if declared and not self._result.take(path, declared):
            refused = [name for name in declared if not self._result.take(path, {name: declared[name]})]
        self._keep_what_trunks_carry(path, [name for name in ours if name not in refused])
        after = self._derived(self._result.document)
        for name in subjects:
            if name not in ours or name in refused or disagreements(self._ports[name], after.get(name, {})):
                self._result.take((*path, name), EXTERNAL_PORT)
                self._say(f"{name} is external, because pods.yml has no words for what it is")

    def _keep_what_trunks_carry(self, path: Path, names: Iterable[str]) -> None:
        """Declare the VLANs that trunks of servers would lose, which is known once they are declared as trunks."""
        derived = self._derived(self._result.document)
        for name in names:
            vlans = vlans_at_stake(self._ports[name], derived.get(name, {}), self._names)
            if vlans:
                self._result.take((*path, name), vlans)

    def _words(self, there: Fields, derived: Fields) -> Document:
        """Return the declaration of a port that differs from the derived one."""
        return words_for(there, derived, self._names)

    def _to_be_declared(self, names: Iterable[str]) -> list[str]:
        """The ports that are declared even where nothing is derived."""
        return [name for name in names if self._ports[name].get("owner") != EXTERNAL and is_in_use(self._ports[name])]

    def _derived(self, document: Document) -> dict[str, Fields]:
        """Return the ports of this switch that a document configures."""
        declaration = parse_declaration(document)
        wanted = desired(declaration, _places_at_pins(declaration))
        ports = {**wanted["tor_switches"], **wanted["management_switches"]}[self._host]["ports"]
        return {port["name"]: port for port in ports}

    def _say(self, reason: str) -> None:
        self._result.reasons.append(f"{self._host}: {reason}")


class _Tor(_ManagementSwitch):
    """Takes the settings of a ToR into the result; what follows from the port map is not declared."""

    def __init__(self, result: Adoption, host: str, pod: str, there: Mapping[str, Any]) -> None:
        super().__init__(result, host, pod, there)
        self._home = (*self._pod, "tor")
        self._vlans = (*self._pod, "vlans")

    def take_vlans(self, taken: Collection[int] = ()) -> None:
        """Declare the VLANs: that of the RNICs, those of nobody; then the settings that the ports have in common."""
        vpods = parse_declaration(self._result.document).vpods.values()
        tenants = {vpod.vlan for vpod in vpods if vpod.vlan is not None}
        found = [_access_vlan(self._there, place.name) for place in self._machines()]
        free = [vlan for vlan in found if vlan is None or vlan["vlan_id"] not in tenants]
        ours = next((vlan for vlan in free if vlan and 2 * free.count(vlan) > len(free)), None)
        if ours:
            self._result.take((*self._pod, "rnic"), _vlan_words(ours, f"{self._pod[-1]}-rnic"))
        super().take_vlans({*taken, *tenants, *self._rnic_vlan()})
        self._take_common("mtu", SWITCHED_MTU)
        self._take_common("spanning_tree_edge", False)
        self._take_roce()
        self._take_quarantine()
        self._take_descriptions()

    def _machines(self) -> list[Place]:
        return [place for place in self._places().values() if place.role == RNIC_OF_MACHINE]

    def _rnic_vlan(self) -> set[int]:
        vlan = parse_declaration(self._result.document).pods[self._pod[-1]].rnic_vlan
        return set() if vlan is None else {vlan}

    def _places(self) -> dict[str, Place]:
        return places_of(parse_declaration(self._result.document).pods[self._pod[-1]])

    def _take_common(self, name: str, default: Any) -> None:
        """Declare once the setting of most ports of IPU-Machines, unless it is EOS's default."""
        common = Counter(self._ports.get(place.name, {}).get(name) for place in self._machines()).most_common(1)[0][0]
        if common not in (None, default):
            self._result.take(self._home, {name: common})

    def _take_roce(self) -> None:
        qos = self._there.get("qos") or {}
        settings = roce_settings(qos)
        if settings is not None:
            self._result.take(self._home, {"roce": settings or REFERENCE})
        elif qos.get("profiles"):
            names = ", ".join(profile["name"] for profile in qos["profiles"])
            self._say(f"quality of service stays as it is, because pods.yml has no words for the profiles {names}")

    def _take_descriptions(self) -> None:
        """Where most RNIC ports are not described by their devices, nobody wants that."""
        derived = self._derived(self._result.document)
        wanted = {name: fields["description"] for name, fields in derived.items() if fields.get("description")}
        others = [name for name, text in wanted.items() if self._ports.get(name, {}).get("description") != text]
        if 2 * len(others) > len(wanted):
            self._result.take(self._home, {"descriptions": KEPT})

    def _take_quarantine(self) -> None:
        """Spare ports that are all in the VLAN for it are meant to be there."""
        spare = [self._ports.get(place.name, {}) for place in self._places().values() if place.role == SPARE]
        quarantined = [each for each in spare if self._names.get(each.get("vlan", 0)) == QUARANTINE]
        if spare and len(quarantined) == len(spare) and all(each.get("mode") == ACCESS for each in spare):
            self._result.take(self._home, {"spare_ports": QUARANTINE})

    def _to_be_declared(self, names: Iterable[str]) -> list[str]:
        """Uplinks are not, nor channels of which no member is."""
        places = self._places()
        channels = [name for name in self._ports if name.startswith(CHANNEL) and name not in places]
        left_out = {*channels, *(name for name, place in places.items() if place.role == UPLINK)}
        return super()._to_be_declared([name for name in names if name not in left_out])

    def _words(self, there: Fields, derived: Fields) -> Document:
        """Beside its fields also whether a port has the profile, where its role says otherwise."""
        words = super()._words(there, derived)
        has = there.get("qos_profile") == PROFILE_NAME and there.get("qos_trust") == "dscp"
        is_declared = "roce" in self._result.document["pods"][self._pod[-1]].get("tor", {})
        if not is_declared or has == (derived.get("qos_profile") == PROFILE_NAME):
            return words
        return {**words, "roce": has}
