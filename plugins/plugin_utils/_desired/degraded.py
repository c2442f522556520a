# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences for the end of a run on what excluded IPU-Machines leave undone. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from .._pod.model import Declaration, Vpod
from .._pod.wording import spans

# vPOD to its IPU-Machines, from :func:`placement.place`.
Placement = Mapping[str, Sequence[str]]


def stranded(declaration: Declaration, placement: Placement) -> dict[str, list[str]]:
    """The vPODs that stay on excluded IPU-Machines, each with those machines.

    Such a vPOD is left as it is: which of its partitions still work, nobody knows. It leaves when it may be interrupted
    and finds another block, see :func:`placement.place`.
    """
    excluded = {name for pod in declaration.pods.values() for name in pod.excluded}
    found = {vpod: [name for name in machines if name in excluded] for vpod, machines in placement.items()}
    return {vpod: machines for vpod, machines in found.items() if machines}


def unmade_clusters(declaration: Declaration, agents: Mapping[str, Collection[str]]) -> list[str]:
    """Why a cluster cannot be made yet, one sentence each: an agent that does not answer cannot be registered.

    ``agents`` maps controllers' hosts to the names of their agents, without those that are not to be judged.
    """
    return [
        f"pods.{pod}.excluded: {name} is no agent of the controller on {host} yet, and clusters.{cluster.name} cannot "
        f"be made without it, as its links and blocks count all IPU-Machines; repair it first, or leave {pod} out of "
        f"clusters.{cluster.name}.pods"
        for cluster in declaration.clusters.values()
        for host in [declaration.controllers[cluster.controller].host_name]
        if host in agents
        for pod in cluster.pods
        for name in declaration.pods[pod].excluded
        if name not in agents[host]
    ]


def undamaged(declaration: Declaration) -> Declaration:
    """The declaration with no IPU-Machine excluded.

    What does not even fit then, can be said without the controllers; who may stay where, cannot.
    """
    return replace(declaration, pods={name: replace(pod, excluded=()) for name, pod in declaration.pods.items()})


def degraded(declaration: Declaration, placement: Placement) -> list[str]:
    """One sentence for each IPU-Machine that is excluded, and for each vPOD that stays on one; arguments as above."""
    return [
        *(f"{name} is excluded" for pod in declaration.pods.values() for name in pod.excluded),
        *(_left_by(declaration.vpods[vpod], machines) for vpod, machines in stranded(declaration, placement).items()),
    ]


def _left_by(vpod: Vpod, machines: Sequence[str]) -> str:
    if vpod.is_for_jobs:
        return f"vPOD {vpod.name} has {spans(machines)}, which no job may have"
    return (
        f"vPOD {vpod.name} has {spans(machines)} and its partitions are left as they are; -e "
        f'\'{{"vpods_interrupt": ["{vpod.name}"]}}\' places it anew if another block is free'
    )
