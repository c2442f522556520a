# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what controllers hold to the pods.yml that reproduces it. Pure.

V-IPU knows agents, not pods. A cluster goes into pods.yml where its agents are the IPU-Machines of declared pods, by
name or by address; allocations and partitions follow their cluster. What pods.yml has no words for becomes options of
the module ``vipu_state``, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import (
    AGENT,
    ALLOCATION,
    CLUSTER,
    PARTITION,
    USER,
    plural,
)

from .._declaration.declaration import parse_declaration
from .._pod.kinds import DeclarationError
from .._pod.model import ABSENT, DEDICATED, JOBS, OF_A_JOB, Declaration, is_of_a_job
from .adoption import Adoption, Document, filled, refusal, without
from .recognition import Firsts, firsts_of, pods_of
from .vipu_words import DECLARED, PARTITION_KEYS, missing_word, option, partition_words

# Plural of the kind to name to fields, as the module vipu_info returns it.
Held = Mapping[str, Mapping[str, Mapping[str, Any]]]

# The keys of pods.yml that V-IPU knows the truth of; all others are kept.
CLUSTER_KEYS = ("controller", "pods", "topology", "looped")
VPOD_KEYS = ("cluster", "ipus", "ipu_machines", "users", "partitions", "allocation")
# Of a vPOD with a dedicated controller, that of its cluster knows no more than where it lies.
RESERVATION_KEYS = ("cluster", "ipus", "ipu_machines")


def adopted(document: Document, held: Mapping[str, Held]) -> Adoption:
    """The pods.yml that reproduces what the controllers hold.

    Args:
        document: a pods.yml with at least ``pods`` and ``controllers``. The clusters and vPODs of these controllers
            are replaced by what is there; only what V-IPU does not know (VLANs, Poplar servers, which vPODs are for
            jobs) is kept.
        held: host of a controller to what it holds.

    Raises:
        DeclarationError: the document is wrong, or declares no controller on one of the hosts.
    """
    declaration = parse_declaration(without(document, ("clusters", "vpods")))
    names = {controller.host_name: name for name, controller in declaration.controllers.items()}
    for host in held:
        if host not in names:
            raise DeclarationError([f"controllers: none is on {host}; declare it with host or address"])
    alone = _adopted(document, held, declaration, names, True)
    # Together the parts have to be as good as each alone.
    return _adopted(document, held, declaration, names, False) if refusal(alone.document) else alone


def _adopted(
    document: Document, held: Mapping[str, Held], declaration: Declaration, names: Mapping[str, str], is_alone: bool
) -> Adoption:
    unread = {name for host, name in names.items() if host not in held}
    clusters = {name: words for name, words in document.get("clusters", {}).items() if words["controller"] in unread}
    vpods = {name: words for name, words in document.get("vpods", {}).items() if words["cluster"] in clusters}
    result = Adoption({**document, "pods": dict(document["pods"]), "clusters": clusters, "vpods": vpods})
    firsts = firsts_of(declaration)
    for host, kinds in held.items():
        by_kind = {kind: kinds.get(plural(kind), {}) for kind in DECLARED}
        _Adopter(host, names[host], by_kind, firsts, document, result, is_alone).adopt()
    return result


