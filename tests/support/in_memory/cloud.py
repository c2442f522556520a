# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloud in memory: what a look of it is, and what becomes of it when a step is carried out."""

from __future__ import annotations

import itertools
from copy import deepcopy
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import REMOVE, Step

Thing = dict[str, Any]
LISTS = (
    *("projects", "members", "quotas", "networks", "subnets", "security_groups", "flavors", "traits", "images", "keys"),
    *("ports", "volumes", "servers", "snapshots"),
)
# Of a pods.yml, what is not of clouds and vPODs: a pod with two hypervisors.
FLOOR: Thing = {
    "schema": 1,
    "pods": {
        "pod001": {
            "model": "bow-pod64",
            "poplar_servers": 4,
            "rnic": {"vlan": 100},
            "hypervisors": ["pod001-poplar3", "pod001-poplar4"],
            "virtual_functions": 0,
        }
    },
    "controllers": {"ctrl001": {"host": "pod001-poplar1"}},
    "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
}
OPERATOR = {"user": "admin", "user_id": "u-admin", "project": "admin", "project_id": "p-admin"}


def bare_look() -> dict[str, Any]:
    """A cloud with users, two hypervisors, a control network and an image, and nothing of a vPOD."""
    look: dict[str, Any] = {each: [] for each in LISTS}
    look["operator"] = OPERATOR
    look["projects"] = [
        {"id": "p-admin", "name": "admin", "domain": "Default", "vpod": None},
        {"id": "p-zoe", "name": "zoe", "domain": "Default", "vpod": None},
    ]
    look["users"] = [{"id": f"u-{name}", "name": name, "domain": "Default"} for name in ("admin", "ann", "ben", "zoe")]
    look["roles"] = [{"id": f"r-{name}", "name": name} for name in ("admin", "member", "reader")]
    look["hypervisors"] = [hypervisor(f"pod001-poplar{number}", VCPU=64, MEMORY_MB=512000) for number in (3, 4)]
    look["default_quota"] = {"instances": 10, "cores": 20}
    look["networks"] = [network("control", "p-admin", None, physical_network=None, vlan=None)]
    look["images"] = [image("debian", marked=False, sha512="dd")]
    look["servers"] = [server("zoes", "p-zoe", "zoe", None)]
    look["ports"] = [port("zoes-port", "p-zoe", None, "n-control", "control", "s-zoes", ["10.6.1.9"])]
    return look


def hypervisor(name: str, **resources: int) -> Thing:
    """An empty hypervisor that offers so much."""
    sizes = {name: {"largest": size, "free": size} for name, size in resources.items()}
    return {"id": f"h-{name}", "name": name, "resources": sizes}


def network(name: str, project_id: str, vpod: str | None, **fields: Any) -> Thing:
    default = {
        "physical_network": "rnic",
        "vlan": 101,
        "mtu": 1500,
        "projects": [],
        "project": project_id[2:],
        "shared": False,
    }
    return {"id": f"n-{name}", "name": name, "project_id": project_id, "vpod": vpod, **default, **fields}


def image(name: str, **fields: Any) -> Thing:
    default = {"project_id": "p-admin", "visibility": "public", "hidden": False, "disk_format": "qcow2", "marked": True}
    return {"id": f"i-{name}", "name": name, **default, **fields}


def server(name: str, project_id: str, project: str, vpod: str | None, **fields: Any) -> Thing:
    default = {"flavor": "small", "image": "debian", "key": None, "status": "ACTIVE", "launched": True, "fault": ""}
    return {
        "id": f"s-{name}",
        "name": name,
        "project_id": project_id,
        "project": project,
        "vpod": vpod,
        **default,
        **fields,
    }


def port(
    name: str, project_id: str, vpod: str | None, network_id: str, network: str, device: str, addresses: list[str]
) -> Thing:
    return {
        "id": f"po-{name}",
        "name": name,
        "project_id": project_id,
        "project": project_id[2:],
        "vpod": vpod,
        "network_id": network_id,
        "network": network,
        "addresses": addresses,
        "device_id": device,
        "device_owner": "compute:nova" if device else "",
        "security_groups": [],
        "group_ids": [],
    }


