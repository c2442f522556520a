# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of 5000 devices, gathered from files into a pods.yml and planned from it, and how that grows with the racks.

The work is that of gather.yml and, later, of plan.yml, by the functions that their modules and filters call: read every
device's file, adopt the fleet, look for contradictions, write pods.yml; then read the files again, in which some racks
have drifted meanwhile, plan every switch, server and controller from the pods.yml, and show the plan as a table and a
page. One process does all of it, so that its CPU time is what a machine without other work needs on one core.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible.plugins.loader import init_plugin_loader

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

init_plugin_loader([str(ROOT / ".venv" / "collections")])

from ansible_collections.ipu.pod.plugins.filter.adoption import pods_yml
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import converge
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, Step
from ansible_collections.ipu.pod.plugins.module_utils._rnic import plan as rnic
from ansible_collections.ipu.pod.plugins.module_utils._rnic import server as links
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.owner import backend_for
from ansible_collections.ipu.pod.plugins.module_utils._rnic.targets import devices_of, targets_on
from ansible_collections.ipu.pod.plugins.module_utils._roce import boot
from ansible_collections.ipu.pod.plugins.module_utils._roce import plan as roce
from ansible_collections.ipu.pod.plugins.module_utils._roce import server as surveys
from ansible_collections.ipu.pod.plugins.module_utils._roce.declared import roce_interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._roce.ofed import Ofed
from ansible_collections.ipu.pod.plugins.module_utils._roce.tool_sets import Nic
from ansible_collections.ipu.pod.plugins.module_utils._tor import plan as tor
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import RunningConfig, parse
from ansible_collections.ipu.pod.plugins.module_utils._vipu import planner
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, plural
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.fleet import FleetAdoption, adopted_fleet
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._review.findings import Gathered, findings
from ansible_collections.ipu.pod.plugins.plugin_utils._review.not_ours import (
    not_ours_on_controllers,
    not_ours_on_switches,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._review.page import page_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.plan_document import plan_document
from ansible_collections.ipu.pod.plugins.plugin_utils._review.rack import rack_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.recorded import Task, recorded_steps
from ansible_collections.ipu.pod.plugins.plugin_utils._review.table import table_of
from tests.benchmark import fleet_files
from tests.benchmark.fleet_files import CONTROLLER, DEVICES, Things

FEW, MANY = fleet_files.ALIKE, 240
# Linear growth gives 1, quadratic growth 16. The rest is for the noise of a shared machine.
LINEAR = 1.5
# Quadratic growth gives 240 here. One rack alone is no odd one, and in no cluster that has to be looked at as a whole.
LINEAR_FROM_ONE = 2
SECONDS = 60
TOOLS = Ofed()

Options = Mapping[str, Any]
Steps = list[dict[str, Any]]


@dataclass(frozen=True)
class Fleet:
    """Everything that was read from one directory, by device."""

    switches: dict[str, RunningConfig]
    seen: dict[str, Options]
    servers: dict[str, links.Server]
    roce: dict[str, surveys.Server]
    held: Options

    @classmethod
    def read(cls, directory: Path) -> Fleet:
        """Read the files."""
        configs = {path.name.removesuffix(".config"): path.read_text() for path in sorted(directory.glob("*.config"))}
        told = {path.stem: json.loads(path.read_text()) for path in sorted(directory.glob("*-poplar?.json"))}
        servers = {name: _server(each) for name, each in told.items()}
        return cls(
            {name: parse(text) for name, text in configs.items()},
            {name: json.loads((directory / f"{name}.seen.json").read_text()) for name in configs},
            servers,
            {name: _lossless(servers[name], each) for name, each in told.items()},
            json.loads((directory / f"{CONTROLLER}.json").read_text()),
        )

    def gathered(self) -> Gathered:
        """As playbooks/gather.yml has it."""
        servers = {
            name: {
                "gathered": rnic.gathered(server),
                "lasting": rnic.lasting(server),
                "roce": roce.gathered(self.roce[name]),
                "lasting_roce": roce.lasting(self.roce[name]),
            }
            for name, server in self.servers.items()
        }
        switches = {name: {**gathered(running), **self.seen[name]} for name, running in self.switches.items()}
        return Gathered(switches, servers, {CONTROLLER: self.held}, {})


def _server(told: Options) -> links.Server:
    return links.Server(
        links=links.links_from(told["links"]),
        default_devices=frozenset(links.default_devices_from(told["routes"])),
        services=frozenset({"networkd"}),
        claims={device: {"networkd": path} for device, path in told["network_files"].items()},
        used_texts=told["texts"],
    )


def _lossless(server: links.Server, told: Options) -> surveys.Server:
    name, nic = told["nic"], Nic(told["nic"], "mlx5_0")
    script, unit = boot.script(nic, TOOLS, told["lasting_roce"]), boot.unit(name, nic)
    return surveys.Server(TOOLS, server.links, {name: surveys.Surveyed(nic, told["roce"], script, unit, starts=True)})


def adopt(fleet: Fleet, racks: int) -> tuple[FleetAdoption, str]:
    """What was found, and the text of its pods.yml; looks for contradictions, too."""
    there = fleet.gathered()
    found = adopted_fleet(fleet_files.declared(racks), there.controllers, there.switches, there.servers)
    findings(found.document, there, found.port_map)
    return found, pods_yml(found.document, found.reasons)


def plan(fleet: Fleet, document: dict[str, Any], found: FleetAdoption) -> dict[str, Any]:
    """The plan document for a fleet, its pods.yml and the variables beside it; shown as a table and a page, too."""
    declaration = parse_declaration(document)
    agents = {name: fields["agents"] for name, fields in fleet.held["allocations"].items()}
    placement = place(declaration, {CONTROLLER: agents})
    wanted = desired(declaration, placement)
    phases = (
        _controller_steps(fleet, wanted["vipu_controllers"][CONTROLLER], found.options.get(CONTROLLER, {})),
        _switch_steps(fleet, wanted["tor_switches"]),
        _server_steps(fleet, wanted["poplar_servers"], found.variables),
    )
    steps = [dict(step, phase=number) for number, phase in enumerate(phases) for step in phase]
    not_ours = [
        *not_ours_on_controllers(wanted["vipu_controllers"], {CONTROLLER: fleet.held}),
        *not_ours_on_switches(wanted["tor_switches"], {name: gathered(each) for name, each in fleet.switches.items()}),
    ]
    whole = plan_document(declaration, placement, steps, [], not_ours, "2026-11-21T15:00:00Z", "bench")
    table_of(whole)
    page_of(whole, rack_of(declaration, placement))
    return whole


def _switch_steps(fleet: Fleet, wanted: Options) -> Iterator[dict[str, Any]]:
    for name, running in fleet.switches.items():
        options = wanted[name]
        declared = declare(options["vlans"], options["ports"], options["qos"])
        before = tor.state_of(tor.covered(declared, running), running)
        yield from _foretold(
            "tor_switch", "tor_switch", name, before, lambda _state, d=declared, r=running: tor.plan(d, r)
        )


def _server_steps(fleet: Fleet, wanted: Options, variables: Options) -> Iterator[dict[str, Any]]:
    for name, server in fleet.servers.items():
        own = variables.get(name, {})
        interfaces = interfaces_from(own.get("rnic_interfaces", wanted[name]["interfaces"]))
        backend = backend_for("auto", server, [*devices_of(server, interfaces).values()])
        one = rnic.Planner(targets_on(server, interfaces, backend), backend)
        yield from _foretold("poplar_server", "rnic_network", name, one.state_of(server), one.plan)
        lossless = roce_interfaces_from(own.get("poplar_server_roce", []))
        before = roce.state_of(fleet.roce[name])
        yield from _foretold(
            "poplar_server", "rnic_roce", name, before, lambda state, wished=lossless: roce.plan(TOOLS, wished, state)
        )


def _controller_steps(fleet: Fleet, wanted: Options, left: Options) -> Iterator[dict[str, Any]]:
    declared = {kind: [*wanted[plural(kind)], *left.get(plural(kind), [])] for kind in KINDS}
    before = {kind: fleet.held[plural(kind)] for kind in KINDS}
    policy = Policy(keeps_keys=True)
    yield from _foretold(
        "vipu_controller", "vipu_state", CONTROLLER, before, lambda state: planner.plan(declared, state, policy)
    )


def _foretold(role: str, module: str, device: str, before: State, steps: Callable[[State], list[Step]]) -> Steps:
    """What a module would do in check mode, as the dry run records it."""
    outcome = converge(lambda: before, steps, lambda _steps: None, check_mode=True)
    return recorded_steps(Task(role, module, "", {}), device, outcome.result())


@dataclass(frozen=True)
class Night:
    """How a fleet was gathered, and planned after it had drifted: CPU seconds, and what was wrong with the plans."""

    seconds: float
    steps_at_once: int
    wrong_steps: int


def night(racks: int) -> Night:
    """Gather that many racks and plan them as they are, then plan them as they are after some have drifted."""
    with tempfile.TemporaryDirectory() as directory:
        orderly, drifted = Path(directory, "orderly"), Path(directory, "drifted")
        orderly.mkdir()
        drifted.mkdir()
        fleet_files.write(orderly, racks, has_drift=False)
        planted = fleet_files.write(drifted, racks, has_drift=True)
        start = time.process_time()
        fleet = Fleet.read(orderly)
        found, text = adopt(fleet, racks)
        document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        at_once = plan(fleet, document, found)
        later = plan(Fleet.read(drifted), document, found)
        seconds = time.process_time() - start
    return Night(seconds, len(at_once["steps"]), _wrong(later["steps"], planted))


def _wrong(steps: Steps, planted: Things) -> int:
    """How many steps are too many or missing."""
    things = [(step["device"], step["kind"], step["name"]) for step in steps]
    return len(set(things) ^ planted) + len(things) - len(set(things))


def figure(name: str, value: float, bound: float) -> dict[str, Any]:
    """One figure; the bound is the most that it may be."""
    return {"name": name, "value": value, "bound": bound, "holds": value <= bound}


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    few, many = night(FEW), night(MANY)
    one = sum(night(1).seconds for _ in range(FEW)) / FEW
    per_rack = many.seconds / MANY
    return [
        figure(f"fleet: CPU seconds, {MANY * DEVICES} devices, files to plan", many.seconds, SECONDS),
        figure(f"fleet: CPU time, {MANY} racks over {MANY // FEW} times {FEW}", per_rack * FEW / few.seconds, LINEAR),
        figure(f"fleet: CPU time, {MANY} racks over {MANY} times one", per_rack / one, LINEAR_FROM_ONE),
        figure("fleet: steps planned from what was just gathered", many.steps_at_once, 0),
        figure("fleet: steps beside the planted ones, or missing", many.wrong_steps, 0),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
