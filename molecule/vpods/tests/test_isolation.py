# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four tenants side by side: where they lie is asked of the controller, who reaches whom of packets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.support.packets.matrix import faults
from tests.support.packets.ports import Port, management_port_of, rnic_of

SERVERS = {"alice": "pod001-poplar1", "bob": "pod001-poplar2", "carol": "pod001-poplar3", "dave": "pod001-poplar4"}
IPU_MACHINES = {"alice": 4, "bob": 4, "carol": 2, "dave": 1}
VLANS = {"alice": 201, "bob": 202, "carol": 203, "dave": 204}
PARTITIONS = {
    "alice": {"alice-train"},
    "bob": {"bob-serve", "bob-train"},
    "carol": {"carol-serve"},
    "dave": set[str](),
}
EVERYBODY = (*SERVERS.values(), *(f"pod001-ipum{number}" for number in range(1, 17)))
# Of the controller, the switch and the control node; those of the machines are asked of them.
MANAGEMENT = ("10.3.1.200", "10.4.1.1", "10.1.1.254", "10.2.1.254", "10.3.1.254", "10.4.1.254")

testinfra_hosts = [f"ssh://{server}" for server in SERVERS.values()]


@pytest.fixture(scope="module")
def allocated(controller: Any) -> dict[str, list[str]]:
    """The IPU-Machines of each vPOD, as the controller has them."""
    output = controller.check_output("vipu-admin --config /etc/vipu/vipu-admin.hcl --showjson list allocations")
    return {each["id"]: each["spec"]["agent_ids"] for each in json.loads(output)["allocations"]}


def test_the_vpods_lie_side_by_side(allocated: Mapping[str, Sequence[str]]) -> None:
    assert {name: len(machines) for name, machines in allocated.items()} == IPU_MACHINES
    numbers = sorted(int(name.removeprefix("pod001-ipum")) for machines in allocated.values() for name in machines)
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_everybody_reaches_their_own_and_nobody_else(allocated: Mapping[str, Sequence[str]]) -> None:
    rnics: dict[str, Port] = {machine: rnic_of(machine) for machine in EVERYBODY}
    tenants = {name: [rnics[machine] for machine in (SERVERS[name], *allocated[name])] for name in SERVERS}
    taken = {port for ports in tenants.values() for port in ports}
    nobodys = [port for port in rnics.values() if port not in taken]
    management = [management_port_of(machine) for machine in (*EVERYBODY, "ctrl001")]
    assert faults(tenants, VLANS, [*nobodys, *management], MANAGEMENT) == []


def test_a_user_sees_their_allocation_and_partitions_and_no_others(host: Any) -> None:
    (vpod,) = [name for name, server in SERVERS.items() if server == host.check_output("hostname")]
    seen = {
        kind: {each["id"] for each in json.loads(host.check_output(f"vipu --showjson list {kind}"))[kind]}
        for kind in ("allocations", "partitions")
    }
    assert seen == {"allocations": {vpod}, "partitions": PARTITIONS[vpod]}
