# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port of a vPOD on a machine of a cloud that runs: its steps, what is sent for them, and who may not have it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud import plugging as module
from ansible_collections.ipu.pod.plugins.module_utils._cloud.attachments import Wanted, plan, plan_removal
from ansible_collections.ipu.pod.plugins.module_utils._cloud.client import Cloud
from ansible_collections.ipu.pod.plugins.module_utils._cloud.plugging import Plugging
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from tests.support.in_memory.cloud import bare_look, network, port, server
from tests.unit.cloud.services import Connection

NETWORK = "vpod-alice-rnic"
WANTED = Wanted("train", "alice", NETWORK, ["pod001-poplar3"], {"bob": "bob"})
NAME = "vpod-alice-s-train"


def look(*ports: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A cloud with the network of alice and machine train of her project."""
    found = bare_look()
    found["networks"] += [network(NETWORK, "p-admin", "alice"), network("vpod-bob-rnic", "p-admin", "bob")]
    place = {"hypervisor": "pod001-poplar3"}
    found["servers"] = [{**server("train", "p-alice", "alice", None, **place), **fields}]
    found["ports"] = list(ports)
    return found


def own(device: str, name: str = NAME, of: str = "alice", attached: str | None = "alice") -> dict[str, Any]:
    on = f"vpod-{of}-rnic"
    return {**port(name, "p-alice", None, f"n-{on}", on, device, ["10.5.1.193"]), "attached": attached}


def refusal(found: dict[str, Any], wanted: Wanted = WANTED) -> str:
    with pytest.raises(Refused) as refused:
        plan(wanted, found)
    return str(refused.value)


def steps(found: dict[str, Any], removal: bool = False) -> list[tuple[str, str]]:
    return [(step.action, step.kind) for step in (plan_removal if removal else plan)(WANTED, found)]


def test_a_running_machine_gets_a_port_in_its_own_project_and_gives_it_back() -> None:
    assert steps(look()) == [("create", "port"), ("create", "plug")]
    assert (plan(WANTED, look())[0].after or {})["project"] == "alice"
    assert steps(look(own("s-train"))) == []
    assert steps(look(own("s-train")), removal=True) == [("remove", "plug"), ("remove", "port")]
    assert steps(look(), removal=True) == []


def test_what_a_killed_run_has_left_is_finished_or_removed() -> None:
    assert steps(look(own(""))) == [("create", "plug")]
    assert steps(look(own("")), removal=True) == [("remove", "port")]


def test_the_port_of_a_machine_that_is_gone_goes() -> None:
    assert steps(look(own("", "vpod-alice-s-gone"), own("s-train"))) == [("remove", "port")]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "SHUTOFF"}, "machine train is SHUTOFF and not ACTIVE; start it first"),
        ({"project": "bob"}, "machine train is of project bob, which is vPOD bob's"),
        ({"hypervisor": "pod001-poplar4"}, "train is on pod001-poplar4, which does not carry vPOD alice; add it to"),
    ],
)
def test_a_machine_that_cannot_or_may_not_have_the_vpod_is_refused(fields: dict[str, Any], sentence: str) -> None:
    assert sentence in refusal(look(**fields))


def test_a_machine_joins_no_two_vpods_unless_it_leaves_the_other_before() -> None:
    found = look(own("s-train", "vpod-bob-s-train", "bob", "bob"))
    assert "machine train has a port of vPOD bob, and would join the two" in refusal(found)
    assert plan(replace(WANTED, leaving=["bob"]), found)


def test_a_port_of_the_tenants_own_is_not_touched() -> None:
    found = look(own("s-train", "theirs", attached=None))
    assert "machine train has port theirs of its own on network vpod-alice-rnic" in refusal(found)
    with pytest.raises(Refused, match="which is not touched"):
        plan_removal(WANTED, found)


def test_a_name_says_one_machine() -> None:
    found = look()
    found["servers"].append({**found["servers"][0], "id": "s-other", "project": "zoe"})
    assert "Nova has several of this name, s-train of project alice, s-other of project zoe" in refusal(found)
    assert plan(replace(WANTED, machine="s-train"), found)
    assert "Nova has none of this name" in refusal(found, replace(WANTED, machine="none"))


def test_without_the_network_of_the_vpod_it_is_said_what_makes_it() -> None:
    found = look()
    found["networks"] = []
    assert "vPOD alice has no network vpod-alice-rnic in this cloud; run openstack.yml first" in refusal(found)


def plugging(connection: Connection, found: dict[str, Any], wait: float = 60) -> Plugging:
    made = Plugging(Cloud(connection, "cloud001"), WANTED, True, wait)
    made.look = found
    made._ids = {each["name"]: each["id"] for each in found["ports"]}
    return made


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_AGAIN", 0)


def test_the_port_is_known_again_from_its_first_moment() -> None:
    connection = Connection({"POST /ports": {"port": {"id": "PO"}}, "POST /servers/s-train/os-interface": {}})
    doing = plugging(connection, look())
    for step in plan(WANTED, look()):
        doing.carry_out(step)
    sent = dict(connection.sent)
    assert sent["POST /ports"]["port"] == {
        "name": NAME,
        "description": "ipu.pod:attached=alice",
        "project_id": "p-alice",
        "network_id": f"n-{NETWORK}",
    }
    assert sent["POST /servers/s-train/os-interface"] == {"interfaceAttachment": {"port_id": "PO"}}
    assert connection.projects == []


def test_a_port_goes_when_the_guest_has_let_go_of_it() -> None:
    identity = f"po-{NAME}"
    answers = {
        f"DELETE /servers/s-train/os-interface/{identity}": (202, {}),
        f"/ports/{identity}": [{"port": {"device_id": "s-train"}}, {"port": {"device_id": ""}}],
        f"DELETE /ports/{identity}": (204, {}),
    }
    connection, found = Connection(answers), look(own("s-train"))
    doing = plugging(connection, found)
    for step in plan_removal(WANTED, found):
        doing.carry_out(step)
    assert [path for path, _body in connection.sent][-1] == f"DELETE /ports/{identity}"
    stuck = Connection({**answers, f"/ports/{identity}": {"port": {"device_id": "s-train"}}})
    with pytest.raises(DeviceError, match="machine train has not let go of the port in 0 s"):
        plugging(stuck, found, 0).carry_out(plan_removal(WANTED, found)[0])
