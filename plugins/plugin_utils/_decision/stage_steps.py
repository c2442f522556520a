# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of every device, stage by stage; each is planned on what those before it will have made. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, REMOVE, Step, diff_of
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, USER
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import DECLARED_ABSENT

from .._inventory import stages
from .._inventory.stages import STAGES, Stage
from .cloud_steps import after_leaving, cloud_steps, leaving, startable
from .compared import compared
from .controller_steps import controller_steps, dedicated_steps, emptied_steps, removed_steps, tenant_steps, vpod_of
from .looks import Look, answered
from .server_steps import server_steps
from .switch_steps import switch_steps
from .tenancy import Tenancy
from .vpod_steps import OnController, vpod_steps

Options = Mapping[str, Any]
Recorded = dict[str, Any]
Targets = dict[str, Any]
# vPOD of a dedicated controller (empty for that of a cluster), kind and name of what goes, to why.
Reasons = Mapping[tuple[str, str, str], str]

# What stands before an option in the name of the role's variable for it; the role vpod has them in another form.
PREFIXES = {stages.SWITCH: "tor_switch_", stages.SERVER: "poplar_server_", stages.CONTROLLER: "vipu_controller_"}


@dataclass
class Plan:
    """The steps, and what came up on the way."""

    # In their order, as in a plan document, each with its ``stage``.
    steps: list[Recorded] = field(default_factory=list)
    # Stage to device to what it should be; devices without a step are missing.
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Why a device cannot be what it should, each with ``device`` and ``message``.
    refusals: list[dict[str, str]] = field(default_factory=list)
    # Device to kind to the names that were compared.
    compared: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    made: dict[tuple[str, str], list[Step]] = field(default_factory=dict)  # device and stage to the steps there

    def before(self, device: str, *names: str) -> list[Step]:
        """The steps of a device in earlier stages."""
        return [step for name in names for step in self.made.get((device, name), ())]


def plan_of(tenancy: Tenancy, looks: Mapping[str, Look], may_change: Callable[[str, Stage], bool]) -> Plan:
    """All stages, as far as ``may_change`` says that the run may carry out a stage on a device."""
    plan = Plan()
    for stage in STAGES:
        for device, options in targets_of(stage, tenancy).items():
            look = looks.get(device)
            if look is not None and answered(look) and may_change(device, stage):
                reasons = tenancy.teardown["vipu_controllers"].get(device, {}).get("reasons", {})
                _add(plan, stage, device, options, look, looks, reasons)
    return plan


def targets_of(stage: Stage, tenancy: Tenancy) -> Targets:
    """Device to what it should be in a stage."""
    teardown, bring_up = tenancy.teardown, tenancy.bring_up
    controllers = teardown["vipu_controllers"]
    servers = {name: options for name, options in bring_up["poplar_servers"].items() if name not in tenancy.converged}
    clouds = tenancy.wanted["clouds"]
    left = {name: leaving(options) for name, options in clouds.items()}
    targets: dict[str, Targets] = {
        stages.CLOUDS_DOWN: {name: options for name, options in left.items() if options["absent_vpods"]},
        stages.VPODS_DOWN: teardown["poplar_servers"],
        stages.DEDICATED_DOWN: _some(controllers, ("removed", "emptied")),
        stages.TENANTS_DOWN: _some(controllers, ("users", "partitions"), "admin_port"),
        stages.SERVERS_DOWN: teardown["poplar_servers"],
        stages.SWITCHES_DOWN: _with_owned(teardown["tor_switches"], tenancy.owned),
        stages.ALLOCATIONS_DOWN: _some(controllers, ("allocations",), "admin_port"),
        stages.CONTROLLERS: bring_up["vipu_controllers"],
        stages.SWITCHES: {
            **_with_owned(bring_up["tor_switches"], tenancy.owned),
            **bring_up["management_switches"],
        },
        stages.SERVERS: servers,
        stages.TENANTS: {host: _tenants_of(options) for host, options in bring_up["vipu_controllers"].items()},
        stages.DEDICATED: {host: each for host, each in bring_up["dedicated_controllers"].items() if each},
        stages.VPODS: servers,
        stages.CLOUDS: {name: after_leaving(options) for name, options in clouds.items()},
    }
    return targets[stage.name]


def _with_owned(switches: Mapping[str, Options], owned: Mapping[str, Options]) -> Targets:
    """The options of switches, with all that is ours there where they are a part of it."""
    parts = ("vlans", "ports")
    return {
        name: options
        if all(options[part] == owned[name][part] for part in parts)
        else {**options, "owned": {part: owned[name][part] for part in parts}}
        for name, options in switches.items()
    }


def _tenants_of(controller: Options) -> Options:
    others = ("agents", "clusters", "allocations")
    return {name: value for name, value in controller.items() if name not in others}


def _some(controllers: Mapping[str, Options], kinds: Sequence[str], *settings: str) -> Targets:
    return {
        host: {name: entities[name] for name in (*settings, *kinds)}
        for host, entities in controllers.items()
        if any(entities[kind] for kind in kinds)
    }


