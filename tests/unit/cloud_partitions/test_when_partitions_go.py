# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a partition is, and when it may go."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud_partitions.decision import (
    NOT_FOUND,
    Answers,
    Decision,
    Machine,
    Moment,
    Record,
    Records,
    decide,
)

WAIT = 300.0
SMALL, LARGE = {"size": 4}, {"size": 16}
WEB = Record(SMALL, "u-web", "web", "p")
ALL_GONE = {"u-web": NOT_FOUND, "u-db": NOT_FOUND}


def at(seconds: float, boot: str = "first") -> Moment:
    return Moment(boot, seconds)


def said(listed: Mapping[str, str], statuses: Mapping[str, str] | None = None, project: str = "p") -> Answers:
    """Answers with machines by UUID, each ACTIVE."""
    return Answers(project, {uuid: Machine(name, "ACTIVE") for uuid, name in listed.items()}, statuses or {})


def after(records: Records, *rounds: tuple[float, Answers | None]) -> Decision:
    """The decision of the last round; in all of them the recorded partitions are there as they were."""
    partitions = {name: record.facts for name, record in records.items()}
    decision = Decision(records)
    for seconds, answers in rounds:
        decision = decide(decision.records, partitions, answers, at(seconds), WAIT)
    return decision


# Whose it is


@pytest.mark.parametrize(
    ("partition", "machines", "machine"),
    [
        ("web", {"u1": "web"}, "u1"),
        ("web-train", {"u1": "web"}, "u1"),
        ("web-", {"u1": "web"}, "u1"),
        ("webtrain", {"u1": "web"}, ""),
        ("we", {"u1": "web"}, ""),
        ("web-2-train", {"u1": "web", "u2": "web-2"}, "u2"),
        ("web-train", {"u1": "web", "u2": "web-2"}, "u1"),
        ("web-train", {"u1": "web", "u2": "web"}, ""),
        ("train", {}, ""),
        ("-train", {"u1": ""}, ""),
    ],
)
def test_a_partition_is_of_the_machine_whose_name_it_begins_with(
    partition: str, machines: dict[str, str], machine: str
) -> None:
    decision = decide({}, {partition: SMALL}, said(machines), at(0), WAIT)
    assert decision.records[partition].machine == machine


def test_what_is_recorded_is_how_it_was_made_and_of_which_machine() -> None:
    assert decide({}, {"web-a": SMALL}, said({"u-web": "web"}), at(0), WAIT) == Decision({"web-a": WEB})


def test_a_machine_that_comes_later_gets_no_partition_that_was_there_before() -> None:
    first = decide({}, {"web-a": SMALL}, said({}), at(0), WAIT)
    assert first.records == {"web-a": Record(SMALL)}
    assert decide(first.records, {"web-a": SMALL}, said({"u-web": "web"}), at(60), WAIT).records == first.records


def test_a_deleted_machine_gets_none() -> None:
    answers = Answers("p", {"u-web": Machine("web", "SOFT_DELETED")})
    assert decide({}, {"web-a": SMALL}, answers, at(0), WAIT).records == {"web-a": Record(SMALL)}


def test_without_answers_nothing_is_seen_for_the_first_time() -> None:
    assert decide({}, {"web-a": SMALL}, None, at(0), WAIT).records == {}


# When it may go


def test_it_goes_at_the_second_answer_five_minutes_after_the_first() -> None:
    gone = said({}, ALL_GONE)
    assert after({"web-a": WEB}, (0, gone)).removals == ()
    assert after({"web-a": WEB}, (0, gone), (299, gone)).removals == ()
    assert after({"web-a": WEB}, (0, gone), (299, gone), (301, gone)).removals == ("web-a",)


@pytest.mark.parametrize("status", ["DELETED", "SOFT_DELETED", NOT_FOUND])
def test_all_of_nova_s_ways_to_say_so_count(status: str) -> None:
    gone = said({}, {"u-web": status})
    assert after({"web-a": WEB}, (0, gone), (300, gone)).removals == ("web-a",)


