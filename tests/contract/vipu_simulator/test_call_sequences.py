# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Call sequences that people are known to use, unchanged, in a shell with the programs as they are installed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from sys import executable
from typing import TYPE_CHECKING

import pytest

from podsim.vipu import agent, machine
from tests.support.loopback import HOST, free_port

if TYPE_CHECKING:
    from conftest import Controller


class Shell:
    """Runs shell lines that reach the controller by environment, as on a host with V-IPU."""

    def __init__(self, controller: Controller) -> None:
        programs = str(Path(executable).parent)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "VIPU_CLI_API_HOST": HOST}
        self.ports = {"vipu-admin": controller.admin_port, "vipu": controller.user_port}

    def run(self, line: str, program: str = "vipu-admin") -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, "VIPU_CLI_API_PORT": str(self.ports[program])}
        return subprocess.run(line, shell=True, env=environment, capture_output=True, text=True, check=False)

    def good(self, line: str, program: str = "vipu-admin") -> str:
        done = self.run(line, program)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def shell(controller: Controller) -> Shell:
    controller.create_cluster(4, "--topology", "torus", "--num-ipulinkdomains", "2", "--cluster-topology", "looped")
    return Shell(controller)


def test_a_cloud_appliance_creates_and_deletes(shell: Shell) -> None:
    assert shell.run("vipu-admin remove allocation x").returncode != 0
    shell.good("vipu-admin -H 127.0.0.1 --showjson create allocation x --size 8")
    allocation = json.loads(shell.good("vipu-admin --showjson get allocation x"))
    assert allocation["allocation"]["spec"]["agent_ids"] == ["ag0", "ag1"]
    shell.good("vipu-admin --showjson create partition x-reconfig --size 8 --allocation x --reconfigurable")
    assert "no free allocation" in shell.run("vipu-admin create allocation y --size 16").stderr

    partitions = json.loads(shell.good("vipu-admin list partitions --allocation x --showjson"))["partitions"]
    for partition in partitions:
        removed = shell.good(f"vipu-admin remove partition {partition['id']} --force")
        assert removed.splitlines()[-1] == "remove partition (x-reconfig): success."
    shell.good("vipu-admin get allocation x")
    shell.good("vipu-admin remove allocation x")
    assert shell.run("vipu-admin list partitions --allocation x --showjson").returncode != 0
    again = shell.run("vipu-admin remove allocation x")
    assert again.returncode != 0
    assert "is unknown" in again.stderr


def test_slurm_makes_a_partition_in_its_jobs_allocation(shell: Shell) -> None:
    shell.good("vipu-admin create allocation c17 --size 8")
    shell.good("vipu create partition p17 --allocation c17 --size 8 --reconfigurable", "vipu")
    bare = shell.good("vipu get partition p17 --gcd 0 --ipuof-configs", "vipu")
    assert len(json.loads(bare)["devices"]) == 8
    headed = shell.good("vipu-admin get partition p17 --ipuof-configs | tail -n +2")
    assert json.loads(headed) == json.loads(bare)


def test_scripts_cut_columns_and_lines(shell: Shell) -> None:
    shell.good("vipu-admin create allocation a --size 8; vipu-admin create partition p1 --size 4 --allocation a")
    listed = "vipu-admin list partitions --api-host 127.0.0.1"
    assert shell.good(f"{listed} | grep ACTIVE | cut -d'|' -f3").strip() == "p1"
    assert shell.good(f"{listed} | sed -n 3p | awk '{{print $5}}'").strip() == "p1"
    version = "vipu-admin --server-version | sed -n 2p | awk '{print $2}' | awk -F: '{print $1}'"
    assert shell.good(version) == "127.0.0.1\n"


def test_a_framework_replaces_its_partition(shell: Shell) -> None:
    """As an early PopTorch did it; its verb `delete` is `remove` in every release that is known."""
    create = "vipu-admin create partition p --size 16 --num-gcds 2 --gcd-sync-replicas 4"
    for _ in range(2):
        for partition in json.loads(shell.good("vipu-admin list partition --showjson"))["partitions"]:
            shell.good(f"vipu-admin remove partition {partition['id']}")
        shell.good(create)
        shell.good("vipu-admin reset partition p")
    (partition,) = json.loads(shell.good("vipu-admin --showjson list partitions"))["partitions"]
    spec = partition["spec"]
    assert (len(spec["ipus"]), spec["num_gcds"], spec["num_replicas"]) == (16, 2, 4)


@pytest.fixture
def two_racks(controller: Controller) -> Iterator[Shell]:
    """32 agents that are in no cluster yet."""
    servers = []
    for number in range(32):
        port, facts = free_port(), machine.facts(f"m{number}", "1.18.0", f"10.5.1.{number + 1}", 2112)
        servers.append(agent.start(f"127.0.0.1:{port}", lambda facts=facts: facts))
        created = controller.admin("create", "agent", f"ag{number}", "--host", "127.0.0.1", "--port", str(port))
        assert created.code == 0
    yield Shell(controller)
    for server in servers:
        server.stop(grace=None).wait()


def test_two_racks_are_one_cluster(two_racks: Shell) -> None:
    agents = ",".join(f"ag{number}" for number in range(32))
    two_racks.good(
        "vipu-admin create cluster 2xPOD64 --num-ipulinkdomains 2 --topology torus --cluster-topology looped "
        f'--agents "{agents}"'
    )
    two_racks.good(
        "vipu-admin create partition gcl128 --size 128 --num-gcds 32 --gcd-sync-replicas 32 --routing ringswnc "
        "--cluster 2xPOD64"
    )
    spec = json.loads(two_racks.good("vipu-admin get partition gcl128 --showjson"))["partition"]["spec"]
    assert (len(spec["ipus"]), spec["num_gcds"], spec["num_replicas"]) == (128, 32, 32)
    assert (spec["num_ipulink_segments"], spec["ipulink_routing_type"]) == (2, "IRT_RINGSWNC")
    two_racks.good("vipu-admin remove partition gcl128")
    two_racks.good("vipu-admin create partition gcl64 --cluster 2xPOD64 --size=64 --reconfigurable")


def test_a_partition_over_two_link_domains(shell: Shell) -> None:
    shell.good(
        "vipu-admin create partition wide --size 16 --num-gcds 4 --gcd-sync-replicas 4 --routing ringswnc --cluster c1"
    )
    partition = json.loads(shell.good("vipu-admin get partition wide --showjson"))["partition"]
    assert partition["spec"]["num_ipulink_segments"] == 2
    shell.good("vipu-admin reset partition wide; vipu-admin remove partition wide")
    shell.good("vipu-admin create partition half --cluster c1 --size=8 --reconfigurable")
