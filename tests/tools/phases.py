# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run make targets one after the other, each with a headline and its duration.

With --tests a failed phase does not stop the ones after it, the summary names what failed and why, and says why tests
were skipped, and the last line adds up all tests: `N passed, N failed`, where a phase that runs no
pytest counts as one test. With --begin-within, a phase that has not begun after so many minutes is left out, and the
summary names it. A group such as "acceptance | lint types" runs the targets behind the bar with what those
before it leave of the processors; each of them says all that it has to say when it has ended.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

COLOUR = re.compile(r"\x1b\[[\d;]*m")
# The last line of a pytest run: "=== 3 passed, 1 skipped in 0.12s ===", or without the rulers.
PYTEST_SUMMARY = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s")
# How pytest says why tests were skipped: "SKIPPED [2] tests/unit/test_layout.py:12: no git here".
PYTEST_SKIPPED = re.compile(r"^SKIPPED \[\d+\] \S+?(?::\d+)?: (.+)")
# How it names one that failed: "FAILED tests/unit/test_layout.py::test_name[a case] - AssertionError: ...".
PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:(?:::| - ).*)?)$")
# How Ansible says why a task failed: "[ERROR]: Task failed: Module failed: no route to host".
ANSIBLE_ERROR = re.compile(r"^\[ERROR\]: (.+)")
# The summary shows so many errors of Ansible or last lines of a phase without tests, and so much of a line.
LINES_SHOWN = 5
COLUMNS_SHOWN = 400
OUTCOMES = {"passed": "passed", "xfailed": "passed", "failed": "failed", "error": "failed", "errors": "failed"}
OUTCOMES |= {"xpassed": "failed", "skipped": "skipped"}

say = partial(print, end="", flush=True)


@dataclass(frozen=True)
class Phase:
    """The outcome of a phase: its make target, exit status, seconds.

    If it ran pytest: outcomes, reasons of skips and failed tests; if it ran Ansible: its errors; its last lines.
    """

    name: str
    status: int
    seconds: float
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped_because: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    last_lines: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """One word; a phase whose tests were all skipped has not passed."""
        if self.status:
            return "failed"
        return "skipped" if self.outcomes["skipped"] and not self.outcomes["passed"] else "passed"


def pytest_outcomes(line: str) -> Counter[str]:
    """Read passed, failed and skipped from the last line of a pytest run; empty for any other line."""
    match = PYTEST_SUMMARY.match(COLOUR.sub("", line).strip())
    outcomes: Counter[str] = Counter()
    if match:
        for figure in match.group(1).split(", "):
            number, word = figure.split()
            if word in OUTCOMES:
                outcomes[OUTCOMES[word]] += int(number)
    return outcomes


def skip_reason(line: str) -> str | None:
    """Why tests were skipped, from a line of pytest's short summary; None for any other line."""
    match = PYTEST_SKIPPED.match(COLOUR.sub("", line).strip())
    return match.group(1) if match else None


def failed_test(line: str) -> str | None:
    """The test that failed and why, from a line of pytest's short summary; None for any other line."""
    match = PYTEST_FAILED.match(COLOUR.sub("", line).strip())
    return match.group(1) if match else None


def ansible_error(line: str) -> str | None:
    """Why a task of Ansible failed, from a line of its output; None for any other line."""
    match = ANSIBLE_ERROR.match(COLOUR.sub("", line).strip())
    return match.group(1) if match else None


def total(phases: list[Phase]) -> Counter[str]:
    """Add up the outcomes; a failed phase without a failed test, and a phase without tests, count as one."""
    outcomes: Counter[str] = Counter()
    for phase in phases:
        outcomes += phase.outcomes
        if phase.status and not phase.outcomes["failed"]:
            outcomes["failed"] += 1
        elif not phase.outcomes:
            outcomes["passed"] += 1
    return outcomes


def headline(name: str) -> str:
    """Stands before the output of a phase."""
    return f"\n==> {name}\n"


def ending(phase: Phase) -> str:
    """Stands after it."""
    return f"==> {phase.name}: {'failed' if phase.status else 'done'} in {phase.seconds:.0f} s\n"


def run(name: str) -> Phase:
    """Run one make target, its output untouched on this terminal."""
    say(headline(name))
    started = time.monotonic()
    status = subprocess.run(["make", name], check=False).returncode
    phase = Phase(name, status, time.monotonic() - started)
    say(ending(phase))
    return phase


