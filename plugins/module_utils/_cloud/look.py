# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cloud holds, in bulk: one list of each kind across all projects, as plain data without secrets."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, Iterable

from .client import Cloud, page_size, side_by_side
from .entities import (
    MARK,
    OF_COMPUTE,
    OF_STORAGE,
    TAG,
    TRAIT_PREFIX,
    Look,
    Thing,
    tags_of,
    vpod_attached_to,
    vpod_of_key,
    vpod_of_tags,
)
from .messages import SERVICES

# One request each, whatever the cloud holds (as long as a list fits on a page): name, service, path, key of the answer.
_LISTS = (
    ("projects", "identity", "/projects", "projects"),
    ("domains", "identity", "/domains", "domains"),
    ("users", "identity", "/users", "users"),
    ("roles", "identity", "/roles", "roles"),
    ("assignments", "identity", "/role_assignments", "role_assignments"),
    ("networks", "network", "/networks", "networks"),
    ("subnets", "network", "/subnets", "subnets"),
    ("ports", "network", "/ports", "ports"),
    ("groups", "network", "/security-groups", "security_groups"),
    ("policies", "network", "/rbac-policies", "rbac_policies"),
    ("agents", "network", "/agents", "agents"),
    ("images", "image", page_size("/images?visibility=all"), "images"),
    ("hidden_images", "image", page_size("/images?visibility=all&os_hidden=true"), "images"),
    ("servers", "compute", page_size("/servers/detail?all_tenants=1"), "servers"),
    ("flavors", "compute", page_size("/flavors/detail?is_public=None"), "flavors"),
    ("hypervisors", "compute", page_size("/os-hypervisors/detail"), "hypervisors"),
    ("key_pairs", "compute", page_size("/os-keypairs"), "keypairs"),
    ("volumes", "block_storage", page_size("/volumes/detail?all_tenants=1"), "volumes"),
    ("snapshots", "block_storage", page_size("/snapshots?all_tenants=1"), "snapshots"),
    ("providers", "placement", "/resource_providers", "resource_providers"),
    ("traits", "placement", f"/traits?name=startswith:{TRAIT_PREFIX}", "traits"),
)
# Beside these: the quotas of new projects, and the VLANs that Neutron has, which not every Neutron tells.
REQUESTS = len(_LISTS) + 3
# What the API has no list of: two requests for a marked project, one for a marked flavor, three for a hypervisor.
REQUESTS_FOR = {"project": 2, "flavor": 1, "hypervisor": 3}
_DEFAULT_QUOTA = "/os-quota-class-sets/default"
_OF_PROVIDERS = ("traits", "inventories", "usages")

_ANYWHERE = {"IPv4": "0.0.0.0/0", "IPv6": "::/0"}
Lists = Dict[str, Any]


def look_at_cloud(cloud: Cloud) -> Look:
    """Everything that a plan compares, and what a person wants to know beside it.

    The number of requests is constant per kind (:data:`REQUESTS`), but for quotas, the access to private flavors and
    the traits of hypervisors, which OpenStack gives one by one (:data:`REQUESTS_FOR`): of marked projects and flavors
    alone, side by side.

    Raises:
        DeviceError: a service does not answer; the message names all that do not.
    """
    asked_before = cloud.requests
    calls: list[Callable[[], Any]] = [partial(cloud.list, *asked) for _name, *asked in _LISTS]
    calls += [partial(cloud.get, service, _DEFAULT_QUOTA) for service in ("compute", "block_storage")]
    calls.append(partial(cloud.get, "network", "/network_segment_ranges", missing={}))
    *answers, compute_quota, storage_quota, ranges = side_by_side(calls)
    lists: Lists = {name: answer for (name, *_rest), answer in zip(_LISTS, answers)}
    names = {each["id"]: each["name"] for each in lists["projects"]}
    look: dict[str, Any] = {
        **_access(lists, names),
        **_networks(lists, names),
        **_machines(lists, names),
        "services": sorted(SERVICES.values()),
        "hypervisors": [_hypervisor(each, lists["agents"]) for each in lists["hypervisors"]],
        "vlan_ranges": _vlan_ranges(ranges),
        "default_quota": {
            **_only(compute_quota["quota_class_set"], *OF_COMPUTE),
            **_only(storage_quota["quota_class_set"], *OF_STORAGE),
        },
    }
    look["operator"] = _operator(cloud, look)
    look.update(_one_by_one(cloud, look, lists))
    look["requests"] = cloud.requests - asked_before
    return look


