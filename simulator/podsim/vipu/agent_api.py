# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a controller reaches its agents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from podsim.vipu import interfaces
from podsim.vipu.entities import Agent
from podsim.vipu.errors import Refused
from podsim.vipu.rpc import Unreachable
from podsim.vipu.rpc_client import Client


class Fleet(Protocol):
    """Reaches agents."""

    def ask(self, agent: Agent) -> dict[str, Any]:
        """The facts of one agent's machine now. Raises Unreachable or Refused with the reason why it gives none."""

    def facts(self, agents: Iterable[Agent]) -> dict[str, dict[str, Any] | None]:
        """The facts of each agent's machine now (see machine.facts), by agent id; None where it does not answer."""

    def hold(self, held: Mapping[Agent, Sequence[str]]) -> None:
        """Sends each agent the partitions that it is part of now; one that does not answer gets them later."""


class RealFleet:
    """Reaches agents over the network, all of them at once; `timeout` in seconds.

    One that is slow because its machine is busy is not down: partitions would go into an error, and that be stored.
    """

    def __init__(self, timeout: float = 5.0) -> None:
        self._timeout = timeout
        self._clients: dict[str, Client] = {}

    def ask(self, agent: Agent) -> dict[str, Any]:
        """See Fleet."""
        client = self._client(f"{agent.host}:{agent.port}")
        return client.result(client.start(interfaces.AGENT, "GetFacts", {}, self._timeout))

    def facts(self, agents: Iterable[Agent]) -> dict[str, dict[str, Any] | None]:
        """See Fleet."""
        calls = []
        for agent in agents:
            client = self._client(f"{agent.host}:{agent.port}")
            calls.append((agent.id, client, client.start(interfaces.AGENT, "GetFacts", {}, self._timeout)))
        return {agent_id: _facts_or_none(client, call) for agent_id, client, call in calls}

    def hold(self, held: Mapping[Agent, Sequence[str]]) -> None:
        """See Fleet."""
        calls = []
        for agent, partition_ids in held.items():
            client = self._client(f"{agent.host}:{agent.port}")
            request = {"partitions": list(partition_ids)}
            calls.append((client, client.start(interfaces.AGENT, "HoldPartitions", request, self._timeout)))
        for client, call in calls:
            with contextlib.suppress(Unreachable, Refused):
                client.result(call)

    def _client(self, address: str) -> Client:
        if address not in self._clients:
            self._clients[address] = Client(address)
        return self._clients[address]


def _facts_or_none(client: Client, call: Any) -> dict[str, Any] | None:
    try:
        return client.result(call)
    except (Unreachable, Refused):
        return None
