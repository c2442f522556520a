# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services that answer what they are told to, in the place of a connection of openstacksdk."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

PUBLIC = {"tags": [], "description": ""}


class Connection:
    """Answers by path, with a service or a method before it or without: with JSON, a status and a body, or an error.

    A list of answers is given one after the other, the last one again and again. ``sent`` is what was written.
    """

    def __init__(self, answers: dict[str, Any], sent: list[tuple[str, Any]] | None = None) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.sent: list[tuple[str, Any]] = [] if sent is None else sent
        self.projects: list[dict[str, str]] = []
        auth = SimpleNamespace(get_user_id=lambda _session: "u-admin", get_project_id=lambda _session: "p-admin")
        self.session = SimpleNamespace(auth=auth)
        for service in ("identity", "network", "image", "compute", "block_storage", "placement"):
            setattr(self, service, SimpleNamespace(request=self._answering(service)))

    def authorize(self) -> None:
        """Nothing to do here."""

    def connect_as_project(self, project: dict[str, str]) -> Connection:
        self.projects.append(project)
        return Connection(self.answers, self.sent)

    def _answering(self, service: str) -> Any:
        def answer(path: str, method: str, **more: Any) -> SimpleNamespace:
            self.asked.append(f"{service} {path}")
            if method != "GET":
                self.sent.append((f"{method} {path}", more.get("json")))
            keys = (f"{method} {path}", f"{service} {path}", path)
            found = next((self.answers[key] for key in keys if key in self.answers), (404, {}))
            if isinstance(found, list):
                found = found.pop(0) if len(found) > 1 else found[0]
            if isinstance(found, Exception):
                raise found
            status, body = found if isinstance(found, tuple) else (200, found)
            text = body if isinstance(body, str) else json.dumps(body)
            return SimpleNamespace(
                status_code=status,
                text=text,
                content=text.encode(),
                headers={"Content-Type": "application/json"},
                json=lambda: json.loads(text),
            )

        return answer


def cloud_with(vpods: int) -> Connection:
    """A cloud with so many vPODs, ten machines each, on one hypervisor."""
    names = [str(number) for number in range(vpods)]
    page = "limit=1000"
    one_by_one: dict[str, Any] = {}
    for name in names:
        one_by_one[f"compute /os-quota-sets/p-{name}"] = {"quota_set": {"instances": 4, "cores": 8, "ram": 1024}}
        one_by_one[f"block_storage /os-quota-sets/p-{name}"] = {"quota_set": {"volumes": 3}}
        one_by_one[f"/flavors/f-{name}/os-flavor-access"] = {"flavor_access": [{"tenant_id": f"p-{name}"}]}
    return Connection(
        {
            **one_by_one,
            "/projects": {
                "projects": [
                    {"id": "p-admin", "name": "admin", "domain_id": "default", "tags": []},
                    *(
                        {"id": f"p-{name}", "name": name, "domain_id": "default", "tags": [f"ipu.pod:vpod={name}"]}
                        for name in names
                    ),
                ]
            },
            "/domains": {"domains": [{"id": "default", "name": "Default"}]},
            "/users": {"users": [{"id": "u-admin", "name": "admin", "domain_id": "default", "password": "hunter2"}]},
            "/roles": {"roles": [{"id": "r-admin", "name": "admin", "domain_id": None}]},
            "/role_assignments": {"role_assignments": []},
            "/networks": {
                "networks": [
                    {
                        **PUBLIC,
                        "id": f"n-{name}",
                        "name": f"vpod-{name}-rnic",
                        "project_id": "p-admin",
                        "mtu": 9000,
                        "provider:physical_network": "rnic",
                        "provider:segmentation_id": 200 + int(name),
                        "port_security_enabled": False,
                        "tags": ["ipu.pod", f"ipu.pod:vpod={name}"],
                    }
                    for name in names
                ]
            },
            "/subnets": {"subnets": []},
            "/ports": {"ports": []},
            "/security-groups": {"security_groups": []},
            "/rbac-policies": {
                "rbac_policies": [
                    {
                        "id": f"rbac-{name}",
                        "object_type": "network",
                        "object_id": f"n-{name}",
                        "action": "access_as_shared",
                        "target_tenant": f"p-{name}",
                    }
                    for name in names
                ]
            },
            "/agents": {
                "agents": [
                    {
                        "host": "pod001-poplar3.example",
                        "binary": "neutron-openvswitch-agent",
                        "alive": True,
                        "configurations": {"bridge_mappings": {"rnic": "br-rnic"}},
                    }
                ]
            },
            f"/images?visibility=all&{page}": {"images": []},
            f"/images?visibility=all&os_hidden=true&{page}": {"images": []},
            f"/servers/detail?all_tenants=1&{page}": {
                "servers": [
                    {
                        "id": f"s-{name}-{index}",
                        "name": f"{name}-{index}",
                        "status": "ACTIVE",
                        "tenant_id": f"p-{name}",
                        "metadata": {"ipu.pod:vpod": name},
                        "user_data": "hunter2",
                        "flavor": {"original_name": f"vpod-{name}"},
                        "image": "",
                        "adminPass": "hunter2",
                    }
                    for name in names
                    for index in range(10)
                ]
            },
            f"/flavors/detail?is_public=None&{page}": {
                "flavors": [
                    {
                        "id": f"f-{name}",
                        "name": f"vpod-{name}",
                        "vcpus": 4,
                        "ram": 8192,
                        "disk": 20,
                        "extra_specs": {},
                        "description": f"ipu.pod:vpod={name}",
                    }
                    for name in names
                ]
            },
            f"/os-hypervisors/detail?{page}": {
                "hypervisors": [{"id": "h", "hypervisor_hostname": "pod001-poplar3.example", "state": "up"}]
            },
            f"/os-keypairs?{page}": {"keypairs": []},
            f"/volumes/detail?all_tenants=1&{page}": {"volumes": []},
            f"/snapshots?all_tenants=1&{page}": {"snapshots": []},
            "/resource_providers": {"resource_providers": [{"uuid": "rp", "name": "pod001-poplar3.example"}]},
            "/traits?name=startswith:CUSTOM_IPU_POD_": {"traits": [f"CUSTOM_IPU_POD_{name}" for name in names]},
            "/resource_providers/rp/inventories": {
                "inventories": {
                    "VCPU": {"total": 64, "reserved": 2, "allocation_ratio": 2.0, "max_unit": 64},
                    "DISK_GB": {"total": 100, "reserved": 0, "allocation_ratio": 1.0, "max_unit": 100},
                }
            },
            "/resource_providers/rp/usages": {"usages": {"VCPU": 24}},
            "compute /os-quota-class-sets/default": {
                "quota_class_set": {"id": "default", "instances": 10, "cores": 20}
            },
            "block_storage /os-quota-class-sets/default": {"quota_class_set": {"id": "default", "volumes": 10}},
            "/resource_providers/rp/traits": {"traits": [f"CUSTOM_IPU_POD_{name}" for name in names]},
        }
    )