def _operator(cloud: Cloud, look: Look) -> Thing:
    user_id, project_id = cloud.user_id, cloud.project_id
    names = {each["id"]: each["name"] for kind in ("users", "projects") for each in look[kind]}
    return {
        "user": names.get(user_id, user_id),
        "user_id": user_id,
        "project": names.get(project_id, project_id),
        "project_id": project_id,
    }


def _access(lists: Lists, projects: dict[str, str]) -> dict[str, Any]:
    domains = {each["id"]: each["name"] for each in lists["domains"]}
    users = {each["id"]: each for each in lists["users"]}
    roles = {each["id"]: each["name"] for each in lists["roles"]}
    members = []
    for each in lists["assignments"]:
        user, project = each.get("user", {}).get("id"), each.get("scope", {}).get("project", {}).get("id")
        if user in users and project in projects and "OS-INHERIT:inherited_to" not in each["scope"]:
            role = each["role"]["id"]
            members.append(
                {
                    "id": f"{project}/{user}/{role}",
                    "project": projects[project],
                    "project_id": project,
                    "user": users[user]["name"],
                    "user_id": user,
                    "role": roles.get(role, role),
                    "role_id": role,
                    "user_domain": domains.get(users[user]["domain_id"], ""),
                }
            )
    return {
        "projects": [
            {
                **_only(each, "id", "name", "description", "enabled"),
                "domain": domains.get(each["domain_id"], ""),
                "domain_id": each["domain_id"],
                "vpod": vpod_of_tags(each.get("tags") or ()),
            }
            for each in lists["projects"]
            if not each.get("is_domain")
        ],
        "domains": [_only(each, "id", "name") for each in lists["domains"]],
        "users": [
            {**_only(each, "id", "name"), "domain": domains.get(each["domain_id"], "")} for each in lists["users"]
        ],
        "roles": [_only(each, "id", "name") for each in lists["roles"] if not each.get("domain_id")],
        "members": members,
    }


def _networks(lists: Lists, projects: dict[str, str]) -> dict[str, Any]:
    names = {each["id"]: each["name"] for each in lists["networks"]}
    groups = {each["id"]: each["name"] for each in lists["groups"]}
    return {
        "networks": [
            {
                **_owned(each, projects),
                "physical_network": each.get("provider:physical_network"),
                "vlan": each.get("provider:segmentation_id"),
                "mtu": each.get("mtu"),
                "port_security": each.get("port_security_enabled", True),
                "shared": bool(each.get("shared")),
                "projects": _shared_with(lists["policies"], each["id"], projects),
            }
            for each in lists["networks"]
        ],
        "subnets": [
            {
                **_owned(each, projects),
                **_only(each, "network_id", "cidr"),
                "network": names.get(each["network_id"], each["network_id"]),
                "pools": sorted(f"{pool['start']}-{pool['end']}" for pool in each["allocation_pools"]),
            }
            for each in lists["subnets"]
        ],
        "security_groups": [
            {**_owned(each, projects), "rules": [_rule(rule) for rule in each["security_group_rules"] if _is_in(rule)]}
            for each in lists["groups"]
        ],
        "ports": [
            {
                **_owned(each, projects),
                **_only(each, "network_id", "device_id", "device_owner", "status", "mac_address"),
                "network": names.get(each["network_id"], each["network_id"]),
                "vnic_type": each.get("binding:vnic_type"),
                "attached": vpod_attached_to(each.get("description") or ""),
                "addresses": [fixed["ip_address"] for fixed in each["fixed_ips"]],
                "group_ids": each["security_groups"],
                "security_groups": sorted(groups.get(group, group) for group in each["security_groups"]),
            }
            for each in lists["ports"]
        ],
        "policies": [
            _only(each, "id", "object_id", "target_tenant")
            for each in lists["policies"]
            if each["object_type"] == "network" and each["action"] == "access_as_shared"
        ],
    }


