# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run on one server: read, plan and apply, as ``_plan.converge`` asks for them."""

from __future__ import annotations

from typing import Mapping, Sequence

from .._plan.converge import one_by_one
from .._plan.steps import State, Step
from .._rnic.change import refuse_used
from .._rnic.server import Link
from . import plan as planning
from .client import RoceClient
from .declared import RoceInterface


class RoceSession:
    """The declared interfaces of one server."""

    def __init__(self, client: RoceClient, interfaces: Sequence[RoceInterface]) -> None:
        self._client = client
        self._interfaces = interfaces
        self._links: Mapping[str, Link] = {}
        self.apply = one_by_one(client.carry_out)

    def read(self) -> State:
        """The state of the declared interfaces."""
        server = self._client.survey(self._interfaces)
        self._links = server.links
        return planning.state_of(server)

    def plan(self, actual: State) -> list[Step]:
        """The steps from the actual state to the declared one. Raises Refused: RDMA queue pairs would feel them."""
        steps = planning.plan(self._client.tools, self._interfaces, actual)
        disruptive_steps = [step for step in steps if planning.is_disruptive(step)]
        if disruptive_steps:
            refuse_used(disruptive_steps, self._client.uses(), self._links)
        return steps
