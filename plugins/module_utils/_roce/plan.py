# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From declared lossless settings and what a server does now to the steps that bring both together, and what forbids
them. Pure.

The state has one kind, ``interface``, by declared name: ``device``, ``rdma_device``, ``tools``, each setting as it is
running, and the files that bring the settings back: ``script`` and ``unit`` as lines, and whether the unit ``starts``
with the device.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import DISRUPTIVE, NO_RISK, UPDATE, Fields, State, Step, changed_fields, reason_for
from .._rnic.declared import Interface
from .._rnic.server import Server, management
from .._rnic.targets import devices_of
from . import boot
from .declared import RoceInterface
from .rules import check
from .settings import NAMES, OF_NEW_CONNECTIONS, Settings, overlaid
from .survey import Survey, Surveyed, nics_of
from .tool_sets import Command, Nic, ToolSet

KIND = "interface"
FILES = ("script", "unit", "starts")


def state_of(survey: Survey) -> State:
    """The surveyed interfaces as a state."""
    return {KIND: {name: _fields(survey.tools, surveyed) for name, surveyed in survey.interfaces.items()}}


def plan(tools: ToolSet, interfaces: Sequence[RoceInterface], actual: State) -> list[Step]:
    """One step per interface that differs, running or persistent. Raises Refused: what is declared cannot be."""
    steps = []
    for interface in interfaces:
        before = actual[KIND][interface.name]
        wanted = wanted_for(tools, interface, before)
        changes = changed_fields(before, wanted)
        if changes:
            risk = DISRUPTIVE if changes.keys() & set(NAMES) else NO_RISK
            step = Step(UPDATE, KIND, interface.name, _reason(before, changes), risk, before, {**before, **wanted})
            steps.append(step)
    return steps


def is_disruptive(step: Step) -> bool:
    """Whether connections that are there already would feel the change."""
    return bool(changed_fields(step.before or {}, step.after or {}).keys() & (set(NAMES) - OF_NEW_CONNECTIONS))


def wanted_for(tools: ToolSet, interface: RoceInterface, before: Mapping[str, Any]) -> Fields:
    """Return the declared settings, else those of the interface's own script, else the running ones."""
    place = f"interface {interface.name}"
    nic = nic_of(before)
    kept = _settings_of_script(place, before)
    if interface.settings.get("trust") == "pcp":
        # Trusting the VLAN tag's priority, the NIC has no DSCP map.
        kept.pop("dscp_map", None)
    lasting = overlaid(kept, interface.settings)
    running = {name: before[name] for name in NAMES}
    for name in lasting:
        if running[name] is None:
            raise Refused(f"{place}: {name} cannot be set on {nic.device} with the {tools.name} tools; leave it out")
    if lasting.get("trust", running["trust"]) != running["trust"]:
        running["dscp_map"] = tools.map_after_trust(lasting["trust"])
    wanted = overlaid(running, lasting)
    if interface.settings:
        check(place, tools, wanted, lasting)
    if not lasting:
        return wanted
    text = boot.script(nic, tools, {name: lasting[name] for name in NAMES if name in lasting})
    unit = boot.unit(interface.name, nic)
    return {**wanted, "script": text.splitlines(), "unit": unit.splitlines(), "starts": True}


def nic_of(fields: Mapping[str, Any]) -> Nic:
    """The NIC that an interface's fields are of."""
    return Nic(fields["device"], fields["rdma_device"], fields["rdma_port"])


def commands_between(tools: ToolSet, nic: Nic, now: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[Command]:
    """Return the commands that apply the wanted settings, in a working order."""
    commands: list[Command] = []
    current = dict(now)
    for name in NAMES:
        if wanted[name] is not None and wanted[name] != current[name]:
            commands += tools.commands(nic, name, wanted[name], current[name])
            if name == "trust":
                current["dscp_map"] = tools.map_after_trust(wanted[name])
    return commands


def gathered(survey: Survey) -> list[dict[str, Any]]:
    """Every surveyed interface in the form of the option ``interfaces``."""
    macs = {nic.device: nic.mac for nic in nics_of(survey.links)}
    return [
        {"name": name, "mac": macs[surveyed.nic.device], **_as_declared(surveyed.running)}
        for name, surveyed in survey.interfaces.items()
    ]


def lasting(survey: Survey) -> list[dict[str, Any]]:
    """Return settings that boot scripts of this collection keep as they are running, as option ``interfaces``."""
    state = state_of(survey)
    found = []
    for name, surveyed in survey.interfaces.items():
        settings = boot.settings_in(surveyed.script or "")
        if settings and _is_in_force(survey.tools, RoceInterface(Interface(name), settings), state):
            found.append({"name": name, **_as_declared(settings)})
    return found


def devices_on(server: Server, interfaces: Sequence[RoceInterface]) -> dict[str, str]:
    """Each interface's device, by declared name. Raises Refused: it is not there, or carries the management."""
    reserved = management(server)
    devices = devices_of(server, [interface.nic for interface in interfaces])
    for name, device in devices.items():
        if device in reserved:
            raise Refused(f"interface {name}: {device} {reserved[device]} and is never changed; declare RNICs only")
    return devices


def _is_in_force(tools: ToolSet, interface: RoceInterface, state: State) -> bool:
    try:
        return not plan(tools, [interface], state)
    except Refused:
        # What was set by hand since does not go with it.
        return False


def _as_declared(running: Settings) -> dict[str, Any]:
    options = {name: value for name, value in running.items() if value is not None}
    ecn = options.pop("ecn", None)
    # Points that differ cannot be declared, so they are not made up.
    return {**options, "ecn": ecn["np"]} if ecn and ecn["np"] == ecn["rp"] else options


def _fields(tools: ToolSet, surveyed: Surveyed) -> Fields:
    nic = surveyed.nic
    return {
        "device": nic.device,
        "rdma_device": nic.rdma_device,
        "rdma_port": nic.rdma_port,
        "tools": tools.name,
        **surveyed.running,
        "script": _lines(surveyed.script),
        "unit": _lines(surveyed.unit),
        "starts": surveyed.starts,
    }


def _lines(text: str | None) -> list[str] | None:
    return None if text is None else text.splitlines()


def _settings_of_script(place: str, before: Mapping[str, Any]) -> Settings:
    if before["script"] is None:
        return {}
    found = boot.settings_in("\n".join(before["script"]))
    if found is None:
        path = boot.script_path(place.split()[1])
        raise Refused(f"{place}: {path} was not written by this collection; move it away")
    return found


def _reason(before: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """The changed settings in words; of the files only whether they are missing or other than wanted."""
    reasons = [reason_for(before, {name: value for name, value in changes.items() if name not in FILES})]
    for name in ("script", "unit"):
        if name in changes:
            reasons.append(f"{name} is missing" if before[name] is None else f"{name} is not as wanted")
    if "starts" in changes and "unit" not in changes:
        reasons.append("unit does not start with the device")
    return ", ".join(reason for reason in reasons if reason)
