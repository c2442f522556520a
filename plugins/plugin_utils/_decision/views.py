# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as a document, and what people see of it and of the looks, in lines and files. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._text.line import printable, readable

from .._desired.degraded import undamaged
from .._desired.desired import desired
from .._drift.drift import drift_markdown, drift_report, drift_table
from .._drift.ignore_rules import parse_rules
from .._drift.junit import junit_of
from .._drift.not_ours import not_ours_on_controllers, not_ours_on_switches
from .._inventory.stages import VERIFICATION
from .._placement.capacity import capacity
from .._placement.placement import Placement
from .._plan_page.page import page_of
from .._plan_page.rack import rack_of
from .._pod.devices import devices_of
from .._pod.managed import unmanaged, wholly_unmanaged
from .._pod.model import CONTROLLER_LAYER, SERVERS_LAYER, SWITCH_LAYER, Declaration
from .._reports.capacity_table import capacity_table_of
from .._reports.markdown import markdown_of
from .._reports.plan_document import plan_document
from .._reports.table import table_of
from .._reports.vpod_table import vpod_table
from .._reports.wording import counted
from .._vpods.strays import tenant_vlans
from .controller_steps import held, silence
from .decision import LOOKED_AT, Decision, Request
from .looks import Look, answered, missing, part
from .switch_steps import cabling_of
from .tenancy import Tenancy, switches_seen

Document = Mapping[str, Any]


@dataclass(frozen=True)
class View:
    """A view: lines, files and an exit code."""

    lines: Sequence[str]  # for the terminal
    files: Mapping[str, str] = field(default_factory=dict)  # name to content
    exit_code: int = 0  # what the run ends with, unless it fails

    def __post_init__(self) -> None:
        """Whatever a device has said in a line, it stays one."""
        object.__setattr__(self, "lines", list(map(printable, self.lines)))


def plan_view(document: Document, declaration: Declaration, placement: Mapping[str, Sequence[str]]) -> View:
    """The plan as a table, JSON, Markdown, and a page with a picture of the racks."""
    shown = readable(document)
    files = {
        "plan.json": _json(document),
        "plan.md": markdown_of(shown),
        "plan.html": page_of(shown, rack_of(declaration, placement)),
    }
    return View(table_of(shown), files)


def drift_view(document: Document, compared: Mapping[str, Any], rules: Any, today: str) -> View:
    """Return the view of drift; refused if a rule of ``drift_ignore`` is none."""
    report = drift_report(document, compared, parse_rules(rules), today)
    shown = readable(report)
    files = {"drift.json": _json(report), "drift.md": drift_markdown(shown), "junit.xml": junit_of(shown)}
    return View(drift_table(shown), files, report["exit_code"])


def vpods_view(document: Document, declaration: Declaration, only: Sequence[str] | None) -> View:
    """Where each vPOD stands, layer by layer."""
    names = [*declaration.absent, *declaration.vpods] if only is None else only
    return View(vpod_table(declaration, document["steps"], names, document["findings"]))


def capacity_view(
    declaration: Declaration, allocations: Mapping[str, Mapping[str, Sequence[str]]], ipus: int, cluster: str
) -> View:
    """Return the view of free capacity, and whether so many IPUs fit; raises as :func:`capacity`."""
    return View(capacity_table_of(capacity(declaration, allocations, ipus, cluster)))


