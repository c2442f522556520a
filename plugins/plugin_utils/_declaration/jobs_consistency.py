# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be true at the same time where Slurm's jobs have the allocations: key paths with the remedies. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from .._pod.jobs import NAMED, is_of_a_job
from .._pod.model import Declaration, Vpod

Finding = tuple[str, str]


def jobs_findings(declaration: Declaration) -> Iterator[Finding]:
    """What is wrong with the vPODs whose allocations are those of jobs, and with names that look like theirs."""
    for_jobs = [vpod for vpod in declaration.vpods.values() if vpod.is_for_jobs]
    for vpod in for_jobs:
        yield from _of_vpod(vpod)
    controllers = {_controller_of(declaration, vpod) for vpod in for_jobs} - {""}
    for vpod in declaration.vpods.values():
        if _controller_of(declaration, vpod) in controllers:
            yield from _names(vpod)


def _of_vpod(vpod: Vpod) -> Iterator[Finding]:
    path = f"vpods.{vpod.name}"
    if not vpod.ipu_machines:
        yield f"{path}.ipu_machines", "is missing; name the IPU-Machines that jobs get, as allocation is jobs"
    if vpod.partitions:
        yield f"{path}.partitions", "each job has its own, as allocation is jobs; leave them out, or say own"
    if vpod.is_dedicated:
        yield f"{path}.controller", "jobs have allocations on the controller of the cluster; say shared"


def _names(vpod: Vpod) -> Iterator[Finding]:
    """Names that Slurm gives away, and whose bearers it removes when the job is over."""
    path = f"vpods.{vpod.name}"
    names = [
        (path, "allocation", vpod.name),
        *((f"{path}.users", "user", user) for user in vpod.users),
        *((f"{path}.partitions.{partition.name}", "partition", partition.name) for partition in vpod.partitions),
    ]
    for where, kind, name in names:
        if is_of_a_job(kind, name):
            yield where, f"{name!r} is {NAMED}, and jobs have allocations on this controller; choose another name"


def _controller_of(declaration: Declaration, vpod: Vpod) -> str:
    """The controller of a vPOD's cluster; empty where that is not declared."""
    cluster = declaration.clusters.get(vpod.cluster)
    return cluster.controller if cluster else ""
