# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a cloud holds to what vPODs have there by pods.yml. Pure.

What bears the mark of a vPOD is its own; a mark is what gives a run the right to change a thing, so nobody sets it but
the operator. What a vPOD's VLAN says is its own, and what bears no mark, is a finding with the commands that set it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import (
    FLAVOR,
    KEY,
    MEMBER,
    MEMBER_ROLE,
    NETWORK,
    PROJECT,
    QUOTA,
    SECURITY_GROUP,
    SERVER,
    SUBNET,
    TRAIT,
    VOLUME,
    controller_of,
    description_of,
    fields_in,
    tags_of,
    things,
    trait_name,
    vpod_of_mark,
)
from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan
from ansible_collections.ipu.pod.plugins.module_utils._cloud.wanted import DEFAULT_DOMAIN, QUOTAS
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, Step

from .._declaration.cloud_keys import MACHINE
from .._declaration.declaration import parse_declaration
from .._desired.cloud_sizes import SSH
from .._desired.clouds import desired_clouds
from .._pod.clouds import KEPT_MACHINES
from .._pod.kinds import DeclarationError
from .adoption import Document
from .gathered_rack import Finding

Look = Mapping[str, Any]


@dataclass
class CloudAdoption:
    """The pods.yml, and what of clouds is not in it."""

    document: Document
    findings: list[Finding] = field(default_factory=list)


def adopted_clouds(document: Document, looks: Mapping[str, Look]) -> CloudAdoption:
    """The pods.yml that keeps what vPODs have in clouds.

    Args:
        document: a pods.yml with the clouds, and with the vPODs as their controllers have them. What it says of a
            vPOD in a cloud that was not read is kept.
        looks: cloud to what was read of it.
    """
    result = CloudAdoption(document)
    for cloud, look in looks.items():
        for vpod in [name for name, words in result.document.get("vpods", {}).items() if _is_in(words, cloud)]:
            result.document = _with_share(result.document, vpod, None)
        for vpod in result.document.get("vpods", {}):
            _take(result, cloud, vpod, look)
        marked = {each["vpod"] for kind in (PROJECT, NETWORK, FLAVOR) for each in things(look, kind) if each["vpod"]}
        for vpod in sorted(set(map(vpod_of_mark, marked)) - set(result.document.get("vpods", {}))):
            finding = f"{cloud} has things that are marked as vPOD {vpod}'s, and no V-IPU controller has its allocation"
            result.findings.append(Finding(cloud, finding, "Declare the vPOD, with state absent if it is to go."))
    return result


def _is_in(words: Mapping[str, Any], cloud: str) -> bool:
    return bool((words.get("cloud") or {}).get("name") == cloud)


def _take(result: CloudAdoption, cloud: str, vpod: str, look: Look) -> None:
    """Say what a vPOD has in a cloud, if a run would then change nothing of it."""
    there = result.document["vpods"][vpod]
    unmarked = list(_unmarked(result.document, cloud, vpod, there, look))
    result.findings += unmarked
    projects = [each for each in things(look, PROJECT) if each["vpod"] == vpod]
    if len(projects) != 1:
        if projects and not unmarked:
            names = ", ".join(each["name"] for each in projects)
            finding = f"projects {names} are all marked as vPOD {vpod}'s"
            result.findings.append(Finding(cloud, finding, "Leave the mark on one of them."))
        return
    words = _Words(cloud, vpod, there, projects[0], look, result.document["clouds"][cloud]).all()
    candidate = _with_share(_on_hypervisors(result.document, vpod, look), vpod, words)
    try:
        steps = _steps(candidate, cloud, look)
    except (Refused, DeclarationError) as error:
        result.findings.append(Finding(cloud, f"what vPOD {vpod} has is not in pods.yml: {error}", "Put that right."))
        return
    changes = [step for step in steps if step.action != CREATE]
    if changes:
        said = "; ".join(f"{step.kind} {step.name}: {step.reason}" for step in changes)
        finding = f"what vPOD {vpod} has is not in pods.yml, which has no words for it, and would change {said}"
        result.findings.append(
            Finding(cloud, finding, "Declare it as it shall be, or bring the cloud in line with it.")
        )
        return
    result.document = candidate
    result.findings += _other_roles(cloud, words, projects[0], look)
    if steps:
        said = ", ".join(f"{step.kind} {step.name}" for step in steps)
        result.findings.append(Finding(cloud, f"vPOD {vpod} has no {said}", "A run makes what is missing."))


