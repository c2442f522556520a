# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Something breaks in the middle of a change: nothing foreign is touched, nothing is lost or doubled, no tenant reaches
another at any moment, what is said is true, and the next run puts everything right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.chaos.conftest import HERE, MET
from tests.integration.chaos.declarations import NAMES, OTHER_VLAN, VLANS, Document, Vpods
from tests.integration.chaos.disaster import Disaster, Seed, seed_of
from tests.integration.chaos.faults import SWITCH, Fault
from tests.integration.chaos.run import Run, WatchedRun
from tests.integration.chaos.stages import UNLOCK, VERIFY
from tests.integration.chaos.truth import Truth
from tests.support.packets.ports import Port
from tests.support.packets.watch import NOBODY, Watch, not_as_they_should, strangers_met
from tests.support.simulated_pod import STATE, podsim

QUARANTINE = 999
EVERY_VLAN = (*VLANS.values(), *(vlan + OTHER_VLAN for vlan in VLANS.values()), QUARANTINE)
NO_SENTENCE = ("Traceback", "MODULE FAILURE", "is undefined", "object has no", "{{")
LONGEST_SENTENCE = 500
# In one of these, everybody is heard who can be.
ROUNDS = 2


class Chaos:
    """The pod, and what is declared on it.

    Attributes:
        pod: the pod.
        truth: what is true on it.
        document: what is declared of it, whoever the tenants are.
    """

    def __init__(self, pod: Any, inventory: Path, another_home: Path, document: Document) -> None:
        self.pod = pod
        self.truth = Truth(pod)
        self.document = document
        self._inventory, self._another_home = inventory, another_home
        self._settled: Document | None = None
        self._declared: Vpods = {}
        self._foreign: dict[str, Any] = {}

    def begin(self, seed: Seed) -> None:
        """Bring the pod to where a seed begins, if it is not there."""
        if self._settled != seed.before:
            podsim("up", str(HERE / "pods.yml"))
            # What others have left is in the way.
            gone = {name: {**vpod, "state": "absent"} for name, vpod in self._declared.items()}
            for document in ({**seed.before, "vpods": gone}, seed.before):
                run = self.run(document).end()
                assert (run.code, run.failures) == (0, []), run.said
        if not self._foreign:
            self.truth.bring_foreign_things()
        if not self._settled:
            self._foreign = self.truth.foreign()
        # Until the seed has ended well.
        self._settled = None

    def end(self, seed: Seed) -> None:
        """The next seed may begin where this one has ended."""
        self._settled = seed.after

    def run(
        self, document: Document, *, before_task: Callable[[str], None] = lambda _stage: None, is_another: bool = False
    ) -> WatchedRun:
        """Start a run that is to bring about what a document says; nobody's work is spared.

        Args:
            document: what pods.yml says.
            before_task: called with each stage before each of its tasks.
            is_another: whether it is a run of another control node.
        """
        self._declared |= document["vpods"]
        pods_file, text = self._inventory / "pods.yml", yaml.safe_dump(document, sort_keys=False)
        if pods_file.read_text() != text:
            pods_file.write_text(text)
        told = json.dumps({"podsim_state": str(STATE), "vpods_interrupt": list(NAMES)})
        home = str(self._another_home) if is_another else ""
        return WatchedRun(self._inventory, "-e", told, before_task=before_task, home=home)

    def harm(self) -> Iterator[str]:
        """Harm that may never be done: something of others has changed, or something is there twice."""
        yield from self.truth.doubled()
        foreign = self.truth.foreign()
        for what, was in self._foreign.items():
            if foreign[what] != was:
                yield f"{what} of others: {foreign[what]}, was {was}"

    def converges(self, document: Document) -> Iterator[str]:
        """Faults of the next two runs, and of what there is after them."""
        following = self.run(document).end()
        if (following.code, following.failures) != (0, []):
            yield f"the next run does not converge: {following.said}"
        last = self.run(document).end()
        if not last.summary.startswith("nothing changed; "):
            yield f"the run after the next one finds something to do: {last.said}"
        yield from self.truth.differences(document)


@pytest.fixture(scope="package")
def chaos(fresh_pod: Any, inventory: Path, declared: Document, tmp_path_factory: pytest.TempPathFactory) -> Chaos:
    return Chaos(fresh_pod, inventory, tmp_path_factory.mktemp("other"), declared)


