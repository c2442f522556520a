# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A workload on the simulated POD64: it uses the IPU-Machines of its own partition, and nobody else's."""

from __future__ import annotations

import re
import shlex
from typing import Any

import yaml

from tests.integration.vpods.conftest import INVENTORY
from tests.integration.vpods.floor import Floor

VPODS = yaml.safe_load((INVENTORY / "pods.yml").read_text())["vpods"]
WORKLOAD = ". /etc/profile.d/ipuof.sh; ipu-workload 2>&1; echo code $?"
# Where an IPUoF configuration says that they take it.
PORT = 10000
RATES = re.compile(r"\d+\.\d MiB/s")


def lines(pod: Any, machine: str, command: str) -> list[str]:
    """The output of a command, in which any rate will do."""
    return [RATES.sub("RATE", line) for line in pod.inside(machine, command).splitlines()]


def test_it_moves_data_to_and_from_each_ipu_machine_of_its_partition(pod: Any) -> None:
    server, *machines = Floor(pod, VPODS).tenants["alice"]
    assert lines(pod, server.machine, WORKLOAD) == [
        *(f"{machine.address}: frames of 9000 bytes, 32 MiB to and from it, RATE" for machine in machines),
        "partition alice-train: 128 MiB to and from 4 IPU-Machines, RATE",
        "code 0",
    ]


def test_it_says_where_frames_of_the_full_mtu_do_not_pass(pod: Any) -> None:
    server, *machines = Floor(pod, VPODS).tenants["alice"]
    pod.inside(server.machine, "ip link set rnic0 mtu 9100")
    found = lines(pod, server.machine, WORKLOAD)
    pod.inside(server.machine, "ip link set rnic0 mtu 9000")
    assert found == [
        *(
            f"{machine.address}: does not answer frames of the full MTU of rnic0, 9100 bytes, but smaller ones."
            for machine in machines
        ),
        "ipu-workload: 4 of 4 IPU-Machines of the partition alice-train cannot be used from here.",
        "code 1",
    ]


def test_the_configuration_of_anothers_partition_leads_nowhere(pod: Any) -> None:
    """Whoever has got hold of it is still in another VLAN."""
    tenants = Floor(pod, VPODS).tenants
    server, *machines = tenants["alice"]
    configuration = pod.inside(server.machine, "vipu get partition alice-train --gcd 0 --ipuof-configs")
    found = lines(
        pod,
        tenants["bob"][0].machine,
        f"printf %s {shlex.quote(configuration)} >/tmp/alice.conf; "
        "IPUOF_CONFIG_PATH=/tmp/alice.conf ipu-workload 2>&1; echo code $?; rm /tmp/alice.conf",
    )
    assert found == [
        *(
            f"{machine.address}: does not answer on rnic0; this machine has to be in the VLAN of the partition's vPOD."
            for machine in machines
        ),
        "ipu-workload: 4 of 4 IPU-Machines of the partition alice-train cannot be used from here.",
        "code 1",
    ]


def test_the_controller_gives_it_to_nobody_else(pod: Any) -> None:
    server = Floor(pod, VPODS).tenants["bob"][0].machine
    asked = ". /etc/profile.d/ipuof.sh; IPUOF_VIPU_API_PARTITION_ID=alice-train ipu-workload 2>&1; echo code $?"
    assert lines(pod, server, asked) == ["ipu-workload: partition 'alice-train' is unknown", "code 1"]


def test_ipu_machines_take_data_on_the_rnic_network_alone(pod: Any) -> None:
    gateway = pod.sim["ipu_machines"]["pod001-ipum1"]["gateway"]["address"]
    assert lines(pod, "ctrl001", f"busybox nc -w 2 {gateway} {PORT} </dev/null 2>&1; echo code $?") == [
        f"nc: can't connect to remote host ({gateway}): Connection refused",
        "code 1",
    ]
