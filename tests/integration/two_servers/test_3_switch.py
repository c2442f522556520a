# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ToR of the simulated POD64 after site.yml: lossless RoCE, a canary, cables, what is saved."""

from __future__ import annotations

import json
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import brought_up
from tests.integration.two_servers.conftest import INVENTORY
from tests.support.simulated_pod import STATE

RNIC_PORTS = [*range(9, 26), 27]


def inventory(folder: Path, **words: Any) -> Path:
    """The simulated pod's inventory with some other words for its pod."""
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["pods"]["pod001"].update(words)
    (folder / "pods.yml").write_text(yaml.safe_dump(document))
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    return folder


def sessions() -> list[str]:
    """The sessions that the ToR was asked to confirm, in order."""
    log = (STATE / "switches" / "pod001-tor" / "requests.log").read_text().splitlines()
    commands = [command for line in log for command in json.loads(line)["commands"]]
    return [
        command.split()[2] for command in commands if command.startswith("configure session ") and "commit" in command
    ]


def test_one_line_makes_roce_lossless_on_every_rnic_port_and_packets_still_pass(pod: Any) -> None:
    config = pod.switch("show running-config")[1]["output"]
    blocks = config.split("\n!\n")
    have = [block.splitlines()[0] for block in blocks if "service-profile ROCE" in block]
    assert have == [f"interface Ethernet{number}/1" for number in RNIC_PORTS]
    assert pod.playbook("verify").code == 0


def test_a_canary_is_changed_and_confirmed_before_the_others(pod: Any, tmp_path: Path) -> None:
    tor = {"mtu": 9100, "roce": "reference", "canary": ["pod001-ipum16"]}
    run = pod.playbook("tor_switches", inventory=inventory(tmp_path, tor=tor))
    assert (run.code, run.messages) == (0, "")
    first, second = sessions()[-2:]
    assert first == f"{second}_canary"
    assert pod.playbook("site").code == 0


def test_the_cables_are_as_declared(pod: Any) -> None:
    run = pod.playbook("cabling")
    assert (run.code, run.messages) == (0, "")
    rows = [line.split() for line in run.reported if line.startswith("Ethernet")]
    assert len(rows) > 16
    assert {verdict for _, declared, *_, verdict in rows if declared.startswith("pod001-ipum")} == {"right"}


def test_a_cable_that_is_not_as_declared_is_named(pod: Any, tmp_path: Path) -> None:
    swapped = {"pod001-ipum3": {"switch_port": "Et12"}, "pod001-ipum4": {"switch_port": "Et11"}}
    run = pod.playbook("cabling", inventory=inventory(tmp_path, overrides=swapped))
    assert run.code != 0
    assert "Ethernet11/1 has pod001-ipum3, but pods.yml says pod001-ipum4" in run.messages


def answers(pod: Any) -> bool:
    """Whether the first IPU-Machine answers a server of its vPOD."""
    return "yes" in pod.inside("pod001-poplar1", "ping -c 1 -W 1 10.5.1.1 >/dev/null && echo yes || echo no")


def test_a_change_that_nobody_confirms_is_gone_again_from_configuration_and_data_plane(pod: Any) -> None:
    before = pod.switch("show running-config")[1]["output"]
    assert answers(pod)
    lost = pod.module(
        "pod001-tor",
        "tor_switch",
        vlans=[{"vlan_id": 999}],
        ports=[{"name": "Et9/1", "vlan": 999}],
        confirm=False,
        confirm_within=10,
        checks={"settle_within": 5},
    )
    committed = time.monotonic()
    assert lost["pending"]["session"] == lost["session"]
    assert not answers(pod)
    while (now := pod.switch("show running-config")[1]["output"]) != before and time.monotonic() < committed + 30:
        time.sleep(1)
    assert now == before
    assert answers(pod)


def saved(pod: Any) -> str:
    """The startup-config of the ToR."""
    return str(pod.switch("show startup-config")[1]["output"])


def test_a_confirmed_change_that_was_not_saved_is_saved_by_the_next_run_and_survives_a_reload(
    pod: Any, tmp_path: Path
) -> None:
    """As after a run that was killed in between: the old isolation is what the switch would start with."""
    brought_up(pod)
    port = ("configure", "interface Ethernet9/1")
    pod.switch(*port, "switchport access vlan 1", "end", "write", *port, "switchport access vlan 101")
    told = "in force, but not saved, and lost at the next reload: port Ethernet9/1"
    for playbook, expected in (("plan", 0), ("drift", 2), ("site", 0)):
        options = ("--check",) if playbook == "site" else ("-e", f"{playbook}_directory={tmp_path}")
        code, said = pod.say(playbook, *options, inventory=INVENTORY)
        assert (code, said.count("update startup_config startup-config"), told in said) == (expected, 1, True), said
    assert "not saved" in pod.say("vpod_status", inventory=INVENTORY)[1]

    # What somebody else tries is not made permanent.
    before = saved(pod)
    pod.switch("configure", "vlan 700", "name trial")
    run = pod.playbook("site")
    assert run.code != 0
    assert (
        f"{told}; to be saved only together with lines of others, which are not saved either: vlan 700;" in run.messages
    )
    assert "trial" not in run.messages
    assert saved(pod) == before
    pod.switch("configure", "no vlan 700")

    run = pod.playbook("site")
    assert (run.code, run.messages) == (0, "")
    assert {host for host, changed in run.changed.items() if changed} == {"pod001-tor"}
    with pytest.raises((OSError, HTTPException)):
        pod.switch("reload now")
    assert answers(pod)
    assert pod.say("drift", "-e", f"drift_directory={tmp_path}", inventory=INVENTORY)[0] == 0
