# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the looks at a pod in service to the pods.yml that keeps it as it is, and what contradicts itself. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import STARTUP

from .._adoption.clouds import adopted_clouds
from .._adoption.findings import Gathered, findings
from .._adoption.fleet import FleetAdoption, adopted_fleet
from .._adoption.pods_yml import COMMENTS, ordered
from .._declaration.declaration import parse_declaration
from .._desired.desired import desired
from .._placement.placement import place
from .._reports.markdown import text_of
from .cloud_steps import PART as CLOUD
from .controller_steps import entity_steps
from .looks import NOT_ASKED, Look, answered, missing, part
from .server_steps import server_steps
from .switch_steps import switch_steps

Document = dict[str, Any]
Looks = Mapping[str, Look]
Unread = list[dict[str, str]]

WIDTH = 118
TEMPLATE = re.compile(r"\{[{%#]")
# The variables of the role poplar_server with which it looks after nothing but NICs.
NICS_ALONE: Mapping[str, Any] = {
    "poplar_server_packages": [],
    "poplar_server_start_networkd": False,
    "poplar_server_more_interfaces": [],
    "poplar_server_roce": [],
    "poplar_server_memlock": "",
    "poplar_server_memlock_units": [],
    "poplar_server_sysctl": {},
}
NOT_DECLARED = "There, but not declared, and so left as it is. Without the comment signs it would be kept so:"


@dataclass(frozen=True)
class Gathering:
    """The result of the adoption."""

    files: Mapping[str, str]  # name to content
    lines: Sequence[str]  # what is not in pods.yml, and why, and where the layers contradict each other
    partly: Sequence[str]  # what could not be read of devices that have answered, one sentence each
    unread: Sequence[str]  # the devices that could not be read, one sentence each
    left: Sequence[str]  # where these files would not keep what is there, one sentence each


@dataclass(frozen=True)
class _Reading:
    """The looks as the adoption takes them."""

    switches: dict[str, Any]
    servers: dict[str, Any]
    controllers: dict[str, Any]
    leases: dict[str, list[str]]
    clouds: dict[str, Any]
    unread: Unread
    partly: Unread


def gather(document: Document, looks: Looks) -> Gathering:
    """The files. What the document, a pods.yml with at least ``pods``, says of a device that was not read is kept.

    Raises :class:`DeclarationError` if the document is wrong.
    """
    reading = _reading(looks)
    fleet = adopted_fleet(document, reading.controllers, reading.switches, reading.servers)
    clouds = adopted_clouds(fleet.document, reading.clouds)
    adopted = replace(fleet, document=clouds.document)
    gathered = Gathered(reading.switches, reading.servers, reading.controllers, reading.leases)
    found = [*findings(adopted.document, gathered, adopted.port_map), *map(asdict, clouds.findings)]
    reasons = list(map(one_line, adopted.reasons))
    contradictions = [one_line(f"{each['device']}: {_sentences(each)}") for each in found]
    files = {
        "pods.yml": _pods_yml(adopted.document, reasons),
        **{f"host_vars/{host}.yml": text for host, text in _host_vars(adopted)},
        **{f"{host}.vipu_state.yml": _block(options) for host, options in adopted.options.items()},
        "findings.md": _findings_markdown(found),
        "findings.json": json.dumps(found, indent=4, sort_keys=True) + "\n",
    }
    return Gathering(
        files=files,
        lines=[*(reasons or ["pods.yml says all that is there."]), *contradictions],
        partly=[one_line(f"{each['device']}: {each['message']}") for each in reading.partly],
        unread=[one_line(f"{each['device']} could not be read: {each['message']}") for each in reading.unread],
        left=list(map(one_line, _left(adopted, reading, looks))),
    )


def _reading(looks: Looks) -> _Reading:
    reading = _Reading({}, {}, {}, {}, {}, [], [])
    for host, look in looks.items():
        if look["outcome"] == NOT_ASKED:
            continue
        if not answered(look):
            reading.unread.append({"device": host, "message": look["message"]})
            continue
        if "info" in look["parts"] and (info := _answered_part(reading.unread, look, "info")) is not None:
            reading.switches[host] = info
        if "controllers" in look["parts"] and (found := _answered_part(reading.unread, look, "controllers")):
            # The host of a dedicated controller has none of a cluster.
            if "message" in found[""] and (found[""]["storage"] or len(found) == 1):
                reading.unread.append({"device": host, "message": found[""]["message"]})
            elif "message" not in found[""]:
                reading.controllers[host] = found[""]
        if CLOUD in look["parts"] and (cloud := _answered_part(reading.unread, look, CLOUD)) is not None:
            reading.clouds[host] = cloud
        if "network" in look["parts"]:
            _read_server(reading, look)
    return reading


