# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of 5000 devices, gathered from files into a pods.yml and planned from it, and how that grows with the racks.

The work is that of gather.yml and, later, of plan.yml, by the functions that their action plugins call: read every
device's look from its file, adopt the fleet, look for contradictions, write pods.yml; then read the files again, in
which some racks have drifted meanwhile, decide from the pods.yml, and show the plan as a table and a page. One process
does all of it, so that its CPU time is what a machine without other work needs on one core. The decision alone is
measured on fewer racks, with the memory that it allocates.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.gathering import gather
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import document_of, plan_view
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import VPOD
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.benchmark import fleet_files, fleet_looks
from tests.benchmark.fleet_files import DEVICES, Resources
from tests.benchmark.fleet_looks import Looks
from tests.benchmark.measuring import figure

FEW, MANY = fleet_files.ALIKE, 240
RACKS, REPEATED = 64, 8
# Linear growth gives 1, quadratic growth 16. The rest is for the noise of a shared machine.
LINEAR = 1.5
# Quadratic growth gives 240 here. One rack alone is no odd one, and in no cluster that has to be looked at as a whole.
LINEAR_FROM_ONE = 2
SECONDS = 60

Steps = list[dict[str, Any]]


def read(directory: Path) -> Looks:
    """Host to its look, from the files."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(directory.iterdir())}


def write(directory: Path, looks: Looks) -> None:
    """A file for each look."""
    directory.mkdir()
    for host, look in looks.items():
        (directory / f"{host}.json").write_text(json.dumps(look))


def adopt(looks: Looks, racks: int) -> Mapping[str, str]:
    """The files that gather.yml writes."""
    return gather(fleet_files.declared(racks), looks).files


def declared(files: Mapping[str, str]) -> Declaration:
    """The pods.yml that was written."""
    return parse_declaration(yaml.load(files["pods.yml"], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def with_variables(looks: Looks, files: Mapping[str, str]) -> Looks:
    """The looks after somebody has put the written host variables into the inventory."""
    found = {}
    for host, look in looks.items():
        own = yaml.safe_load(files.get(f"host_vars/{host}.yml", "{}"))
        found[host] = {**look, "settings": {**look["settings"], **own}}
    return found


def plan(declaration: Declaration, looks: Looks) -> Steps:
    """The steps of a plan document, without those of the role vpod, which nobody has run on these servers yet.

    The plan is shown as a table and a page, too.
    """
    decision = decide(declaration, looks, Request(hosts=list(looks)))
    document = document_of(decision, looks, declaration, "2026-11-21T15:00:00Z", "bench")
    assert decision.tenancy is not None, decision.refusals
    plan_view(document, declaration, decision.tenancy.placement)
    return [step for step in document["steps"] if step["layer"] != VPOD]


@dataclass(frozen=True)
class Night:
    """How a fleet was gathered, and planned after it had drifted: CPU seconds, and what was wrong with the plans."""

    seconds: float
    steps_at_once: int
    wrong_steps: int


def night(racks: int) -> Night:
    """Gather that many racks and plan them as they are, then plan them as they are after some have drifted."""
    with tempfile.TemporaryDirectory() as folder:
        orderly, drifted = Path(folder, "orderly"), Path(folder, "drifted")
        write(orderly, fleet(racks, has_drift=False)[0])
        looks, planted = fleet(racks, has_drift=True)
        write(drifted, looks)
        start = time.process_time()
        looks = read(orderly)
        files = adopt(looks, racks)
        declaration = declared(files)
        at_once = plan(declaration, with_variables(looks, files))
        later = plan(declaration, with_variables(read(drifted), files))
        seconds = time.process_time() - start
    return Night(seconds, len(at_once), _wrong(later, planted))


def fleet(racks: int, has_drift: bool) -> tuple[Looks, Resources]:
    """The looks at that many racks, and what has drifted there."""
    with tempfile.TemporaryDirectory() as folder:
        planted = fleet_files.write(Path(folder), racks, has_drift)
        return fleet_looks.looks_at(Path(folder)), planted


def _wrong(steps: Steps, planted: Resources) -> int:
    """How many steps are too many or missing."""
    things = [(step["device"], step["kind"], step["name"]) for step in steps]
    return len(set(things) ^ planted) + len(things) - len(set(things))


@dataclass(frozen=True)
class Deciding:
    """The cost of one decision: CPU seconds, and the peak of allocated bytes."""

    seconds: float
    allocated: int


def deciding(racks: int, times: int) -> Deciding:
    """Decide for that many racks, from looks that have been read."""
    looks = fleet(racks, has_drift=True)[0]
    files = adopt(looks, racks)
    declaration, looks = declared(files), with_variables(looks, files)
    request = Request(hosts=list(looks))
    seconds = []
    for _each in range(times):
        start = time.process_time()
        decide(declaration, looks, request)
        seconds.append(time.process_time() - start)
    tracemalloc.start()
    decide(declaration, looks, request)
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Deciding(statistics.median(seconds), allocated)


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    few, many = night(FEW), night(MANY)
    one = sum(night(1).seconds for _ in range(FEW)) / FEW
    per_rack = many.seconds / MANY
    alone, together = deciding(1, REPEATED), deciding(RACKS, 1)
    processor = together.seconds / RACKS / alone.seconds
    memory = together.allocated / RACKS / alone.allocated
    return [
        figure(f"fleet: CPU seconds, {MANY * DEVICES} devices, files to plan", many.seconds, SECONDS),
        figure(f"fleet: CPU time, {MANY} racks over {MANY // FEW} times {FEW}", per_rack * FEW / few.seconds, LINEAR),
        figure(f"fleet: CPU time, {MANY} racks over {MANY} times one", per_rack / one, LINEAR_FROM_ONE),
        figure("fleet: steps planned from what was just gathered", many.steps_at_once, 0),
        figure("fleet: steps beside the planted ones, or missing", many.wrong_steps, 0),
        figure(f"run.decision_processor_{RACKS}_racks_over_one", processor, LINEAR),
        figure(f"run.decision_memory_{RACKS}_racks_over_one", memory, LINEAR),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