class InMemoryCloud:
    """Carries steps out on a look, by what each kind of service does; knows nothing of plans."""

    def __init__(self, look: dict[str, Any]) -> None:
        self.look = deepcopy(look)
        self._numbers = itertools.count(1)

    def carry_out(self, step: Step) -> None:
        """Do one step."""
        if step.action == REMOVE:
            self._remove(step)
        elif step.before is None:
            self._create(step)
        else:
            self._update(step)

    def named(self, kind: str, name: str) -> Thing:
        """The one thing that goes by a name; what a name is called with, in brackets, is its id."""
        found = [each for each in self.look[f"{kind}s"] if name in (each["name"], f"{each['name']} ({each['id']})")]
        exact = [each for each in found if each["name"] != name or each.get("vpod") or each.get("marked")]
        return (exact or found)[-1]

    def _project_id(self, name: str) -> str:
        return str(next(each["id"] for each in self.look["projects"] if each["name"] == name))

    def _create(self, step: Step) -> None:
        fields = deepcopy(step.after or {})
        new = {"id": f"{step.kind}-{next(self._numbers)}", "name": step.name, "vpod": None, **fields}
        self._fill(step.kind, new, fields)
        self.look[f"{step.kind}s"].append(new)

    def _fill(self, kind: str, new: Thing, fields: Thing) -> None:
        """What a service adds of its own."""
        if "project" in fields:
            new["project_id"] = self._project_id(fields["project"])
        if kind in ("network", "image"):
            new.update(project_id="p-admin", project="admin")
        if kind == "image":
            new.update(visibility="public", hidden=False, marked=True)
        elif kind == "project":
            defaults = {"instances": 10, "cores": 20}
            self.look["quotas"].append({"id": new["id"], "project_id": new["id"], "project": new["name"], **defaults})
        elif kind == "quota":
            self._replace_quota(new, fields)
        elif kind == "member":
            new.update(user_id=f"u-{fields['user']}", user_domain="Default")
        self._fill_machine(kind, new, fields)

    def _fill_machine(self, kind: str, new: Thing, fields: Thing) -> None:
        if kind == "volume":
            new.update(servers=[], status="available")
        elif kind == "server":
            new.update(launched=True, fault="", key=new["key"] or None)
            self._attach(new)
        elif kind in ("subnet", "port"):
            new["network_id"] = self.named("network", fields["network"])["id"]
        if kind == "port":
            new.update(device_id="", device_owner="", addresses=[new.pop("address", "10.6.1.77")])
            self._set_groups(new)

    def _replace_quota(self, new: Thing, fields: Thing) -> None:
        project_id = self._project_id(new["name"])
        old = next(each for each in self.look["quotas"] if each["project_id"] == project_id)
        self.look["quotas"].remove(old)
        new.update({**old, **fields})

    def _set_groups(self, port: Thing) -> None:
        port["group_ids"] = [self.named("security_group", each)["id"] for each in port["security_groups"]]

    def _attach(self, server: Thing) -> None:
        """Give a server those of its project's ports and volumes that it names, and take the others away."""
        for each in self.look["ports"]:
            if each["vpod"] and each["device_id"] == server["id"] and each["name"] not in server["ports"]:
                each.update(device_id="", device_owner="")
            if each["project_id"] == server["project_id"] and each["name"] in server["ports"]:
                each.update(device_id=server["id"], device_owner="compute:nova")
        for each in self.look["volumes"]:
            named = each["project_id"] == server["project_id"] and each["name"] in server["volumes"]
            each["servers"] = [server["id"]] if named else [other for other in each["servers"] if other != server["id"]]

    def _update(self, step: Step) -> None:
        changes = {key: each for key, each in (step.after or {}).items() if each != (step.before or {}).get(key)}
        if step.kind == "image":
            self.named("image", step.name)["hidden"] = True
            self._create(step)
            return
        if step.kind == "quota":
            thing = next(each for each in self.look["quotas"] if each["project"] == step.name)
        else:
            thing = self.named(step.kind, step.name)
        thing.update(changes)
        if step.kind == "port" and "address" in changes:
            thing["addresses"] = [thing.pop("address")]
        if step.kind == "port":
            self._set_groups(thing)
        if step.kind == "server":
            self._attach(thing)

    def _remove(self, step: Step) -> None:
        if step.kind == "member":
            fields = step.before or {}
            self.look["members"] = [
                each for each in self.look["members"] if {key: each[key] for key in fields} != fields
            ]
            return
        thing = self.named(step.kind, step.name)
        self.look[f"{step.kind}s"].remove(thing)
        if step.kind == "server":
            for each in self.look["ports"]:
                if each["device_id"] == thing["id"]:
                    each.update(device_id="", device_owner="")
            for each in self.look["volumes"]:
                each["servers"] = [other for other in each["servers"] if other != thing["id"]]
        if step.kind == "project":
            for list_name in ("members", "quotas"):
                self.look[list_name] = [each for each in self.look[list_name] if each["project_id"] != thing["id"]]
        if step.kind == "network":
            self.look["subnets"] = [each for each in self.look["subnets"] if each["network_id"] != thing["id"]]