def _read_server(reading: _Reading, look: Look) -> None:
    host, nics = look["host"], _answered_part(reading.partly, look, "nics")
    network, roce = _answered_part(reading.unread, look, "network"), _answered_part(reading.partly, look, "roce")
    if network is None:
        return
    reading.servers[host] = {
        "gathered": network["gathered"],
        "lasting": network["lasting"],
        "nics": nics["nics"] if nics else [],
        "roce": roce["gathered"] if roce else [],
        "lasting_roce": roce["lasting"] if roce else [],
    }
    reading.leases[host] = str((part(look, "leases") or {}).get("text", "")).split("\n")


def _answered_part(unread: Unread, look: Look, name: str) -> Any:
    found = part(look, name)
    if found is None:
        unread.append({"device": look["host"], "message": missing(look, name)})
    return found


def _left(adopted: FleetAdoption, reading: _Reading, looks: Looks) -> list[str]:
    """Return the steps that the gathered files would cause; there must be none."""
    declaration = parse_declaration(adopted.document)
    allocations = {
        host: {name: fields["agents"] for name, fields in each["allocations"].items()}
        for host, each in reading.controllers.items()
    }
    wanted = desired(declaration, place(declaration, allocations))
    found: list[str] = []
    for host in reading.controllers:
        options, more = wanted["vipu_controllers"].get(host, {}), adopted.options.get(host, {})
        kinds = ("agents", "clusters", "allocations", "users", "partitions")
        whole = {kind: [*options.get(kind, []), *more.get(kind, [])] for kind in kinds}
        found += _changes(host, partial(entity_steps, whole, looks[host]["settings"], looks[host]))
    switches = {**wanted["tor_switches"], **wanted["management_switches"]}
    for host in reading.switches:
        found += _changes(host, partial(_switch_steps, switches[host], looks[host]))
    for host in reading.servers:
        variables = adopted.variables.get(host, {})
        settings = {**looks[host]["settings"], **NICS_ALONE, **variables}
        # What is adopted by a variable of its own is not what follows from pods.yml.
        options = {"interfaces": []} if "rnic_interfaces" in variables else wanted["poplar_servers"][host]
        settings.pop("rnic_interfaces", None)
        found += _changes(host, partial(server_steps, options, settings, looks[host]))
    return found


def _switch_steps(options: Mapping[str, Any], look: Look) -> list[Step]:
    # The files say what runs, saved or not.
    return [step for step in switch_steps(options, look["settings"], look) if step.kind != STARTUP]


def _changes(host: str, plan: Callable[[], list[Step]]) -> list[str]:
    try:
        steps = plan()
    except Refused as error:
        return [f"{host}: {error}"]
    remedy = "please report this with them"
    return [f"The files do not reproduce {host}; {remedy}: {step.kind} {step.name}: {step.reason}" for step in steps]


def _findings_markdown(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["# What contradicts itself", ""]
    lines += [f"- **{text_of(one_line(each['device']))}**: {text_of(one_line(_sentences(each)))}" for each in found]
    return "\n".join(lines if found else [*lines, "Nothing."]) + "\n"


def _sentences(finding: Mapping[str, Any]) -> str:
    return f"{finding['finding']}. {finding['remedy']}"


def _pods_yml(document: Document, reasons: Sequence[str]) -> str:
    lines = ["# What was found on these pods; the same again changes nothing."]
    if reasons:
        lines += ["# Not said here:", *(f"# - {reason}" for reason in reasons)]
    for name, words in ordered(document).items():
        if isinstance(words, dict):
            lines += ["", *([f"# {COMMENTS[name]}"] if name in COMMENTS else [])]
        lines.append(_yaml({name: words}))
    return "\n".join(lines) + "\n"


def _host_vars(adopted: FleetAdoption) -> list[tuple[str, str]]:
    """Server to the text of its variables; what is left as it is becomes a comment."""
    found = []
    for host in dict.fromkeys([*(name for name, variables in adopted.variables.items() if variables), *adopted.left]):
        variables, left = adopted.variables.get(host, {}), adopted.left.get(host, {})
        parts = [_yaml(variables)] if variables else []
        if left:
            parts.append("\n".join(f"# {line}" for line in [NOT_DECLARED, *_yaml(left).splitlines()]))
        found.append((host, "\n\n".join(parts) + "\n"))
    return found


class _DataDumper(yaml.SafeDumper):
    """Ansible reads variables as templates, unless they are marked; what a device has said is never one."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("!unsafe" if TEMPLATE.search(text) else "tag:yaml.org,2002:str", text)


_DataDumper.add_representer(str, _text)


def _yaml(value: Mapping[str, Any]) -> str:
    """YAML with the innermost lists and mappings in one line each."""
    is_plain = all(not isinstance(each, (dict, list)) for each in value.values())
    style = False if is_plain else None
    text: str = yaml.dump(dict(value), Dumper=_DataDumper, default_flow_style=style, sort_keys=False, width=WIDTH)
    return text.rstrip("\n")


def _block(value: Mapping[str, Any]) -> str:
    text: str = yaml.dump(dict(value), Dumper=_DataDumper, default_flow_style=False, sort_keys=False, indent=2)
    return text
