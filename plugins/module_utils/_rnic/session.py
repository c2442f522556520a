# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run on one server: which device is which interface is found out once, and everything refused before a change."""

from __future__ import annotations

from typing import Sequence

from .._plan.converge import one_by_one
from .._plan.steps import State, Step
from . import plan as planning
from .declared import Interface
from .networkd import Networkd


class Session:
    """The read, plan and apply that ``_plan.converge`` asks for.

    Args:
        backend: the server.
        interfaces: what is declared.
    """

    def __init__(self, backend: Networkd, interfaces: Sequence[Interface]) -> None:
        self._backend = backend
        self._interfaces = interfaces
        self._targets: list[planning.Target] | None = None
        self.apply = one_by_one(backend.carry_out)

    def read(self) -> State:
        """The state of the declared interfaces; the first time, refuse what cannot or must not be done."""
        server = self._backend.survey(self._interfaces)
        if self._targets is None:
            self._targets = planning.targets_on(server, self._interfaces)
        return planning.state_of(server, self._targets)

    def plan(self, actual: State) -> list[Step]:
        """The steps from the actual state to the declared one."""
        return planning.plan(self._targets or [], actual)
