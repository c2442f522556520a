# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever Nova answers in whatever order, no partition goes that may still be somebody's."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._cloud_partitions.decision import (
    DELETED,
    NOT_FOUND,
    Answers,
    Machine,
    Moment,
    Records,
    decide,
)

WAIT = 300.0
MACHINES = {"u1": "web", "u2": "web-2", "u3": "db"}
PARTITIONS = ["web", "web-a", "web-2-a", "db-x", "train"]

uuids = st.sampled_from(sorted(MACHINES))
statuses = st.sampled_from(["ACTIVE", "SHUTOFF", "ERROR", "DELETED", "SOFT_DELETED", NOT_FOUND])
machines = st.builds(
    Machine, st.sampled_from(sorted(MACHINES.values())), statuses.filter(lambda word: word != NOT_FOUND)
)
answers = st.builds(
    Answers, st.sampled_from(["p", "p", "p", "q"]), st.dictionaries(uuids, machines), st.dictionaries(uuids, statuses)
)
gone = st.just(Answers("p", {}, dict.fromkeys(MACHINES, NOT_FOUND)))
facts = st.sampled_from([{"size": 4}, {"size": 16}])
partitions = st.dictionaries(st.sampled_from(PARTITIONS), facts)


@dataclass(frozen=True)
class Round:
    partitions: dict[str, dict[str, int]]
    answers: Answers | None
    later: float
    restarted: bool


rounds = st.lists(
    st.builds(
        Round,
        partitions | st.just({name: {"size": 4} for name in PARTITIONS}),
        st.none() | answers | gone | gone,
        st.sampled_from([1.0, 60.0, 299.0, 300.0, 1000.0]),
        st.sampled_from([False] * 5 + [True]),
    ),
    max_size=12,
)


@dataclass
class Witness:
    """Remembers by itself, in the plainest way, what was recorded and for how long a machine was said to be deleted."""

    made: dict[str, tuple[dict[str, int], str]] = field(default_factory=dict)
    deletions: dict[str, list[Moment]] = field(default_factory=dict)

    def sees(self, heard: Round, now: Moment) -> None:
        said = heard.answers
        for uuid in MACHINES:
            told = said is not None and said.statuses.get(uuid) in DELETED and said.project == "p"
            listed = said is not None and uuid in said.listed and said.listed[uuid].status not in DELETED
            if told and not listed:
                self.deletions.setdefault(uuid, []).append(now)
            else:
                self.deletions[uuid] = []

    def allows(self, machine: str, now: Moment) -> bool:
        times = [time.seconds for time in self.deletions.get(machine, []) if time.boot == now.boot]
        return len(times) >= 2 and times[-1] - times[0] >= WAIT


@given(rounds)
def test_only_what_was_recorded_goes_and_only_after_two_confirmed_deletions(heard: list[Round]) -> None:
    records: Records = {}
    witness, boot, seconds = Witness(), 0, 0.0
    for one in heard:
        boot, seconds = boot + one.restarted, seconds + one.later
        now = Moment(str(boot), seconds)
        witness.sees(one, now)
        earlier = records
        decision = decide(earlier, one.partitions, one.answers, now, WAIT)
        for name in decision.removals:
            assert earlier[name].facts == one.partitions[name]
            assert witness.allows(earlier[name].machine, now)
        assert set(decision.records) <= set(one.partitions)
        records = {name: record for name, record in decision.records.items() if name not in decision.removals}


@given(st.lists(st.sampled_from([1.0, 60.0, 299.0, 300.0]), min_size=1, max_size=8))
def test_a_deleted_machine_s_partition_goes_in_the_first_round_after_the_wait(steps: list[float]) -> None:
    first = decide({}, {"web-a": {"size": 4}}, Answers("p", {"u1": Machine("web", "ACTIVE")}), Moment("0", 0), WAIT)
    records, seconds = first.records, 0.0
    for step in steps:
        decision = decide(
            records, {"web-a": {"size": 4}}, Answers("p", {}, {"u1": NOT_FOUND}), Moment("0", seconds), WAIT
        )
        assert decision.removals == (("web-a",) if seconds >= WAIT else ())
        records, seconds = decision.records, seconds + step