def summary_view(
    declaration: Declaration, looks: Mapping[str, Look], wanted: Mapping[str, Any], done: Collection[tuple[str, str]]
) -> View:
    """Return the summary of controllers and switches, and of the verification.

    ``done`` are stage and device of what the run has carried out: who has verified reaches its IPU-Machines.
    """
    lines: list[str] = []
    for controller in declaration.controllers.values():
        there = (part(looks.get(controller.host_name), "controllers") or {}).get("", {})
        lines += _controller_lines(there) if "agents" in there else []
    for name, switch in wanted["tor_switches"].items():
        there = part(looks.get(name), "gathered")
        lines += [f"VLANs         {name}: {', '.join(_declared_vlans(switch, there))}"] if there else []
    lines += [f"Degraded      {sentence}" for sentence in wanted["degraded"]]
    ways = {name: len(wanted["poplar_servers"][name]["peers"]) for stage, name in done if stage == VERIFICATION}
    senders = [name for name, peers in ways.items() if peers]
    checked = (
        f"{counted(len(senders), 'Poplar server')}, {counted(sum(ways.values()), 'way')} to their IPU-Machines, with "
        "packets of the full MTU and not one byte more"
    )
    return View([*lines, f"Checked       {checked if senders else 'nothing: no Poplar server has sent packets'}"])


def _declared_vlans(switch: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """Those of the declared VLANs that the switch has."""
    declared = {vlan["vlan_id"] for vlan in switch["vlans"] if vlan.get("state") != "absent"}
    return [f"{vlan['vlan_id']} {vlan['name']}" for vlan in there["vlans"] if vlan["vlan_id"] in declared]


def _controller_lines(there: Mapping[str, Any]) -> list[str]:
    up = [agent for agent in there["agents"].values() if agent["status"] == "Up"]
    return [
        f"IPU-Machines  {len(up)} of {len(there['agents'])} agents up, V-IPU {there['release']}",
        *(
            f"Cluster       {name}: {len(each['agents'])} IPU-Machines, {len(each['agents']) * 4} IPUs, "
            f"{each['topology']}"
            for name, each in there["clusters"].items()
        ),
        *(
            f"Allocation    {name}: {each['size']} IPUs of {each['cluster']}"
            for name, each in there["allocations"].items()
        ),
        *(
            f"Partition     {name}: {each['size']} IPUs of {each['allocation']}, {each['status']}"
            f"{', reconfigurable' if each['reconfigurable'] else ''}"
            for name, each in there["partitions"].items()
        ),
    ]


def allocations_of(declaration: Declaration, looks: Mapping[str, Look]) -> dict[str, dict[str, Sequence[str]]]:
    """Host of a controller to vPOD to its IPU-Machines; those that are not managed and do not say are missing.

    Refused if a managed controller does not say.
    """
    only_read = unmanaged(declaration)[CONTROLLER_LAYER]
    found: dict[str, dict[str, Sequence[str]]] = {}
    for controller in declaration.controllers.values():
        look = looks.get(controller.host_name)
        if look is None:
            continue
        is_managed = look["host"] not in only_read
        there = held(look, is_managed)
        if there is not None:
            found[look["host"]] = {name: fields["agents"] for name, fields in there["allocations"].items()}
        elif is_managed:
            raise Refused(silence(look) if answered(look) else f"{look['host']}: {look['message']}")
    return found


def cabling_view(declaration: Declaration, looks: Mapping[str, Look]) -> View:
    """Which device is on which port of the ToR switches; refused if a switch did not say."""
    lines: list[str] = []
    wrong: list[str] = []
    # Cables do not depend on where the vPODs lie.
    switches = desired(replace(declaration, vpods={}), {})["tor_switches"]
    for name, options in switches.items():
        look = looks.get(name)
        if look is None:
            continue
        if part(look, "info") is None:
            raise Refused(f"{name}: {missing(look, 'info')}")
        found = cabling_of(look, options["cables"])
        lines += [name, *found["table"]]
        silent = [each["port"] for each in found["cabling"] if each["verdict"] in ("missing", "unknown")]
        if silent:
            lines.append(
                f"Nothing was seen at {', '.join(silent)}. Devices that do not speak LLDP are recognised by their MAC "
                "address: give rnic_mac in overrides, and let them send a frame."
            )
        wrong += [_wrong(each) for each in found["cabling"] if each["verdict"] == "wrong"]
    if wrong:
        lines.append(f"{'; '.join(wrong)}; move the cables, or correct switch_port in pods.yml.")
    return View(lines, exit_code=2 if wrong else 0)


def _wrong(cable: Mapping[str, Any]) -> str:
    what = f"but pods.yml says {cable['declared']}" if cable["declared"] else "of which pods.yml says another port"
    return f"{cable['port']} has {', '.join(cable['seen'])}, {what}"


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=4) + "\n"


