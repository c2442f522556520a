# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller: one stored state, changed by one request at a time, and what it knows of its agents."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from podsim.vipu import partition_life, partitions, rules
from podsim.vipu.agent_api import Fleet
from podsim.vipu.entities import Agent, Partition, State, User
from podsim.vipu.errors import Refused, conflict
from podsim.vipu.metrics import Sample
from podsim.vipu.rpc import Unreachable
from podsim.vipu.storage import Storage


class Durations(NamedTuple):
    """How long the operations on a partition take, in seconds."""

    creation: float = 0.2
    reset: float = 0.2
    removal: float = 0.0
    auto_reset_delay: float = 2.0


DEFAULT_DURATIONS = Durations()


class Controller:
    """All that both APIs can do. Every method may be called from any thread; refusals are raised as Refused."""

    def __init__(
        self,
        storage: Storage,
        fleet: Fleet,
        durations: Durations = DEFAULT_DURATIONS,
        failing: Callable[[Partition], str] = lambda _partition: "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._storage = storage
        self._fleet = fleet
        self._durations = durations
        self._failing = failing
        self._clock = clock
        self._lock = threading.RLock()
        self._state = storage.read()
        self._facts: dict[str, dict[str, Any]] = {}
        self._up: set[str] = set()
        self.poll()

    def state(self) -> State:
        """The state now, with every operation that is due ended."""
        with self._lock:
            self._change(self._settled(self._state))
            return self._state

    def is_up(self, agent_id: str) -> bool:
        """Whether the agent answered when it was last asked."""
        return agent_id in self._up

    def facts(self, agent_id: str) -> dict[str, Any] | None:
        """The last facts from the agent; None when it has not answered since the controller started."""
        return self._facts.get(agent_id)

    def poll(self) -> None:
        """Asks every agent for its facts, lets partitions follow, and tells agents what they have missed of that.

        What an agent holds beyond that is not the controller's: it stays until a partition of ours takes its place.
        """
        self.refresh(list(self._state.agents))
        state = self.state()
        held = state.held()
        missed = {name for name in held if name in self._up and set(held[name]) - set(self._facts[name]["partitions"])}
        self._tell(state, {name: held[name] for name in missed})

    def refresh(self, agent_ids: Collection[str]) -> None:
        """Asks these agents for their facts."""
        agents = [agent for agent in self._state.agents.values() if agent.id in agent_ids]
        answers = self._fleet.facts(agents)
        with self._lock:
            for agent in agents:
                if self._state.agents.get(agent.id) == agent:
                    self._note(agent.id, answers[agent.id])

    def create_agent(self, name: str, host: str, port: int) -> None:
        """Adds an agent that answers."""
        rules.create_agent(self.state(), name, host, port)
        agent = Agent(name, host, port)
        try:
            answer = self._fleet.ask(agent)
        except (Unreachable, Refused) as error:
            said = f"agent '{name}' at {host}:{port} does not answer: is it running and reachable? ({error})"
            raise conflict(said) from None
        with self._lock:
            self._change(rules.create_agent(self.state(), name, host, port))
            self._note(name, answer)

    def remove_agent(self, name: str) -> None:
        """Removes an agent that no cluster uses."""
        with self._lock:
            self._change(rules.remove_agent(self.state(), name))
            self._facts.pop(name, None)
            self._up.discard(name)

    def apply(self, rule: Callable[..., State], *arguments: Any) -> None:
        """Carries out one rule of rules.py or partitions.py: `rule(state, *arguments)` gives the new state."""
        with self._lock:
            self._change(self._settled(rule(self.state(), *arguments)))

    def create_partition(self, request: Mapping[str, Any], allocation_ids: Collection[str] | None) -> None:
        """Starts a partition's creation; see partitions.create_partition."""
        self.apply(partitions.create_partition, request, allocation_ids, self._clock() + self._durations.creation)

    def reset_partition(self, name: str, relocatable: bool) -> None:
        """Starts a partition's reset."""
        self.apply(partitions.reset_partition, name, relocatable, self._clock() + self._durations.reset)

    def remove_partition(self, name: str, force: bool) -> None:
        """Starts a partition's removal; where removals take no time, it is gone when this returns."""
        self.apply(partitions.remove_partition, name, force, self._down(), self._clock() + self._durations.removal)

    def create_user(self, name: str, allocation_ids: Collection[str], admin: bool) -> str:
        """Adds a user and gives the access key, which is kept nowhere."""
        access_key = secrets.token_urlsafe(9)
        self.apply(rules.create_user, User(name, tuple(allocation_ids), admin, key_digest(access_key)))
        return access_key

    def partition_facts(self, partition: Partition) -> dict[str, dict[str, Any]]:
        """The facts of the partition's agents, now or as last reported."""
        agent_ids = self._state.agents_of(partition)
        self.refresh(agent_ids)
        for agent_id in agent_ids:
            if agent_id not in self._facts:
                raise conflict(f"agent '{agent_id}' of partition '{partition.id}' does not answer")
        return {agent_id: self._facts[agent_id] for agent_id in agent_ids}

    def samples(self) -> list[Sample]:
        """The controller's metrics."""
        state = self.state()
        states = [partition.ready_state.removeprefix("PS_") for partition in state.partitions.values()]
        samples: list[Sample] = [
            ("vipu_agents", {}, len(state.agents)),
            ("vipu_agents_up", {}, len(self._up)),
            ("vipu_clusters", {}, len(state.clusters)),
            ("vipu_allocations", {}, len(state.allocations)),
        ]
        samples += [("vipu_agent_up", {"agent": name}, float(self.is_up(name))) for name in state.agents]
        samples += [("vipu_partitions", {"state": name}, states.count(name)) for name in ("PENDING", "ACTIVE", "ERROR")]
        return samples

    def _note(self, agent_id: str, answer: dict[str, Any] | None) -> None:
        if answer is None:
            self._up.discard(agent_id)
        else:
            self._up.add(agent_id)
            self._facts[agent_id] = answer

    def _down(self) -> set[str]:
        return set(self._state.agents) - self._up

    def _settled(self, state: State) -> State:
        conditions = partition_life.Conditions(
            self._clock(), self._down(), self._failing, self._durations.reset, self._durations.auto_reset_delay
        )
        return partition_life.settle(state, conditions)

    def _change(self, state: State) -> None:
        """Makes it the state: stored first, so that nothing is answered that a crash could take back."""
        if state is not self._state:
            before = self._state
            self._storage.write(state)
            self._state = state
            if state.partitions is not before.partitions:
                known = before.held()
                self._tell(state, {name: held for name, held in state.held().items() if held != known.get(name, [])})

    def _tell(self, state: State, held: Mapping[str, Sequence[str]]) -> None:
        """Sends these agents, if they are up, the partitions that they are part of."""
        reachable = {state.agents[name]: partition_ids for name, partition_ids in held.items() if name in self._up}
        if reachable:
            self._fleet.hold(reachable)


def key_digest(access_key: str) -> str:
    """The digest of an access key, which is stored in place of the key."""
    return hashlib.sha256(access_key.encode()).hexdigest()