def _members_of(project: Mapping[str, Any], look: Look) -> list[Mapping[str, Any]]:
    """Who has a role in a project, but for the operator."""
    return [
        each
        for each in things(look, MEMBER)
        if each["project_id"] == project["id"] and each["user_id"] != look["operator"]["user_id"]
    ]


def _other_roles(cloud: str, words: Document, project: Mapping[str, Any], look: Look) -> Iterator[Finding]:
    role = words.get("role", MEMBER_ROLE)
    for each in _members_of(project, look):
        if each["role"] != role:
            finding = (
                f"{each['user']} has role {each['role']} in project {project['name']}, and pods.yml has one, {role}"
            )
            yield Finding(cloud, finding, "Runs leave it so.")


def _steps(document: Document, cloud: str, look: Look) -> list[Step]:
    """The steps that a pods.yml causes in a cloud."""
    options = desired_clouds(parse_declaration(document))[cloud]
    # Files of images are the operator's, and not what is gathered.
    steps: list[Step] = plan({**options, "images": []}, look)
    return steps


def _on_hypervisors(document: Document, vpod: str, look: Look) -> Document:
    """A vPOD of which nobody has said which servers it has is on the hypervisors with its trait."""
    words = document["vpods"][vpod]
    hosts = [each["hypervisors"] for each in things(look, TRAIT) if each["name"] == trait_name(vpod)]
    if words.get("poplar_servers") or not hosts:
        return document
    return {**document, "vpods": {**document["vpods"], vpod: {**words, "poplar_servers": hosts[0]}}}


def _with_share(document: Document, vpod: str, share: Document | None) -> Document:
    words = {key: value for key, value in document["vpods"][vpod].items() if key != "cloud"}
    if share is not None:
        words["cloud"] = share
    return {**document, "vpods": {**document["vpods"], vpod: words}}


@dataclass
class _Words:
    """The words for what a vPOD has in a cloud; what they say wrongly, a plan finds."""

    cloud: str
    vpod: str
    there: Mapping[str, Any]
    project: Mapping[str, Any]
    look: Look
    declared: Mapping[str, Any]

    def all(self) -> Document:
        """The entry, without what follows by itself."""
        place = {"project": self.project["name"], "domain": self.project["domain"]}
        usual = {"project": self.vpod, "domain": DEFAULT_DOMAIN}
        words: Document = {"name": self.cloud, **{key: place[key] for key in place if place[key] != usual[key]}}
        words.update(self._members())
        quota = [each for each in things(self.look, QUOTA) if each["project_id"] == self.project["id"]]
        words.update({"quota": fields_in(quota[0], *QUOTAS)} if quota else {})
        words.update(self._flavor())
        words.update(self._machines())
        words.update(self._storage())
        words.update(self._controller())
        return words

    def _members(self) -> Document:
        mine = _members_of(self.project, self.look)
        if not mine:
            return {}
        role = MEMBER_ROLE if any(each["role"] == MEMBER_ROLE for each in mine) else mine[0]["role"]
        words: Document = {"users": sorted(each["user"] for each in mine if each["role"] == role)}
        return words if role == MEMBER_ROLE else {**words, "role": role}

    def _flavor(self) -> Document:
        start = f"vpod-{self.vpod}-"
        flavors = [each for each in self._mine(FLAVOR) if each["name"].removeprefix(start).isdecimal()]
        if not flavors:
            return {}
        ipus = int(flavors[0]["name"].removeprefix(start))
        return {**({"ipus_per_machine": ipus} if ipus != self.there["ipus"] else {}), **_machine(flavors[0])}

    def _machines(self) -> Document:
        servers = [each for each in self._mine(SERVER) if each["project_id"] == self.project["id"]]
        if not servers:
            return {}
        first = min(servers, key=lambda each: each["name"])
        keys = {each["name"]: each.get("public_key") for each in things(self.look, KEY)}
        start = f"{first['name']}-"
        volumes = {
            each["name"].removeprefix(start): each["size"]
            for each in self._mine(VOLUME)
            if each["name"].startswith(start) and first["id"] in each["servers"]
        }
        words = {"image": first["image"], "key": keys.get(first["key"]), "volumes": volumes}
        return {"machines": KEPT_MACHINES, **{key: value for key, value in words.items() if value}}

    def _storage(self) -> Document:
        name = f"vpod-{self.vpod}-storage"
        networks = [each for each in self._mine(NETWORK) if each["name"] == name]
        subnets = [each for each in self._mine(SUBNET) if each["network"] == name]
        if not (networks and subnets):
            return {}
        words: Document = {"vlan": networks[0]["vlan"], "subnet": subnets[0]["cidr"]}
        if networks[0]["physical_network"] != self.declared["physical_network"]:
            words["physical_network"] = networks[0]["physical_network"]
        return {"storage": words}

    def _controller(self) -> Document:
        """The machine of its dedicated V-IPU controller, if the cloud has one."""
        mark = controller_of(self.vpod)
        projects = {each["id"]: each["name"] for each in self._mine(PROJECT, mark)}
        servers = [each for each in self._mine(SERVER, mark) if each["project_id"] in projects]
        if not servers:
            return {}
        flavors = [each for each in self._mine(FLAVOR, mark) if each["name"] == servers[0]["flavor"]]
        keys = {each["name"]: each.get("public_key") for each in things(self.look, KEY)}
        clients = [
            rule["remote"]
            for group in things(self.look, SECURITY_GROUP)
            if (group["project_id"], group["name"]) == (servers[0]["project_id"], servers[0]["name"])
            for rule in group["rules"]
            if rule["port"] != str(SSH)
        ]
        words = {"image": servers[0]["image"], "key": keys.get(servers[0]["key"]), "clients": sorted(clients)}
        return {"controller": {**words, **(_machine(flavors[0]) if flavors else {})}}

    def _mine(self, kind: str, mark: str = "") -> list[Mapping[str, Any]]:
        return [each for each in things(self.look, kind) if each["vpod"] == (mark or self.vpod)]


