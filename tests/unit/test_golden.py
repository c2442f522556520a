# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that people and services read, in full: each is that of a file in golden/.

After a change that is meant, write the files anew and look at what git says of them:
``GOLDEN=write python -m pytest tests/unit/test_golden.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import BACKENDS
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import rendered
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import Paths
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._drift.drift import drift_markdown, drift_report, drift_table
from ansible_collections.ipu.pod.plugins.plugin_utils._drift.ignore_rules import parse_rules
from ansible_collections.ipu.pod.plugins.plugin_utils._drift.junit import junit_of
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.containers import containers_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import File, Resource
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import vipu_controller_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import vpod_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.capacity import capacity
from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.page import page_of
from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.rack_picture import rack_pictures
from ansible_collections.ipu.pod.plugins.plugin_utils._pod_services.configurations import (
    chrony_configuration,
    dnsmasq_configuration,
    rsyslog_configuration,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.capacity_table import capacity_table_of
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.markdown import markdown_of
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.table import table_of
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.vpod_table import vpod_table
from tests.support.controller_looks import SETTINGS
from tests.support.in_memory.vpod_hosts import CONTAINERS
from tests.support.reviewed_pod import declared, finding, plan, rack, step
from tests.unit.host_resources.test_vipu_controller import WITH_ALICE
from tests.unit.host_resources.test_vpod import DEFAULTS, SECURE
from tests.unit.pod_services.test_chrony_and_rsyslog import SYSLOG, TIME
from tests.unit.pod_services.test_dnsmasq import HOSTS, OWN, SERVED
from tests.unit.rnic.test_backend_files import OPTIONS
from tests.unit.slurm_files import vpod_for_slurm as slurm

FILES = Path(__file__).parent / "golden"
# What a template, a page, a table or a comment would mean something by.
MARKUP = "{{ 7*7 }} {% raw %} <script> & a|b *c* @all\n# d"

STEPS = [
    step(
        1,
        *("pod001-tor", "port", "Ethernet9/1"),
        risk="disruptive",
        affected={"vpods": ["alice-pod001"], "partitions": ["train", "test"]},
        **{"from": {"vlan": 1, "description": None}, "to": {"vlan": 101, "description": MARKUP}},
    ),
    step(2, "pod001-tor", "port", "Ethernet9/1", risk="tenant outage", affected={"vpods": [], "partitions": ["train"]}),
    step(3, "pod001-tor", "vlan", "101", **{"action": "create", "from": None, "to": {"name": "vpod-alice"}}),
    step(4, "ctrl001", "agent", "pod001-ipum3", layer="controller", action="remove", to=None, risk="destructive"),
    step(5, "pod001-poplar1", "file", "/etc/x", **{"from": {"lines": ["a = 1"]}, "to": {"lines": ["a = 2"]}}),
    step(
        6,
        *("pod001-poplar1", "file", "/etc/y"),
        **{"from": None, "to": {"lines": [f"line {number}" for number in range(1, 31)], "mode": "0644"}},
    ),
    step(7, "pod001-poplar1", "interface", MARKUP, reason=MARKUP, **{"from": {"peers": []}, "to": {"peers": [1, 2]}}),
]
BESIDE: dict[str, Any] = {
    "unseen": [{"device": "pod001-poplar2", "message": f"no route to host {MARKUP}"}],
    "not_ours": [{"device": "ctrl001", "kind": "partition", "name": "p4711", "owner": "made by Slurm"}],
}
FINDINGS = [
    finding(
        *("pod001-tor", "vlan", "101"),
        finding="VLAN 101 is carried by nobody",
        remedy="carry it",
        affected={"vpods": ["alice-pod001"], "partitions": []},
    )
]
PLAN = plan(*STEPS, **BESIDE, findings=FINDINGS)
MANY = plan(*(step(number, "pod001-tor", "vlan", str(number), risk="disruptive") for number in range(1, 25)))
RULES = [
    {"device": "*-tor", "kind": "port", "name": "Ethernet9/?", "reason": "cable on *order*", "until": "2026-12-31"},
    {"kind": "vlan", "name": "9", "reason": "spare", "until": "2026-12-31"},
    {"kind": "vlan", "name": "101", "reason": "old", "until": "2026-01-01"},
]
LOOKED_AT = {"pod001-tor": {"port": ["Ethernet9/1", "Ethernet10/1"], "vlan": ["101"]}}
DRIFT = drift_report(PLAN, LOOKED_AT, parse_rules(RULES), "2026-11-21")
NEW_CLUSTER = {
    "name": "new",
    "partition": "all",
    "parameters": {"TaskPlugin": "none"},
    "node_parameters": {"CPUs": 8, "Feature": "big"},
}


def capacities() -> list[str]:
    words = declared(2)
    words["clusters"] = {"c": {"controller": "ctrl001", "pods": ["pod001", "pod002"]}}
    for vpod in words["vpods"].values():
        vpod["cluster"] = "c"
    words["pods"]["pod001"]["excluded"] = ["pod001-ipum16"]
    there = {"ctrl001": {"alice-pod001": [f"pod001-ipum{number}" for number in range(1, 5)], "j7": ["pod001-ipum9"]}}
    return capacity_table_of(capacity(parse_declaration(words), there, 64, ""))


def vpods() -> list[str]:
    words = declared(2)
    words["vpods"]["bob-pod001"] = {"cluster": "c-pod001", "state": "absent"}
    due = [
        step(1, "ctrl001", "allocation", "x", layer="controller", affected={"vpods": ["bob-pod001"]}, action="remove"),
        step(2, "pod001-tor", "port", "x", affected={"vpods": ["alice-pod001"]}),
    ]
    shut = finding("pod002-tor", "port", "x", affected={"vpods": ["alice-pod002"]})
    return vpod_table(parse_declaration(words), due, ["bob-pod001", "alice-pod001", "alice-pod002"], [shut])


def written(things: Iterable[Resource]) -> str:
    """The files among some things, one below the other."""
    return "".join(f"==> {each.path}\n{each.content}" for each in things if isinstance(each, File) and each.content)


def slurms(way: str, declaration: dict[str, Any]) -> str:
    """The configuration that daemons of a new Slurm cluster read when they start, and the beginning of Lua's."""
    found = slurm.planned(declaration, slurm.NOTHING, way=way, cluster=NEW_CLUSTER, cred_expire=5)
    files = {**found["conf"], Paths("/etc/slurm").lua: found["files"][Paths("/etc/slurm").lua][:400]}
    return "".join(f"==> {path}\n{text}" for path, text in files.items())


def netplans() -> str:
    by_name = OPTIONS[0] | {"name": "lan", "device": "ens2f0", "mtu": 9000}
    by_name.pop("mac")
    files = rendered(interfaces_from([*OPTIONS, by_name]), BACKENDS["netplan"])
    return "".join(f"==> {path}\n{text}" for path, text in files.items())


def lines(texts: Iterable[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


SECURE_ALICE = {**SETTINGS, "vipu_controller_mode": "secure", "vipu_controller_autodiscovery_interfaces": ["a", "b"]}
TEXTS: dict[str, Callable[[], str]] = {
    "plan.html": lambda: page_of(PLAN, rack()),
    "plan_of_many.html": lambda: page_of(MANY, rack(3)),
    "plan_of_nothing.html": lambda: page_of(plan(), rack()),
    "rack.svg": lambda: rack_pictures(rack(), PLAN)["pod001"],
    "plan.md": lambda: markdown_of(PLAN),
    "plan_of_many.md": lambda: markdown_of(MANY),
    "plan_of_nothing.md": lambda: markdown_of(plan()),
    "plan.txt": lambda: lines(table_of(PLAN)),
    "drift.md": lambda: drift_markdown(DRIFT),
    "drift_of_nothing.md": lambda: drift_markdown(drift_report(plan(), {}, (), "2026-11-21")),
    "drift.txt": lambda: lines(drift_table(DRIFT)),
    "junit.xml": lambda: junit_of(DRIFT),
    "capacity.txt": lambda: lines(capacities()),
    "vpods.txt": lambda: lines(vpods()),
    "chrony.conf": lambda: chrony_configuration(TIME),
    "dnsmasq.conf": lambda: dnsmasq_configuration(SERVED, HOSTS, OWN),
    "rsyslog.conf": lambda: rsyslog_configuration(SYSLOG),
    "controller.txt": lambda: written(vipu_controller_resources(SETTINGS)),
    "secure_controller.txt": lambda: written(vipu_controller_resources(SECURE_ALICE)),
    "dedicated_controller.txt": lambda: written(vipu_controller_resources(WITH_ALICE, "alice")),
    "client.txt": lambda: written(vpod_resources({**DEFAULTS, "vpod_vipu": SECURE})),
    "containers.txt": lambda: written(
        containers_resources({"containers_vpods": [CONTAINERS], "containers_groups": {"alice": "alice"}})
    ),
    "slurm_static.txt": lambda: slurms("static", slurm.declared(partitions=slurm.FOUR_EACH)),
    "slurm_dynamic.txt": lambda: slurms("dynamic", slurm.declared()),
    "slurm_mapping.txt": lambda: slurms("mapping", slurm.for_jobs()),
    "netplan.txt": netplans,
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_as_it_was(name: str) -> None:
    text = TEXTS[name]()
    if os.environ.get("GOLDEN") == "write":
        (FILES / name).write_text(text, encoding="utf-8")
    assert text == (FILES / name).read_text(encoding="utf-8")


def test_every_file_is_compared() -> None:
    assert {path.name for path in FILES.iterdir()} == TEXTS.keys()
