# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pods.yml that cannot be meant: one sentence for each mistake names the place and the remedy, before any play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import ROOT
from tests.support.playbook_run import run_playbook

DECLARED = (ROOT / "inventories" / "sim_pod64" / "pods.yml").read_text()


def refusal(name: str, *options: str) -> str:
    """The output of a playbook that refuses."""
    done = run_playbook(name, *options, COLUMNS="1000")
    assert done.returncode != 0
    return done.stdout + done.stderr


def refused(where: Path, **changes: Any) -> Path:
    """A pods.yml with values of its own at some paths."""
    document: dict[str, Any] = yaml.safe_load(DECLARED)
    for path, value in changes.items():
        *parents, key = path.split("__")
        place = document
        for parent in parents:
            place = place[parent]
        place[key] = value
    (where / "pods.yml").write_text(yaml.safe_dump(document))
    return where / "pods.yml"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"pods__pod001__model": "bow-pod65"},
            "pods.pod001.model: 'bow-pod65' is not known (did you mean bow-pod64?); use one of bow-pod64",
        ),
        (
            {"pods__pod001__overrides": {"pod001-ipum3": {"gateway_address": "10.2.1.4"}}},
            "pods.pod001.overrides.pod001-ipum3.gateway_address: 10.2.1.4 of pod001-ipum3 is also the gateway_address",
        ),
        (
            {"pods__pod001__overrides": {"pod001-ipum3": {"switch_port": "Et9/1"}}},
            "pods.pod001.overrides.pod001-ipum3.switch_port: Ethernet9/1 of pod001-ipum3 is already the port of",
        ),
        (
            {"vpods__demo__partitions__train": {"ipus": 128}},
            "vpods.demo.partitions.train.ipus: 128 IPUs are more than the 64 of vPOD demo; use at most 64 or enlarge",
        ),
        ({"vpods__demo__partitions__train": {"ipus": 12}}, "12 IPUs do not exist as a partition; use 1, 2, 4, 8, 16"),
    ],
)
def test_site_and_validate_name_the_place_and_the_remedy(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = refused(tmp_path, **changes)
    # With -v, every play is told.
    output = refusal("site", "-v", "-i", str(tmp_path))
    assert sentence in " ".join(output.split())
    assert "PLAY" not in output
    assert sentence in refusal("validate", "-e", f"pods={path}")


def line_of(path: Path, text: str) -> int:
    """The number of the line that holds a text."""
    return [line.strip() for line in path.read_text().splitlines()].index(text) + 1


def test_each_mistake_has_a_line(tmp_path: Path) -> None:
    path = refused(tmp_path, pods__pod001__model="bow-pod65", vpods__demo__vlan=9999)
    output = refusal("validate", "-e", f"pods={path}")
    model, vlan = line_of(path, "model: bow-pod65"), line_of(path, "vlan: 9999")
    assert [line.strip() for line in output.splitlines()][1:4] == [
        f"{path} is refused:",
        f"pods.yml:{model}:5: pods.pod001.model: 'bow-pod65' is not known (did you mean bow-pod64?); use one of "
        "bow-pod64, ipu-pod64",
        f"pods.yml:{vlan}:5: vpods.demo.vlan: 9999 is not a whole number from 2 to 4094",
    ]


def test_a_run_without_pod_says_which_option_is_missing() -> None:
    assert "No pod to work on; say which with -i DIRECTORY" in " ".join(refusal("site").split())


@pytest.mark.parametrize("playbook", ["validate", "plan"])
def test_an_open_controller_with_several_vpods_is_one_warning(tmp_path: Path, playbook: str) -> None:
    document = {
        "plugin": "ipu.pod.pods",
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "managed": []}},
        "controllers": {"v": {"address": "127.0.0.2"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": {name: {"cluster": "c", "ipus": 16} for name in ("alice", "bob")},
    }
    (tmp_path / "pods.yml").write_text(yaml.safe_dump(document))
    variables = ["-e", "ansible_connection=local", "-e", f"plan_directory={tmp_path / 'plan'}"]
    done = run_playbook(playbook, "-i", str(tmp_path / "pods.yml"), *variables, COLUMNS="1000")
    assert (done.stdout + done.stderr).count("controllers.v.mode: insecure, with 2 vPODs (alice, bob)") == 1
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "plan").glob("*")}
    assert modes == ({0o600} if playbook == "plan" else set())
