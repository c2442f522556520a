# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Things that are configured as declared and do not work are in every report with a remedy, and left alone."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from tests.integration.two_servers.conftest import INVENTORY, below, first_process
from tests.support.simulated_pod import STATE

SEEN = STATE / "switches" / "pod001-tor" / "surroundings.json"
SHUT, ERRDISABLED, BLOCKED = "Ethernet25/1", "Ethernet10/1", "Ethernet11/1"
NETWORKD = "systemd-networkd.service"


def declaring(folder: Path, tor: dict[str, Any]) -> Path:
    """The inventory with further words for its switch."""
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["pods"]["pod001"]["tor"].update(tor)
    folder.mkdir()
    (folder / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    return folder


@contextmanager
def seen(**faults: Any) -> Iterator[None]:
    """The switch sees this, too."""
    before = SEEN.read_text()
    SEEN.write_text(json.dumps({**json.loads(before), **faults}))
    try:
        yield
    finally:
        SEEN.write_text(before)


@contextmanager
def without_answer(pod: Any, machine: str) -> Iterator[None]:
    """The V-IPU agent of an IPU-Machine hangs, and its controller knows; afterwards its partition works again."""
    agent = below(first_process(machine), "agent")
    os.kill(agent, signal.SIGSTOP)
    try:
        pod.inside("ctrl001", until(f"vipu-admin -P 8091 get agent {machine} | grep -q Down"))
        yield
    finally:
        os.kill(agent, signal.SIGCONT)
        pod.inside("ctrl001", until(f"vipu-admin -P 8091 get agent {machine} | grep -q Up"))
        pod.inside("ctrl001", until("vipu-admin -P 8091 get partition train | grep -q ACTIVE"))


def until(command: str) -> str:
    return f"timeout 60 sh -c 'until {command}; do sleep 0.2; done'"


class Drift:
    """The reports of drift.yml."""

    def __init__(self, pod: Any, directory: Path) -> None:
        self.code, self.said = pod.say("drift", "-e", f"drift_directory={directory}", inventory=INVENTORY)
        self.report = json.loads((directory / "drift.json").read_text())
        self.markdown = (directory / "drift.md").read_text()
        cases = ElementTree.parse(directory / "junit.xml").iter("testcase")
        self.failed = {case.get("name") for case in cases if case.find("failure") is not None}
        self.findings = {(each["kind"], each["name"]): each["finding"] for each in self.report["findings"]}
        self.steps = {(step["device"], step["kind"], step["name"]) for step in self.report["steps"]}


def test_a_vlan_that_a_trunk_does_not_carry_is_drift(pod: Any, tmp_path: Path) -> None:
    pod.switch("configure", "vlan 101", "trunk group peers")
    drift = Drift(pod, tmp_path)
    pod.switch("configure", "vlan 101", "no trunk group peers")
    assert (drift.code, drift.steps) == (2, set()), drift.said
    assert drift.findings == {
        ("port", port): f"port {port} (vpod demo) carries VLAN 101 by its configuration only"
        for port in ("Ethernet25/1", "Ethernet27/1")
    }


def test_what_does_not_work_is_in_every_report_and_left_alone(pod: Any, tmp_path: Path) -> None:
    pod.switch("configure", "vlan 101", "state suspend", f"interface {SHUT}", "shutdown")
    pod.inside("pod001-poplar1", f"systemctl stop {NETWORKD}")
    pod.inside("pod001-poplar2", "ip link set rnic0 down")
    with without_answer(pod, "pod001-ipum1"), seen(errdisabled={ERRDISABLED: "bpduguard"}, blocked={"MST0": [BLOCKED]}):
        drift = Drift(pod, tmp_path / "drift")
        code, plan = pod.say("plan", "-e", f"plan_directory={tmp_path / 'plan'}", inventory=INVENTORY)
        _, status = pod.say("vpod_status", inventory=INVENTORY)
    pod.switch("configure", "vlan 101", "state active")
    assert drift.code == 2, drift.said
    assert drift.report["unseen"] == []
    assert drift.findings == {
        ("vlan", "101"): "VLAN 101 is suspended, so no port carries it",
        ("port", SHUT): f"port {SHUT} (vpod demo) is shut down",
        ("port", ERRDISABLED): f"port {ERRDISABLED} (vpod demo) is err-disabled",
        ("port", BLOCKED): f"port {BLOCKED} (vpod demo) is blocked by spanning tree (MST0)",
        ("agent", "pod001-ipum1"): "agent pod001-ipum1 is Down, says the V-IPU controller on ctrl001",
        ("partition", "train"): "partition train is in ERROR: agent 'pod001-ipum1' is down",
    }
    # The next run starts a service and a NIC; without its service, a NIC has no file that it is configured from.
    nic = ("interface", "rnic0")
    assert drift.steps == {("pod001-poplar1", "service", NETWORKD), ("pod001-poplar1", *nic), ("pod001-poplar2", *nic)}
    assert drift.failed == {name for _kind, name in drift.findings} | {NETWORKD, "rnic0"}
    assert code == 0
    page, markdown = ((tmp_path / "plan" / name).read_text() for name in ("plan.html", "plan.md"))
    for finding in drift.findings.values():
        for text in (drift.said, plan, status):
            assert finding in text
        assert finding.replace("'", "&#39;") in page
        assert finding in markdown.replace("\\", "")
        assert finding in drift.markdown.replace("\\", "")
    row = next(line.split() for line in status.splitlines() if line.startswith("demo "))
    assert row == ["demo", *["not", "working"] * 2, *["not", "yet"], "done", *["not", "working"], "done"]


def test_a_run_does_not_open_a_shut_port_and_says_what_to_do(pod: Any) -> None:
    run = pod.playbook("site")
    assert run.code != 0
    assert SHUT in run.messages
    assert "give it `enabled: true`" in run.messages or "give the port `enabled: true` in pods.yml" in run.messages
    assert "shutdown" in interface(pod)


def test_it_opens_a_port_that_is_declared_open(pod: Any, tmp_path: Path) -> None:
    inventory = declaring(tmp_path / "inventory", {"ports": {SHUT: {"enabled": True}}})
    run = pod.playbook("site", inventory=inventory)
    assert (run.code, run.messages) == (0, "")
    assert "shutdown" not in interface(pod)


def interface(pod: Any) -> str:
    """The configuration of the port that was shut."""
    return str(pod.switch(f"show running-config interfaces {SHUT}")[1]["output"])


def test_a_server_whose_v_ipu_user_sees_nothing_is_named_in_the_verification(pod: Any) -> None:
    settings = "/etc/vipu/vipu-cli.hcl"
    pod.inside("pod001-poplar1", f"mv {settings} {settings}.kept")
    code, said = pod.say("verify", inventory=INVENTORY)
    pod.inside("pod001-poplar1", f"mv {settings}.kept {settings}")
    assert code != 0
    assert "`vipu list partitions` failed on pod001-poplar1: " in said
    assert "; run site.yml, which puts back what has changed since." in said
    assert "non-zero return code" not in said