def run_tests(name: str, tell: Callable[[str], object] = say, first: tuple[str, ...] = ()) -> Phase:
    """Run one make target, perhaps by way of a first program; read pytest's figures from its output and pass it on."""
    tell(headline(name))
    started = time.monotonic()
    outcomes: Counter[str] = Counter()
    reasons: list[str] = []
    failed: list[str] = []
    errors: list[str] = []
    last_lines: deque[str] = deque(maxlen=LINES_SHOWN)
    command = [*first, "make", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            tell(line)
            if line.strip():
                last_lines.append(line.rstrip())
            outcomes += pytest_outcomes(line)
            if (reason := skip_reason(line)) and reason not in reasons:
                reasons.append(reason)
            if (test := failed_test(line)) and test not in failed:
                failed.append(test)
            if error := ansible_error(line):
                errors.append(error)
    seconds = time.monotonic() - started
    phase = Phase(
        name, process.returncode, seconds, outcomes, tuple(reasons), tuple(failed), tuple(errors), tuple(last_lines)
    )
    tell(ending(phase))
    return phase


def left_out(name: str) -> Phase:
    """A phase for which there was no time."""
    return Phase(name, 0, 0.0, Counter(skipped=1), (f"the time was up before it began; run: make {name}",))


def run_in_background(names: list[str], until: float) -> list[Phase]:
    """Run make targets one after the other with what others leave of the processors; show each when it has ended."""
    phases = []
    for name in names:
        if time.monotonic() > until:
            phases.append(left_out(name))
            continue
        output: list[str] = []
        phases.append(run_tests(name, output.append, ("nice", "-n", "10")))
        say("".join(output))
    return phases


def run_group(group: str, until: float = math.inf) -> list[Phase]:
    """Run make targets one after the other, beside those behind a bar; none begins later than `until`."""
    names, _bar, beside = group.partition("|")
    with ThreadPoolExecutor() as executor:
        background = executor.submit(run_in_background, beside.split(), until)
        phases = [left_out(name) if time.monotonic() > until else run_tests(name) for name in names.split()]
    return [*background.result(), *phases]


def run_until_one_fails(names: list[str]) -> list[Phase]:
    """Run make targets one after the other; none after one that failed."""
    phases: list[Phase] = []
    for name in names:
        phases.append(run(name))
        if phases[-1].status:
            break
    return phases


def why_failed(phase: Phase) -> list[str]:
    """The tests that failed, the last errors of Ansible, or else the last lines; empty of a phase that passed.

    Tests make errors of Ansible on purpose.
    """
    lines = [f"failed: {test}" for test in phase.failed]
    if phase.status:
        lines += [f"error: {error}" for error in phase.errors[-LINES_SHOWN:]]
        lines = lines or [f"last line: {line}" for line in phase.last_lines]
    return [line[:COLUMNS_SHOWN] for line in lines]


def summary(phases: list[Phase], seconds: float) -> list[str]:
    """A line per phase, each followed by what failed in it and the reasons of skips, and the time of all."""
    lines = []
    for phase in phases:
        lines.append(f"{phase.name:<14} {phase.verdict:<7} {phase.seconds:6.0f} s")
        notes = [*why_failed(phase), *(f"skipped: {reason}" for reason in phase.skipped_because)]
        lines += [f"{'':<14} {note}" for note in notes]
    return [*lines, f"{'':<14} {'':<7} {seconds:6.0f} s"]


def main() -> int:
    """Run the phases and say how they ended; the exit status is 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true", help="run every phase and add up the tests")
    parser.add_argument("--begin-within", type=float, default=math.inf, metavar="MINUTES", help="with --tests")
    parser.add_argument("phases", nargs="+", metavar="TARGET", help="with --tests also a group: TARGETS | TARGETS")
    arguments = parser.parse_args()

    started = time.monotonic()
    if arguments.tests:
        until = started + 60 * arguments.begin_within
        phases = [phase for group in arguments.phases for phase in run_group(group, until)]
    else:
        phases = run_until_one_fails(arguments.phases)

    print()
    print("\n".join(summary(phases, time.monotonic() - started)))
    if arguments.tests:
        outcomes = total(phases)
        skipped = f", {outcomes['skipped']} skipped" if outcomes["skipped"] else ""
        print(f"{outcomes['passed']} passed, {outcomes['failed']} failed{skipped}")
    return int(any(phase.status for phase in phases))


if __name__ == "__main__":
    sys.exit(main())
