# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the vPODs lie is what the controller says, whether it is managed, within --limit, or neither."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import ROOT
from tests.support.simulated_controller import running_agents, running_controller, vipu_admin
from tests.support.simulated_tor import Tor, running_tor

MACHINES = {f"p-ipum{n}": f"127.46.0.{n}" for n in range(1, 17)}
USER_PORT, ADMIN_PORT = 18290, 18291
CONTROLLERS_OWN = {"vipu_controller_storage": "vipu-server.json", "pod_lock_directory": "beside"}


def document(managed: tuple[str, ...] = ("switch",), **of_alice: Any) -> dict[str, Any]:
    return {
        "plugin": "ipu.pod.pods",
        "schema": 1,
        "pods": {
            "p": {
                "model": "bow-pod64",
                "managed": list(managed),
                "tor": {"address": "127.0.0.1"},
                "overrides": {
                    "p-poplar1": {"management_address": "127.0.0.3"},
                    **{name: {"gateway_address": address} for name, address in MACHINES.items()},
                },
            }
        },
        "controllers": {"v": {"address": "127.0.0.2", "user_port": USER_PORT, "admin_port": ADMIN_PORT}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": {"alice": {"cluster": "c", "ipus": 16, "vlan": 101, **of_alice}},
    }


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Tor]:
    with running_tor(tmp_path) as tor:
        tor.declare(document())
        own = {name: str(tmp_path / path) for name, path in CONTROLLERS_OWN.items()}
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, **own}
        (tor.inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(local))
        (tor.inventory / "group_vars" / "poplar_servers.yml").write_text("ansible_port: 9\n")
        yield tor


@pytest.fixture
def controller(rack: Tor) -> Iterator[None]:
    with running_agents(MACHINES), running_controller(rack.directory, USER_PORT, ADMIN_PORT, "--creation-time", "0.05"):
        for name, address in MACHINES.items():
            admin(rack, f"create agent {name} --host {address}")
        admin(rack, f"create cluster c --agents {','.join(MACHINES)}")
        yield


def admin(rack: Tor, words: str) -> None:
    vipu_admin(rack.directory, ADMIN_PORT, words)


def site(rack: Tor, *options: str) -> subprocess.CompletedProcess[str]:
    state = ["-e", f"pod_lock_own_directory={rack.directory / 'state'}"]
    return rack.playbook(ROOT / "playbooks" / "site.yml", *state, *options, COLUMNS="1000")


def in_vlan_101(rack: Tor) -> list[int]:
    """The numbers of the ports of IPU-Machines that are in alice's VLAN."""
    config = (rack.directory / "running-config").read_text()
    ports = config.split("interface Ethernet")[1:]
    return [int(port.split("/")[0]) for port in ports if "switchport access vlan 101" in port]


@pytest.mark.usefixtures("controller")
def test_the_ports_follow_the_allocation_that_somebody_else_made(rack: Tor) -> None:
    admin(rack, "create allocation bob --size 16")
    admin(rack, "create allocation alice --size 16")
    done = site(rack)
    assert done.returncode == 0, done.stdout + done.stderr
    assert in_vlan_101(rack) == [13, 14, 15, 16]
    assert "Not managed by pods.yml: Poplar servers p-poplar1; V-IPU controllers on v" in done.stdout


@pytest.mark.usefixtures("controller")
def test_without_an_allocation_it_is_not_known_where_the_vpod_lies(rack: Tor) -> None:
    done = site(rack)
    assert done.returncode == 2
    assert (
        "vpods.alice: the controller on v, which is not managed, has no allocation of that name; make it there, or pin "
        "its IPU-Machines (ipu_machines)"
    ) in done.stdout
    assert in_vlan_101(rack) == []


def test_a_controller_that_cannot_be_read_leaves_only_pins(rack: Tor) -> None:
    done = site(rack)
    assert done.returncode == 2
    assert (
        "vpods.alice: the controller on v says where it lies and could not be read; let it answer, or pin its "
        "IPU-Machines (ipu_machines)"
    ) in done.stdout
    rack.declare(document(ipu_machines=list(MACHINES)[8:12]))
    done = site(rack)
    assert done.returncode == 0, done.stdout + done.stderr
    assert in_vlan_101(rack) == [17, 18, 19, 20]


@pytest.mark.usefixtures("controller")
def test_a_managed_controller_outside_of_the_limit_says_it_and_keeps_the_lock(rack: Tor) -> None:
    rack.declare(document(managed=("switch", "controller")))
    admin(rack, "create allocation bob --size 16")
    admin(rack, "create allocation alice --size 16")
    admin(rack, "remove allocation bob")
    done = site(rack, "--limit", "p-tor")
    assert done.returncode == 0, done.stdout + done.stderr
    # Placed anew, it would be at the first ports.
    assert in_vlan_101(rack) == [13, 14, 15, 16]
    assert "Left out by --limit: v" in done.stdout
    assert sorted(path.name for path in (rack.directory / "beside").iterdir()) == [".alone", "runs.jsonl"]
    assert not (rack.directory / "state").exists()
