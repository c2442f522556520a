# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's validate command, run as the README says, on good, bad and missing files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

PROGRAM = Path(sys.executable).parent / "ansible-playbook"


def validate(pods: str) -> subprocess.CompletedProcess[str]:
    return run("-e", f"pods={pods}")


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "playbooks/validate.yml", *options],
        cwd=ROOT,
        env={**os.environ, "PWD": str(ROOT), "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("inventory", ["sim_pod64", "pod64", "pod128"])
def test_the_examples_are_good(inventory: str) -> None:
    done = validate(f"inventories/{inventory}/pods.yml")
    assert done.returncode == 0, done.stdout


def test_containers_that_share_a_vlan_are_called_not_isolated_and_are_no_error() -> None:
    done = validate("inventories/sim_containers_shared/pods.yml")
    assert done.returncode == 0, done.stdout
    said = " ".join((done.stdout + done.stderr).split())
    for vpod, vlan in (("alice", 201), ("bob", 202)):
        assert (
            f"vpods.{vpod}.containers: containers that share a VLAN are not isolated from each other, and those of "
            f"{vpod} share VLAN {vlan}; "
        ) in said
    assert "vpods.carol" not in said


def test_all_errors_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    bad = tmp_path / "pods.yml"
    bad.write_text("{plugin: ipu.pod.pods, schema: 1, pods: {p: {model: x, lrack: 0}}}")
    done = validate(str(bad))
    assert done.returncode != 0
    assert "pods.yml:1:46: pods.p.model: 'x' is not known" in done.stdout + done.stderr
    assert "pods.yml:1:56: pods.p.lrack: 0 is not a whole number from 1 to 254" in done.stdout + done.stderr


def test_a_file_that_is_not_there_is_named_with_the_remedy() -> None:
    done = validate("nowhere/pods.yml")
    assert done.returncode != 0
    assert f"{ROOT}/nowhere/pods.yml is no file; say which with -e pods=FILE" in " ".join(done.stdout.split())


ROCE = {"name": "rnic0", "trust": "dscp", "dscp_map": {26: 3}, "pfc": [3]}
STORAGE = {"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "vlan_id": 300}


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    pod = {"model": "bow-pod64", "poplar_servers": 2, "rnic": {"interface": "rnic0", "vlan": 101}}
    pod |= {"vlans": {"storage": 300}, "tor": {"roce": "reference"}}
    declared = {"plugin": "ipu.pod.pods", "schema": 1, "pods": {"p": pod}}
    (tmp_path / "pods.yml").write_text(json.dumps(declared))
    (tmp_path / "host_vars").mkdir()
    return tmp_path


def declare(inventory: Path, server: int, roce: dict[str, object], storage: str) -> None:
    more = [{**STORAGE, "addresses": [storage]}]
    variables = {"poplar_server_roce": [roce], "poplar_server_more_interfaces": more}
    (inventory / "host_vars" / f"p-poplar{server}.yml").write_text(json.dumps(variables))


def test_variables_of_roles_that_agree_with_the_inventory(inventory: Path) -> None:
    declare(inventory, 1, ROCE, "10.6.0.1/24")
    declare(inventory, 2, ROCE, "10.6.0.2/24")
    done = run("-i", str(inventory))
    assert done.returncode == 0, done.stdout
    assert done.stdout == "nothing changed\n"


def test_variables_of_roles_that_contradict_the_inventory_are_all_named(inventory: Path) -> None:
    declare(inventory, 1, {**ROCE, "pfc": [4], "dscp_map": {26: 4}}, "10.6.0.1/24")
    declare(inventory, 2, {**ROCE, "trust": "pcp"}, "10.7.0.2/24")
    done = run("-i", str(inventory))
    assert done.returncode != 0
    for sentence in (
        "p-poplar1 rnic0 (PFC on priority 4 by poplar_server_roce) and p-tor Ethernet25/1 (PFC on priority 3 by "
        "pods.p.tor.roce): PFC is hop by hop; give both the same priorities",
        "p-poplar2 rnic0 (trusts pcp by poplar_server_roce) and p-tor Ethernet27/1 (trusts dscp by pods.p.tor.roce): ",
        "p-poplar1 rnic0.300 (10.6.0.1/24) and p-poplar2 rnic0.300 (10.7.0.2/24): both are in VLAN 300 of p-tor; ",
    ):
        assert sentence in done.stdout + done.stderr


def test_an_inventory_with_vpods_needs_no_controller(inventory: Path) -> None:
    document = json.loads((inventory / "pods.yml").read_text())
    document["controllers"] = {"v": {"address": "10.9.0.1"}}
    document["clusters"] = {"c": {"controller": "v", "pods": ["p"]}}
    document["vpods"] = {"alice": {"cluster": "c", "ipus": 32}, "bob": {"cluster": "c", "ipus": 32}}
    (inventory / "pods.yml").write_text(json.dumps(document))
    done = run("-i", str(inventory))
    assert done.returncode == 0, done.stdout
    document["pods"]["p"]["excluded"] = ["p-ipum7"]
    (inventory / "pods.yml").write_text(json.dumps(document))
    # Whether one of them may stay on it, only the controller knows.
    assert run("-i", str(inventory)).returncode == 0


def test_pins_that_are_no_block_are_a_warning(inventory: Path) -> None:
    document = json.loads((inventory / "pods.yml").read_text())
    document["controllers"] = {"v": {"address": "10.9.0.1"}}
    document["clusters"] = {"c": {"controller": "v", "pods": ["p"]}}
    document["vpods"] = {"alice": {"cluster": "c", "ipus": 8, "ipu_machines": ["p-ipum2", "p-ipum3"]}}
    # It may be there already, as in a pod that was adopted.
    (inventory / "pods.yml").write_text(json.dumps(document, indent=2))
    done = run("-i", str(inventory))
    assert done.returncode == 0
    assert "vpods.alice.ipu_machines: p-ipum2..3 are no aligned block of" in " ".join(done.stderr.split())


def test_vpods_that_find_no_place_in_an_empty_pod_are_refused_by_their_line(inventory: Path) -> None:
    document = json.loads((inventory / "pods.yml").read_text())
    rack = {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": 2}
    document["pods"] = {"p": {**rack, "lrack": 1}, "q": {**rack, "lrack": 2}}
    document["controllers"] = {"v": {"address": "10.9.0.1", "mode": "secure"}}
    document["clusters"] = {"c": {"controller": "v", "pods": ["p", "q"]}}
    of_all = {"cluster": "c", "ipus": 64}
    document["vpods"] = {
        name: {**of_all, "vlan": 200 + number, "users": [name], "poplar_servers": [f"p-poplar{number}"]}
        for number, name in enumerate(("alice", "bob"), start=1)
    }
    (inventory / "pods.yml").write_text(json.dumps(document, indent=2))
    done = run("-i", str(inventory))
    assert done.returncode != 0
    assert "vpods.bob" in done.stdout
    assert "find no free aligned block" in done.stdout
