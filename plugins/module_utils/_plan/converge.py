# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read, plan, apply, read again: the course of every module that changes something. Check mode stops before apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

from .._text.line import one_line
from .steps import State, Step, diff_of, predict

# What reading an answer raises that has another shape than is documented.
NOT_UNDERSTOOD = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


class Refused(Exception):
    """The request is wrong or unsafe. Nothing was touched; the message is one sentence with place and remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class DeviceError(Exception):
    """A device or program did not answer, or answered with an error; the message names it and quotes the answer."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class StepFailed(Exception):
    """A step of a plan could not be carried out; ``done`` steps were carried out completely before it."""

    def __init__(self, message: str, done: int) -> None:
        super().__init__(one_line(message))
        self.done = done


@dataclass(frozen=True)
class Outcome:
    """The result of a run, or its prediction in check mode. ``after`` is None where it could not be read."""

    before: State
    after: State | None
    steps: Sequence[Step]
    failure: StepFailed | None = None

    @property
    def changed(self) -> bool:
        """Return whether the state differs from before; after a failure by what was read, not planned."""
        return bool(self.steps) and (self.failure is None or self.before != self.after)

    def result(self) -> dict[str, Any]:
        """The outcome as a module returns it."""
        result: dict[str, Any] = {
            "changed": self.changed,
            "before": self.before,
            "after": self.after,
            "diff": diff_of(self.steps),
            "plan": [step.public() for step in self.steps],
        }
        if self.failure is not None:
            result.update(_account(self.steps, self.failure))
        return result


def _account(steps: Sequence[Step], failure: StepFailed) -> dict[str, Any]:
    """Return the steps that were done, the one that failed and why, and those that were not tried."""
    done, rest = steps[: failure.done], steps[failure.done :]
    return {
        "done": [step.public() for step in done],
        "failed_step": dict(rest[0].public(), error=str(failure)) if rest else {"error": str(failure)},
        "not_tried": [step.public() for step in rest[1:]],
    }


def converge(
    read: Callable[[], State],
    plan: Callable[[State], list[Step]],
    apply: Callable[[Sequence[Step]], None],
    check_mode: bool,
    verify: Callable[[State], str] = lambda _state: "",
) -> Outcome:
    """Make the actual state what ``plan`` wants, or say what that would take.

    Args:
        read: reads the whole relevant state in one go.
        plan: the pure function from actual state to ordered steps.
        apply: carries the steps out in order; raises :class:`StepFailed`.
        check_mode: stop before ``apply`` and predict instead.
        verify: says what is wrong in the state at the end that no plan can put right; empty where all is well.

    Raises:
        Refused: from ``plan``, before anything was touched.
        DeviceError: from the first ``read``, before anything was touched.
    """
    before = read()
    steps = plan(before)
    if check_mode or not steps:
        predicted = predict(before, steps)
        return Outcome(before, predicted, steps, _failed(verify(predicted), steps))
    try:
        apply(steps)
    except StepFailed as failure:
        return _read_again(read, before, steps, failure)
    outcome = _read_again(read, before, steps, None)
    if outcome.after is None:
        return outcome
    return Outcome(before, outcome.after, steps, _failed(_left(plan, outcome.after) or verify(outcome.after), steps))


def _left(plan: Callable[[State], list[Step]], after: State) -> str:
    """Return what still differs after all steps were carried out."""
    try:
        left = plan(after)
    except Refused as error:
        return f"after the change: {error}"
    return f"{left[0].kind} {left[0].name} is still not as wanted after the change: {left[0].reason}" if left else ""


def _failed(message: str, steps: Sequence[Step]) -> StepFailed | None:
    """A failure that shows only at the end, when every step has been done."""
    return StepFailed(message, done=len(steps)) if message else None


def _read_again(read: Callable[[], State], before: State, steps: Sequence[Step], failure: StepFailed | None) -> Outcome:
    try:
        return Outcome(before, read(), steps, failure)
    except DeviceError as error:
        first = f"{failure}; then " if failure else ""
        done = failure.done if failure else len(steps)
        return Outcome(before, None, steps, StepFailed(f"{first}the state could not be read again: {error}", done))


def one_by_one(carry_out: Callable[[Step], None]) -> Callable[[Sequence[Step]], None]:
    """An ``apply`` for devices that take one step at a time; ``carry_out`` raises :class:`DeviceError` to stop."""

    def apply(steps: Sequence[Step]) -> None:
        for number, step in enumerate(steps):
            try:
                carry_out(step)
            except DeviceError as error:
                raise StepFailed(str(error), done=number) from error

    return apply
