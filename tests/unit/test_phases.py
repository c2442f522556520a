# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary of `make test` counts what really ran, and says why the rest did not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import phases
import pytest


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("=== 3 passed, 1 skipped in 0.12s ===", {"passed": 3, "skipped": 1}),
        ("2 failed, 1 passed, 1 warning, 1 error in 61.50s (0:01:01)", {"failed": 3, "passed": 1}),
        ("\x1b[32m==== \x1b[32m\x1b[1m4 passed\x1b[0m\x1b[32m in 0.83s\x1b[0m ====", {"passed": 4}),
        ("1 xfailed, 1 xpassed in 0.01s", {"passed": 1, "failed": 1}),
        ("no tests ran in 0.01s", {}),
        ("finished 3 hosts in 2s", {}),
    ],
)
def test_pytest_outcomes_reads_the_last_line_only(line: str, expected: dict[str, int]) -> None:
    assert phases.pytest_outcomes(line) == Counter(expected)


@pytest.mark.parametrize(
    ("status", "outcomes", "expected"),
    [
        (0, {}, {"passed": 1}),
        (2, {}, {"failed": 1}),
        (0, {"passed": 5, "skipped": 1}, {"passed": 5, "skipped": 1}),
        (2, {"passed": 5, "failed": 2}, {"passed": 5, "failed": 2}),
        (2, {"passed": 5}, {"passed": 5, "failed": 1}),
    ],
)
def test_a_failed_phase_never_adds_up_to_success(
    status: int, outcomes: dict[str, int], expected: dict[str, int]
) -> None:
    assert phases.total([phases.Phase("unit", status, 1.0, Counter(outcomes))]) == Counter(expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "SKIPPED [23] tests/acceptance/conftest.py:194: it needs an x86-64 host: not this.",
            "it needs an x86-64 host: not this.",
        ),
        ("\x1b[33mSKIPPED\x1b[0m [1] tests/unit/test_layout.py: no git here", "no git here"),
        ("tests/unit/test_layout.py::test_x SKIPPED (no git here)", None),
    ],
)
def test_the_reason_of_a_skip_is_read_from_the_short_summary(line: str, expected: str | None) -> None:
    assert phases.skip_reason(line) == expected


def test_a_phase_that_was_skipped_is_not_called_passed_and_says_why() -> None:
    skipped = phases.Phase("acceptance", 0, 2.0, Counter(skipped=30), ("this host has no QEMU.",))
    partly = phases.Phase("unit", 0, 1.0, Counter(passed=5, skipped=1), ("no git here",))
    assert phases.summary([partly, skipped], 2.4) == [
        "unit           passed       1 s",
        "               skipped: no git here",
        "acceptance     skipped      2 s",
        "               skipped: this host has no QEMU.",
        "                            2 s",
    ]
    assert phases.total([partly, skipped]) == Counter(passed=5, skipped=31)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "\x1b[31mFAILED\x1b[0m tests/unit/test_layout.py::\x1b[1mtest_x[a case]\x1b[0m - AssertionError: no",
            "tests/unit/test_layout.py::test_x[a case] - AssertionError: no",
        ),
        ("ERROR tests/unit/test_layout.py::test_x[1] - assert (", "tests/unit/test_layout.py::test_x[1] - assert ("),
        ("ERROR tests/unit/test_layout.py - ImportError: no", "tests/unit/test_layout.py - ImportError: no"),
        ("ERROR tests/unit/test_layout.py", "tests/unit/test_layout.py"),
        ("FAILED tests/unit/test_layout.py::test_x", "tests/unit/test_layout.py::test_x"),
        ("ERROR    root:test_layout.py:3 no", None),
        ("[gw0] FAILED tests/unit/test_layout.py::test_x", None),
    ],
)
def test_a_failed_test_and_the_reason_are_read_from_the_short_summary(line: str, expected: str | None) -> None:
    assert phases.failed_test(line) == expected