@dataclass
class _Adopter:
    """Takes what one controller holds into ``result``: parents first, and children where their parents went.

    ``is_alone`` says how a cluster is looked at before it is taken: by itself, which is quick, or with all others.
    """

    host: str
    controller: str
    held: Held
    firsts: Firsts
    earlier: Document
    result: Adoption
    is_alone: bool
    # Users of vPODs that are for jobs: they may have no allocation.
    waiting: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.vpods = self.earlier.get("vpods", {})
        pods = self.earlier["pods"].values()
        self.excluded = {machine for pod in pods for machine in (pod or {}).get("excluded") or ()}

    def adopt(self) -> None:
        implied = set()
        for name, cluster in self.held[CLUSTER].items():
            if not self._left_out(CLUSTER, name, self._take_cluster(name, cluster)):
                implied.update(cluster["agents"])
        for name in self.held[AGENT]:
            if name not in implied:
                self._leave(AGENT, name)
        self._take_allocations()
        self._take_vpods_for_jobs()
        for name, partition in self.held[PARTITION].items():
            self._partition(name, partition)
        for name, user in self.held[USER].items():
            self._user(name, user)

    def _take_cluster(self, name: str, cluster: Mapping[str, Any]) -> str:
        """Make it a cluster of pods. Returns why that cannot be, empty if it is done."""
        agents = {agent: self.held[AGENT][agent] for agent in cluster["agents"]}
        pods = pods_of(agents, self.firsts)
        if len(pods) != cluster["ipu_link_domains"]:
            return "its agents are not the IPU-Machines of declared pods, one pod an IPU-Link domain"
        entry = {
            **without(self.earlier.get("clusters", {}).get(name, {}), CLUSTER_KEYS),
            "controller": self.controller,
            "pods": list(pods),
            "topology": cluster["topology"],
        }
        if len(pods) > 1:
            entry["looped"] = cluster["looped"]
        there = self.result.document
        taken = {pod: {**there["pods"][pod], **changes} for pod, changes in pods.items()}
        refused = self._cluster_refusal(name, entry, taken)
        if not refused:
            there["pods"].update(taken)
            there["clusters"][name] = entry
        return refused

    def _cluster_refusal(self, name: str, entry: Document, pods: Mapping[str, Any]) -> str:
        """Why pods.yml would refuse this cluster; empty if it would not."""
        there = self.result.document
        if self.is_alone:
            return refusal(self._part(pods, {name: entry}))
        clusters = {**there["clusters"], name: entry}
        return refusal({**there, "pods": {**there["pods"], **pods}, "clusters": clusters, "vpods": {}})

    def _take_allocations(self) -> None:
        """Make them vPODs with their users, all but those that pods.yml refuses."""
        vpods = {
            name: allocation
            for name, allocation in self.held[ALLOCATION].items()
            if not self._is_of_a_job(ALLOCATION, name)
            and not self._left_out(ALLOCATION, name, self._obstacle(name, allocation))
        }
        entries: dict[str, Document] = {}
        # A user of a refused one is no vPOD's, which may be the reason to refuse another one.
        while entries.keys() != vpods.keys():
            entries = {name: self._vpod(name, allocation, vpods) for name, allocation in vpods.items()}
            for name, entry in entries.items():
                if self._left_out(ALLOCATION, name, self._vpod_refusal(name, entry)):
                    del vpods[name]
        self.result.document["vpods"].update(entries)

    def _take_vpods_for_jobs(self) -> None:
        """Keep those that were declared before and have no allocation: jobs have the allocations."""
        for name, words in self.vpods.items():
            cluster = self.earlier.get("clusters", {}).get(words["cluster"], {})
            is_for_jobs = words.get("allocation") == JOBS and words.get("state") != ABSENT
            if is_for_jobs and cluster.get("controller") == self.controller and name not in self.held[ALLOCATION]:
                reason = self._take_vpod_for_jobs(name, words)
                if reason:
                    self._say("vPOD", name, reason)

    def _take_vpod_for_jobs(self, name: str, words: Document) -> str:
        """Put it in. Returns why that cannot be, empty if it is done."""
        there = self.result.document
        if words["cluster"] not in there["clusters"]:
            return f"cluster {words['cluster']} is not in pods.yml"
        pins = set(words["ipu_machines"])
        for other, allocation in self.held[ALLOCATION].items():
            agents = set(allocation["agents"])
            if pins & agents and not (is_of_a_job(ALLOCATION, other) and pins >= agents):
                return f"allocation {other} has {', '.join(sorted(pins & agents))} of it"
        users = [
            user
            for user in words.get("users") or ()
            if user in self.held[USER] and _is_of(there["vpods"], self.held[USER][user])
        ]
        entry = {**without(words, ("users",)), **filled({"users": users})}
        refused = self._vpod_refusal(name, entry)
        if not refused:
            there["vpods"][name] = entry
            self.waiting.update(users)
        return refused

    def _obstacle(self, name: str, allocation: Mapping[str, Any]) -> str:
        """Why an allocation cannot be a vPOD, whatever vPODs look like; empty if nothing is in the way."""
        there = self.result.document
        if allocation["cluster"] not in there["clusters"]:
            return f"cluster {allocation['cluster']} is not in pods.yml"
        return "another controller has an allocation of that name" if name in there["vpods"] else ""

    def _vpod(self, name: str, allocation: Mapping[str, Any], vpods: Collection[str]) -> Document:
        users = [
            user
            for user, fields in self.held[USER].items()
            if name in fields["allocations"] and _is_of(vpods, fields) and not is_of_a_job(USER, user)
        ]
        earlier, agents = self.vpods.get(name, {}), list(allocation["agents"])
        return {
            **without(earlier, RESERVATION_KEYS if earlier.get("controller") == DEDICATED else VPOD_KEYS),
            "cluster": allocation["cluster"],
            "ipus": allocation["size"],
            # Nobody can be pinned to what is out of order.
            **filled({"ipu_machines": agents if self.excluded.isdisjoint(agents) else [], "users": users}),
        }

    def _partition(self, name: str, partition: Mapping[str, Any]) -> None:
        allocation = partition["allocation"]
        if self._is_of_a_job(PARTITION, name):
            return
        if is_of_a_job(ALLOCATION, allocation):
            self._say(PARTITION, name, f"it lies in allocation {allocation}, which is {OF_A_JOB}")
        elif not allocation:
            self._say(PARTITION, name, "it lies in no allocation, which cannot be declared; it is nobody's")
        elif allocation not in self.result.document["vpods"]:
            self._leave(PARTITION, name)
        else:
            self._left_out(PARTITION, name, self._take_partition(allocation, name, partition))

    def _take_partition(self, vpod: str, name: str, partition: Mapping[str, Any]) -> str:
        """Put it into its vPOD. Returns why that cannot be, empty if it is done."""
        reason = missing_word(partition)
        if reason:
            return reason
        earlier = self.vpods.get(vpod, {}).get("partitions", {}).get(name, {})
        entry = {**without(earlier, PARTITION_KEYS), **partition_words(partition)}
        there = self.result.document["vpods"][vpod]
        with_it = {**there, "partitions": {**there.get("partitions", {}), name: entry}}
        refused = self._vpod_refusal(vpod, with_it)
        if not refused:
            self.result.document["vpods"][vpod] = with_it
        return refused

    def _vpod_refusal(self, name: str, entry: Document) -> str:
        """Why pods.yml would refuse this vPOD, looked at alone; empty if it would not."""
        there = self.result.document
        cluster = there["clusters"][entry["cluster"]]
        pods = {pod: there["pods"][pod] for pod in cluster["pods"]}
        return refusal({**self._part(pods, {entry["cluster"]: cluster}), "vpods": {name: entry}})

    def _part(self, pods: Mapping[str, Any], clusters: Mapping[str, Any]) -> Document:
        """A pods.yml with these alone."""
        # The controller's host may be in a rack that does not matter here.
        given = self.result.document["controllers"][self.controller]
        controller = {**{key: value for key, value in given.items() if key != "host"}, "address": "127.0.0.1"}
        words = {"pods": pods, "controllers": {self.controller: controller}, "clusters": clusters}
        return {"schema": self.result.document["schema"], **words}

    def _user(self, name: str, user: Mapping[str, Any]) -> None:
        if self._is_of_a_job(USER, name):
            return
        of_jobs = [allocation for allocation in user["allocations"] if is_of_a_job(ALLOCATION, allocation)]
        if of_jobs:
            self._say(USER, name, f"they may use {', '.join(of_jobs)}, which is {OF_A_JOB}")
        elif user["admin"]:
            self._say(USER, name, "it is an administrator, whom vipu-admin cannot create; it is nobody's")
        elif not (user["allocations"] or name in self.waiting) or not _is_of(self.result.document["vpods"], user):
            self._leave(USER, name)

    def _is_of_a_job(self, kind: str, name: str) -> bool:
        """Whether Slurm has made it for a job, and will remove it; then nobody declares it."""
        if is_of_a_job(kind, name):
            self._say(kind, name, f"it is {OF_A_JOB}, and goes with it")
        return is_of_a_job(kind, name)

    def _left_out(self, kind: str, name: str, reason: str) -> bool:
        """Whether there is a reason not to take it into pods.yml, and then it is left."""
        if reason:
            self._leave(kind, name, reason)
        return bool(reason)

    def _leave(self, kind: str, name: str, reason: str = "") -> None:
        """Make it options of vipu_state; without a reason because its parent is."""
        options = self.result.options.setdefault(self.host, {})
        options.setdefault(plural(kind), []).append(option(kind, name, self.held[kind][name]))
        if reason:
            self._say(kind, name, f"{reason}; it is left to vipu_state")

    def _say(self, kind: str, name: str, reason: str) -> None:
        self.result.reasons.append(f"{self.host}: {kind} {name} is not in pods.yml: {reason}")


def _is_of(vpods: Collection[str], user: Mapping[str, Any]) -> bool:
    """Whether a user is one of vPODs alone."""
    return not user["admin"] and all(allocation in vpods for allocation in user["allocations"])
