# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a plan as requests to a cloud. What is made bears its mark from its first moment."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterable, Mapping

from .._plan.converge import DeviceError
from .._plan.steps import CREATE, REMOVE, Fields, Step
from .client import Cloud
from .entities import (
    ACTIVE,
    BUILD,
    ERROR,
    FLAVOR,
    IMAGE,
    KEY,
    MARK,
    MEMBER,
    NETWORK,
    OF_COMPUTE,
    OF_STORAGE,
    PORT,
    PROJECT,
    QUOTA,
    SECURITY_GROUP,
    SERVER,
    SUBNET,
    TAG,
    TRAIT,
    VOLUME,
    VOLUME_ERROR,
    Desired,
    Thing,
    description_of,
    key_name,
    tags_of,
    things,
)
from .found import Found
from .wanted import DEFAULT_DOMAIN

# How long between two looks at something that Nova or Cinder is making, in seconds.
LOOK_AGAIN = 1.0
_PATCH = {"Content-Type": "application/openstack-images-v2.1-json-patch"}

_GONE: Thing = {}
_WENT = "{what} was deleted by somebody else while the run was waiting for it; run again"


class Applier:
    """Carries the steps of one plan out, in their order.

    Args:
        cloud: with the operator's token.
        desired: the options of ``ipu.pod.cloud_state``.
        found: what the plan was made on.
        wait_timeout: how long one machine or volume may take, in seconds.
        user_data: vPODs to what their machines get as they are made, in base64.
    """

    def __init__(
        self, cloud: Cloud, desired: Desired, found: Found, wait_timeout: float, user_data: Mapping[str, str]
    ) -> None:
        self._cloud = cloud
        self._found = found
        self._wait_timeout = wait_timeout
        self._user_data = user_data
        self._ids = {entity: str(thing["id"]) for entity, thing in found.things.items()}
        self._hosts = {each["name"]: each["id"] for each in things(found.look, "provider")}
        self._keys = {
            key_name(each["vpod"], each["key"]): each["key"] for each in things(desired, SERVER) if each.get("key")
        }
        self._files = {each["name"]: each["file"] for each in things(desired, IMAGE)}

    def carry_out(self, step: Step) -> None:
        """Do one step."""
        doing = f"{step.action} {step.kind} {step.name}"
        if step.action == REMOVE:
            self._remove(step, doing)
        elif step.action == CREATE:
            self._creations()[step.kind](step.name, step.after or {}, doing)
        else:
            before, after = step.before or {}, step.after or {}
            changes = {field: after[field] for field in after if before.get(field) != after[field]}
            if changes.pop("tagged", False):
                self._add_tags(step.kind, step.name, after["vpod"], doing)
            if changes:
                self._updates()[step.kind](step.name, changes, step, doing)

    def _creations(self) -> Mapping[str, Callable[[str, Fields, str], None]]:
        return {
            PROJECT: self._create_project,
            MEMBER: self._create_member,
            QUOTA: self._set_quota,
            NETWORK: self._create_network,
            SUBNET: self._create_subnet,
            SECURITY_GROUP: self._create_group,
            FLAVOR: self._create_flavor,
            TRAIT: self._create_trait,
            IMAGE: self._create_image,
            KEY: self._create_key,
            PORT: self._create_port,
            VOLUME: self._create_volume,
            SERVER: self._create_server,
        }

    def _updates(self) -> Mapping[str, Callable[[str, Fields, Step, str], None]]:
        return {
            PROJECT: self._update_project,
            QUOTA: lambda name, changes, _step, doing: self._set_quota(name, changes, doing),
            NETWORK: self._update_network,
            SUBNET: self._update_subnet,
            SECURITY_GROUP: self._update_group,
            FLAVOR: self._update_flavor,
            TRAIT: self._update_trait,
            IMAGE: self._replace_image,
            PORT: self._update_port,
            VOLUME: self._extend_volume,
            SERVER: self._update_server,
        }

    def _remove(self, step: Step, doing: str) -> None:
        kind, name = step.kind, step.name
        thing, thing_id = self._found.things[kind, name], self._ids.pop((kind, name))
        if kind == MEMBER:
            path = f"/projects/{thing['project_id']}/users/{thing['user_id']}/roles/{thing['role_id']}"
            self._send("identity", "DELETE", path, doing, missing={})
        elif kind == TRAIT:
            for host in (step.before or {})["hypervisors"]:
                self._set_trait(name, host, False, doing)
            self._send("placement", "DELETE", f"/traits/{name}", doing, missing={})
        elif kind == SERVER:
            self._send("compute", "DELETE", f"/servers/{thing_id}", doing, missing={})
            self._until_gone("compute", f"/servers/{thing_id}", name, doing)
        else:
            if kind == PROJECT:
                self._remove_default_groups(thing_id, doing)
            service, path = _PATHS[kind]
            self._send(service, "DELETE", f"{path}/{thing_id}", doing, missing={})
        if kind == VOLUME:
            self._until_gone("block_storage", f"/volumes/{thing_id}", name, doing)

    def _remove_default_groups(self, project_id: str, doing: str) -> None:
        """Neutron makes a security group in every project, and keeps it when the project goes."""
        for group in self._cloud.list("network", f"/security-groups?project_id={project_id}", "security_groups"):
            self._send("network", "DELETE", f"/security-groups/{group['id']}", doing, missing={})

    def _create_project(self, name: str, fields: Fields, doing: str) -> None:
        domains = {each["name"]: each["id"] for each in things(self._found.look, "domain")}
        domain = fields.get("domain") or DEFAULT_DOMAIN
        if domain not in domains:
            raise DeviceError(
                f"project {name}: Keystone has no domain {domain}; create it, or correct the vPOD's cloud"
            )
        body = {
            "name": name,
            "domain_id": domains[domain],
            "tags": tags_of(fields["vpod"]),
            "description": fields.get("description", ""),
        }
        self._ids[PROJECT, name] = self._send("identity", "POST", "/projects", doing, json={"project": body})[
            "project"
        ]["id"]

    def _update_project(self, name: str, changes: Fields, _step: Step, doing: str) -> None:
        self._send("identity", "PATCH", f"/projects/{self._id(PROJECT, name)}", doing, json={"project": changes})

    def _create_member(self, _name: str, fields: Fields, doing: str) -> None:
        look = self._found.look
        project_id = self._project_id(fields["project"])
        role = next(each["id"] for each in look["roles"] if each["name"] == fields["role"])
        if fields["user"] == look["operator"]["user"]:
            user = look["operator"]["user_id"]
        else:
            domain = self._found.domain_of(fields["project"])
            user = next(
                each["id"] for each in look["users"] if (each["name"], each["domain"]) == (fields["user"], domain)
            )
        self._send("identity", "PUT", f"/projects/{project_id}/users/{user}/roles/{role}", doing)

    def _set_quota(self, name: str, fields: Fields, doing: str) -> None:
        project_id = self._project_id(name)
        for service, names in (("compute", OF_COMPUTE), ("block_storage", OF_STORAGE)):
            quota = {field: fields[field] for field in names if field in fields}
            if quota:
                self._send(service, "PUT", f"/os-quota-sets/{project_id}", doing, json={"quota_set": quota})

    def _create_network(self, name: str, fields: Fields, doing: str) -> None:
        body = {
            "name": name,
            "description": description_of(fields["vpod"]),
            "port_security_enabled": False,
            "provider:network_type": "vlan",
            "provider:physical_network": fields["physical_network"],
            "provider:segmentation_id": fields["vlan"],
            **({"mtu": fields["mtu"]} if "mtu" in fields else {}),
        }
        self._create_in_neutron(NETWORK, name, body, fields["vpod"], doing)
        self._share(name, fields["projects"], doing)

    def _update_network(self, name: str, changes: Fields, step: Step, doing: str) -> None:
        words = {"mtu": "mtu", "vlan": "provider:segmentation_id"}
        body = {words[field]: value for field, value in changes.items() if field in words}
        network_id = self._id(NETWORK, name)
        if body:
            self._send("network", "PUT", f"/networks/{network_id}", doing, json={"network": body})
        if "projects" in changes:
            before = set((step.before or {}).get("projects") or ())
            self._share(name, sorted(set(changes["projects"]) - before), doing)
            leaving = {self._project_id(each) for each in before - set(changes["projects"])}
            for policy in self._found.look["policies"]:
                if policy["object_id"] == network_id and policy["target_tenant"] in leaving:
                    self._send("network", "DELETE", f"/rbac-policies/{policy['id']}", doing, missing={})

    def _share(self, name: str, projects: Iterable[str], doing: str) -> None:
        for project in projects:
            policy = {
                "object_type": "network",
                "object_id": self._id(NETWORK, name),
                "action": "access_as_shared",
                "target_tenant": self._project_id(project),
            }
            self._send("network", "POST", "/rbac-policies", doing, json={"rbac_policy": policy})

    def _create_subnet(self, name: str, fields: Fields, doing: str) -> None:
        body = {
            "name": name,
            "description": description_of(fields["vpod"]),
            "cidr": fields["cidr"],
            "network_id": self._id(NETWORK, fields["network"]),
            "enable_dhcp": False,
            "gateway_ip": None,
            "ip_version": 6 if ":" in fields["cidr"] else 4,
            "allocation_pools": _pools(fields["pools"]),
        }
        self._create_in_neutron(SUBNET, name, body, fields["vpod"], doing)

    def _update_subnet(self, name: str, changes: Fields, _step: Step, doing: str) -> None:
        body = {"subnet": {"allocation_pools": _pools(changes["pools"])}}
        self._send("network", "PUT", f"/subnets/{self._id(SUBNET, name)}", doing, json=body)

    def _create_group(self, name: str, fields: Fields, doing: str) -> None:
        body = {
            "name": name,
            "description": description_of(fields["vpod"]),
            "project_id": self._project_id(fields["project"]),
        }
        self._create_in_neutron(SECURITY_GROUP, name, body, fields["vpod"], doing)
        self._add_rules(name, fields["rules"], doing)

    def _update_group(self, name: str, changes: Fields, step: Step, doing: str) -> None:
        before = (step.before or {})["rules"]
        self._add_rules(name, [rule for rule in changes["rules"] if rule not in before], doing)
        for rule in self._found.things[SECURITY_GROUP, name]["rules"]:
            if {field: rule[field] for field in ("protocol", "port", "remote")} not in changes["rules"]:
                self._send("network", "DELETE", f"/security-group-rules/{rule['id']}", doing, missing={})

    def _add_rules(self, name: str, rules: Iterable[Fields], doing: str) -> None:
        bodies = [{"security_group_id": self._id(SECURITY_GROUP, name), **_rule(rule)} for rule in rules]
        if bodies:
            self._send("network", "POST", "/security-group-rules", doing, json={"security_group_rules": bodies})

    def _create_in_neutron(self, kind: str, name: str, body: Fields, vpod: str, doing: str) -> None:
        path = _PATHS[kind][1]
        self._ids[kind, name] = self._send("network", "POST", path, doing, json={kind: body})[kind]["id"]
        self._send("network", "PUT", f"{path}/{self._ids[kind, name]}/tags", doing, json={"tags": tags_of(vpod)})

    def _add_tags(self, kind: str, name: str, vpod: str, doing: str) -> None:
        """What a run that was killed before has made bears only a description; tags that others have set stay."""
        for tag in tags_of(vpod):
            self._send("network", "PUT", f"{_PATHS[kind][1]}/{self._id(kind, name)}/tags/{tag}", doing)

    def _create_flavor(self, name: str, fields: Fields, doing: str) -> None:
        body = {
            "name": name,
            "description": description_of(fields["vpod"]),
            "os-flavor-access:is_public": False,
            **{field: fields[field] for field in ("vcpus", "ram", "disk")},
        }
        flavor_id = self._send("compute", "POST", "/flavors", doing, json={"flavor": body})["flavor"]["id"]
        self._ids[FLAVOR, name] = flavor_id
        if fields["extra_specs"]:
            specs = {"extra_specs": fields["extra_specs"]}
            self._send("compute", "POST", f"/flavors/{flavor_id}/os-extra_specs", doing, json=specs)
        self._set_access(flavor_id, "addTenantAccess", fields["projects"], doing)

    def _update_flavor(self, name: str, changes: Fields, step: Step, doing: str) -> None:
        before, after = set((step.before or {})["projects"]), set(changes["projects"])
        self._set_access(self._id(FLAVOR, name), "addTenantAccess", sorted(after - before), doing)
        self._set_access(self._id(FLAVOR, name), "removeTenantAccess", sorted(before - after), doing)

    def _set_access(self, flavor_id: str, action: str, projects: Iterable[str], doing: str) -> None:
        for project in projects:
            body = {action: {"tenant": self._project_id(project)}}
            self._send("compute", "POST", f"/flavors/{flavor_id}/action", doing, json=body)

    def _create_trait(self, name: str, fields: Fields, doing: str) -> None:
        self._send("placement", "PUT", f"/traits/{name}", doing)
        for host in fields["hypervisors"]:
            self._set_trait(name, host, True, doing)

    def _update_trait(self, name: str, changes: Fields, step: Step, doing: str) -> None:
        before, after = set((step.before or {})["hypervisors"]), set(changes["hypervisors"])
        for host in sorted(before ^ after):
            self._set_trait(name, host, host in after, doing)

    def _set_trait(self, name: str, host: str, there: bool, doing: str) -> None:
        if host not in self._hosts:
            raise DeviceError(f"trait {name}: Placement has no resource provider {host}; start nova-compute there")
        path = f"/resource_providers/{self._hosts[host]}/traits"
        has = self._cloud.get("placement", path)
        traits = sorted({*has["traits"], name} if there else {*has["traits"]} - {name})
        body = {"traits": traits, "resource_provider_generation": has["resource_provider_generation"]}
        self._send("placement", "PUT", path, doing, json=body)

    def _create_image(self, name: str, fields: Fields, doing: str) -> None:
        body = {
            "name": name,
            "disk_format": fields["disk_format"],
            "container_format": "bare",
            "visibility": "public",
            "tags": [TAG],
        }
        image_id = self._send("image", "POST", "/images", doing, json=body)["id"]
        try:
            with open(self._files[name], "rb") as data:
                octets = {"Content-Type": "application/octet-stream"}
                self._send("image", "PUT", f"/images/{image_id}/file", doing, data=data, headers=octets)
        except OSError as error:
            raise DeviceError(f"image {name}: {self._files[name]} cannot be read ({error.strerror})") from error
        self._ids[IMAGE, name] = image_id

    def _replace_image(self, name: str, _changes: Fields, step: Step, doing: str) -> None:
        old = self._found.things[IMAGE, name]
        if old["status"] == "active":
            hide = [{"op": "replace", "path": "/os_hidden", "value": True}]
            self._send("image", "PATCH", f"/images/{old['id']}", doing, json=hide, headers=_PATCH)
        else:
            self._send("image", "DELETE", f"/images/{old['id']}", doing, missing={})
        self._create_image(name, step.after or {}, doing)

    def _create_key(self, name: str, _fields: Fields, doing: str) -> None:
        body = {"keypair": {"name": name, "public_key": self._keys[name]}}
        self._send("compute", "POST", "/os-keypairs", doing, json=body)

    def _create_port(self, name: str, fields: Fields, doing: str) -> None:
        body = {
            "name": name,
            "description": description_of(fields["vpod"]),
            **self._port_fields(fields),
            "binding:vnic_type": fields["vnic_type"],
            "network_id": self._network_id(fields["network"]),
            "project_id": self._project_id(fields["project"]),
        }
        self._create_in_neutron(PORT, name, body, fields["vpod"], doing)

    def _update_port(self, name: str, changes: Fields, _step: Step, doing: str) -> None:
        body = {"port": self._port_fields(changes)}
        self._send("network", "PUT", f"/ports/{self._id(PORT, name)}", doing, json=body)

    def _port_fields(self, fields: Fields) -> Fields:
        body: Fields = {}
        if "address" in fields:
            body["fixed_ips"] = [{"ip_address": fields["address"]}]
        if "security_groups" in fields:
            body["security_groups"] = [self._id(SECURITY_GROUP, each) for each in fields["security_groups"]]
        return body

    def _create_volume(self, name: str, fields: Fields, doing: str) -> None:
        body = {"name": name, "size": fields["size"], "metadata": {MARK: fields["vpod"]}}
        inside = self._inside(fields)
        made = self._send("block_storage", "POST", "/volumes", doing, inside, json={"volume": body})
        self._ids[VOLUME, name] = made["volume"]["id"]
        self._until_volume(name, inside, "available")

    def _extend_volume(self, name: str, changes: Fields, step: Step, doing: str) -> None:
        inside, volume_id = self._inside(step.after or {}), self._id(VOLUME, name)
        body = {"os-extend": {"new_size": changes["size"]}}
        self._send("block_storage", "POST", f"/volumes/{volume_id}/action", doing, inside, json=body)
        self._until_volume(name, inside, "available", "in-use")

    def _create_server(self, name: str, fields: Fields, doing: str) -> None:
        inside, user_data = self._inside(fields), self._user_data.get(fields["vpod"], "")
        body = {
            "name": name,
            "metadata": {MARK: fields["vpod"]},
            "flavorRef": self._flavor_id(fields["flavor"]),
            "imageRef": self._image_id(fields["image"]),
            **({"key_name": fields["key"]} if fields["key"] else {}),
            **({"user_data": user_data} if user_data else {}),
            "networks": [{"port": self._id(PORT, port)} for port in fields["ports"]],
        }
        made = self._send("compute", "POST", "/servers", doing, inside, secret=user_data, json={"server": body})
        self._ids[SERVER, name] = made["server"]["id"]
        self._until_active(name, inside)
        for volume in fields["volumes"]:
            self._attach_volume(name, volume, inside, doing)

    def _update_server(self, name: str, changes: Fields, step: Step, doing: str) -> None:
        before, server_id = step.before or {}, self._id(SERVER, name)
        inside = self._inside(before)
        if before["status"] == BUILD:
            self._until_active(name, inside)
        for port in changes.get("ports", ()):
            if port not in before["ports"]:
                body = {"interfaceAttachment": {"port_id": self._id(PORT, port)}}
                self._send("compute", "POST", f"/servers/{server_id}/os-interface", doing, inside, json=body)
        for volume in set(before["volumes"]) - set({**before, **changes}["volumes"]):
            volume_id = self._id(VOLUME, volume)
            path = f"/servers/{server_id}/os-volume_attachments/{volume_id}"
            self._send("compute", "DELETE", path, doing, inside, missing={})
            self._until_volume(volume, inside, "available")
        for volume in changes.get("volumes", ()):
            if volume not in before["volumes"]:
                self._attach_volume(name, volume, inside, doing)

    def _attach_volume(self, server: str, volume: str, inside: Cloud, doing: str) -> None:
        # One of a run that was killed may not be made yet.
        self._until_volume(volume, inside, "available", "in-use")
        path = f"/servers/{self._id(SERVER, server)}/os-volume_attachments"
        body = {"volumeAttachment": {"volumeId": self._id(VOLUME, volume)}}
        self._send("compute", "POST", path, doing, inside, json=body)
        # Nova has reserved it by now; what is free again was given back.
        if self._until_volume(volume, inside, "in-use", "available") != "in-use":
            raise DeviceError(
                f"volume {volume} was not attached to server {server}, and is free again; see whether the server is "
                "still there, and the log of nova-compute, and run again"
            )

    def _until_active(self, name: str, inside: Cloud) -> None:
        def look() -> str:
            server = inside.get("compute", f"/servers/{self._id(SERVER, name)}", missing=_GONE).get("server")
            if server is None:
                raise DeviceError(_WENT.format(what=f"server {name}"))
            if server["status"] == ERROR:
                said = (server.get("fault") or {}).get("message", "").rstrip(". ") or "Nova does not say why"
                raise DeviceError(f"server {name} is in ERROR: {said}; put that right, and run again")
            return str(server["status"])

        self._until(f"server {name}", look, (ACTIVE,))

    def _until_volume(self, name: str, inside: Cloud, *wanted: str) -> str:
        def look() -> str:
            volume = inside.get("block_storage", f"/volumes/{self._id(VOLUME, name)}", missing=_GONE).get("volume")
            if volume is None:
                raise DeviceError(_WENT.format(what=f"volume {name}"))
            status = volume["status"]
            if status.startswith(VOLUME_ERROR):
                raise DeviceError(f"volume {name} is in {status}; see the log of cinder-volume, and run again")
            return str(status)

        return self._until(f"volume {name}", look, wanted)

    def _until_gone(self, service: str, path: str, name: str, doing: str) -> None:
        def look() -> str:
            answer = self._cloud.request(service, "GET", path, doing, missing=_GONE)
            thing = answer.get("server") or answer.get("volume") or {}
            if thing.get("status", "").startswith((ERROR, "error_deleting")):
                raise DeviceError(
                    f"{name} does not go, it is in {thing['status']}; see the log of the service, and run again"
                )
            return "gone" if answer is _GONE else str(thing.get("status"))

        self._until(name, look, ("gone",))

    def _until(self, what: str, look: Callable[[], str], wanted: Iterable[str]) -> str:
        until = time.monotonic() + self._wait_timeout
        status = look()
        while status not in wanted:
            if time.monotonic() > until:
                raise DeviceError(
                    f"{what} is still {status} after {self._wait_timeout:g} seconds; see the log of the service, run "
                    "again later, or raise wait_timeout"
                )
            time.sleep(LOOK_AGAIN)
            status = look()
        return status

    def _inside(self, fields: Fields) -> Cloud:
        """The cloud with a token of the project that a volume or a server is in."""
        return self._cloud.as_project(self._project_id(fields["project"]))

    def _id(self, kind: str, name: str) -> str:
        if (kind, name) not in self._ids:
            raise DeviceError(f"{kind} {name} is not there any more; run again")
        return self._ids[kind, name]

    def _project_id(self, name: str) -> str:
        return self._ids.get((PROJECT, name)) or self._found.project_id(name)

    def _network_id(self, name: str) -> str:
        """The id of a network of ours, or of the operator's by its name."""
        return self._ids.get((NETWORK, name)) or self._of_look(NETWORK, name)

    def _flavor_id(self, name: str) -> str:
        return self._ids.get((FLAVOR, name)) or self._of_look(FLAVOR, name)

    def _image_id(self, name: str) -> str:
        return self._ids.get((IMAGE, name)) or self._of_look(IMAGE, name)

    def _of_look(self, kind: str, name: str) -> str:
        return next(str(each["id"]) for each in self._found.of_all(kind) if each["name"] == name)

    def _send(self, service: str, method: str, path: str, doing: str, inside: Cloud | None = None, **more: Any) -> Any:
        return (inside or self._cloud).request(service, method, path, doing, **more)


# Kinds that go by one request: their service, and the path below which their ids are.
_PATHS = {
    PROJECT: ("identity", "/projects"),
    NETWORK: ("network", "/networks"),
    SUBNET: ("network", "/subnets"),
    SECURITY_GROUP: ("network", "/security-groups"),
    PORT: ("network", "/ports"),
    FLAVOR: ("compute", "/flavors"),
    KEY: ("compute", "/os-keypairs"),
    VOLUME: ("block_storage", "/volumes"),
}


def _pools(pools: Iterable[str]) -> list[Thing]:
    return [dict(zip(("start", "end"), pool.split("-"))) for pool in pools]


def _rule(rule: Fields) -> Thing:
    ports = rule["port"].split("-")
    return {
        "direction": "ingress",
        "ethertype": "IPv6" if ":" in rule["remote"] else "IPv4",
        "protocol": None if rule["protocol"] == "any" else rule["protocol"],
        **({} if rule["port"] == "any" else {"port_range_min": int(ports[0]), "port_range_max": int(ports[-1])}),
        "remote_ip_prefix": rule["remote"],
    }
