# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin end-point. Its interface is not published: this one is our own, JSON over gRPC."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from podsim.vipu import interfaces, rules
from podsim.vipu.access import Caller
from podsim.vipu.cluster_test import run_cluster_test
from podsim.vipu.controller import Controller
from podsim.vipu.discovery import Discovery
from podsim.vipu.entities import Cluster
from podsim.vipu.errors import conflict, invalid
from podsim.vipu.json_shapes import agent_json, allocation_json, cluster_json, describe_json, user_json
from podsim.vipu.releases import has_allocation_by_agents
from podsim.vipu.rpc import Service
from podsim.vipu.user_api import Operation, UserApi

AdminOperation = Callable[[dict[str, Any]], dict[str, Any]]


class AdminApi:
    """The operations of administrators: all those of users, for everybody, and the rest."""

    def __init__(self, controller: Controller, user_api: UserApi, release: str, discovery: Discovery | None) -> None:
        self._controller = controller
        self._user_api = user_api
        self._release = release
        self._discovery = discovery

    def services(self) -> list[Service]:
        """The services of the admin port."""
        user_operations, own = self._user_api.operations(), self._operations()
        operations = {**user_operations, **{name: _asked_by_anybody(operation) for name, operation in own.items()}}
        handlers = {name: self._user_api.guarded(_for_admins(operations[name])) for name in interfaces.ADMIN.methods}
        return [Service(interfaces.ADMIN, handlers), self._user_api.version_service()]

    def _operations(self) -> dict[str, AdminOperation]:
        return {
            "CreateAgent": self._create_agent,
            "GetAgent": lambda request: {"agent": self._agent(request)},
            "DescribeAgent": self._describe_agent,
            "ListAgents": self._list_agents,
            "RemoveAgent": self._remove_agent,
            "DiscoverAgents": self._discover_agents,
            "CreateCluster": self._create_cluster,
            "GetCluster": self._get_cluster,
            "ListClusters": self._list_clusters,
            "RemoveCluster": self._remove_cluster,
            "TestCluster": self._test_cluster,
            "CreateAllocation": self._create_allocation,
            "ListAllocationOptions": self._list_allocation_options,
            "RemoveAllocation": self._remove_allocation,
            "CreateUser": self._create_user,
            "GetUser": self._get_user,
            "ListUsers": self._list_users,
            "RemoveUser": self._remove_user,
        }

    def _create_agent(self, request: dict[str, Any]) -> dict[str, Any]:
        self._controller.create_agent(request["id"], request.get("host", ""), request.get("port", 8080))
        return {"agent": self._agent(request)}

    def _agent(self, request: dict[str, Any]) -> dict[str, Any]:
        agent = rules.find("agent", self._controller.state().agents, request["id"])
        return agent_json(agent, self._controller.facts(agent.id), self._controller.is_up(agent.id))

    def _describe_agent(self, request: dict[str, Any]) -> dict[str, Any]:
        agent = rules.find("agent", self._controller.state().agents, request["id"])
        return describe_json(agent, self._controller.facts(agent.id), self._controller.is_up(agent.id))

    def _list_agents(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {"agents": [self._agent({"id": agent_id}) for agent_id in self._controller.state().agents]}

    def _remove_agent(self, request: dict[str, Any]) -> dict[str, Any]:
        self._controller.remove_agent(request["id"])
        return {}

    def _discover_agents(self, _request: dict[str, Any]) -> dict[str, Any]:
        if not self._discovery:
            raise conflict("auto-discovery is off: start vipu-server with --autodiscovery-listen-interfaces")
        return {"discovered_agents": self._discovery.seen(time.monotonic())}

    def _create_cluster(self, request: dict[str, Any]) -> dict[str, Any]:
        cluster = Cluster(
            request["id"],
            tuple(request.get("agents", ())),
            request.get("topology") or "mesh",
            request.get("num_ipulink_domains") or 1,
            request.get("cluster_topology", ""),
        )
        self._controller.apply(rules.create_cluster, cluster)
        return self._get_cluster(request)

    def _get_cluster(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"cluster": cluster_json(rules.find("cluster", self._controller.state().clusters, request["id"]))}

    def _list_clusters(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {"clusters": [cluster_json(cluster) for cluster in self._controller.state().clusters.values()]}

    def _remove_cluster(self, request: dict[str, Any]) -> dict[str, Any]:
        self._controller.apply(rules.remove_cluster, request["id"])
        return {}

    def _test_cluster(self, request: dict[str, Any]) -> dict[str, Any]:
        cluster = rules.find("cluster", self._controller.state().clusters, request["id"])
        rules.check_cluster_is_idle(self._controller.state(), cluster)
        self._controller.refresh(cluster.agent_ids)
        up = {
            agent_id: self._controller.facts(agent_id)
            for agent_id in cluster.agent_ids
            if self._controller.is_up(agent_id)
        }
        return {"tests": run_cluster_test(cluster, self._release, up)}

    def _create_allocation(self, request: dict[str, Any]) -> dict[str, Any]:
        name, size, agents = request["id"], request.get("size", 0), request.get("agents", [])
        if agents and not has_allocation_by_agents(self._release):
            raise invalid(f"V-IPU {self._release} makes an allocation by --size only")
        if bool(size) == bool(agents):
            raise invalid("an allocation needs either a size or a list of agents: give one of --size and --agents")
        rule = rules.create_allocation_of_agents if agents else rules.create_allocation_by_size
        self._controller.apply(rule, name, agents or size, request.get("cluster", ""))
        return {"allocation": allocation_json(self._controller.state().allocations[name])}

    def _list_allocation_options(self, request: dict[str, Any]) -> dict[str, Any]:
        options = rules.allocation_options(self._controller.state(), request.get("size", 0), request.get("cluster", ""))
        return {"options": [allocation_json(option)["spec"] for option in options]}

    def _remove_allocation(self, request: dict[str, Any]) -> dict[str, Any]:
        self._controller.apply(rules.remove_allocation, request["id"])
        return {}

    def _create_user(self, request: dict[str, Any]) -> dict[str, Any]:
        access_key = self._controller.create_user(request["id"], request.get("allocations", []), admin=False)
        return {**self._get_user(request), "access_key": access_key}

    def _get_user(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"user": user_json(rules.find("user", self._controller.state().users, request["id"]))}

    def _list_users(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {"users": [user_json(user) for user in self._controller.state().users.values()]}

    def _remove_user(self, request: dict[str, Any]) -> dict[str, Any]:
        self._controller.apply(rules.remove_user, request["id"])
        return {}


def _asked_by_anybody(operation: AdminOperation) -> Operation:
    return lambda request, _caller: operation(request)


def _for_admins(operation: Operation) -> Operation:
    def guarded(request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        caller.require_admin()
        return operation(request, caller)

    return guarded