def test_seed(seed: int, chaos: Chaos, record_property: Callable[[str, object], None]) -> None:
    plan, truth = seed_of(seed, chaos.document), chaos.truth
    chaos.begin(plan)
    prints, recorded, owners = truth.prints(), truth.recorded(), [truth.tenants(plan.before)]
    with Watch(truth.rnics.values(), EVERY_VLAN) as watch:
        disaster = Disaster(plan, chaos.pod, partial(chaos.run, plan.after))
        record_property(MET, [plan.kind, disaster.moment.met])
        if any(fault.needs_repair for fault in disaster.faults):
            podsim("up", str(HERE / "pods.yml"))
        truth.settle()
        owners.append(truth.tenants(plan.after))
        found = [
            *not_true(disaster.runs, prints, truth.prints(), disaster.faults),
            *not_recorded(disaster, [run for run in truth.recorded() if run not in recorded]),
            *(wrong for run in disaster.runs for wrong in no_sentence(run)),
            *chaos.harm(),
        ]
        if disaster.runs[0].code == 0 and not any(fault.changed for fault in disaster.faults):
            found += [f"verified, but {wrong}" for wrong in not_as_they_should(watch.next_rounds(ROUNDS), owners[-1])]
        found += chaos.converges(plan.after)
        owners.append(truth.tenants(plan.after))
        found += not_as_they_should(watch.next_rounds(ROUNDS), owners[-1])
    found += [*strangers_met(watch.frames, whose(owners, disaster.faults)), *chaos.harm()]
    story = f"{plan}; met {disaster.moment.met or 'none'}: {[fault.what for fault in disaster.faults]}"
    assert found == [], "\n".join([story, *found, disaster.runs[0].said])
    chaos.end(plan)


def not_true(runs: list[Run], before: dict[str, str], after: dict[str, str], faults: list[Fault]) -> Iterator[str]:
    """Untrue reports of runs, device by device, and what was not reported; the fault befell the first of them."""
    by_hand = {device for fault in faults for device in fault.changed}
    changed = {device for device in before if before[device] != after[device]}
    claimed = set().union(*(run.claimed for run in runs))
    first = runs[0]
    if first.code is not None:
        yield from (f"{device} is said to be changed, and is as it was" for device in claimed - changed - by_hand)
    if first.code == 0:
        yield from (f"{device} is changed, and nothing is said of it" for device in changed - claimed - by_hand)
        figures = re.match(r"\d+ steps? on (\d+) devices? done", first.summary)
        if figures and int(figures[1]) != len(first.claimed):
            yield f"{first.summary!r}, but of {len(first.claimed)} devices it was said what was done"


def not_recorded(disaster: Disaster, records: list[tuple[str, str]]) -> Iterator[str]:
    """A record of a run's end that is not true."""
    run, *others = disaster.runs
    # Who was first of two is not known here; and what is killed in its last stages has its end recorded, or not yet.
    if others or not records or (run.code is None and disaster.moment.met in (UNLOCK, VERIFY)):
        return
    _, result = records[-1]
    if (run.code == 0) != (result == "done"):
        yield f"the run ended with {run.code}, and its record says {result or 'nothing'}"


def no_sentence(run: Run) -> Iterator[str]:
    """Failures that are not reported in sentences, of which one at least has a remedy."""
    if run.code and not run.failures:
        yield f"the run ends with {run.code} without a word: {run.said}"
    # Of what has failed and what then has failed, too, each is a sentence.
    lines = [sentence for failure in run.failures for sentence in re.split(r"\n|; then ", failure)]
    for line in lines:
        if len(line) > LONGEST_SENTENCE or any(word in line for word in NO_SENTENCE):
            yield f"no sentence: {line}"
    if lines and not any("; " in line for line in lines):
        yield f"no remedy: {run.failures}"


def whose(owners: list[dict[Port, str]], faults: list[Fault]) -> dict[Port, set[str]]:
    """Whose each port may have been in the course of a seed; between two tenants, and by hand, it is nobody's."""
    found = {port: {each[port] for each in owners} for port in owners[0]}
    by_hand = any(SWITCH in fault.changed for fault in faults)
    return {port: names | {NOBODY} if by_hand or len(names) > 1 else names for port, names in found.items()}
