# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who gets a pod's lock: the dead and those who do not renew it give way, the living never."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.store import Store
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._runs.lock import Lock, held, hold, lock_from, lock_of, renew
from ansible_collections.ipu.pod.plugins.module_utils._runs.run import Run, moment, seconds_of
from tests.support.hostile import HOSTILE, is_seen

ALICE = Run("alice", "control1", 4711, "100", "boot1 pid:[1]", "site.yml")
BOB = Run("bob", "control2", 4711, "100", "boot2 pid:[1]", "vpods.yml")
NOON = seconds_of("2026-11-21T12:00:00Z")
PATH = "/var/lib/ipu-pod/pod001.lock on ctrl001"


def locked(run: Run = ALICE, minutes_ago: float = 0) -> Lock:
    """A lock that was taken three hours ago."""
    return Lock("pod001", run, "2026-11-21T09:00:00Z", moment(NOON - minutes_ago * 60), 60)


def held_by(run: Run, there: Lock | None, *gone: str) -> tuple[Lock, str]:
    return hold("pod001", there, run, 60, NOON, gone, PATH)


def test_a_free_pod_is_taken() -> None:
    lock, warning = held_by(ALICE, None)
    assert (lock, warning) == (Lock("pod001", ALICE, moment(NOON), moment(NOON), 60), "")


def test_a_run_renews_its_own_lock_and_keeps_its_beginning() -> None:
    lock, warning = held_by(ALICE, locked(minutes_ago=30))
    assert (lock.since, lock.renewed, warning) == ("2026-11-21T09:00:00Z", moment(NOON), "")


def test_the_refusal_of_another_run_names_who_where_since_when_and_the_remedy() -> None:
    with pytest.raises(Refused) as caught:
        held_by(BOB, locked(minutes_ago=10))
    assert str(caught.value) == (
        "pod001 is held by alice on control1 (process 4711, site.yml) since 2026-11-21 09:00:00 UTC; wait until that "
        "run has ended, or until 2026-11-21 12:50:00 UTC if it does not renew its lock, or remove "
        "/var/lib/ipu-pod/pod001.lock on ctrl001 if you know that it is dead"
    )


@pytest.mark.parametrize(("minutes_ago", "free"), [(59.9, False), (60, True), (600, True)])
def test_the_lock_of_another_control_node_is_a_lease(minutes_ago: float, free: bool) -> None:
    if not free:
        with pytest.raises(Refused):
            held_by(BOB, locked(minutes_ago=minutes_ago))
        return
    lock, warning = held_by(BOB, locked(minutes_ago=minutes_ago))
    assert (lock.holder, lock.since) == (BOB, moment(NOON))
    assert warning.startswith("pod001 was held by alice on control1 (process 4711, site.yml) since 2026-11-21 09:00:00")
    assert "has not renewed its lock since" in warning


def test_a_living_run_on_the_same_control_node_keeps_its_lock_however_long() -> None:
    other = replace(ALICE, process=4712)
    with pytest.raises(Refused, match=r"wait until that run has ended$"):
        held_by(other, locked(minutes_ago=600))


def test_a_dead_run_gives_way_at_once_with_a_warning() -> None:
    other = replace(ALICE, process=4712)
    lock, warning = held_by(other, locked(), ALICE.identity)
    assert lock.holder == other
    assert "which is dead" in warning


def test_a_later_process_of_the_same_number_is_another_run() -> None:
    with pytest.raises(Refused):
        held_by(replace(ALICE, process_started="200"), locked())


def test_where_processes_cannot_be_distinguished_a_lock_is_a_lease() -> None:
    nowhere = replace(ALICE, node="", process_started="")
    assert held_by(replace(nowhere, process=4712), locked(nowhere, minutes_ago=61))[1]


def test_a_lock_is_what_its_text_says() -> None:
    assert lock_from(locked().text(), PATH) == locked()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[" * 10_000,
        '{"pod": "pod001", "renewed": "yesterday"}',
        replace(locked(), since="long ago").text(),
    ],
)
def test_something_else_in_the_place_of_a_lock(text: str) -> None:
    with pytest.raises(Refused, match="is no lock of a pod; look who wrote it"):
        lock_from(text, PATH)


def test_the_lock_of_a_pod_is_in_its_file(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "a" / "b"))
    assert lock_of("pod001", store) is None
    with store.alone():
        store.write("pod001.lock", locked().text(), 0o644)
    assert lock_of("pod001", store) == locked()


def renewed_by(run: Run, there: Lock | None, maximum_age: int = 1440) -> Lock:
    return renew("pod001", there, run, 60, maximum_age, NOON, PATH)


@pytest.mark.parametrize("minutes_ago", [10, 600])
def test_a_lock_that_nobody_has_taken_is_renewed_even_after_its_lease(minutes_ago: float) -> None:
    assert renewed_by(ALICE, locked(minutes_ago=minutes_ago)) == locked(minutes_ago=0)


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (None, f"{PATH}: the lock of pod001, which this run has to hold, is gone"),
        (
            locked(BOB),
            "pod001 is held by bob on control2 (process 4711, vpods.yml) since 2026-11-21 09:00:00 UTC, and by this "
            "run no more",
        ),
    ],
)
def test_a_run_that_has_lost_its_lock_is_refused(there: Lock | None, said: str) -> None:
    with pytest.raises(Refused) as refused:
        renewed_by(ALICE, there)
    assert str(refused.value) == (f"{said}; nothing more is changed; see that nobody else is at work, and run again")


def test_a_run_beyond_the_maximum_age_keeps_its_lock_until_the_lease_ends() -> None:
    assert renewed_by(ALICE, locked(minutes_ago=59), maximum_age=180) == locked(minutes_ago=59)
    with pytest.raises(Refused) as refused:
        renewed_by(ALICE, locked(minutes_ago=60), maximum_age=180)
    assert str(refused.value).startswith(
        f"{PATH}: the lock of pod001 has ended, as this run has it since 2026-11-21 09:00:00 UTC, longer than "
        "pod_lock_maximum_age allows (180 minutes); "
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_who_holds_a_pod_is_told_in_one_line_whatever_the_file_says(text: str) -> None:
    there = lock_from(replace(locked(minutes_ago=61), pod=text, holder=replace(ALICE, user=text)).text(), PATH)
    _lock, warning = held_by(BOB, there)
    assert is_seen(held(there))
    assert is_seen(warning)
