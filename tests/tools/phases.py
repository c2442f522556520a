# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run make targets one after the other, each with a headline and its duration.

With --tests a failed phase does not stop the ones after it, the summary says why tests were skipped, and the last line
adds up all tests: `N passed, N failed`, where a phase that runs no pytest counts as one test.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

COLOUR = re.compile(r"\x1b\[[\d;]*m")
# The last line of a pytest run: "=== 3 passed, 1 skipped in 0.12s ===", or without the rulers.
PYTEST_SUMMARY = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s")
# How pytest says why tests were skipped: "SKIPPED [2] tests/unit/test_layout.py:12: no git here".
PYTEST_SKIPPED = re.compile(r"^SKIPPED \[\d+\] \S+?(?::\d+)?: (.+)")
OUTCOMES = {"passed": "passed", "xfailed": "passed", "failed": "failed", "error": "failed", "errors": "failed"}
OUTCOMES |= {"xpassed": "failed", "skipped": "skipped"}


@dataclass(frozen=True)
class Phase:
    """What a phase came to: its make target, exit status and seconds; where it ran pytest, outcomes and reasons."""

    name: str
    status: int
    seconds: float
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped_because: tuple[str, ...] = ()

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


def run(name: str) -> Phase:
    """Run one make target, its output untouched on this terminal."""
    print(f"\n==> {name}", flush=True)
    started = time.monotonic()
    status = subprocess.run(["make", name], check=False).returncode
    return Phase(name, status, time.monotonic() - started)


def run_tests(name: str) -> Phase:
    """Run one make target, reading pytest's figures from the output while passing it on."""
    print(f"\n==> {name}", flush=True)
    started = time.monotonic()
    outcomes: Counter[str] = Counter()
    reasons: list[str] = []
    with subprocess.Popen(["make", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            outcomes += pytest_outcomes(line)
            if (reason := skip_reason(line)) and reason not in reasons:
                reasons.append(reason)
    return Phase(name, process.returncode, time.monotonic() - started, outcomes, tuple(reasons))


def summary(phases: list[Phase]) -> list[str]:
    """A line per phase, each followed by the reasons why tests of it were skipped, and the time of all."""
    lines = []
    for phase in phases:
        lines.append(f"{phase.name:<14} {phase.verdict:<7} {phase.seconds:6.0f} s")
        lines += [f"{'':<14} skipped: {reason}" for reason in phase.skipped_because]
    return [*lines, f"{'':<14} {'':<7} {sum(phase.seconds for phase in phases):6.0f} s"]


def main() -> int:
    """Run the phases and say how they ended; the exit status is 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true", help="run every phase and add up the tests")
    parser.add_argument("phases", nargs="+", metavar="TARGET")
    arguments = parser.parse_args()

    phases: list[Phase] = []
    for name in arguments.phases:
        phase = run_tests(name) if arguments.tests else run(name)
        phases.append(phase)
        print(f"==> {name}: {'failed' if phase.status else 'done'} in {phase.seconds:.0f} s", flush=True)
        if phase.status and not arguments.tests:
            break

    print()
    print("\n".join(summary(phases)))
    if arguments.tests:
        outcomes = total(phases)
        skipped = f", {outcomes['skipped']} skipped" if outcomes["skipped"] else ""
        print(f"{outcomes['passed']} passed, {outcomes['failed']} failed{skipped}")
    return int(any(phase.status for phase in phases))


if __name__ == "__main__":
    sys.exit(main())