def document_of(
    decision: Decision, looks: Mapping[str, Look], declaration: Declaration, made: str, by: str
) -> dict[str, Any]:
    """The plan as a document."""
    tenancy = decision.tenancy
    if tenancy is None:
        unknown = [{"device": "pods.yml", "message": message} for message in decision.refusals]
        return plan_document(replace(declaration, vpods={}), {}, [], unknown or decision.unseen, [], made, by)
    steps = [{key: value for key, value in step.items() if key != "stage"} for step in decision.plan.steps]
    with_absent, placement = _with_absent(tenancy)
    vlans = tenant_vlans(tenancy.declaration, switches_seen(looks))
    return plan_document(
        with_absent, placement, steps, decision.unseen, not_ours(tenancy, looks), made, by, decision.findings, vlans
    )


def not_ours(tenancy: Tenancy, looks: Mapping[str, Look]) -> list[dict[str, str]]:
    """Return what others own on controllers and switches."""
    # What is left alone because an IPU-Machine is excluded is nobody else's.
    wanted = desired(undamaged(tenancy.declaration), tenancy.placement)
    switches = {**wanted["tor_switches"], **wanted["management_switches"]}
    gathered = {
        host: found
        for host, look in looks.items()
        for found in [part(look, "gathered")]
        if found is not None and host in switches
    }
    held = {host: entities for host, entities in tenancy.held.items() if host in wanted["vipu_controllers"]}
    controllers = not_ours_on_controllers(wanted["vipu_controllers"], held)
    return [*controllers, *not_ours_on_switches(switches, gathered)]


def _with_absent(tenancy: Tenancy) -> tuple[Declaration, Placement]:
    """Those that are to go still feel what is taken from them, as long as nobody else has it."""
    declaration = tenancy.declaration
    held = {name: agents for names in tenancy.allocations.values() for name, agents in names.items()}
    there = {name: held.get(name, []) for name in declaration.absent}
    everybody = replace(declaration, vpods={**declaration.absent, **declaration.vpods})
    return everybody, {**there, **tenancy.placement}


def left_out(declaration: Declaration, request: Request) -> list[str]:
    """Return lines on devices that a run leaves out, by ``--limit`` and by ``managed``."""
    only_read = wholly_unmanaged(declaration)
    hosts = set(request.hosts)
    known = [device.name for device in devices_of(declaration).values() if device.kind in LOOKED_AT]
    by_limit = [name for name in known if name not in hosts and name not in only_read]
    words = {SWITCH_LAYER: "switches", SERVERS_LAYER: "Poplar servers", CONTROLLER_LAYER: "V-IPU controllers on"}
    by_layer = [f"{words[layer]} {', '.join(names)}" for layer, names in unmanaged(declaration).items() if names]
    return [
        *([f"Left out by --limit: {', '.join(by_limit)}"] if by_limit else []),
        *([f"Not managed by pods.yml: {'; '.join(by_layer)}"] if by_layer else []),
    ]


def notes(looks: Mapping[str, Look]) -> list[str]:
    """Return lines on changes in progress, by somebody else or by an interrupted run."""
    found = []
    for host, look in looks.items():
        sessions, network = part(look, "sessions") or {}, part(look, "network") or {}
        if sessions.get("timer") is not None:
            found.append(f"{host}: a commit timer is running; the switch undoes that commit in {sessions['timer']} s")
        if sessions.get("busy"):
            found.append(f"{host}: configuration sessions are open: {', '.join(sorted(sessions['busy']))}")
        if network.get("pending"):
            found.append(f"{host}: a change of its NICs is not confirmed yet and undoes itself")
        if network.get("undone"):
            found.append(f"{host}: a change of its NICs was not confirmed; the old settings are back")
    return found
