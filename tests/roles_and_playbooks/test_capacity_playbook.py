# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/capacity.yml against a simulated controller: what is allocated there, and what nobody can say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.playbook_run import run_playbook
from tests.support.simulated_controller import running_agents, running_controller, vipu_admin

USER_PORT, ADMIN_PORT = 18390, 18391
MACHINES = {f"p-ipum{number}": f"127.47.0.{number}" for number in range(1, 17)}


@dataclass
class Site:
    """An inventory with one pod and its controller, which is on this host."""

    directory: Path

    def declare(self, managed: tuple[str, ...] = ("switch", "servers", "controller"), **vpods: Any) -> None:
        inventory = self.directory / "inventory"
        (inventory / "group_vars").mkdir(parents=True, exist_ok=True)
        document = {
            "plugin": "ipu.pod.pods",
            "schema": 1,
            "pods": {"p": {"model": "bow-pod64", "managed": list(managed), "excluded": ["p-ipum16"]}},
            "controllers": {"v": {"address": "127.0.0.2", "user_port": USER_PORT, "admin_port": ADMIN_PORT}},
            "clusters": {"c": {"controller": "v", "pods": ["p"]}},
            "vpods": vpods,
        }
        (inventory / "pods.yml").write_text(yaml.safe_dump(document))
        variables = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "vipu_controller_storage": str(self.directory / "vipu-server.json"),
        }
        (inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(variables))

    def capacity(self, *options: str) -> tuple[int, str]:
        done = run_playbook("capacity", *options, inventory=self.directory / "inventory", COLUMNS="1000")
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def site(tmp_path: Path) -> Site:
    found = Site(tmp_path)
    found.declare(alice={"cluster": "c", "ipus": 16})
    return found


def admin(site: Site, words: str) -> None:
    vipu_admin(site.directory, ADMIN_PORT, words)


@pytest.fixture
def controller(site: Site) -> Iterator[None]:
    with running_controller(site.directory, USER_PORT, ADMIN_PORT), running_agents(MACHINES):
        for name, address in MACHINES.items():
            admin(site, f"create agent {name} --host {address}")
        admin(site, f"create cluster c --agents {','.join(MACHINES)}")
        yield


@pytest.mark.usefixtures("controller")
def test_what_is_allocated_and_declared_and_out_of_order_is_not_free(site: Site) -> None:
    admin(site, "create allocation bob --agents p-ipum5,p-ipum6")
    code, output = site.capacity("-e", "ipus=32")
    assert code == 0, output
    assert "c: 36 of 64 IPUs free, in blocks: 1 of 16, 2 of 8, 1 of 4" in output
    assert "p  aaaa bb.. .... ...x  p-ipum1..16" in output
    assert "a alice, 16 IPUs, to come" in output
    output = " ".join(output.split())
    assert "bob (an allocation on v that is not declared, 8 IPUs on p-ipum5..6) are in the way" in output
    assert "moving alice to p-ipum9..12 and moving bob to p-ipum13..14 would make room" in output
    code, output = site.capacity("-e", "ipus=8")
    assert "8 IPUs: fits in c on p-ipum7..8" in output


def test_a_controller_that_is_not_set_up_yet_holds_nothing(site: Site) -> None:
    code, output = site.capacity()
    assert code == 0, output
    assert "c: 44 of 64 IPUs free" in output


def test_a_controller_that_cannot_be_read_is_an_error(site: Site) -> None:
    (site.directory / "vipu-server.json").write_text("{}")
    code, output = site.capacity()
    assert code == 2
    assert "start vipu-server on v, or correct the controller in pods.yml" in output
    site.declare(managed=("switch",))
    code, output = site.capacity()
    assert code == 2
    assert "clusters.c: its controller on v could not be read; let it answer" in output