def test_failed_tests_are_named_once_more_at_the_end() -> None:
    phase = phases.Phase("unit", 1, 3.0, Counter(failed=1), failed=("tests/unit/test_layout.py::test_x",))
    assert phases.summary([phase], 3.2) == [
        "unit           failed       3 s",
        "               failed: tests/unit/test_layout.py::test_x",
        "                            3 s",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\x1b[31m[ERROR]: Task failed: Module failed: no route\x1b[0m", "Task failed: Module failed: no route"),
        ("\x1b[31mERROR   \x1b[0m Molecule executed 1 scenario", None),
        ("ok: [localhost] => [ERROR]: quoted", None),
    ],
)
def test_the_errors_of_ansible_are_read(line: str, expected: str | None) -> None:
    assert phases.ansible_error(line) == expected


def test_the_last_errors_of_ansible_are_shown_of_a_failed_phase_only() -> None:
    errors = tuple(f"no {number}" for number in range(7))
    failed, passed = (phases.Phase("molecule", status, 3.0, errors=errors) for status in (2, 0))
    assert phases.summary([failed, passed], 6.0) == [
        "molecule       failed       3 s",
        *(f"               error: no {number}" for number in range(2, 7)),
        "molecule       passed       3 s",
        "                            6 s",
    ]


def test_errors_are_collected_from_the_output(targets: Path) -> None:
    (targets / "Makefile").write_text("molecule:\n\t@echo '[ERROR]: no route'; echo 'fatal: [tor]'; false\n")
    assert phases.run_tests("molecule").errors == ("no route",)


def test_a_failed_phase_without_tests_shows_its_last_lines(targets: Path) -> None:
    (targets / "Makefile").write_text("lint:\n\t@seq 8; echo; false\ntypes:\n\t@seq 8\n")
    lint, types = (phases.run_tests(name) for name in ("lint", "types"))
    shown = [line.strip() for line in phases.summary([lint, types], 1.0)]
    assert shown[1:6] == [f"last line: {line}" for line in ("5", "6", "7", "8", shown[5].removeprefix("last line: "))]
    assert "Error 1" in shown[5]
    assert shown[6].startswith("types          passed")


def test_a_reason_of_any_length_is_one_line() -> None:
    phase = phases.Phase("unit", 1, 3.0, Counter(failed=1), failed=("a" * 10_000,))
    assert [len(line) for line in phases.why_failed(phase)] == [phases.COLUMNS_SHOWN]


@pytest.fixture
def targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Makefile whose targets wait for each other: `machines` ends after `lint` has begun, `lint` after `machines`."""
    (tmp_path / "Makefile").write_text(
        "machines:\n\t@until [ -e begun ]; do sleep 0.01; done; touch machines; echo '=== 2 passed in 1.00s ==='\n"
        "lint:\n\t@touch begun; until [ -e machines ]; do sleep 0.01; done; echo wrong; false\n"
        "unit:\n\t@echo '=== 1 passed in 1.00s ==='\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("targets")
def test_phases_behind_a_bar_run_with_those_before_it_and_are_shown_in_one_piece(
    capfd: pytest.CaptureFixture[str],
) -> None:
    done = phases.run_group("machines unit | lint")
    assert [(phase.name, phase.verdict) for phase in done] == [
        ("lint", "failed"),
        ("machines", "passed"),
        ("unit", "passed"),
    ]
    assert phases.total(done) == Counter(passed=3, failed=1)
    lines = capfd.readouterr().out.splitlines()
    lint = lines.index("==> lint")
    assert lines[lint + 1] == "wrong"
    assert "==> unit" in lines


@pytest.mark.usefixtures("targets")
def test_a_phase_for_which_there_was_no_time_is_left_out_and_named(capfd: pytest.CaptureFixture[str]) -> None:
    done = phases.run_group("unit | unit", until=0.0)
    assert phases.total(done) == Counter(skipped=2)
    assert phases.summary(done, 1.0)[:2] == [
        "unit           skipped      0 s",
        "               skipped: the time was up before it began; run: make unit",
    ]
    assert "==>" not in capfd.readouterr().out
