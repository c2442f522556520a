# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the picture of a plan's page in docs/, and the page itself in build/plan-example, from a pod in memory.

The page is what playbooks/plan.yml writes for such a pod. The picture needs Chromium; without it there is only the
page.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import allocations_of, document_of, plan_view
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.support.in_memory.pod import CONTROLLER, PodInMemory

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "build" / "plan-example" / "plan.html"
PICTURE = ROOT / "docs" / "plan.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = "780,1190"
MADE_AT = "2026-11-27T09:00:00Z"

ALICE: dict[str, Any] = {
    "cluster": "c001",
    "ipus": 16,
    "vlan": 101,
    "users": ["alice"],
    "poplar_servers": ["pod001-poplar1"],
    "partitions": {"train": {"ipus": 16}},
}
BOB: dict[str, Any] = {**ALICE, "vlan": 102, "users": ["bob"], "poplar_servers": ["pod001-poplar2"]}
BOB["partitions"] = {"serve": {"ipus": 16}}
CAROL: dict[str, Any] = {**ALICE, "ipus": 8, "vlan": 103, "users": ["carol"], "poplar_servers": ["pod001-poplar3"]}
CAROL["partitions"] = {"try": {"ipus": 8}}


def declared(vpods: dict[str, Any]) -> Declaration:
    """A rack with these vPODs."""
    pod = {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": 3, "vlans": {"quarantine": 999}}
    return parse_declaration(
        {
            "schema": 1,
            "pods": {"pod001": {**pod, "rnic": {"interface": "rnic0"}}},
            "controllers": {CONTROLLER: {"address": "10.3.1.200", "mode": "secure"}},
            "clusters": {"c001": {"controller": CONTROLLER, "pods": ["pod001"]}},
            "vpods": vpods,
        }
    )


def page() -> str:
    """The page of a plan in which a vPOD is new, and somebody has changed a port of another one."""
    pod = PodInMemory([f"pod001-poplar{number}" for number in (1, 2, 3)], "pod001-tor")
    pod.carry_out(pod.decide(declared({"alice": ALICE, "bob": BOB})))
    pod.switch.switch.configure("interface Ethernet9/1", "switchport access vlan 1")
    pod.touch("pod001-tor")
    declaration = declared({"alice": ALICE, "bob": BOB, "carol": CAROL})
    decision = pod.decide(declaration)
    document = document_of(decision, pod.looks(), declaration, MADE_AT, "ann")
    placement = {**allocations_of(declaration, pod.looks())[CONTROLLER], **decision.tenancy.placement}
    return plan_view(document, declaration, placement).files["plan.html"]


def main() -> int:
    """Write both; the exit status is 1 if there is no browser for the picture."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} is written")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"there is no browser for the picture; install one, e.g. apt-get install {BROWSERS[0]}")
        return 1
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={SIZE}", f"--screenshot={PICTURE}"]
    subprocess.run([browser, *options, PAGE.as_uri()], check=True, capture_output=True)
    print(f"{PICTURE} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
