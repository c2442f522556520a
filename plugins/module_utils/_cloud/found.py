# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a look concerns some options, as a state: by kind and name, with what each name stands for. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Callable, Mapping, Tuple

from .._plan.steps import Fields, State
from .entities import (
    ERROR,
    FLAVOR,
    IMAGE,
    KEY,
    MARK,
    MEMBER,
    NETWORK,
    PORT,
    PROJECT,
    QUOTA,
    SECURITY_GROUP,
    SERVER,
    SUBNET,
    TRAIT,
    VOLUME,
    Desired,
    Look,
    Thing,
    fields_in,
    member_name,
    things,
    trait_name,
)
from .wanted import DEFAULT_DOMAIN, QUOTAS, as_texts, in_order, kinds, members_of, vpods_of

# Kind and name.
Entity = Tuple[str, str]


class Found:
    """The things of a look that are wanted by name or marked with a vPOD of the options.

    ``state`` has their fields, ``things`` what the look has of them, and ``taken`` one sentence for each wanted name
    that belongs to somebody else.
    """

    def __init__(self, desired: Desired, look: Look, names: Mapping[str, Any]) -> None:
        self.look = look
        self.state: State = kinds()
        self.things: dict[Entity, Thing] = {}
        self.taken: list[str] = []
        self._desired = desired
        self._wanted = names
        self._vpods = vpods_of(desired)
        self._by_id = {each["id"]: each for each in _all_with_ids(look)}
        self.projects = _projects(desired, look)
        self._own = look["operator"]["project_id"]
        self._vpod_of_project = {each["id"]: each["vpod"] for each in things(look, PROJECT)}
        self._find_access()
        self._find_networks()
        self._find_hardware()
        self._find_machines()

    def project_id(self, name: str) -> str:
        """The id of a project; empty where it is not there yet."""
        return str(self.projects.get(name, {}).get("id", ""))

    def domain_of(self, project: str) -> str:
        """The domain of a declared project, in which its users are, too."""
        domains = [each.get("domain") for each in things(self._desired, PROJECT) if each["name"] == project]
        return next(iter(domains), None) or DEFAULT_DOMAIN

    def of_all(self, kind: str) -> list[Thing]:
        """What the operator made of a kind, or lets everybody have; a tenant can give any name to what is theirs."""
        return [each for each in things(self.look, kind) if not each.get("hidden") and self._is_for_all(kind, each)]

    def _is_for_all(self, kind: str, thing: Thing) -> bool:
        shared = thing.get("shared") or thing.get("visibility") == "public"
        return kind == FLAVOR or bool(shared) or thing["project_id"] == self._own

    def on_network(self, network_id: str) -> list[Thing]:
        """The ports on a network, without those that Neutron itself has there."""
        return [
            port
            for port in things(self.look, PORT)
            if port["network_id"] == network_id and port["device_owner"] not in ("network:dhcp", "network:distributed")
        ]

    def server_of(self, port: Thing) -> Thing:
        """The server of a port; empty where it has none that the look knows."""
        return self._by_id.get(port["device_id"], {})

    def _find_access(self) -> None:
        for project in things(self.look, PROJECT):
            same = self.projects.get(project["name"], {}).get("id") == project["id"]
            self._take(PROJECT, project, same, lambda each: fields_in(each, "domain", "description", "vpod"))
        roles = {each["role"] for each in members_of(self._desired, self.look)}
        declared = {each["name"]: each.get("domain") or DEFAULT_DOMAIN for each in things(self._desired, PROJECT)}
        for member in things(self.look, MEMBER):
            project, domain = member["project"], declared.get(member["project"], DEFAULT_DOMAIN)
            is_operator = member["user_id"] == self.look["operator"]["user_id"]
            concerns = project in declared and member["project_id"] == self.project_id(project)
            name = member_name(member["user"], member["role"], project)
            here = (member["role"] in roles and member["user_domain"] == domain) or is_operator
            if concerns and here and (not is_operator or name in self._wanted[MEMBER]):
                self._put(MEMBER, name, member, fields_in(member, "project", "user", "role"))
        for quota in things(self.look, QUOTA):
            name = quota["project"]
            if name in self._wanted[QUOTA] and quota["project_id"] == self.project_id(name):
                self._put(QUOTA, name, quota, fields_in(quota, *QUOTAS))

    def _find_networks(self) -> None:
        own = [each for each in things(self.look, NETWORK) if each["project_id"] == self._own]
        for network in own:
            self._take(
                NETWORK,
                network,
                True,
                lambda each: fields_in(each, "vpod", "physical_network", "vlan", "mtu", "projects", "tagged"),
            )
        ids = {each["id"] for each in own}
        for subnet in things(self.look, SUBNET):
            if subnet["network_id"] in ids:
                self._take(
                    SUBNET, subnet, True, lambda each: fields_in(each, "vpod", "network", "cidr", "pools", "tagged")
                )
        for group in things(self.look, SECURITY_GROUP):
            self._take(
                SECURITY_GROUP,
                group,
                self._is_in_its_project(SECURITY_GROUP, group),
                lambda each: {**fields_in(each, "vpod", "project", "tagged"), "rules": in_order(each["rules"])},
            )

    def _find_hardware(self) -> None:
        for flavor in things(self.look, FLAVOR):
            self._take(
                FLAVOR,
                flavor,
                True,
                lambda each: {
                    **fields_in(each, "vpod", "vcpus", "ram", "disk", "projects"),
                    "extra_specs": as_texts(each["extra_specs"]),
                },
            )
        of_vpods = {trait_name(vpod): vpod for vpod in self._vpods}
        for trait in things(self.look, TRAIT):
            name = trait["name"]
            if name in of_vpods or name in self._wanted[TRAIT]:
                thing = {**trait, "vpod": of_vpods.get(name)}
                self._put(TRAIT, name, thing, {"hypervisors": sorted(trait["hypervisors"])})
        for image in things(self.look, IMAGE):
            ours = image["project_id"] == self._own or image["visibility"] == "public"
            if ours and not image["hidden"] and image["name"] in self._wanted[IMAGE]:
                if not image["marked"]:
                    self.taken.append(
                        f"image {image['name']}: one of this name is there that was not uploaded from here; give the "
                        "file another name, or leave it out of images to use what is there"
                    )
                self._put(IMAGE, image["name"], image, fields_in(image, "disk_format", "sha512"))

    def _find_machines(self) -> None:
        for key in things(self.look, KEY):
            self._take(KEY, key, True, lambda each: fields_in(each, "vpod"))
        for port in sorted(things(self.look, PORT), key=lambda port: not port["device_id"]):
            self._take(PORT, port, self._is_in_its_project(PORT, port), self._port)
        self._find_ports_of_others()
        for volume in things(self.look, VOLUME):
            self._take(
                VOLUME,
                volume,
                self._is_in_its_project(VOLUME, volume),
                lambda each: fields_in(each, "vpod", "project", "size"),
            )
        ports: dict[str, list[str]] = defaultdict(list)
        volumes: dict[str, list[str]] = defaultdict(list)
        for (kind, name), thing in self.things.items():
            if kind == PORT:
                ports[thing["device_id"]].append(name)
            if kind == VOLUME:
                for server in thing["servers"]:
                    volumes[server].append(name)
        for server in things(self.look, SERVER):
            self._take(
                SERVER,
                server,
                self._is_in_its_project(SERVER, server),
                lambda each: {
                    **fields_in(each, "vpod", "project", "flavor", "image"),
                    "key": each["key"] or "",
                    "ports": sorted(ports[each["id"]]),
                    "volumes": sorted(volumes[each["id"]]),
                    "status": each["status"],
                },
            )

    def _find_ports_of_others(self) -> None:
        """What is on a network that nobody wants any more has to leave it, whosever it is."""
        taken = {thing["id"] for (kind, _name), thing in self.things.items() if kind == PORT}
        unwanted = [
            thing["id"]
            for (kind, name), thing in self.things.items()
            if kind == NETWORK and name not in self._wanted[NETWORK]
        ]
        for port in [port for network_id in unwanted for port in self.on_network(network_id)]:
            if port["id"] not in taken:
                nobodys = {**port, "vpod": None}
                self._put(PORT, self._name_of_more(PORT, port), nobodys, self._port(nobodys))

    def _port(self, port: Thing) -> Fields:
        address = {"address": port["addresses"][0]} if port["addresses"] else {}
        groups = {"security_groups": sorted(port["security_groups"])}
        return {**fields_in(port, "vpod", "project", "network", "tagged", "vnic_type"), **address, **groups}

    def _take(self, kind: str, thing: Thing, in_scope: bool, fields_of: Callable[[Thing], Fields]) -> None:
        """Take a thing in if it is wanted by its name, where such names count, or marked with a vPOD of the options."""
        thing = {**thing, "vpod": self._vpod_of(kind, thing)}
        wanted = self._wanted[kind].get(thing["name"]) if in_scope else None
        if wanted is not None and not self._is_spare(kind, thing, wanted):
            self._refuse_taken(kind, thing, wanted)
            self._put(kind, thing["name"], thing, fields_of(thing))
        elif thing["vpod"] in self._vpods:
            self._put(kind, self._name_of_more(kind, thing), thing, fields_of(thing))

    def _is_spare(self, kind: str, thing: Thing, wanted: Fields) -> bool:
        """Whether it is a second port of ours that nothing uses: Neutron made it when the run that asked was killed."""
        is_second = kind == PORT and (kind, thing["name"]) in self.things
        return is_second and thing["vpod"] == wanted["vpod"] and not thing["device_id"]

    def _vpod_of(self, kind: str, thing: Thing) -> Any:
        """The vPOD that a thing is marked with. In its project a tenant can mark what they like with any other's."""
        in_project = kind in (SECURITY_GROUP, PORT, VOLUME, SERVER)
        believed = not in_project or self._vpod_of_project.get(thing["project_id"]) == thing["vpod"]
        return thing["vpod"] if believed else None

    def _refuse_taken(self, kind: str, thing: Thing, wanted: Fields) -> None:
        if thing["vpod"] is None:
            self.taken.append(
                f"{kind} {thing['name']}: one of this name is there that bears no mark of a vPOD, and is not touched; "
                f"choose another name, or mark it with {MARK}={wanted.get('vpod')}"
            )
        elif thing["vpod"] != wanted.get("vpod"):
            self.taken.append(
                f"{kind} {thing['name']}: it is marked as vPOD {thing['vpod']}'s and declared for vPOD "
                f"{wanted.get('vpod')}; give them names of their own"
            )
        if (kind, thing["name"]) in self.things:
            self.taken.append(
                f"{kind} {thing['name']}: the cloud has two of this name, {self.things[kind, thing['name']]['id']} and "
                f"{thing['id']}; remove or rename one of them"
            )

    def _put(self, kind: str, name: str, thing: Thing, fields: Fields) -> None:
        self.state[kind][name] = fields
        self.things[kind, name] = thing

    def _name_of_more(self, kind: str, thing: Thing) -> str:
        """What a thing is called that is not wanted: by its name alone only where that is nobody else's."""
        name = thing["name"] or thing["id"]
        free = name not in self._wanted[kind] and (kind, name) not in self.things
        return name if free else f"{name} ({thing['id']})"

    def _is_in_its_project(self, kind: str, thing: Thing) -> bool:
        wanted = self._wanted[kind].get(thing["name"])
        return wanted is not None and thing["project_id"] == self.project_id(wanted["project"])


def is_half_made(server: Thing) -> bool:
    """Whether a server never ran, so that nothing can be lost with it."""
    return bool(server["status"] == ERROR and not server["launched"])


def _projects(desired: Desired, look: Look) -> dict[str, Thing]:
    """The projects of a look by name; where domains share a name, that of the declared or the default domain."""
    domains = {each["name"]: each.get("domain") or DEFAULT_DOMAIN for each in things(desired, PROJECT)}
    return {
        each["name"]: each
        for each in things(look, PROJECT)
        if each["domain"] == domains.get(each["name"], DEFAULT_DOMAIN)
    }


def _all_with_ids(look: Look) -> list[Thing]:
    return [each for kind in (SERVER, VOLUME) for each in things(look, kind)]
