# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One declared change of one switch: the read, plan and apply that `converge` puts in order."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex
from typing import Callable, Sequence

from .._plan.converge import DeviceError, StepFailed
from .._plan.steps import REMOVE, State, Step, predict
from .checks import Checks, refuse_useless_timer
from .commands import commands_for
from .confirmation import Clock, confirm_if_right
from .declared import Declared
from .expectation import expectation
from .pending import Pending
from .plan import covered, is_for_canary, plan, state_of
from .running_config import VLANS, RunningConfig, parse
from .secrets import digests, shown_diff
from .session import Configs, Send, commit_with_timer, read_configs, save, undo
from .surroundings import UNSEEN, look_around, refuse_busy
from .unsaved import NAME, STARTUP, Unsaved, startup_of, unsaved

SYSTEM_CLOCK = Clock(time.time, time.sleep)
IMMEDIATE = Checks(settle_within=0)
NOT_SAVED = "the change is in force, but not saved, and lost at the next reload"


@dataclass
class Change:
    """Brings a switch to the declared state, or plans how.

    Args:
        session: the name for the configuration session, not in use on the switch.
        confirm_within: seconds after which the switch undoes what was not confirmed.
        confirms: whether the change is also confirmed. If not, ``pending`` says what is left to do.
        owned: all that is ours on the switch, where ``declared`` is only a part of it.
        host: the control node, as in the names of our sessions.
        reachable: whether the switch takes a new connection.
        key: with which ``pending`` recognises lines of others; whoever confirms it later has to have it.

    Raises:
        Refused: the timer is too short to look at the switch, or longer than anybody should wait for it.
    """

    declared: Declared
    send: Send
    session: str
    confirm_within: int
    checks: Checks = IMMEDIATE
    confirms: bool = True
    host: str = ""
    reachable: Callable[[], bool] = lambda: True
    clock: Clock = SYSTEM_CLOCK
    owned: Declared | None = None
    key: str = field(default_factory=token_hex, repr=False)

    def __post_init__(self) -> None:
        refuse_useless_timer(self.confirm_within, self.checks)
        self._readings: list[RunningConfig] = []
        self._startup: RunningConfig | None = None
        self._unread = ""
        self._saves = False
        self._is_read = False
        self._names: dict[str, list[str]] = {}
        self._around = UNSEEN
        self.session_diffs: list[str] = []
        self.pending: Pending | None = None

    def read(self) -> State:
        """Return the state of everything declared or in the scope; before a change also read its surroundings."""
        if not self._is_read:
            self._keep(read_configs(self.send))
        self._is_read = False
        if len(self._readings) == 1:
            self._names = covered(self.declared, self._readings[0])
            self._saves = bool(self.unsaved().steps)
            if self.commands or self._saves:
                self._around = look_around(self.send, self.checks, self.host, self.clock.now, self.reachable)
        state = state_of(self._names, self._readings[-1])
        if self._saves:
            state[STARTUP] = {NAME: {"saved": not self.unsaved().ours}}
        return state

    def unsaved(self, steps: Sequence[Step] = ()) -> Unsaved:
        """The differences to the startup-config, of what was read last or will be after these steps."""
        running = self._readings[-1].after(steps)
        return unsaved(self.owned or self.declared, running, self._startup, self._unread)

    def plan(self, _actual: State) -> list[Step]:
        """The steps from what was read last; they need more of the running-config than the declared part.

        Raises:
            Refused: the declaration does not fit the switch, or somebody else is changing it.
        """
        steps = plan(self.declared, self._readings[-1])
        # What waits for its confirmation is saved after that.
        steps += [] if self.pending else self.unsaved().steps
        if steps:
            refuse_busy(self._around.busy)
        return steps

    def apply(self, steps: Sequence[Step]) -> None:
        """Apply the steps in one timed commit, or two with a canary; confirm each only if its checks pass.

        Raises:
            StepFailed: all steps of a session, or none, were carried out; the message says which and why.
        """
        if all(step.kind == STARTUP for step in steps):
            self._save_alone()
            return
        steps = [step for step in steps if step.kind != STARTUP]
        canary = [step for step in steps if is_for_canary(self.declared, self._readings[0], step)]
        rest = [step for step in steps if step not in canary]
        if canary and rest:
            self._carry_out(canary, f"{self.session}_canary", done=0)
        self._carry_out(rest or canary, self.session, done=len(canary) if rest else 0, waits=not self.confirms)

    @property
    def commands(self) -> list[str]:
        """The configuration lines from what was read first to what is declared."""
        before = self._readings[0]
        return commands_for(plan(self.declared, before), before.queue_word)

    def _carry_out(self, steps: Sequence[Step], session: str, done: int, waits: bool = False) -> None:
        """Commit some steps; and unless somebody ``waits`` to do that, confirm and save them."""
        self._is_read = False
        pending = self._expected_of(steps, session)
        lines = commands_for(steps, self._readings[-1].queue_word)
        try:
            diff = commit_with_timer(self.send, session, self._around.left_over, lines, self.confirm_within)
        except DeviceError as error:
            undone = undo(self.send, session, self.confirm_within)
            raise StepFailed(f"the change was not confirmed: {error}; {undone}", done) from error
        self.session_diffs.append(shown_diff(diff))
        if waits:
            self.pending = pending
            return
        try:
            seen, running = confirm_if_right(self.send, self.reachable, self.clock, pending, self.key)
        except DeviceError as error:
            raise StepFailed(str(error), done) from error
        self._around = replace(self._around, seen=seen, time=self.clock.now(), left_over=[])
        self._readings.append(parse(running))
        self._is_read = True
        if self.unsaved().may_be_saved:
            self._save(done + len(steps))

    def _save_alone(self) -> None:
        """Save what was confirmed before, unless somebody has made something else meanwhile."""
        self._keep(read_configs(self.send))
        if not self.unsaved().may_be_saved:
            raise StepFailed(f"{self.unsaved().problem}; {self.unsaved().remedy}", done=0)
        self._save(done=0)

    def _save(self, done: int) -> None:
        try:
            self._keep(save(self.send))
        except DeviceError as error:
            raise StepFailed(f"{NOT_SAVED}: {error}", done) from error
        self._is_read = True

    def _keep(self, configs: Configs) -> None:
        self._readings.append(parse(configs.running))
        self._startup = None if configs.startup is None else startup_of(configs.startup)
        self._unread = configs.unread

    def _expected_of(self, steps: Sequence[Step], session: str) -> Pending:
        """Return what the checks have to find once these steps are committed."""
        now, around = self._readings[-1], self._around
        after = now.after(steps)
        removed = [step.name for step in steps if step.kind == VLANS and step.action == REMOVE]
        expected = expectation(around.seen, now, after.ports, after.vlans, around.time)
        return Pending(
            session=session,
            confirm_within=self.confirm_within,
            planned=predict(state_of(self._names, now), steps),
            names=self._names,
            removed_vlans=removed,
            foreign=digests(now.foreign_lines(self._names, removed), self.key),
            reachable=around.reachable,
            commands=around.commands,
            settle_within=self.checks.settle_within,
            expectation=asdict(expected),
            unsaved=asdict(self.unsaved(steps)),
        )
