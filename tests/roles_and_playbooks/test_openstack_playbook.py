# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run whose pods.yml declares a cloud, on a control node that cannot reach it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.loopback import closed_port
from tests.support.playbook_run import run_playbook


def inventory_in(folder: Path, **cloud: Any) -> Path:
    """A pod that is only read, and a cloud."""
    declared = {
        "plugin": "ipu.pod.pods",
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "managed": []}},
        "clouds": {
            "cloud001": {
                "physical_network": "rnic",
                "control_network": "control",
                "control_sources": ["10.6.0.0/16"],
                **cloud,
            }
        },
    }
    (folder / "pods.yml").write_text(yaml.safe_dump(declared))
    return folder


def test_a_cloud_that_clouds_yaml_does_not_have_is_named(tmp_path: Path) -> None:
    done = run_playbook("openstack", inventory=inventory_in(tmp_path), COLUMNS="1000")
    assert done.returncode != 0
    assert "cloud001: Cloud cloud001 was not found" in done.stdout
    assert "correct its entry in clouds.yaml\n  Nothing has been touched." in done.stdout


def test_a_keystone_that_does_not_answer_is_named(tmp_path: Path) -> None:
    auth = {
        "username": "admin",
        "password": "s3cret",
        "project_name": "admin",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }
    clouds, inventory = tmp_path / "clouds.yaml", tmp_path / "inventory"
    inventory.mkdir()
    with closed_port() as port:
        auth["auth_url"] = f"http://127.0.0.1:{port}/v3"
        clouds.write_text(yaml.safe_dump({"clouds": {"here": {"auth": auth, "region_name": "RegionOne"}}}))
        done = run_playbook(
            "site", inventory=inventory_in(inventory, entry="here"), COLUMNS="1000", OS_CLIENT_CONFIG_FILE=str(clouds)
        )
    assert done.returncode != 0
    assert "cloud001: cloud here: Keystone does not answer" in done.stdout
    assert "s3cret" not in done.stdout + done.stderr


def test_an_image_that_is_no_file_is_named_before_the_cloud_is_asked(tmp_path: Path) -> None:
    inventory = inventory_in(tmp_path, images={"poplar": {"file": "/nowhere/poplar.qcow2"}})
    done = run_playbook("openstack", inventory=inventory, COLUMNS="1000")
    assert done.returncode != 0
    assert "image poplar: /nowhere/poplar.qcow2 cannot be read" in done.stdout


@pytest.mark.parametrize("playbook", ["openstack", "site"])
def test_a_limit_leaves_a_cloud_out(tmp_path: Path, playbook: str) -> None:
    done = run_playbook(playbook, "--limit", "!cloud001", inventory=inventory_in(tmp_path), COLUMNS="1000")
    assert done.returncode == 0, done.stdout
    assert "Left out by --limit: cloud001" in done.stdout
