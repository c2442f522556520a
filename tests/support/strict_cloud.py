# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An OpenStack in memory that is as strict as the six services of Zed: what they refuse it refuses, with their codes.

It knows the requests that we make and no others, and can be disturbed: see :class:`Disturbance`.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import threading
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from keystoneauth1.exceptions import ConnectFailure

Thing = dict[str, Any]
Body = dict[str, Any]
SERVICES = ("identity", "placement", "compute", "network", "image", "block_storage")
HOSTS = ("pod001-poplar3", "pod001-poplar4", "compute001")
DEFAULT_QUOTA = {"instances": 10, "cores": 20, "ram": 51200, "volumes": 10, "gigabytes": 1000}
LARGEST_USER_DATA = 65535
# How often something is seen under way.
LOOKS = 3
OF_NOVA = ("instances", "cores", "ram")
# All that a request may say of a kind, beside what every kind has.
KNOWN = {
    "project": {"domain_id", "tags"},
    "network": {
        *("port_security_enabled", "mtu", "provider:network_type"),
        *("provider:physical_network", "provider:segmentation_id"),
    },
    "subnet": {"cidr", "network_id", "enable_dhcp", "gateway_ip", "ip_version", "allocation_pools"},
    "security_group": {"project_id"},
    "port": {"network_id", "project_id", "fixed_ips", "security_groups", "binding:vnic_type"},
    "flavor": {"os-flavor-access:is_public", "vcpus", "ram", "disk"},
    "volume": {"size", "metadata"},
    "server": {"metadata", "flavorRef", "imageRef", "key_name", "networks", "user_data"},
}


