# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet's pods.yml as the documents of its parts: what can be looked at alone, because nothing joins it. Pure.

Pods of one cluster belong together, and so do those in which one vPOD has IPU-Machines or servers. What is said of a
part can be checked in that part, but for the VLANs of the tenants, which have to differ in the whole fleet
(:class:`Vlans`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._pod.devices import POPLAR_SERVER, device_name
from .._pod.model import Declaration

Document = dict[str, Any]


def parts_of(document: Document, declaration: Declaration) -> list[Document]:
    """The documents of the parts of a whole pods.yml, in the order of their first pods."""
    first = _first_pods(declaration)
    documents: dict[str, Document] = {}
    for name, words in document["pods"].items():
        part = documents.setdefault(first[name], {"schema": document["schema"], "pods": {}})
        part["pods"][name] = words
    for name, cluster in declaration.clusters.items():
        part = documents[first[cluster.pods[0]]]
        part.setdefault("clusters", {})[name] = document["clusters"][name]
        controllers = part.setdefault("controllers", {})
        # Its host may stand in another part, and does not matter here.
        given = document["controllers"][cluster.controller]
        stand_in = {key: value for key, value in given.items() if key != "host"}
        stand_in["address"] = f"127.0.0.{len(controllers) + 1}"
        controllers.setdefault(cluster.controller, stand_in)
    for name, vpod in declaration.vpods.items():
        part = documents[first[declaration.clusters[vpod.cluster].pods[0]]]
        part.setdefault("vpods", {})[name] = document["vpods"][name]
        if "clouds" in document:
            part["clouds"] = document["clouds"]
    return list(documents.values())


def _first_pods(declaration: Declaration) -> dict[str, str]:
    """Each pod's part, by the name of the first pod in it."""
    position = {name: number for number, name in enumerate(declaration.pods)}
    first = {name: name for name in position}
    members = {name: [name] for name in position}
    for group in _joined(declaration):
        parts = sorted({first[name] for name in group}, key=position.__getitem__)
        for other in parts[1:]:
            for name in members.pop(other):
                first[name] = parts[0]
                members[parts[0]].append(name)
    return first


def _joined(declaration: Declaration) -> Iterator[Iterable[str]]:
    servers = {
        device_name(pod, POPLAR_SERVER, number): pod.name
        for pod in declaration.pods.values()
        for number in range(1, pod.poplar_servers + 1)
    }
    for cluster in declaration.clusters.values():
        yield cluster.pods
    for vpod in declaration.vpods.values():
        yield (*declaration.clusters[vpod.cluster].pods, *(servers[name] for name in vpod.poplar_servers))


# A VLAN ID or a VNI: which of them, and the number.
Number = tuple[str, int]


@dataclass
class Vlans:
    """The VLANs and VNIs of tenants and of pods, as far as different parts must not share them."""

    tenants: set[Number] = field(default_factory=set)
    pods: set[Number] = field(default_factory=set)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Vlans:
        """Those that a document says."""
        found = cls()
        for vpod in document.get("vpods", {}).values():
            found.tenants |= _numbers(vpod)
        for pod in document["pods"].values():
            found.pods |= _numbers(pod.get("rnic", {}))
            for vlan in pod.get("vlans", {}).values():
                words = vlan if isinstance(vlan, dict) else {"id": vlan}
                found.pods |= _numbers({"vlan": words.get("id"), "vni": words.get("vni")})
        return found

    def clash_with(self, other: Vlans) -> bool:
        """Whether a tenant here or there has what is somebody else's in the other part."""
        return bool(self.tenants & (other.tenants | other.pods) or self.pods & other.tenants)

    def add(self, other: Vlans) -> None:
        """Have these, too."""
        self.tenants |= other.tenants
        self.pods |= other.pods


def _numbers(words: Mapping[str, Any]) -> set[Number]:
    return {(key, words[key]) for key in ("vlan", "vni") if words.get(key) is not None}
