# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that is given a slice of an inventory, as AWX slices jobs, is refused before it asks any device."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import PROGRAMS, ROOT
from tests.support.playbook_run import environment_in, run_playbook

PLAYBOOKS = ROOT / "playbooks"
CHECK = PLAYBOOKS / "phases" / "declared_pods.yml"
# It reads pods.yml alone, and refuses a slice where it is given an inventory.
VALIDATE = PLAYBOOKS / "validate.yml"
# It has none.
NEW_SITE = PLAYBOOKS / "new_site.yml"
REFUSED = "the inventory has 11 of the 22 devices of pods.yml, and lacks pod001-tor; give each run the whole inventory"


def load(path: Path) -> list[dict[str, Any]]:
    document: list[dict[str, Any]] = yaml.safe_load(path.read_text())
    return document


def files_before_devices(path: Path) -> list[Path]:
    """The playbooks that one consists of, each that it imports before a play that is about more than localhost."""
    found = [path]
    for play in load(path):
        imported = play.get("ansible.builtin.import_playbook")
        if imported:
            found += files_before_devices((path.parent / imported).resolve())
            break
        if not play["hosts"].startswith("localhost"):
            break
    return found


def sliced(folder: Path, number: int, count: int) -> Path:
    """An inventory with every n-th host of the simulated POD64, by name, as AWX hands it to a job."""
    listed = subprocess.run(
        [f"{PROGRAMS}/ansible-inventory", "-i", str(ROOT / "inventories" / "sim_pod64"), "--list", "--export"],
        env=environment_in(ROOT),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    document = json.loads(listed.stdout)
    kept = sorted(document["_meta"]["hostvars"])[number - 1 :: count]
    document["_meta"]["hostvars"] = {host: document["_meta"]["hostvars"][host] for host in kept}
    for group in document.values():
        if "hosts" in group:
            group["hosts"] = [host for host in group["hosts"] if host in kept]
    inventory = folder / "hosts"
    inventory.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(document)}\nEND\n")
    inventory.chmod(0o755)
    return inventory


@pytest.mark.parametrize("path", sorted({*PLAYBOOKS.glob("*.yml")} - {VALIDATE, NEW_SITE}), ids=lambda path: path.stem)
def test_every_playbook_checks_its_inventory_before_it_asks_a_device(path: Path) -> None:
    assert CHECK in files_before_devices(path)


@pytest.mark.parametrize(("name", "limit"), [("site", ""), ("site", "pod001-poplar2"), ("runs", ""), ("validate", "")])
def test_a_slice_of_an_inventory_is_refused(name: str, limit: str, tmp_path: Path) -> None:
    options = ("--limit", limit) if limit else ()
    run = run_playbook(name, *options, inventory=sliced(tmp_path, 1, 2), ANSIBLE_INVENTORY_ENABLED="script")
    assert (run.returncode, REFUSED in run.stdout) == (2, True), run.stdout + run.stderr
    assert "unreachable=1" not in run.stdout


def test_the_whole_of_it_is_taken(tmp_path: Path) -> None:
    run = run_playbook("validate", inventory=sliced(tmp_path, 1, 1), ANSIBLE_INVENTORY_ENABLED="script")
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