class Refused(Exception):
    """A service answers with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Request:
    """What a service is asked, with the project of the token."""

    service: str
    method: str
    path: str
    body: Any
    project: str

    @property
    def is_write(self) -> bool:
        return self.method != "GET"


@dataclass
class Disturbance:
    """Something that happens once, at the request of this number that ``counts``.

    ``before`` may raise in its place; after it, its answer is ``lost`` where that is said, though it was carried out.
    """

    number: int
    before: Callable[[Request], None] = lambda _request: None
    lost: bool = False
    counts: Callable[[Request], bool] = lambda request: request.is_write
    seen: int = 0

    @property
    def has_happened(self) -> bool:
        return self.seen > self.number


class Lost(Exception):
    """The connection ended before the answer came."""


@dataclass
class StrictCloud:
    """All that the services hold, by id; and who may log in."""

    kinds: dict[str, dict[str, Thing]] = field(default_factory=dict)
    assignments: list[tuple[str, str, str]] = field(default_factory=list)
    quotas: dict[str, dict[str, int]] = field(default_factory=dict)
    traits: dict[str, set[str]] = field(default_factory=dict)
    password: str = "its password"
    tokens: dict[str, str] = field(default_factory=dict)
    vlan_ranges: list[tuple[str, int, int]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    disturbance: Disturbance | None = None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._looks: dict[str, int] = {}
        self.kinds = {
            kind: {}
            for kind in (
                *("project", "network", "subnet", "security_group", "port", "policy", "rule"),
                *("flavor", "image", "key", "volume", "server", "attachment"),
            )
        }
        for name in ("admin", "zoe"):
            self.kinds["project"][f"p-{name}"] = self._project(f"p-{name}", name, [], "")
        self.users = [{"id": f"u-{name}", "name": name, "domain_id": "default"} for name in ("admin", "ann", "zoe")]
        self.roles = [{"id": f"r-{name}", "name": name, "domain_id": None} for name in ("admin", "member", "reader")]
        self.assignments = [("p-admin", "u-admin", "r-admin")]
        self.known_traits: set[str] = set()
        self.traits = {host: {"HW_CPU_X86_VMX"} for host in HOSTS}
        self.generations = dict.fromkeys(HOSTS, 0)
        self.size = {"VCPU": 16, "MEMORY_MB": 65536, "DISK_GB": 200}
        self.add_network("control", "10.6.0.0/16", ("10.6.1.1", "10.6.1.254"), shared=True)
        self._add("image", {**_image("debian", "p-admin"), "status": "active"})

    # What a person does by hand.

    def add_network(self, name: str, cidr: str, pool: tuple[str, str], *, shared: bool) -> None:
        """The operator makes a network with a subnet."""
        body = {"name": name, "provider:physical_network": name, "mtu": 1500, "shared": shared}
        network = self._add("network", {**_neutron("p-admin"), **body, "port_security_enabled": True})
        pools = [dict(zip(("start", "end"), pool, strict=True))]
        subnet = {"name": name, "network_id": network["id"], "cidr": cidr, "allocation_pools": pools}
        self._add("subnet", {**_neutron("p-admin"), **subnet})

    def one(self, kind: str, name: str) -> Thing:
        """The one thing of this name."""
        (found,) = (each for each in self.kinds[kind].values() if each["name"] == name)
        return found

    def delete_server(self, server_id: str, lets_go: bool = True) -> None:
        """A server goes: its volumes are free, and so are its ports, if Nova lets them go."""
        self.kinds["server"].pop(server_id)
        for port in self.kinds["port"].values():
            if port["device_id"] == server_id and lets_go:
                port.update(device_id="", device_owner="")
        for key in [key for key, each in self.kinds["attachment"].items() if each["server_id"] == server_id]:
            volume = self.kinds["volume"].get(self.kinds["attachment"].pop(key)["volume_id"], {})
            volume["status"] = "available"

    def content(self) -> dict[str, Any]:
        """All that is there, without what only differs by the moment at which it was made."""
        names = {each["id"]: each["name"] for kind in self.kinds.values() for each in kind.values() if "name" in each}

        def plain(value: Any) -> Any:
            if isinstance(value, dict):
                return {names.get(key, key): plain(each) for key, each in value.items() if key not in ("id", "token")}
            if isinstance(value, (list, tuple)):
                return sorted((plain(each) for each in value), key=str)
            return names.get(value, value) if isinstance(value, str) else value

        visible = {
            kind: [each for each in things.values() if self._is_seen(each)] for kind, things in self.kinds.items()
        }
        more = {
            "assignments": self.assignments,
            "quotas": self.quotas,
            "traits": {host: sorted(traits) for host, traits in self.traits.items()},
            "known traits": sorted(self.known_traits),
        }
        found: dict[str, Any] = plain({**visible, **more})
        return found

    def _is_seen(self, thing: Thing) -> bool:
        is_neutrons = thing.get("name") == "default" and thing["project_id"] in self.kinds["project"]
        return not is_neutrons and not thing.get("os_hidden")

    # Requests.

    def answer(self, request: Request) -> tuple[int, Any]:
        """The status and the JSON of the answer."""
        with self._lock:
            self.requests.append(f"{request.service} {request.method} {request.path}")
            disturbance = self.disturbance
            strikes = disturbance is not None and disturbance.counts(request)
            if disturbance is not None and strikes:
                disturbance.seen += 1
                strikes = disturbance.seen == disturbance.number + 1
            try:
                if disturbance is not None and strikes:
                    disturbance.before(request)
                status, body = self._answer(request)
            except Refused as refused:
                return refused.status, {"error": {"message": str(refused), "code": refused.status}}
            if disturbance is not None and strikes and disturbance.lost:
                raise Lost
            return status, deepcopy(body)

    def _answer(self, request: Request) -> tuple[int, Any]:
        parts = urlsplit(request.path)
        request = Request(request.service, request.method, parts.path, request.body, request.project)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        for service, method, pattern, name in ROUTES:
            match = re.fullmatch(pattern, parts.path)
            if match and (service, method) == (request.service, request.method):
                found = getattr(self, name)(request, query, *match.groups())
                return (200, found) if found is not None else (204, None)
        raise AssertionError(f"nobody asks {request.service} for {request.method} {request.path}")

    def _add(self, kind: str, fields: Thing, under: str = "") -> Thing:
        thing = {"id": under or f"{kind}-{next(self._numbers)}", **fields}
        self.kinds[kind][thing["id"]] = thing
        return thing

    def _take(self, kind: str, thing_id: str) -> Thing:
        if thing_id not in self.kinds[kind]:
            raise Refused(404, f"{kind} {thing_id} could not be found.")
        return self.kinds[kind][thing_id]

    def _checked(self, kind: str, body: Body) -> Body:
        (word, fields), *more = body.items()
        extra = set(fields) - KNOWN[kind] - {"name", "description"}
        if more or word != kind or extra:
            raise Refused(400, f"Additional properties are not allowed: {word} {sorted(extra)}")
        return dict(fields)

    # Keystone

    def _project(self, project_id: str, name: str, tags: list[str], description: str) -> Thing:
        fields = {"domain_id": "default", "enabled": True, "is_domain": False}
        return {"id": project_id, "name": name, "tags": tags, "description": description, **fields}

    def projects(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"projects": list(self.kinds["project"].values())}
        body = self._checked("project", request.body)
        if any(each["name"] == body["name"] for each in self.kinds["project"].values()):
            raise Refused(409, f"it is not permitted to have two projects with the same name: {body['name']}")
        number = f"project-{next(self._numbers)}"
        made = self._project(number, body["name"], body.get("tags", []), body.get("description", ""))
        self.kinds["project"][number] = made
        return {"project": made}

    def project(self, request: Request, _query: Any, project_id: str) -> Any:
        project = self._take("project", project_id)
        if request.method == "PATCH":
            project.update(request.body["project"])
            return {"project": project}
        del self.kinds["project"][project_id]
        self.assignments = [each for each in self.assignments if each[0] != project_id]
        self.quotas.pop(project_id, None)
        return None

    def of_keystone(self, request: Request, _query: Any) -> Any:
        found = {
            "/domains": [{"id": "default", "name": "Default"}],
            "/users": self.users,
            "/roles": self.roles,
            "/role_assignments": [
                {"scope": {"project": {"id": project}}, "user": {"id": user}, "role": {"id": role}}
                for project, user, role in self.assignments
            ],
        }[request.path]
        return {request.path[1:]: found}

    def assignment(self, request: Request, _query: Any, project: str, user: str, role: str) -> Any:
        self._take("project", project)
        if request.method == "PUT" and (project, user, role) not in self.assignments:
            self.assignments.append((project, user, role))
        elif request.method == "DELETE":
            if (project, user, role) not in self.assignments:
                raise Refused(404, "Could not find role assignment.")
            self.assignments.remove((project, user, role))

    # Neutron

    def networks(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"networks": [{**each, "tags": each["tags"]} for each in self.kinds["network"].values()]}
        body = self._checked("network", request.body)
        self._refuse_vlan(body)
        return {"network": self._add("network", {**_neutron(request.project), "mtu": 1500, **body, "shared": False})}

    def _refuse_vlan(self, body: Body, but: str = "") -> None:
        where = ("provider:physical_network", "provider:segmentation_id")
        for each in self.kinds["network"].values():
            if each["id"] != but and all(each.get(key) == body[key] for key in where):
                raise Refused(409, f"Unable to create the network. The VLAN {body[where[1]]} is in use.")

    def network(self, request: Request, _query: Any, network_id: str) -> Any:
        network = self._take("network", network_id)
        if request.method == "PUT":
            self._refuse_vlan({**network, **request.body["network"]}, network_id)
            network.update(request.body["network"])
            return {"network": network}
        if any(each["network_id"] == network_id for each in self.kinds["port"].values()):
            raise Refused(409, "There are one or more ports still in use on the network.")
        for kind, key in (("subnet", "network_id"), ("policy", "object_id")):
            for each in [each for each in self.kinds[kind].values() if each[key] == network_id]:
                del self.kinds[kind][each["id"]]
        del self.kinds["network"][network_id]
        return None

    def subnets(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"subnets": list(self.kinds["subnet"].values())}
        body = self._checked("subnet", request.body)
        self._take("network", body["network_id"])
        if any(each["network_id"] == body["network_id"] for each in self.kinds["subnet"].values()):
            raise Refused(400, f"Requested subnet with cidr: {body['cidr']} overlaps with another subnet.")
        return {"subnet": self._add("subnet", {**_neutron(request.project), **body})}

    def groups(self, request: Request, query: Any) -> Any:
        if request.method == "GET":
            project = query.get("project_id")
            default = [each for each in self.kinds["security_group"].values() if each["name"] == "default"]
            if project and project not in {each["project_id"] for each in default}:
                self._add("security_group", {**_neutron(project), "name": "default"})
            return {
                "security_groups": [
                    {**each, "security_group_rules": self._rules(each["id"])}
                    for each in self.kinds["security_group"].values()
                    if project in (None, each["project_id"])
                ]
            }
        body = self._checked("security_group", request.body)
        return {"security_group": self._add("security_group", {**_neutron(request.project), **body})}

    def _rules(self, group: str) -> list[Thing]:
        return [each for each in self.kinds["rule"].values() if each["security_group_id"] == group]

    def rules(self, request: Request, _query: Any) -> Any:
        made = []
        for body in request.body["security_group_rules"]:
            self._take("security_group", body["security_group_id"])
            rule = {"port_range_min": None, "port_range_max": None, "remote_group_id": None, **body}
            same = [{key: each[key] for key in rule} for each in self._rules(body["security_group_id"])]
            if rule in same:
                raise Refused(409, "Security group rule already exists.")
            made.append(self._add("rule", rule))
        return {"security_group_rules": made}

    def policies(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"rbac_policies": list(self.kinds["policy"].values())}
        body = request.body["rbac_policy"]
        self._take("network", body["object_id"])
        if any({key: each[key] for key in body} == body for each in self.kinds["policy"].values()):
            raise Refused(409, "RBAC policy already exists.")
        return {"rbac_policy": self._add("policy", body)}

    def ports(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"ports": list(self.kinds["port"].values())}
        body = self._checked("port", request.body)
        network = self._take("network", body["network_id"])
        taken = {
            fixed["ip_address"]
            for each in self.kinds["port"].values()
            if each["network_id"] == network["id"]
            for fixed in each["fixed_ips"]
        }
        fixed_ips = body.get("fixed_ips") or [{"ip_address": _free_address(self._pools(network["id"]), taken)}]
        if fixed_ips[0]["ip_address"] in taken:
            raise Refused(409, f"IP address {fixed_ips[0]['ip_address']} already allocated in subnet")
        for group in body.get("security_groups", ()):
            self._take("security_group", group)
        if body.get("security_groups") and not network["port_security_enabled"]:
            raise Refused(400, "Port Security must be enabled in order to have allowed address pairs.")
        bare = {"device_id": "", "device_owner": "", "status": "DOWN", "mac_address": "", "security_groups": []}
        vnic = {"binding:vnic_type": "normal"}
        return {
            "port": self._add("port", {**_neutron(request.project), **bare, **vnic, **body, "fixed_ips": fixed_ips})
        }

    def _pools(self, network_id: str) -> list[Thing]:
        return [
            pool
            for each in self.kinds["subnet"].values()
            if each["network_id"] == network_id
            for pool in each["allocation_pools"]
        ]

    def of_neutron(self, request: Request, _query: Any, kind: str, thing_id: str) -> Any:
        kind = kind.replace("-", "_")
        thing = self._take(kind, thing_id)
        if request.method == "PUT":
            thing.update(request.body[kind])
            return {kind: thing}
        users = [each for each in self.kinds["port"].values() if thing_id in each["security_groups"]]
        if kind == "security_group" and users:
            raise Refused(409, f"Security Group {thing_id} in use.")
        del self.kinds[kind][thing_id]
        rules = self.kinds["rule"]
        self.kinds["rule"] = {each: rule for each, rule in rules.items() if rule["security_group_id"] != thing_id}
        return None

    def rule(self, _request: Request, _query: Any, thing_id: str) -> Any:
        self._take("rule", thing_id)
        del self.kinds["rule"][thing_id]

    def policy(self, _request: Request, _query: Any, thing_id: str) -> Any:
        self._take("policy", thing_id)
        del self.kinds["policy"][thing_id]

    def tags(self, request: Request, _query: Any, kind: str, thing_id: str) -> Any:
        self._take(kind.replace("-", "_"), thing_id)["tags"] = request.body["tags"]
        return request.body

    def tag(self, _request: Request, _query: Any, kind: str, thing_id: str, tag: str) -> Any:
        tags = self._take(kind.replace("-", "_"), thing_id)["tags"]
        tags += [] if tag in tags else [tag]

    def agents(self, _request: Request, _query: Any) -> Any:
        mappings = {"bridge_mappings": {"rnic": "br-rnic"}}
        binary = "neutron-openvswitch-agent"
        return {
            "agents": [{"host": host, "binary": binary, "alive": True, "configurations": mappings} for host in HOSTS]
        }

    def ranges(self, _request: Request, _query: Any) -> Any:
        if not self.vlan_ranges:
            raise Refused(404, "The resource could not be found.")
        return {
            "network_segment_ranges": [
                {"network_type": "vlan", "physical_network": physical, "minimum": first, "maximum": last}
                for physical, first, last in self.vlan_ranges
            ]
        }

    # Nova

    def flavors(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"flavors": [_without(each, "projects") for each in self.kinds["flavor"].values()]}
        body = self._checked("flavor", request.body)
        if any(each["name"] == body["name"] for each in self.kinds["flavor"].values()):
            raise Refused(409, f"Flavor with name {body['name']} already exists.")
        return {"flavor": self._add("flavor", {**body, "extra_specs": {}, "projects": []})}

    def flavor(self, _request: Request, _query: Any, flavor_id: str) -> Any:
        self._take("flavor", flavor_id)
        del self.kinds["flavor"][flavor_id]

    def extra_specs(self, request: Request, _query: Any, flavor_id: str) -> Any:
        self._take("flavor", flavor_id)["extra_specs"].update(request.body["extra_specs"])
        return request.body

    def access(self, request: Request, _query: Any, flavor_id: str) -> Any:
        projects = self._take("flavor", flavor_id)["projects"]
        if request.method == "POST":
            ((action, who),) = request.body.items()
            if (who["tenant"] in projects) == (action == "addTenantAccess"):
                raise Refused(409, f"Flavor access of {flavor_id} for project {who['tenant']} is so already.")
            (projects.append if action == "addTenantAccess" else projects.remove)(who["tenant"])
        return {"flavor_access": [{"flavor_id": flavor_id, "tenant_id": each} for each in projects]}

    def keys(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"keypairs": [{"keypair": each} for each in self.kinds["key"].values()]}
        body = request.body["keypair"]
        if not re.fullmatch(r"[A-Za-z0-9 _-]+", body["name"]):
            raise Refused(400, "Keypair data is invalid: Keypair name contains unsafe characters")
        if body["name"] in self.kinds["key"]:
            raise Refused(409, f"Key pair '{body['name']}' already exists.")
        return {"keypair": self._add("key", body, body["name"])}

    def key(self, _request: Request, _query: Any, name: str) -> Any:
        self._take("key", name)
        del self.kinds["key"][name]

    def hypervisors(self, _request: Request, _query: Any) -> Any:
        size = {"vcpus": self.size["VCPU"], "memory_mb": self.size["MEMORY_MB"], "local_gb": self.size["DISK_GB"]}
        up = {"state": "up", "status": "enabled", **size}
        return {"hypervisors": [{"id": f"h-{host}", "hypervisor_hostname": host, **up} for host in HOSTS]}

    def quota(self, request: Request, _query: Any, project: str) -> Any:
        mine = [name for name in DEFAULT_QUOTA if (name in OF_NOVA) == (request.service == "compute")]
        there = {**DEFAULT_QUOTA, **self.quotas.get(project, {})}
        if request.method == "PUT":
            if not set(request.body["quota_set"]) <= set(mine):
                raise Refused(400, f"{request.service} has no such quota")
            self.quotas.setdefault(project, {}).update(request.body["quota_set"])
        return {"quota_set": {name: there[name] for name in mine}}

    def default_quota(self, request: Request, _query: Any) -> Any:
        mine = [name for name in DEFAULT_QUOTA if (name in OF_NOVA) == (request.service == "compute")]
        return {"quota_class_set": {name: DEFAULT_QUOTA[name] for name in mine}}

    def servers(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"servers": [self._server_now(each) for each in list(self.kinds["server"].values())]}
        body, project = self._checked("server", request.body), self._inside(request)
        flavor = self._take("flavor", body["flavorRef"])
        if project not in flavor["projects"]:
            raise Refused(400, f"Flavor {flavor['id']} could not be found.")
        if self.kinds["image"].get(body["imageRef"], {}).get("status") != "active":
            raise Refused(400, "Can not find requested image")
        if body.get("key_name") and body["key_name"] not in self.kinds["key"]:
            raise Refused(400, "Invalid key_name provided.")
        _refuse_user_data(body.get("user_data", ""))
        ports = [self._take("port", each["port"]) for each in body["networks"]]
        for port in ports:
            if port["device_id"] or port["project_id"] != project:
                raise Refused(409, f"Port {port['id']} is still in use.")
            if not self._sees(project, self._take("network", port["network_id"])):
                raise Refused(400, f"Network {port['network_id']} could not be found.")
        self._refuse_quota(project, flavor)
        made = self._add(
            "server",
            {
                "name": body["name"],
                "metadata": body["metadata"],
                "tenant_id": project,
                "status": "BUILD",
                "flavor": {"original_name": flavor["name"]},
                "image": {"id": body["imageRef"]},
                "key_name": body.get("key_name"),
                "OS-EXT-SRV-ATTR:user_data": body.get("user_data"),
                "OS-SRV-USG:launched_at": None,
            },
        )
        for port in ports:
            port.update(device_id=made["id"], device_owner="compute:nova")
        return {"server": {"id": made["id"]}}

    def _sees(self, project: str, network: Thing) -> bool:
        """Whether the operator sees a network from a project: as an administrator there, all of them."""
        policies = self.kinds["policy"].values()
        shared = {each["target_tenant"] for each in policies if each["object_id"] == network["id"]}
        is_administrator = (project, "u-admin", "r-admin") in self.assignments
        return network["shared"] or is_administrator or project in {network["project_id"], *shared}

    def _refuse_quota(self, project: str, flavor: Thing) -> None:
        quota = {**DEFAULT_QUOTA, **self.quotas.get(project, {})}
        mine = [each for each in self.kinds["server"].values() if each["tenant_id"] == project]
        if len(mine) >= quota["instances"] or (len(mine) + 1) * flavor["vcpus"] > quota["cores"]:
            raise Refused(403, f"Quota exceeded for instances: Requested 1, but already used {len(mine)} of them")

    def _inside(self, request: Request) -> str:
        if (request.project, "u-admin") not in {each[:2] for each in self.assignments}:
            raise Refused(403, "Policy doesn't allow that to be performed.")
        return request.project

    def server(self, request: Request, _query: Any, server_id: str) -> Any:
        server = self._take("server", server_id)
        if request.method == "DELETE":
            server["status"] = "DELETED"
            return None
        if server["status"] == "DELETED":
            self.delete_server(server_id)
            raise Refused(404, f"Instance {server_id} could not be found.")
        return {"server": self._server_now(server)}

    def _server_now(self, server: Thing) -> Thing:
        seen = dict(server)
        if self._is_ready(server, "BUILD"):
            server.update({"status": "ACTIVE", "OS-SRV-USG:launched_at": "2026-11-25T11:00:00.000000"})
        return seen

    def interfaces(self, request: Request, _query: Any, server_id: str) -> Any:
        port = self._take("port", request.body["interfaceAttachment"]["port_id"])
        self._take("server", server_id)
        port.update(device_id=server_id, device_owner="compute:nova")
        return {}

    def attachments(self, request: Request, _query: Any, server_id: str) -> Any:
        server, volume = self._take("server", server_id), request.body["volumeAttachment"]["volumeId"]
        if server["status"] != "ACTIVE":
            raise Refused(409, f"Cannot 'attach_volume' instance {server_id} while it is in {server['status']}")
        if self._take("volume", volume)["status"] != "available":
            raise Refused(400, f"Invalid volume: volume {volume} status must be available")
        self.kinds["volume"][volume]["status"] = "attaching"
        self._add("attachment", {"server_id": server_id, "volume_id": volume})
        return {}

    def attachment(self, _request: Request, _query: Any, server_id: str, volume_id: str) -> Any:
        for key, each in list(self.kinds["attachment"].items()):
            if (each["server_id"], each["volume_id"]) == (server_id, volume_id):
                del self.kinds["attachment"][key]
                self.kinds["volume"][volume_id]["status"] = "available"
                return
        raise Refused(404, "volume_id not found")

    # Cinder

    def volumes(self, request: Request, _query: Any) -> Any:
        if request.method == "GET":
            return {"volumes": [self._volume_now(each) for each in self.kinds["volume"].values()]}
        body, project = self._checked("volume", request.body), self._inside(request)
        quota = {**DEFAULT_QUOTA, **self.quotas.get(project, {})}
        mine = [each for each in self.kinds["volume"].values() if each["os-vol-tenant-attr:tenant_id"] == project]
        if len(mine) >= quota["volumes"]:
            raise Refused(413, f"VolumeLimitExceeded: Maximum number of volumes allowed ({len(mine)}) exceeded.")
        made = self._add("volume", {**body, "status": "creating", "os-vol-tenant-attr:tenant_id": project})
        return {"volume": self._volume(made)}

    def _volume(self, volume: Thing) -> Thing:
        held = [each for each in self.kinds["attachment"].values() if each["volume_id"] == volume["id"]]
        return {**volume, "attachments": [{"server_id": each["server_id"]} for each in held]}

    def volume(self, _request: Request, _query: Any, volume_id: str) -> Any:
        return {"volume": self._volume_now(self._take("volume", volume_id))}

    def _volume_now(self, volume: Thing) -> Thing:
        seen = self._volume(volume)
        if self._is_ready(volume, "creating", "attaching"):
            volume["status"] = {"creating": "available", "attaching": "in-use"}[volume["status"]]
        return seen

    def _is_ready(self, thing: Thing, *under_way: str) -> bool:
        """Whether what is under way is done, which takes some looks."""
        if thing["status"] not in under_way:
            return False
        self._looks[thing["id"]] = self._looks.get(thing["id"], 0) + 1
        return self._looks[thing["id"]] % LOOKS == 0

    def snapshots(self, _request: Request, _query: Any) -> Any:
        return {"snapshots": []}

    # Glance

    def images(self, request: Request, query: Any) -> Any:
        if request.method == "GET":
            hidden = query.get("os_hidden") == "true"
            return {"images": [each for each in self.kinds["image"].values() if each["os_hidden"] == hidden]}
        body = request.body
        return self._add("image", {**_image(body["name"], request.project), **body})

    def image(self, request: Request, _query: Any, image_id: str) -> Any:
        image = self._take("image", image_id)
        if request.method == "DELETE":
            del self.kinds["image"][image_id]
            return None
        for change in request.body:
            image[change["path"][1:]] = change["value"]
        return image

    def image_data(self, request: Request, _query: Any, image_id: str) -> Any:
        image = self._take("image", image_id)
        if image["status"] != "queued":
            raise Refused(409, f"Image status transition from {image['status']} to saving is not allowed")
        image.update(status="active", os_hash_algo="sha512", os_hash_value=hashlib.sha512(request.body).hexdigest())

    # Placement

    def providers(self, _request: Request, _query: Any) -> Any:
        return {"resource_providers": [{"uuid": f"rp-{host}", "name": host} for host in HOSTS]}

    def provider_traits(self, request: Request, _query: Any, host: str) -> Any:
        if request.method == "PUT":
            if request.body["resource_provider_generation"] != self.generations[host]:
                raise Refused(409, "resource provider generation conflict")
            if unknown := {each for each in request.body["traits"] if each.startswith("CUSTOM")} - self.known_traits:
                raise Refused(400, f"No such trait(s): {', '.join(sorted(unknown))}.")
            self.generations[host] += 1
            self.traits[host] = set(request.body["traits"])
        return {"traits": sorted(self.traits[host]), "resource_provider_generation": self.generations[host]}

    def inventories(self, _request: Request, _query: Any, _host: str) -> Any:
        ratios = {"VCPU": 1.0, "MEMORY_MB": 1.0, "DISK_GB": 1.0}
        return {
            "inventories": {
                name: {"total": size, "reserved": 0, "allocation_ratio": ratios[name], "max_unit": size}
                for name, size in self.size.items()
            }
        }

    def usages(self, _request: Request, _query: Any, _host: str) -> Any:
        return {"usages": dict.fromkeys(self.size, 0)}

    def all_traits(self, _request: Request, _query: Any) -> Any:
        return {"traits": sorted(self.known_traits)}

    def trait(self, request: Request, _query: Any, name: str) -> Any:
        if request.method == "PUT":
            self.known_traits.add(name)
            return None
        if any(name in traits for traits in self.traits.values()):
            raise Refused(409, f"The trait {name} is in use by a resource provider.")
        self.known_traits.discard(name)
        return None


ROUTES = [
    *(("identity", method, "/projects", "projects") for method in ("GET", "POST")),
    *(("identity", method, "/projects/([^/]+)", "project") for method in ("PATCH", "DELETE")),
    ("identity", "GET", "/(?:domains|users|roles|role_assignments)", "of_keystone"),
    *(
        ("identity", method, "/projects/([^/]+)/users/([^/]+)/roles/([^/]+)", "assignment")
        for method in ("PUT", "DELETE")
    ),
    *(("network", method, "/networks", "networks") for method in ("GET", "POST")),
    *(("network", method, "/networks/([^/]+)", "network") for method in ("PUT", "DELETE")),
    *(("network", method, "/subnets", "subnets") for method in ("GET", "POST")),
    *(("network", method, "/security-groups", "groups") for method in ("GET", "POST")),
    ("network", "POST", "/security-group-rules", "rules"),
    ("network", "DELETE", "/security-group-rules/([^/]+)", "rule"),
    *(("network", method, "/rbac-policies", "policies") for method in ("GET", "POST")),
    ("network", "DELETE", "/rbac-policies/([^/]+)", "policy"),
    *(("network", method, "/ports", "ports") for method in ("GET", "POST")),
    *(
        ("network", method, f"/({kind})s/([^/]+)", "of_neutron")
        for kind in ("subnet", "port", "security-group")
        for method in ("PUT", "DELETE")
    ),
    ("network", "PUT", "/(network|subnet|port|security-group)s/([^/]+)/tags", "tags"),
    ("network", "PUT", "/(network|subnet|port|security-group)s/([^/]+)/tags/([^/]+)", "tag"),
    ("network", "GET", "/agents", "agents"),
    ("network", "GET", "/network_segment_ranges", "ranges"),
    ("compute", "GET", "/flavors/detail", "flavors"),
    ("compute", "POST", "/flavors", "flavors"),
    ("compute", "DELETE", "/flavors/([^/]+)", "flavor"),
    ("compute", "POST", "/flavors/([^/]+)/os-extra_specs", "extra_specs"),
    ("compute", "POST", "/flavors/([^/]+)/action", "access"),
    ("compute", "GET", "/flavors/([^/]+)/os-flavor-access", "access"),
    *(("compute", method, "/os-keypairs", "keys") for method in ("GET", "POST")),
    ("compute", "DELETE", "/os-keypairs/([^/]+)", "key"),
    ("compute", "GET", "/os-hypervisors/detail", "hypervisors"),
    *((service, "GET", "/os-quota-class-sets/default", "default_quota") for service in ("compute", "block_storage")),
    *(
        (service, method, "/os-quota-sets/([^/]+)", "quota")
        for service in ("compute", "block_storage")
        for method in ("GET", "PUT")
    ),
    ("compute", "GET", "/servers/detail", "servers"),
    ("compute", "POST", "/servers", "servers"),
    *(("compute", method, "/servers/([^/]+)", "server") for method in ("GET", "DELETE")),
    ("compute", "POST", "/servers/([^/]+)/os-interface", "interfaces"),
    ("compute", "POST", "/servers/([^/]+)/os-volume_attachments", "attachments"),
    ("compute", "DELETE", "/servers/([^/]+)/os-volume_attachments/([^/]+)", "attachment"),
    ("block_storage", "GET", "/volumes/detail", "volumes"),
    ("block_storage", "POST", "/volumes", "volumes"),
    ("block_storage", "GET", "/volumes/([^/]+)", "volume"),
    ("block_storage", "GET", "/snapshots", "snapshots"),
    *(("image", method, "/images", "images") for method in ("GET", "POST")),
    *(("image", method, "/images/([^/]+)", "image") for method in ("PATCH", "DELETE")),
    ("image", "PUT", "/images/([^/]+)/file", "image_data"),
    ("placement", "GET", "/resource_providers", "providers"),
    *(("placement", method, "/resource_providers/rp-([^/]+)/traits", "provider_traits") for method in ("GET", "PUT")),
    ("placement", "GET", "/resource_providers/rp-([^/]+)/inventories", "inventories"),
    ("placement", "GET", "/resource_providers/rp-([^/]+)/usages", "usages"),
    ("placement", "GET", "/traits", "all_traits"),
    *(("placement", method, "/traits/([^/]+)", "trait") for method in ("PUT", "DELETE")),
]


def _neutron(project: str) -> Thing:
    return {"project_id": project, "tags": [], "description": ""}


def _image(name: str, owner: str) -> Thing:
    size = {"os_hash_algo": None, "os_hash_value": None, "disk_format": "qcow2"}
    return {"name": name, "owner": owner, "status": "queued", "visibility": "public", "os_hidden": False, **size}


def _refuse_user_data(data: str) -> None:
    """As Nova does, with all of it in the answer."""
    said = f"Invalid input for field/attribute user_data. Value: {data}."
    if len(data) > LARGEST_USER_DATA:
        raise Refused(400, f"{said} '{data}' is too long")
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        raise Refused(400, f"{said} '{data}' is not a 'base64'") from None


def _without(thing: Thing, *fields: str) -> Thing:
    return {key: value for key, value in thing.items() if key not in fields}


def _free_address(pools: list[Thing], taken: set[str]) -> str:
    network, first = pools[0]["start"].rsplit(".", maxsplit=1)
    return next(address for number in range(int(first), 255) if (address := f"{network}.{number}") not in taken)


class InProcess:
    """The cloud in the place of a connection of openstacksdk."""

    def __init__(self, cloud: StrictCloud, project: str = "p-admin") -> None:
        auth = SimpleNamespace(get_user_id=lambda _session: "u-admin", get_project_id=lambda _session: project)
        self.session = SimpleNamespace(auth=auth)
        self._cloud = cloud
        self._project = project
        for service in SERVICES:
            setattr(self, service, SimpleNamespace(request=partial(self._request, service)))

    def authorize(self) -> None:
        """Nothing to do here."""

    def connect_as_project(self, project: dict[str, str]) -> InProcess:
        return InProcess(self._cloud, project["id"])

    def _request(self, service: str, path: str, method: str, **more: Any) -> SimpleNamespace:
        body = more["data"].read() if "data" in more else more.get("json")
        try:
            status, answer = self._cloud.answer(Request(service, method, path, body, self._project))
        except Lost:
            raise ConnectFailure(f"Unable to establish connection to http://cloud/{service}") from None
        text = "" if answer is None else json.dumps(answer)
        return SimpleNamespace(
            status_code=status,
            text=text,
            content=text.encode(),
            headers={"Content-Type": "application/json"},
            json=lambda: json.loads(text),
        )
