# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory as other programs get it: from ``ansible-inventory``, in JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkout import ROOT
from tests.support.hostile import TEMPLATE, nothing_ran

PROGRAM = Path(sys.executable).parent / "ansible-inventory"


def listed(inventory: str) -> dict[str, Any]:
    done = subprocess.run([PROGRAM, "-i", inventory, "--list"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize(("inventory", "hosts"), [("sim_pod64", 22), ("pod64", 19), ("pod128", 42)])
def test_the_examples_are_inventories_of_plain_values(inventory: str, hosts: int) -> None:
    document = listed(f"inventories/{inventory}")
    assert len(document["_meta"]["hostvars"]) == hosts
    assert "__ansible_unsafe" not in json.dumps(document)


def test_the_second_rack_of_a_pod128_is_cabled_top_down_but_for_one() -> None:
    ports = {
        host: variables["switch_port"]
        for host, variables in listed("inventories/pod128")["_meta"]["hostvars"].items()
        if host.startswith("pod002-ipum")
    }
    assert (ports["pod002-ipum1"], ports["pod002-ipum3"], ports["pod002-ipum16"]) == (
        "Ethernet24/1",
        "Ethernet8/1",
        "Ethernet9/1",
    )


def test_a_refused_file_ends_with_an_error_that_says_everything(tmp_path: Path) -> None:
    bad = tmp_path / "pods.yml"
    bad.write_text("plugin: ipu.pod.pods\nschema: 1\npods:\n  p: {model: x,\n      lrack: 0}\n")
    done = subprocess.run([PROGRAM, "-i", str(bad), "--list"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "pods.yml:4:7: pods.p.model: 'x' is not known" in done.stderr
    assert "pods.yml:5:7: pods.p.lrack: 0 is not a whole number from 1 to 254" in done.stderr


def test_an_encrypted_file_is_refused_by_its_lines_too(tmp_path: Path) -> None:
    bad, password = tmp_path / "pods.yml", tmp_path / "password"
    bad.write_text("plugin: ipu.pod.pods\nschema: 1\npods: {p: {model: x}}\n")
    password.write_text("secret")
    vault = ["--vault-password-file", str(password)]
    subprocess.run([PROGRAM.parent / "ansible-vault", "encrypt", *vault, str(bad)], check=True, capture_output=True)
    done = subprocess.run(
        [PROGRAM, "-i", str(bad), *vault, "--list"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "pods.yml:3:12: pods.p.model: 'x' is not known" in done.stderr


def run_in(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program with the configuration of the checkout."""
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_template_in_pods_yml_is_refused_with_its_place_and_does_not_run(tmp_path: Path) -> None:
    bad = tmp_path / "pods.yml"
    text = json.dumps(TEMPLATE)
    bad.write_text(
        f"plugin: ipu.pod.pods\nschema: 1\npods:\n  p:\n    tor: {{ports: {{Et30: {{description: {text}}}}}}}\n"
        "    rnic: {vlan: 5, vlan_name: \"{{lookup('pipe','id')}}\"}\n"
    )
    done = run_in(tmp_path, PROGRAM, "-i", bad, "--list")
    assert done.returncode != 0
    assert "pods.yml:5:26: pods.p.tor.ports.Et30.description: " in done.stderr
    assert "pods.yml:6:21: pods.p.rnic.vlan_name: " in done.stderr
    assert "since what is declared is never a template" in done.stderr
    assert nothing_ran(tmp_path)


def test_the_path_of_pods_yml_is_no_template(tmp_path: Path) -> None:
    folder = tmp_path / TEMPLATE
    folder.mkdir()
    (folder / "pods.yml").write_text((ROOT / "inventories" / "pod64" / "pods.yml").read_text())
    show = ["-m", "ansible.builtin.debug", "-a", "var=ipu_pod_file"]
    shown = run_in(tmp_path, PROGRAM.parent / "ansible", "-i", folder / "pods.yml", "pod001-poplar1", *show)
    assert str(folder) in " ".join(shown.stdout.split()), shown.stderr
    assert nothing_ran(tmp_path)


def test_a_cloud_is_a_host_that_runs_with_the_python_of_ansible(tmp_path: Path) -> None:
    given = tmp_path / "pods.yml"
    given.write_text(
        "plugin: ipu.pod.pods\nschema: 1\npods: {p: {model: bow-pod64}}\n"
        "clouds: {cloud001: {physical_network: rnic, control_network: control, control_sources: [10.6.0.0/16]}}\n"
    )
    command = (PROGRAM.parent / "ansible", "-i", given, "clouds", "-m", "ansible.builtin.debug", "-a")
    done = run_in(tmp_path, *command, "msg='{{ ansible_python_interpreter }} {{ group_names }}'")
    assert f"{PROGRAM.parent}/python" in done.stdout
    assert "['clouds', 'ipu_pods']" in done.stdout
