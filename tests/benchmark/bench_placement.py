# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Placing 1000 vPODs over 256 pods of one cluster, with nothing allocated and with all of it, and how that grows.

So does the time in which such a pods.yml is checked, which is no part of placing.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import Placement, place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.benchmark.measuring import figure

VPODS, PODS = 1000, 256
# Over and over; a thousand of them need 16000 of the 16384 IPUs.
SIZES = (4, 4, 4, 4, 8, 8, 16, 16, 32, 64)
SECONDS = 2
TIMES = 4
# Linear growth gives 1, quadratic growth 4. The rest is for the noise of a shared machine.
LINEAR = 2
RUNS = 5
HOST = "v"


def declared(vpods: int, pods: int) -> Declaration:
    """So many vPODs on so many pods; more than there are addresses for, so only the first pod is parsed."""
    one = parse_declaration(
        {
            "schema": 1,
            "pods": {"pod1": {"model": "bow-pod64"}},
            "controllers": {HOST: {"address": "10.9.0.1"}},
            "clusters": {"c": {"controller": HOST, "pods": ["pod1"]}},
            "vpods": {"vpod1": {"cluster": "c", "ipus": 4}},
        }
    )
    pod, vpod, cluster = one.pods["pod1"], one.vpods["vpod1"], one.clusters["c"]
    names = [f"pod{number}" for number in range(1, pods + 1)]
    tenants = [replace(vpod, name=f"vpod{n}", ipus=SIZES[n % len(SIZES)]) for n in range(1, vpods + 1)]
    return replace(
        one,
        pods={name: replace(pod, name=name) for name in names},
        clusters={"c": replace(cluster, pods=tuple(names))},
        vpods={tenant.name: tenant for tenant in tenants},
    )


def document(vpods: int, pods: int) -> dict[str, Any]:
    """The same as a pods.yml, with every vPOD pinned, for as many pods as there are addresses for."""
    names = [f"pod{number}" for number in range(1, pods + 1)]
    machines = [f"{name}-ipum{number}" for name in names for number in range(1, 17)]
    return {
        "schema": 1,
        "pods": {
            name: {"model": "bow-pod64", "addressing": "multi-rack", "lrack": n} for n, name in enumerate(names, 1)
        },
        "controllers": {HOST: {"address": "10.9.0.1"}},
        "clusters": {"c": {"controller": HOST, "pods": names}},
        "vpods": {f"vpod{n}": {"cluster": "c", "ipus": 4, "ipu_machines": [machines[n]]} for n in range(vpods)},
    }


def checking(vpods: int, pods: int) -> float:
    """CPU seconds in which such a pods.yml is checked, of the fastest of some runs."""
    words, times = document(vpods, pods), []
    for _ in range(RUNS):
        start = time.process_time()
        parse_declaration(words)
        times.append(time.process_time() - start)
    return min(times)


def seconds(declaration: Declaration, there: Placement) -> tuple[float, Placement]:
    """CPU seconds of the fastest of some runs, and where the vPODs lie."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        placement = place(declaration, {HOST: there})
        times.append(time.process_time() - start)
    return min(times), placement


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    few, many = declared(VPODS, PODS), declared(TIMES * VPODS, TIMES * PODS)
    new, placement = seconds(few, {})
    again, same = seconds(few, placement)
    more_new, more = seconds(many, {})
    more_again, _ = seconds(many, more)
    checked = checking(TIMES * 220, TIMES * 60) / checking(220, 60) / TIMES
    what = f"{VPODS} vPODs over {PODS} pods"
    return [
        figure(f"placement: CPU seconds, {what}", new, SECONDS),
        figure(f"placement: CPU seconds, {what}, all there", again, SECONDS),
        figure(f"placement: CPU time, {TIMES} times the pods, over {TIMES} times", more_new / new / TIMES, LINEAR),
        figure("placement: the same, all there", more_again / again / TIMES, LINEAR),
        figure(f"placement: checking {TIMES} times the pods, over {TIMES} times", checked, LINEAR),
        figure("placement: vPODs that moved", sum(same[name] != placement[name] for name in same), 0),
    ]


if __name__ == "__main__":
    print(json.dumps(figures(), indent=1))
