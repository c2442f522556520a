# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what Poplar servers are to the pods.yml that keeps them so. Pure, and linear in the number of servers.

pods.yml has words for one plain NIC in each server: its name, its address, its MTU. What is beside it (VLANs, virtual
functions, the NIC's other port) is not declared and so left alone. A server whose RNIC is something else, or would not
come back after a restart, is left alone as a whole.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import NIC

from .._declaration.consistency import ADDRESS_FACTS
from .._declaration.declaration import parse_declaration
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, Device, devices_of, devices_of_pod
from .._pod.kinds import DeclarationError
from .._pod.model import Pod
from .._pod.rack_plan import FIRST_POPLAR_SERVER, RNIC_PREFIX
from .._pod.rack_plan import address as derived_address
from .adoption import Adoption, Document, filled, refusal, without
from .parts import parts_of

# Host name of a server to what was read there: ``gathered`` and ``lasting`` of rnic_network.
Gathered = Mapping[str, Mapping[str, Any]]

DEFAULT_INTERFACE = "ens2f0"
# The kernel's own for Ethernet, for which nobody has asked.
USUAL_MTU = 1500
# The overrides of a server that are read; the others are kept.
READ = ("rnic_interface", "rnic_address", "rnic_prefix", "rnic_mtu")


def adopted(document: Document, gathered: Gathered) -> Adoption:
    """The pods.yml that keeps names and addresses of RNICs as they are; of their MTUs it says nothing.

    What ``document`` says of the RNICs of the ``gathered`` servers is replaced by what is there.

    Raises:
        DeclarationError: the document is wrong, or declares no such server.
    """
    declaration = parse_declaration(document)
    devices = devices_of(declaration)
    unknown = [host for host in gathered if host not in devices or devices[host].kind != POPLAR_SERVER]
    if unknown:
        raise DeclarationError([f"pods: none has a Poplar server {unknown[0]}; declare its pod, or its name in names"])
    taken = _addresses_of_others(devices.values(), gathered)
    result = Adoption({**document, "pods": dict(document["pods"])})
    for pod in declaration.pods.values():
        if any(server.name in gathered for server in _servers_of(pod)):
            words = _PodWords(pod, document["pods"][pod.name], gathered, taken)
            result.document["pods"][pod.name] = words.document()
            result.left.extend(words.obstacles)
            result.reasons += [
                f"{host}: its RNIC is left alone, because {why}" for host, why in words.obstacles.items()
            ]
    if refusal(result.document):
        reasons = ["pods.yml has no words for RNICs that contradict each other"]
        return Adoption(document, reasons, left=list(gathered))
    return result


def with_mtus(document: Document, left: Collection[str], gathered: Gathered) -> Adoption:
    """The same with the MTUs of the RNICs but those ``left`` alone; they have to fit the ports in the document."""
    declaration = parse_declaration(document)
    result = Adoption({**document, "pods": dict(document["pods"])})
    for part in parts_of(document, declaration):
        adoption = Adoption(part)
        for name in part["pods"]:
            mtus = {
                server.name: _mtu(server, gathered)
                for server in _servers_of(declaration.pods[name])
                if server.name in gathered and server.name not in left
            }
            unfit = _take_mtus(adoption, name, mtus)
            result.left += unfit
            result.reasons += [
                f"{host}: its RNIC is left alone, because its MTU {mtus[host]} does not fit its port" for host in unfit
            ]
        result.document["pods"].update(adoption.document["pods"])
    return result


def main_interface(server: Device, interfaces: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The interface, as rnic_network gathers it, that pods.yml means by a server's RNIC; None if it cannot be told."""
    mac, address = server.facts.get("rnic_mac"), server.facts["rnic_address"]
    tests = (
        [each for each in interfaces if mac and each.get("mac") == mac and each["type"] == NIC],
        [each for each in interfaces if address in [str(one.ip) for one in _addresses(each)]],
        [each for each in interfaces if each["name"] == server.facts["rnic_interface"]],
        [each for each in interfaces if _addresses(each)],
    )
    return next((found[0] for found in tests if len(found) == 1), None)


class _PodWords:
    """Return the declaration of one pod's servers: common values once, exceptions by name.

    ``obstacles`` maps servers to why pods.yml cannot say what their RNIC is.
    """

    def __init__(self, pod: Pod, words: Document, gathered: Gathered, taken: dict[str, str]) -> None:
        self._pod = pod
        self._words = words
        self._gathered = gathered
        self._taken = taken
        self._servers = _servers_of(pod)
        self._machines = [device.facts["rnic_address"] for device in devices_of_pod(pod) if device.kind == IPU_MACHINE]
        self.obstacles: dict[str, str] = {}

    def document(self) -> Document:
        """The words of the pod."""
        mains = {
            server.name: main_interface(server, self._gathered[server.name]["gathered"])
            for server in self._servers
            if server.name in self._gathered
        }
        names = {server.name: _label(server, mains.get(server.name)) for server in self._servers}
        common = Counter(names.values()).most_common(1)[0][0]
        overrides = dict(self._words.get("overrides", {}))
        for server in self._servers:
            earlier = overrides.pop(server.name, {})
            own = without(earlier, ("rnic_interface",))
            if server.name in mains:
                own = {**without(earlier, READ), **self._address_words(server, mains[server.name])}
            if names[server.name] != common:
                own["rnic_interface"] = names[server.name]
            if own:
                overrides[server.name] = own
        rnic = without(self._words.get("rnic", {}), ("interface", "mtu"))
        if common != DEFAULT_INTERFACE:
            rnic = {"interface": common, **rnic}
        return {**without(self._words, ("rnic", "overrides")), **filled({"rnic": rnic, "overrides": overrides})}

    def _address_words(self, server: Device, main: Mapping[str, Any] | None) -> Document:
        """Return the declaration of an address that differs from the derived one; empty if it cannot be declared."""
        obstacle = self._obstacle(server, main)
        if obstacle or main is None:
            self.obstacles[server.name] = obstacle
            return {}
        (address,) = _addresses(main)
        self._taken[str(address.ip)] = server.name
        number = FIRST_POPLAR_SERVER - 1 + server.number
        words: Document = {}
        if str(address.ip) != derived_address(self._pod.addressing, "rnic", self._pod.lrack, number):
            words["rnic_address"] = str(address.ip)
        if address.network.prefixlen != RNIC_PREFIX[self._pod.addressing]:
            words["rnic_prefix"] = address.network.prefixlen
        return words

    def _obstacle(self, server: Device, main: Mapping[str, Any] | None) -> str:
        """Why pods.yml cannot say what a server's RNIC is; empty if it can."""
        if main is None:
            return "which of its interfaces that is cannot be told; name it in rnic.interface"
        name, addresses = main["name"], _addresses(main)
        if main["type"] != NIC or "addresses" not in main:
            return f"{name} is a {main['type'] if main['type'] != NIC else 'port of a bond'}"
        if len(addresses) != 1 or addresses[0].version != 4:
            return f"pods.yml has words for one IPv4 address, and {name} has {', '.join(map(str, addresses)) or 'none'}"
        if name not in self._gathered[server.name]["lasting"]:
            return f"no file brings the settings of {name} back after a restart"
        return self._obstacle_of_address(addresses[0])

    def _obstacle_of_address(self, address: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> str:
        if str(address.ip) in self._taken:
            return f"its address {address.ip} is also that of {self._taken[str(address.ip)]}"
        if any(ipaddress.ip_address(each) not in address.network for each in self._machines):
            return f"not all IPU-Machines of {self._pod.name} are in the subnet of its address {address}"
        return ""


def _label(server: Device, main: Mapping[str, Any] | None) -> str:
    """The interface's name in pods.yml; beside a MAC address it is only a label."""
    declared: str = server.facts["rnic_interface"]
    return declared if main is None or server.facts.get("rnic_mac") else str(main["name"])


def _take_mtus(adoption: Adoption, pod: str, mtus: Mapping[str, int | None]) -> list[str]:
    """Declare the MTU of most servers, and the others'; return the servers for which pods.yml cannot have it."""
    if not mtus:
        return []
    common = Counter(mtus.values()).most_common(1)[0][0]
    if common in (None, USUAL_MTU) or not adoption.take(("pods", pod, "rnic"), {"mtu": common}):
        common = None
    left = []
    for name, mtu in mtus.items():
        is_usual = mtu == common or (common is None and mtu in (None, USUAL_MTU))
        if not is_usual and not adoption.take(("pods", pod, "overrides", name), {"rnic_mtu": mtu}) and common:
            left.append(name)
    return left


def _mtu(server: Device, gathered: Gathered) -> int | None:
    """The MTU of a server's RNIC; a port of a bond has none of its own."""
    main = main_interface(server, gathered[server.name]["gathered"])
    return main.get("mtu") if main else None


def _servers_of(pod: Pod) -> list[Device]:
    return [device for device in devices_of_pod(pod) if device.kind == POPLAR_SERVER]


def _addresses(interface: Mapping[str, Any]) -> list[Any]:
    return [ipaddress.ip_interface(address) for address in interface.get("addresses", [])]


def _addresses_of_others(devices: Iterable[Device], gathered: Gathered) -> dict[str, str]:
    """Every address that pods.yml gives to a device, but those of RNICs that are read now."""
    return {
        device.facts[fact]: device.name
        for device in devices
        for fact in ADDRESS_FACTS
        if fact in device.facts and not (fact == "rnic_address" and device.name in gathered)
    }
