# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs run once in a look, and none forever."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._look import once
from ansible_collections.ipu.pod.plugins.module_utils._look.once import Once, run_limited


def test_whoever_asks_at_the_same_time_gets_the_answer_of_one_run() -> None:
    calls: list[list[str]] = []

    def run(argv: list[str]) -> tuple[int, str, str]:
        calls.append(argv)
        time.sleep(0.05)
        return 0, argv[-1], ""

    shared = Once(run)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(shared, [["ip", word] for word in "aabbaabb"]))
    assert [answer[1] for answer in answers] == list("aabbaabb")
    assert sorted(calls) == [["ip", "a"], ["ip", "b"]]


def test_an_error_is_everybodys() -> None:
    def run(argv: list[str]) -> tuple[int, str, str]:
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    shared = Once(run)
    for _time in range(2):
        with pytest.raises(FileNotFoundError):
            shared(["rdma"])


def test_what_a_program_says() -> None:
    status, output, errors = run_limited(["sh", "-c", "printf 'a\\377'; echo b >&2; echo $LC_ALL; exit 3"])
    assert (status, output, errors) == (3, "a\ufffdC\n", "b\n")
    with pytest.raises(FileNotFoundError):
        run_limited(["there-is-no-such-program"])


def test_a_program_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once, "LIMIT", 0.1)
    started = time.monotonic()
    assert run_limited(["sh", "-c", "sleep 60"])[0] == once.TIMED_OUT
    assert time.monotonic() - started < 10