def _add(
    plan: Plan,
    stage: Stage,
    device: str,
    options: Any,
    look: Look,
    looks: Mapping[str, Look],
    reasons: Reasons,
) -> None:
    options = _with_explicit(stage, options, look)
    try:
        if stage.name == stages.CLOUDS:
            options = startable(options, look)
        steps = [_with_reason(step, reasons) for step in _steps(plan, stage, device, options, look, looks)]
    except Refused as error:
        plan.refusals.append({"device": device, "message": str(error)})
        return
    for kind, names in compared(stage, options, look, steps).items():
        there = plan.compared.setdefault(device, {}).setdefault(kind, [])
        there += [name for name in names if name not in there]
    if steps:
        plan.made[device, stage.name] = steps
        plan.options.setdefault(stage.name, {})[device] = options
        plan.steps += [recorded(device, stage, step) for step in steps]


def _with_explicit(stage: Stage, options: Any, look: Look) -> Any:
    """Return a role's options in which variables of the command line win over those of the play."""
    prefix, settings = PREFIXES.get(stage.layer), look["settings"]
    if prefix is None or not isinstance(options, Mapping):
        return options
    explicit = {name for name in options if prefix + name in look.get("explicit", ()) and prefix + name in settings}
    return {name: settings[prefix + name] if name in explicit else value for name, value in options.items()}


def _steps(plan: Plan, stage: Stage, device: str, options: Any, look: Look, looks: Mapping[str, Look]) -> list[Step]:
    settings = look["settings"]
    if stage.layer == stages.SWITCH:
        return switch_steps(options, settings, look, plan.before(device, stages.SWITCHES_DOWN))
    if stage.layer == stages.SERVER:
        return server_steps(options, settings, look, plan.before(device, stages.SERVERS_DOWN))
    if stage.layer == stages.CLOUD:
        return cloud_steps(options, look, plan.options.get(stages.CLOUDS_DOWN, {}).get(device))
    if stage.layer == stages.VPOD:
        return _vpod_steps(plan, device, options, look, looks)
    return _controller_steps(plan, stage, device, options, look)


def _controller_steps(plan: Plan, stage: Stage, device: str, options: Any, look: Look) -> list[Step]:
    settings = look["settings"]
    earlier = plan.before(device, stages.TENANTS_DOWN, stages.ALLOCATIONS_DOWN, stages.CONTROLLERS)
    if stage.name == stages.CONTROLLERS:
        return controller_steps(options, settings, look, earlier)
    if stage.name == stages.DEDICATED_DOWN:
        removed = removed_steps(options["removed"], settings, look)
        return [*removed, *emptied_steps(options["emptied"], settings, look)]
    if stage.name == stages.DEDICATED:
        return dedicated_steps(options, settings, look, plan.before(device, stages.DEDICATED_DOWN, stages.CONTROLLERS))
    return tenant_steps(options, settings, look, earlier)


def _with_reason(step: Step, reasons: Reasons) -> Step:
    """A removal with the reason of the run, since pods.yml need not have declared what the role is to remove."""
    why = reasons.get((vpod_of(step), step.kind, step.name))
    return replace(step, reason=step.reason.replace(DECLARED_ABSENT, why)) if why and step.action == REMOVE else step


def _vpod_steps(plan: Plan, device: str, options: Options, look: Look, looks: Mapping[str, Look]) -> list[Step]:
    return vpod_steps(
        options,
        look["settings"],
        look,
        _on_controller(plan, options["vipu"] or {}, looks),
        plan.before(device, stages.VPODS_DOWN),
        {vpod["name"]: _on_controller(plan, vpod.get("vipu") or {}, looks) for vpod in options["containers"]},
    )


def _on_controller(plan: Plan, client: Options, looks: Mapping[str, Look]) -> OnController:
    """Return what the plan does on the host of a client's controller, without the steps of other controllers."""
    host = client.get("controller", "")
    vpod = client.get("dedicated") or ""
    steps = plan.before(host, *(stage.name for stage in STAGES))
    there = [step for step in steps if step.kind not in KINDS or vpod_of(step) == vpod]
    new_key = any((step.action, step.kind, step.name) == (CREATE, USER, client.get("user")) for step in there)
    return OnController(looks.get(host), new_key, there)


def recorded(device: str, stage: Stage, step: Step) -> Recorded:
    """A step as in a plan document."""
    differing = diff_of([step])
    return {
        "device": device,
        "layer": stage.layer,
        "action": step.action,
        "kind": step.kind,
        "name": step.name,
        "from": differing["before"].get(step.kind, {}).get(step.name),
        "to": differing["after"].get(step.kind, {}).get(step.name),
        "reason": step.reason,
        "risk": step.risk,
        "observed": step.before,
        "stage": stage.name,
        "phase": STAGES.index(stage),
    }
