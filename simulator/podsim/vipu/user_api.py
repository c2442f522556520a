# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user end-point: the published services, plus the two reads of allocations that are not published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podsim.vipu import messages
from podsim.vipu.access import Caller, authenticate
from podsim.vipu.controller import Controller
from podsim.vipu.entities import Partition
from podsim.vipu.errors import invalid, unknown
from podsim.vipu.interfaces import ALLOCATION_READS
from podsim.vipu.ipuof import partition_config
from podsim.vipu.json_shapes import allocation_json, attributes_json, partition_json, status_json
from podsim.vipu.rpc import Handler, Service
from podsim.vipu.rules import find

Operation = Callable[[dict[str, Any], Caller], dict[str, Any]]


class UserApi:
    """The operations of users; each method takes a request and the caller, and gives the reply."""

    def __init__(self, controller: Controller, release: str, secure: bool) -> None:
        self._controller = controller
        self._release = release
        self._secure = secure

    def services(self) -> list[Service]:
        """The services of the user port."""
        published = messages.interface("UserService")
        operations = self.operations()
        return [
            Service(published, {name: self.guarded(operations[name]) for name in published.methods}),
            Service(ALLOCATION_READS, {name: self.guarded(operations[name]) for name in ALLOCATION_READS.methods}),
            self.version_service(),
        ]

    def operations(self) -> dict[str, Operation]:
        """Everything a user can do, by the name of its rpc."""
        return {
            "ListPartitions": self._list_partitions,
            "ListIPUAttributes": self._list_ipu_attributes,
            "CreatePartition": self._create_partition,
            "RemovePartition": self._remove_partition,
            "ResetPartition": self._reset_partition,
            "GetPartitionIpuofConfig": self._get_partition_ipuof_config,
            "GetPartitionStatus": self._get_partition_status,
            "ListAllocations": self._list_allocations,
            "GetAllocation": self._get_allocation,
        }

    def guarded(self, operation: Operation) -> Handler:
        """The operation for callers who are who they say they are."""
        return lambda request, metadata: operation(
            request, authenticate(self._controller.state(), metadata, self._secure)
        )

    def version_service(self) -> Service:
        """The release, for anybody."""
        interface = messages.interface("VersionService")
        return Service(interface, {"GetVersion": lambda _request, _metadata: {"version": self._release}})

    def _list_partitions(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        state, allocation_id = self._controller.state(), request.get("allocation_id", "")
        if allocation_id and (allocation_id not in state.allocations or not caller.sees(allocation_id)):
            raise unknown("allocation", allocation_id)
        shown = [
            partition_json(state, partition, self._ipuof_server_version(partition))
            for partition in state.partitions.values()
            if caller.sees(partition.allocation_id) and allocation_id in ("", partition.allocation_id)
        ]
        return {"partitions": shown}

    def _list_ipu_attributes(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        state = self._controller.state()
        visible = [agent_id for agent_id in state.agents if self._sees_agent(caller, agent_id)]
        wanted = request.get("agents") or visible
        for agent_id in wanted:
            if agent_id not in visible:
                raise unknown("agent", agent_id)
        self._controller.refresh(wanted)
        known = {agent_id: self._controller.facts(agent_id) for agent_id in wanted}
        return {"entries": [attributes_json(agent_id, facts) for agent_id, facts in known.items() if facts]}

    def _create_partition(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        self._controller.create_partition(request, caller.allocation_ids)
        return {"partition_id": request["requirements"]["id"]}

    def _remove_partition(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        partition = self._partition(request, caller)
        self._controller.remove_partition(partition.id, bool(request.get("force")))
        return {}

    def _reset_partition(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        partition = self._partition(request, caller)
        self._controller.reset_partition(partition.id, bool(request.get("relocatable")))
        return {}

    def _get_partition_ipuof_config(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        partition = self._partition(request, caller)
        gcd = request["gcd_id"].get("id", 0) if "gcd_id" in request else None
        if gcd is not None and gcd >= partition.num_gcds:
            raise invalid(f"partition '{partition.id}' has no GCD {gcd}: it has {partition.num_gcds}, counted from 0")
        facts = self._controller.partition_facts(partition)
        return {"ipuof_config": partition_config(self._controller.state(), partition, facts, gcd)}

    def _get_partition_status(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        return {"status": status_json(self._partition(request, caller))}

    def _list_allocations(self, _request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        allocations = self._controller.state().allocations.values()
        return {"allocations": [allocation_json(a) for a in allocations if caller.sees(a.id)]}

    def _get_allocation(self, request: dict[str, Any], caller: Caller) -> dict[str, Any]:
        name = request.get("id", "")
        allocation = find("allocation", self._controller.state().allocations, name)
        if not caller.sees(name):
            raise unknown("allocation", name)
        return {"allocation": allocation_json(allocation)}

    def _partition(self, request: dict[str, Any], caller: Caller) -> Partition:
        name = request.get("partition_id", "")
        partition = find("partition", self._controller.state().partitions, name)
        if not caller.sees(partition.allocation_id):
            raise unknown("partition", name)
        return partition

    def _sees_agent(self, caller: Caller, agent_id: str) -> bool:
        allocation = self._controller.state().allocation_of(agent_id)
        return caller.sees(allocation.id if allocation else "")

    def _ipuof_server_version(self, partition: Partition) -> str:
        first, *_ = self._controller.state().agents_of(partition)
        facts = self._controller.facts(first)
        return str(facts["ipuof_server_version"]) if facts else ""