@pytest.mark.parametrize(
    "between",
    [
        None,
        said({"u-web": "web"}),
        said({}),
        said({}, {"u-web": "ACTIVE"}),
        said({}, {"u-web": "ERROR"}),
        said({}, ALL_GONE, project="another"),
    ],
    ids=["an error", "alive", "an empty list", "not in the list", "in error", "another project of that name"],
)
def test_any_other_answer_between_lets_the_counting_start_again(between: Answers | None) -> None:
    gone = said({}, ALL_GONE)
    assert after({"web-a": WEB}, (0, gone), (150, between), (300, gone), (599, gone)).removals == ()
    assert after({"web-a": WEB}, (0, gone), (150, between), (300, gone), (600, gone)).removals == ("web-a",)


def test_a_wrong_answer_about_one_machine_makes_the_others_doubtful() -> None:
    records = {"web-a": WEB, "db-a": Record(SMALL, "u-db", "db", "p")}
    half = said({}, {"u-web": NOT_FOUND, "u-db": "ACTIVE"})
    decision = after(records, (0, half), (300, half))
    assert (decision.removals, decision.doubt) == ((), "machine u-db is not in the list, and is not deleted")


def test_all_machines_can_go_at_once() -> None:
    records = {"web-a": WEB, "db-a": Record(SMALL, "u-db", "db", "p")}
    gone = said({}, ALL_GONE)
    assert after(records, (0, gone), (300, gone)).removals == ("db-a", "web-a")


def test_a_restart_of_the_host_lets_the_counting_start_again() -> None:
    gone, partitions = said({}, ALL_GONE), {"web-a": SMALL}
    first = decide({"web-a": WEB}, partitions, gone, at(0), WAIT)
    second = decide(first.records, partitions, gone, at(1000, "second"), WAIT)
    assert second.removals == ()
    assert decide(second.records, partitions, gone, at(1300, "second"), WAIT).removals == ("web-a",)


def test_one_answer_is_not_two_even_without_a_wait() -> None:
    gone, partitions = said({}, ALL_GONE), {"web-a": SMALL}
    first = decide({"web-a": WEB}, partitions, gone, at(0), 0)
    assert first.removals == ()
    assert decide(first.records, partitions, gone, at(1), 0).removals == ("web-a",)


def test_what_is_of_no_machine_never_goes() -> None:
    gone = said({}, ALL_GONE)
    assert after({"train": Record(SMALL)}, (0, gone), (300, gone), (600, gone)).removals == ()


# Made again


def test_a_partition_with_other_facts_is_another_one() -> None:
    gone = said({}, ALL_GONE)
    first = decide({"web-a": WEB}, {"web-a": SMALL}, gone, at(0), WAIT)
    second = decide(first.records, {"web-a": LARGE}, gone, at(300), WAIT)
    assert second == Decision({"web-a": Record(LARGE)})


def test_a_partition_that_may_be_of_the_next_machine_of_that_name_is_of_that_one() -> None:
    gone, next_one = said({}, ALL_GONE), said({"u-2": "web"}, ALL_GONE)
    assert after({"web-a": WEB}, (0, gone), (300, next_one)) == Decision({"web-a": Record(SMALL, "u-2", "web", "p")})


def test_two_next_machines_of_that_name_leave_it_to_none() -> None:
    next_ones = said({"u-2": "web", "u-3": "web"}, ALL_GONE)
    assert after({"web-a": WEB}, (0, next_ones)).records == {"web-a": Record(SMALL)}


def test_a_machine_with_a_shorter_name_is_no_next_one() -> None:
    record = Record(SMALL, "u-2", "web-2", "p")
    gone = said({"u-web": "web"}, {"u-2": NOT_FOUND})
    assert after({"web-2-a": record}, (0, gone), (300, gone)).removals == ("web-2-a",)


def test_what_is_gone_is_forgotten() -> None:
    assert decide({"web-a": WEB}, {}, said({"u-web": "web"}), at(0), WAIT).records == {}
