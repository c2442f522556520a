# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of the devices that no step of a plan puts right, with remedies. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step

from .._inventory import stages
from .._inventory.stages import STAGES, Stage
from .._pod.devices import IPU_MACHINE, devices_of
from .._pod.hypervisors import rnics_with_functions
from .._pod.machines import RunningMachine
from .._pod.model import Declaration
from .cloud_findings import cloud_findings
from .cloud_steps import PART
from .controller_steps import entity_findings
from .finding import Finding
from .looks import Look, answered, read
from .machine_findings import DOMAINS, MACHINE, machine_findings
from .stage_steps import Plan, targets_of
from .switch_findings import saving_findings, switch_findings
from .tenancy import Tenancy

Recorded = dict[str, str]

CONFIGURED = {stage.name: stage for stage in STAGES}


def findings_of(
    tenancy: Tenancy,
    plan: Plan,
    looks: Mapping[str, Look],
    is_about: Callable[[str, Stage], bool],
    only: Sequence[str] | None,
) -> tuple[list[Recorded], list[Recorded]]:
    """The findings, and ``device`` and ``message`` of what was not read for them.

    A finding has ``device``, ``layer`` and the fields of :class:`Finding`. ``is_about`` says whether the run is about a
    stage on a device, ``only`` which vPODs it is about alone.
    """
    wanted, machines = tenancy.bring_up, _machines(tenancy, only)
    found: list[Recorded] = []
    unread: list[Recorded] = []

    def seen(devices: Mapping[str, Any], stage: str) -> Iterator[tuple[str, Any, Look, list[Step]]]:
        for device, options in devices.items():
            look = looks.get(device)
            if look is not None and answered(look) and is_about(device, CONFIGURED[stage]):
                yield device, options, look, plan.before(device, *CONFIGURED)

    for device, options, look, steps in seen(targets_of(CONFIGURED[stages.SWITCHES], tenancy), stages.SWITCHES):
        with _noted(unread, device):
            on_switch = [*switch_findings(options, look, steps), *saving_findings(options, look, steps)]
            found += _recorded(device, stages.SWITCH, on_switch)
    shared = {host: {"": options} for host, options in wanted["vipu_controllers"].items()}
    dedicated = {
        host: {each["name"]: each for each in controllers}
        for host, controllers in wanted["dedicated_controllers"].items()
    }
    on_hosts = {host: {**shared.get(host, {}), **dedicated.get(host, {})} for host in (*shared, *dedicated)}
    for device, controllers, look, steps in seen(on_hosts, stages.TENANTS):
        on_controllers = entity_findings(controllers, look, steps, machines)
        found += _recorded(device, stages.CONTROLLER, on_controllers)
    rnics = rnics_with_functions(tenancy.declaration)
    for device, options, look, _steps in seen(tenancy.wanted["clouds"], stages.CLOUDS):
        with _noted(unread, device):
            found += _recorded(device, stages.CLOUD, cloud_findings(options, look, rnics))
    for part, stage in ((PART, stages.CLOUDS), (DOMAINS, stages.VPODS)):
        for device, machines_there, look, _steps in seen(_running(tenancy.declaration, part, only), stage):
            with _noted(unread, device):
                found += _recorded(device, MACHINE, machine_findings(machines_there, read(look, part)))
    return found, unread


@contextmanager
def _noted(unread: list[Recorded], device: str) -> Iterator[None]:
    """What was not read of a device is noted, and the others are gone on with."""
    try:
        yield
    except Refused as error:
        unread.append({"device": device, "message": str(error)})


def _running(declaration: Declaration, part: str, only: Sequence[str] | None) -> dict[str, list[RunningMachine]]:
    """Cloud or hypervisor to the machines that are declared there, of some vPODs alone those that should have one."""
    found: dict[str, list[RunningMachine]] = {}
    for machine in declaration.machines.values():
        if (machine.place in declaration.clouds) is (part == PART) and (only is None or machine.vpod in only):
            found.setdefault(machine.place, []).append(machine)
    return found


def _recorded(device: str, layer: str, findings: Iterable[Finding]) -> list[Recorded]:
    return [{"device": device, "layer": layer, **asdict(each)} for each in findings]


def _machines(tenancy: Tenancy, only: Sequence[str] | None) -> set[str]:
    """The IPU-Machines that have to work: all but the excluded ones, or those of some vPODs alone."""
    declaration = tenancy.declaration
    if only is None:
        names = {each.name for each in devices_of(declaration).values() if each.kind == IPU_MACHINE}
    else:
        names = {name for vpod in only for name in tenancy.placement.get(vpod, ())}
    return names - {name for pod in declaration.pods.values() for name in pod.excluded}
