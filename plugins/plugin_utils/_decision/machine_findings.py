# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared virtual machines that have other vPODs than pods.yml says. Pure.

Only attachments.yml changes machines as they run, so that no step of a plan does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._desired.attachments import attached, is_there
from .._pod.machines import RunningMachine
from .finding import Finding

MACHINE = "machine"
# The part of a hypervisor's look that has its libvirt domains.
DOMAINS = "domains"


def machine_findings(machines: Sequence[RunningMachine], there: Mapping[str, Any]) -> Iterator[Finding]:
    """The findings on the machines of a cloud or a hypervisor, which has what is ``there``."""
    for machine in machines:
        has = attached(there, machine.own_name)
        if is_there(there, machine.own_name):
            yield from _differing(machine, has)
        elif machine.vpod:
            yield Finding(
                MACHINE,
                machine.own_name,
                f"machine {machine.own_name} is not there, and should have vPOD {machine.vpod}",
                f"make it and run attachments.yml, or correct machines.{machine.name} in pods.yml",
            )


def _differing(machine: RunningMachine, has: Sequence[str]) -> Iterator[Finding]:
    wants = [machine.vpod] if machine.vpod else []
    going, coming = ([vpod for vpod in one if vpod not in other] for one, other in ((has, wants), (wants, has)))
    does = [*(f"detaches it from {vpod}" for vpod in going), *(f"attaches it to {vpod}" for vpod in coming)]
    if does:
        finding = f"machine {machine.own_name} has {_listed(has)}, and should have {_listed(wants)}"
        yield Finding(MACHINE, machine.own_name, finding, f"run attachments.yml, which {' and '.join(does)}")


def _listed(vpods: Sequence[str]) -> str:
    return f"vPOD {', '.join(vpods)}" if vpods else "no vPOD"
