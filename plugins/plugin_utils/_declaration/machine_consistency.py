# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions between virtual machines that run, where they are, and the vPODs whose IPUs they have."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._desired.attachments import attachment, refuse_place
from .._pod.kinds import Finding
from .._pod.model import Declaration


def machine_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of machines."""
    functions: dict[tuple[str, str], str] = {}
    for machine in declaration.machines.values():
        path = f"machines.{machine.name}"
        try:
            refuse_place(declaration, machine.name)
            settings = attachment(declaration, machine.name, machine.vpod) if machine.vpod else {}
        except Refused as problem:
            yield path, str(problem)
            continue
        if machine.address is None and machine.place not in declaration.clouds:
            yield f"{path}.address", "is missing; a libvirt domain needs one by which SSH reaches it"
        if settings.get("domain") and settings["domain"]["function"] is not None:
            other = functions.setdefault((machine.place, settings["vpod"]), machine.name)
            if other != machine.name:
                yield f"{path}.vpod", f"{other} has the one virtual function of {machine.vpod} on {machine.place}"
