# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods.yml of a pod in service, and requests about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, Request, decide
from tests.support.in_memory.pod import CONTROLLER, declared

ALICE: dict[str, Any] = {
    "cluster": "c",
    "ipus": 16,
    "vlan": 101,
    "users": ["alice"],
    "poplar_servers": ["p-poplar1"],
    "partitions": {"train": {"ipus": 8}},
    "ipuof": "files",
}
BOB: dict[str, Any] = {
    "cluster": "c",
    "ipus": 8,
    "vlan": 102,
    "users": ["bob"],
    "poplar_servers": ["p-poplar2"],
    "partitions": {"serve": {"ipus": 4}},
    "controller": "dedicated",
}
CAROL: dict[str, Any] = {
    "cluster": "c",
    "ipus": 4,
    "vlan": 103,
    "users": ["carol"],
    "poplar_servers": ["p-poplar3"],
}
VPODS = {"alice": ALICE, "bob": BOB}
ALICE_GOES = {"alice": {**ALICE, "state": "absent"}, "bob": BOB}
# What gathering begins with.
DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "poplar_servers": 3, "rnic": {"interface": "rnic0"}}},
    "controllers": {CONTROLLER: {"address": "10.1.3.200", "mode": "secure"}},
}
DEVICES = ("p-tor", "p-poplar1", "p-poplar2", "p-poplar3", CONTROLLER)


def decided(looks: Mapping[str, Any], vpods: Mapping[str, Any] = VPODS, pod: Any = None, **words: Any) -> Decision:
    """The decision of a run that may change every device."""
    return decide(declared(vpods, **(pod or {})), looks, request(**words))


def request(**words: Any) -> Request:
    return Request(**{"hosts": DEVICES, **words})


def brief_steps(decision: Decision) -> list[tuple[str, str, str, str]]:
    """Stage, device, kind and name of each step."""
    return [(step["stage"], step["device"], step["kind"], step["name"]) for step in decision.plan.steps]
