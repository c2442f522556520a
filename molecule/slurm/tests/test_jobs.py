# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm on the pod as its users see it, and what V-IPU holds meanwhile."""

from __future__ import annotations

import json
from typing import Any

import pytest
import testinfra

SERVERS = [f"pod001-poplar{number}" for number in range(1, 5)]


def until(host: Any, condition: str) -> None:
    """Wait for something that Slurm does by itself."""
    host.check_output(f"timeout 60 sh -c 'until {condition}; do sleep 0.2; done'")


@pytest.fixture(scope="module")
def slurm(controller: Any) -> Any:
    """The controller's host, once all nodes are idle."""
    until(controller, f"[ $(sinfo -h -N -t idle | wc -l) = {len(SERVERS)} ]")
    return controller


def test_every_server_is_a_node(slurm: Any) -> None:
    assert sorted(slurm.check_output("srun -N4 hostname").split()) == SERVERS
    assert "Total=64 Used=0 Free=64" in slurm.check_output("scontrol show licenses --oneliner")


def test_a_job_has_the_ipus_that_it_asks_for_and_gives_them_back(slurm: Any) -> None:
    asks = "vipu --showjson get partition $IPUOF_VIPU_API_PARTITION_ID"
    held = json.loads(slurm.check_output(f"srun --ipus=16 sh -c '{asks}'"))["partition"]
    assert len(held["spec"]["ipus"]) == 16
    # What is done after a job's end outlasts srun.
    until(slurm, '[ -z "$(squeue -h -a)" ]')
    until(slurm, '[ "$(vipu-admin --showjson list partitions | grep -c slurm_)" = 0 ]')
    assert "Used=0 Free=64" in slurm.check_output("scontrol show licenses --oneliner")


def test_more_than_there_is_is_refused_at_once(slurm: Any) -> None:
    refused = slurm.run("srun --ipus=128 true")
    assert refused.rc != 0
    assert "64" in refused.stderr


@pytest.mark.parametrize("name", ["ctrl001", *SERVERS])
def test_no_unit_has_failed(request: pytest.FixtureRequest, name: str) -> None:
    host = testinfra.get_host(f"ssh://{name}", ssh_config=request.config.option.ssh_config)
    assert host.check_output("systemctl --failed --plain --no-legend") == ""