def _machines(lists: Lists, projects: dict[str, str]) -> dict[str, Any]:
    images = {each["id"]: each["name"] for each in (*lists["images"], *lists["hidden_images"])}
    return {
        "images": [
            _image(each, hidden)
            for name, hidden in (("images", False), ("hidden_images", True))
            for each in lists[name]
        ],
        "keys": [
            {
                "id": each["keypair"]["name"],
                "name": each["keypair"]["name"],
                "vpod": vpod_of_key(each["keypair"]["name"]),
                "public_key": each["keypair"].get("public_key"),
            }
            for each in lists["key_pairs"]
        ],
        "volumes": [
            {
                **_only(each, "id", "name", "size", "status"),
                **_project(each.get("os-vol-tenant-attr:tenant_id", ""), projects),
                "vpod": each["metadata"].get(MARK),
                "servers": [attachment["server_id"] for attachment in each["attachments"]],
            }
            for each in lists["volumes"]
        ],
        "snapshots": [
            {
                **_only(each, "id", "name"),
                "project_id": each.get("os-extended-snapshot-attributes:project_id", ""),
            }
            for each in lists["snapshots"]
        ],
        "servers": [
            {
                **_only(each, "id", "name", "status"),
                **_project(each["tenant_id"], projects),
                "vpod": each["metadata"].get(MARK),
                "flavor": each["flavor"]["original_name"],
                "image": images.get((each.get("image") or {}).get("id", "")),
                "key": each.get("key_name"),
                "launched": bool(each.get("OS-SRV-USG:launched_at")),
                "hypervisor": _short(each.get("OS-EXT-SRV-ATTR:hypervisor_hostname") or ""),
                "fault": (each.get("fault") or {}).get("message", "").rstrip(". "),
            }
            for each in lists["servers"]
        ],
    }


def _one_by_one(cloud: Cloud, look: Look, lists: Lists) -> dict[str, Any]:
    marked = [each for each in look["projects"] if each["vpod"]]
    flavors = [each for each in lists["flavors"] if _vpod_of_flavor(each)]
    hosts = {_short(each["name"]): each["uuid"] for each in lists["providers"]}
    known = [each["name"] for each in look["hypervisors"] if each["name"] in hosts]
    answers = iter(
        side_by_side(
            [
                *(partial(cloud.get, "compute", f"/os-quota-sets/{each['id']}") for each in marked),
                *(partial(cloud.get, "block_storage", f"/os-quota-sets/{each['id']}") for each in marked),
                *(partial(cloud.get, "compute", f"/flavors/{each['id']}/os-flavor-access") for each in flavors),
                *(
                    partial(cloud.get, "placement", f"/resource_providers/{hosts[name]}/{what}")
                    for what in _OF_PROVIDERS
                    for name in known
                ),
            ]
        )
    )
    names = {each["id"]: each["name"] for each in look["projects"]}
    compute, storage = ({each["id"]: next(answers)["quota_set"] for each in marked} for _service in range(2))
    access = {each["id"]: next(answers)["flavor_access"] for each in flavors}
    traits, inventories, usages = ({name: next(answers)[what] for name in known} for what in _OF_PROVIDERS)
    return {
        "quotas": [
            {
                "id": each["id"],
                "project": each["name"],
                "project_id": each["id"],
                **_only(compute[each["id"]], *OF_COMPUTE),
                **_only(storage[each["id"]], *OF_STORAGE),
            }
            for each in marked
        ],
        "flavors": [
            {
                **_only(each, "id", "name", "vcpus", "ram", "disk", "extra_specs"),
                "vpod": _vpod_of_flavor(each),
                "projects": sorted(
                    names.get(grant["tenant_id"], grant["tenant_id"]) for grant in access.get(each["id"], ())
                ),
            }
            for each in lists["flavors"]
        ],
        "traits": [
            {"id": trait, "name": trait, "hypervisors": sorted(name for name in known if trait in traits[name])}
            for trait in lists["traits"]
        ],
        "hypervisors": [
            {**each, "resources": _resources(inventories.get(each["name"], {}), usages.get(each["name"], {}))}
            for each in look["hypervisors"]
        ],
        "providers": [{"id": uuid, "name": name} for name, uuid in hosts.items()],
    }