def _machine(flavor: Mapping[str, Any]) -> Document:
    """The words for the size of a machine, without what is usual."""
    specs = flavor["extra_specs"]
    nodes = specs.get("hw:numa_nodes", "")
    machine = {
        "vcpus": flavor["vcpus"],
        "memory": flavor["ram"],
        "disk": flavor["disk"],
        "dedicated_cpus": specs.get("hw:cpu_policy") == "dedicated",
        "huge_pages": specs.get("hw:mem_page_size") == "large",
        **({"numa_nodes": int(nodes)} if nodes.isdecimal() else {}),
    }
    defaults = {key.name: key.default for key in MACHINE.keys}
    different = {key: value for key, value in machine.items() if value != defaults[key]}
    return {"machine": different} if different else {}


def _unmarked(document: Document, cloud: str, vpod: str, there: Mapping[str, Any], look: Look) -> Iterator[Finding]:
    """The network on a vPOD's VLAN that bears no mark, and what belongs to it: one finding, with all commands."""
    physical = document["clouds"][cloud]["physical_network"]
    for network in things(look, NETWORK):
        if (network["physical_network"], network["vlan"]) != (physical, there.get("vlan")) or network["vpod"]:
            continue
        what = f"network {network['name']} has VLAN {network['vlan']} of vPOD {vpod}, and bears no mark of a vPOD"
        if network["project_id"] != look["operator"]["project_id"]:
            remedy = (
                f"It is of project {network['project']}, and OpenStack cannot give it to another; have it removed, and "
                "a run makes one of the operator's project."
            )
        elif len(network["projects"]) != 1:
            shared = ", ".join(network["projects"]) or "no project"
            remedy = f"It is shared with {shared}, and a vPOD's with one; share it with one alone, and gather again."
        else:
            commands = "; ".join(_commands(vpod, network, look))
            remedy = f"If it is the vPOD's, give it and what belongs to it the mark, and gather again: {commands}"
        yield Finding(cloud, what, remedy)


def _commands(vpod: str, network: Mapping[str, Any], look: Look) -> Iterator[str]:
    """The commands that make a network, its subnet, and the project and the machines with it, a vPOD's."""
    tags = [word for tag in tags_of(vpod) for word in ("--tag", tag)]
    name = f"vpod-{vpod}-rnic"
    projects = [each for each in things(look, PROJECT) if each["name"] in network["projects"]]
    for project in projects:
        yield _command("project set", *tags, project["id"])
    yield _command("network set", "--name", name, *tags, network["id"])
    for subnet in (each for each in things(look, SUBNET) if each["network_id"] == network["id"]):
        yield _command("subnet set", "--name", name, *tags, subnet["id"])
    for flavor in things(look, FLAVOR):
        if flavor["name"].startswith(f"vpod-{vpod}-") and not flavor["vpod"]:
            # Flavors have descriptions since that version of the API.
            yield _command(
                "--os-compute-api-version 2.55 flavor set", "--description", description_of(vpod), flavor["id"]
            )
    for group in things(look, "security_group"):
        if group["name"] == f"vpod-{vpod}" and group["project"] in network["projects"]:
            yield _command("security group set", *tags, group["id"])


def _command(words: str, *options: str) -> str:
    return shlex.join(["openstack", *words.split(), *options])
