# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks that only look, run against the pod of this folder, and what a hand does to it meanwhile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.checkout import ROOT

INVENTORY = ROOT / "inventories" / "sim_pod64"
SERVERS = [f"pod001-poplar{n}" for n in range(1, 5)]
SWITCH, CONTROLLER = "pod001-tor", "ctrl001"

Resource = tuple[str, str, str]


@dataclass(frozen=True)
class ByHand:
    """Something that a person does to a device, how it is taken back, and what is found of it.

    Commands with ``SWITCH`` are typed into its configuration, others run on the host.
    """

    device: str
    does: str
    undoes: str
    found: tuple[tuple[str, str], ...]

    @property
    def things(self) -> set[Resource]:
        return {(self.device, kind, name) for kind, name in self.found}


class Reviewer:
    """The read-only playbooks, run against a pod."""

    def __init__(self, pod: Any, directory: Path) -> None:
        self.pod = pod
        self.directory = directory

    @property
    def saved_plan(self) -> Path:
        return self.directory / "plan.json"

    def plan(self, *options: str, inventory: Path = INVENTORY) -> dict[str, Any]:
        return self.plan_and_words(*options, inventory=inventory)[0]

    def plan_and_words(self, *options: str, inventory: Path = INVENTORY) -> tuple[dict[str, Any], str]:
        code, output = self.pod.say("plan", "-e", f"plan_directory={self.directory}", *options, inventory=inventory)
        assert code == 0, output
        return json.loads(self.saved_plan.read_text()), output

    def drift(self, *options: str, inventory: Path = INVENTORY) -> tuple[int, dict[str, Any]]:
        code, output = self.pod.say("drift", "-e", f"drift_directory={self.directory}", *options, inventory=inventory)
        assert "drift.json" in {path.name for path in self.directory.iterdir()}, output
        return code, json.loads((self.directory / "drift.json").read_text())

    def apply(self) -> tuple[int, str]:
        code, output = self.pod.say("apply", "-e", f"plan={self.saved_plan}")
        return code, output

    def act(self, *deeds: ByHand, undo: bool = False) -> None:
        for deed in deeds:
            command = deed.undoes if undo else deed.does
            if deed.device == SWITCH:
                self.pod.switch("configure", *command.split("; "))
            else:
                self.pod.inside(deed.device, command)


def everything(pod: Any) -> dict[str, Any]:
    """All state that a run could touch, as it is kept and as it runs."""
    live = (
        "ip -details address; ip route; mlnx_qos -i rnic0 2>/dev/null; systemctl list-units --no-legend --state=active"
    )
    return {
        "kept": pod.fingerprint(),
        "writes": pod.write_requests(),
        "sessions": pod.switch("show configuration sessions detail"),
        "running": [line for line in str(pod.switch("show running-config")).splitlines() if "Time:" not in line],
        **{host: steady(pod.inside(host, live)) for host in (*SERVERS, CONTROLLER)},
    }


def steady(text: str) -> list[str]:
    """Without lifetimes, which run, and sessions, which come and go with those who look."""
    return [
        line
        for line in text.splitlines()
        if "valid_lft" not in line and "session" not in line and "user@" not in line and "user-runtime-dir" not in line
    ]
