# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run on one server: which device is which interface is found out once, and everything refused before a change."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from .._plan.converge import DeviceError, Refused, StepFailed
from .._plan.steps import State, Step, changed_fields, predict
from .change import disruptive_steps, planner_on, refuse_used, stack_of
from .checkpoint import Armed, Checkpoint
from .client import Client
from .declared import Interface
from .plan import KIND, Planner
from .server import Server

CONFIRM_SECONDS = range(20, 3601)
_PAUSE = 0.2


@dataclass
class Session:
    """The read, plan and apply that ``_plan.converge`` asks for, and the confirmation after it.

    Args:
        replaced: whether settings that are not declared get their defaults.
        may_be_stopped: take a daemon that is not running as one that configures nothing yet.
        confirm_within: seconds after which the server undoes what was not confirmed.
        clock: seconds that only grow.
        pause: waits that many seconds.
    """

    client: Client
    checkpoint: Checkpoint
    interfaces: Sequence[Interface]
    backend: str
    replaced: bool = False
    may_be_stopped: bool = False
    confirm_within: int = 120
    change: str = ""
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    armed: Armed | None = field(default=None, init=False)
    _planner: Planner | None = field(default=None, init=False)
    _server: Server = field(default_factory=lambda: Server({}), init=False)

    def __post_init__(self) -> None:
        """Refuse a time that is too short to look at the server, or longer than anybody should wait for it."""
        if self.confirm_within not in CONFIRM_SECONDS:
            limits = f"{CONFIRM_SECONDS[0]} to {CONFIRM_SECONDS[-1]}"
            raise Refused(
                f"confirm_within: {self.confirm_within} seconds is no useful time for a confirmation; give {limits}"
            )

    def read(self) -> State:
        """The state of the declared interfaces; the first time, refuse what cannot or must not be done."""
        self._server = self.client.survey(self.interfaces)
        if self._planner is None:
            how = (self.backend, self.replaced, self.may_be_stopped)
            self._planner = planner_on(self._server, self.interfaces, *how)
        return self._planner.state_of(self._server)

    def plan(self, actual: State) -> list[Step]:
        """The steps from the actual state to the declared one.

        Raises Refused: they would disturb what uses an interface, or change something of others with it.
        """
        steps = self._planner.plan(actual) if self._planner else []
        disturbing = disruptive_steps(steps)
        if disturbing:
            refuse_used(disturbing, self.client.uses(stack_of(disturbing, self._server)), self._server.links)
        if steps and self._planner:
            self.client.rehearse(self._planner.backend, steps, self._server)
        return steps

    def apply(self, steps: Sequence[Step]) -> None:
        """Arm the way back, do all steps and wait. Raises StepFailed: all are undone, or it says what is left."""
        if self._planner is None:
            raise StepFailed("nothing was read before", done=0)
        before, backend = self._planner.state_of(self._server), self._planner.backend
        armed = Armed(
            change=self.change,
            interfaces=", ".join(step.name for step in steps),
            until=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(time.time() + self.confirm_within)),
            default_devices=sorted(self._server.default_devices),
        )
        try:
            self.checkpoint.arm(armed, backend, steps, self.confirm_within)
        except DeviceError as error:
            raise StepFailed(str(error), done=0) from error
        try:
            self.client.carry_out(backend, steps)
            self._wait_until(predict(before, steps), [step.name for step in steps])
        except DeviceError as error:
            raise StepFailed(f"{error}; {self._undo(before, steps)}", done=0) from error
        self.armed = armed

    def confirm(self, change: str) -> State:
        """Confirm an armed change over what must be a new connection, if the server is as declared; else undo it.

        Raises DeviceError: why it was not confirmed; the old settings are back, or the message says what is left.
        """
        armed = self.checkpoint.armed(change)
        if armed is None:
            raise DeviceError("the server has put the old settings back before the confirmation")
        problem, state = self._problem(armed)
        if problem:
            try:
                self.checkpoint.undo()
            except DeviceError as error:
                raise DeviceError(f"{problem}; the old settings could not be put back: {error}") from error
            raise DeviceError(f"{problem}; the old settings were put back")
        self.checkpoint.confirm(change)
        self.checkpoint.clean()
        return state

    def _problem(self, armed: Armed) -> tuple[str, State]:
        """Return the problems after the change, and the state that was read."""
        try:
            state = self.read()
            left = self._planner.plan(state) if self._planner else []
        except (Refused, DeviceError) as error:
            return str(error), {}
        if left:
            return f"interface {left[0].name} is no longer as planned: {left[0].reason}", state
        lost = sorted(set(armed.default_devices) - self._server.default_devices)
        return (f"the default route through {lost[0]} is gone", state) if lost else ("", state)

    def _undo(self, before: State, steps: Sequence[Step]) -> str:
        """Put the old settings back; the report of it as a part of a sentence."""
        try:
            self.checkpoint.undo()
            self._wait_until(before, [step.name for step in steps])
            self.checkpoint.clean()
        except DeviceError as error:
            return f"the old settings could not all be put back: {error}"
        return "the old settings are back"

    def _wait_until(self, wanted: State, names: Sequence[str]) -> None:
        """Wait until the named interfaces are as wanted.

        The programs return before the daemons behind them have begun, and what those say of themselves is then still
        the old state's. So what the kernel shows decides.
        """
        seconds = min(30, self.confirm_within // 2)
        deadline = self.clock() + seconds
        while True:
            wrong = _first_difference(self.read(), wanted, names)
            if not wrong:
                return
            if self.clock() >= deadline:
                raise DeviceError(f"after {seconds} s {wrong}")
            self.pause(_PAUSE)


def _first_difference(state: State, wanted: State, names: Sequence[str]) -> str:
    """The first field that is not as wanted, in words; empty where there is none."""
    for name in names:
        there, want = state[KIND].get(name), wanted[KIND].get(name)
        if want is None and there is not None:
            return f"interface {name} is still there"
        changes: dict[str, Any] = changed_fields(there or {}, want or {})
        if changes.get("device"):
            return f"interface {name} does not exist"
        for key, value in changes.items():
            return f"interface {name}: its {key} is {(there or {}).get(key)!r}, not {value!r}"
    return ""