def _resources(inventories: Thing, usages: Thing) -> Thing:
    """What one machine can have at most, and what all that are still to come can have together."""
    return {
        name: {
            "largest": each["max_unit"],
            "free": int((each["total"] - each["reserved"]) * each["allocation_ratio"]) - usages.get(name, 0),
        }
        for name, each in inventories.items()
    }


def _vpod_of_flavor(flavor: Thing) -> Any:
    return vpod_of_tags([flavor.get("description") or ""])


def _image(image: Thing, hidden: bool) -> Thing:
    """An image; without a checksum as long as its data are not all there."""
    complete = image["status"] == "active" and image.get("os_hash_algo") == "sha512"
    return {
        **_only(image, "id", "name", "status", "visibility", "disk_format"),
        "project_id": image.get("owner"),
        "hidden": hidden,
        "marked": TAG in image.get("tags", ()),
        "sha512": image.get("os_hash_value") if complete else None,
    }


def _hypervisor(hypervisor: Thing, agents: Iterable[Thing]) -> Thing:
    name = _short(hypervisor["hypervisor_hostname"])
    return {
        "id": str(hypervisor["id"]),
        "name": name,
        **_only(hypervisor, "state", "status", "vcpus"),
        "ram": hypervisor.get("memory_mb"),
        "agents": [
            {
                **_only(agent, "binary", "agent_type", "alive"),
                "mappings": {
                    **(agent.get("configurations") or {}).get("bridge_mappings", {}),
                    **(agent.get("configurations") or {}).get("device_mappings", {}),
                },
            }
            for agent in agents
            if _short(agent["host"]) == name
        ],
    }


def _vlan_ranges(answer: Thing) -> dict[str, list[list[int]]]:
    """The VLANs of physical networks; empty where Neutron keeps them to itself."""
    found: dict[str, list[list[int]]] = {}
    for each in answer.get("network_segment_ranges", ()):
        if each["network_type"] == "vlan":
            found.setdefault(each["physical_network"], []).append([each["minimum"], each["maximum"]])
    return found


def _shared_with(policies: Iterable[Thing], network_id: str, projects: dict[str, str]) -> list[str]:
    return sorted(
        projects.get(each["target_tenant"]) or str(each["target_tenant"])
        for each in policies
        if each["object_id"] == network_id and each["action"] == "access_as_shared"
    )


def _is_in(rule: Thing) -> bool:
    return bool(rule["direction"] == "ingress")


def _rule(rule: Thing) -> Thing:
    first, last = rule["port_range_min"], rule["port_range_max"]
    return {
        "id": rule["id"],
        "protocol": rule["protocol"] or "any",
        "port": "any" if first is None else str(first) if first == last else f"{first}-{last}",
        "remote": rule["remote_ip_prefix"]
        or rule["remote_group_id"]
        or ("::/0", "0.0.0.0/0")[rule["ethertype"] == "IPv4"],
    }


def _owned(thing: Thing, projects: dict[str, str]) -> Thing:
    """What all of Neutron's things have; one that a killed run has made may bear its mark in the description alone."""
    vpod = vpod_of_tags([*(thing.get("tags") or ()), thing.get("description") or ""])
    return {
        **_only(thing, "id", "name"),
        **_project(thing["project_id"], projects),
        "vpod": vpod,
        "tagged": vpod is not None and set(tags_of(vpod)) <= set(thing.get("tags") or ()),
    }


def _project(project_id: str, projects: dict[str, str]) -> Thing:
    return {"project_id": project_id, "project": projects.get(project_id, project_id)}


def _short(host: str) -> str:
    return host.partition(".")[0]


def _only(thing: Thing, *fields: str) -> Thing:
    return {field: thing[field] for field in fields if field in thing}
