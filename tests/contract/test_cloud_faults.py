# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloud that is disturbed at each of its requests: one sentence, and the next run leaves what it would have made."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.exceptions import Unauthorized

from ansible_collections.ipu.pod.plugins.module_utils._cloud import apply as applying
from ansible_collections.ipu.pod.plugins.module_utils._cloud.client import Cloud
from ansible_collections.ipu.pod.plugins.module_utils._cloud.engine import Engine, with_checksums
from ansible_collections.ipu.pod.plugins.module_utils._plan import converge as converge_module
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Outcome, converge, one_by_one
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.clouds import desired_clouds
from tests.support.in_memory.cloud_of_alice import machine, options
from tests.support.in_memory.cloud_of_controller import HOST, document
from tests.support.strict_cloud import Disturbance, InProcess, Refused, Request, StrictCloud

Options = dict[str, Any]
ABSENT: Options = {"absent_vpods": ["alice"]}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "LOOK_AGAIN", 0)


@pytest.fixture(name="desired")
def _desired(tmp_path: Path) -> Options:
    (tmp_path / "image").write_bytes(b"data")
    image = {"name": "poplar", "file": str(tmp_path / "image"), "disk_format": "qcow2"}
    return dict(with_checksums(options(images=[image])))


def run(cloud: StrictCloud, desired: Options, disturbance: Disturbance | None = None) -> Outcome:
    """One run that may interrupt alice's machines, disturbed or not."""
    cloud.disturbance = disturbance
    engine = Engine(Cloud(InProcess(cloud), "cloud001"), desired, ["alice"], wait_timeout=5)
    outcome = converge(engine.read, engine.plan, one_by_one(engine.carry_out), check_mode=False)
    cloud.disturbance = None
    return outcome


def made(desired: Options) -> StrictCloud:
    """A cloud that has all of vPOD alice."""
    cloud = StrictCloud()
    outcome = run(cloud, desired)
    assert outcome.failure is None, outcome.failure
    return cloud


def answering(status: int, message: str) -> Callable[[Request], None]:
    def refuse(_request: Request) -> None:
        raise Refused(status, message)

    return refuse


def end_the_credentials(_request: Request) -> None:
    raise Unauthorized


FAULTS: dict[str, Callable[[int], Disturbance]] = {
    "503": lambda number: Disturbance(number, answering(503, "The server is currently unavailable")),
    "409": lambda number: Disturbance(number, answering(409, "A conflict occurred")),
    "401": lambda number: Disturbance(number, end_the_credentials),
    "lost": lambda number: Disturbance(number, lost=True),
}
ASKED = r"when asked to \w+ [^;]+"
SENTENCES = {
    "503": rf"\w+ answered 503 {ASKED}; the service, or what it needs, is down; start it, and run again",
    "409": rf"\w+ answered 409 {ASKED}; something else is in the way; remove it, or declare another",
    "401": rf"Keystone answered 401 {ASKED}; the credentials are wrong or have ended; correct the entry in clouds.yaml",
    "lost": rf"\w+ does not answer {ASKED}; start it, or correct its endpoint",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bring_up_that_is_disturbed_at_any_request_is_finished_by_the_next_run(desired: Options, fault: str) -> None:
    whole = made(desired).content()
    check_every_request(fault, StrictCloud, desired, whole)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_removal_that_is_disturbed_at_any_request_is_finished_by_the_next_run(desired: Options, fault: str) -> None:
    # A volume would keep its project.
    desired = {**desired, "volumes": [], "servers": [machine(volumes=[])]}
    before = made(desired)
    assert run(before, ABSENT).failure is None
    assert {each["name"] for each in before.kinds["project"].values()} == {"admin", "zoe"}
    check_every_request(fault, lambda: made(desired), ABSENT, before.content())


def test_the_machine_of_a_controller_comes_and_goes_however_that_is_disturbed() -> None:
    def before() -> StrictCloud:
        cloud = StrictCloud()
        cloud.add_network("management", "10.1.0.0/16", ("10.1.9.1", "10.1.9.254"), shared=False)
        return cloud

    there, gone = (
        desired_clouds(parse_declaration(each))["cloud001"] for each in (document(), document(state="absent"))
    )
    cloud = before()
    assert run(cloud, there).failure is None
    assert cloud.one("server", HOST)["status"] == "ACTIVE"
    check_every_request("lost", before, there, cloud.content())
    assert run(cloud, gone).failure is None
    assert cloud.content() == before().content()


def check_every_request(fault: str, begin: Callable[[], StrictCloud], desired: Options, whole: dict[str, Any]) -> None:
    for number in range(100):
        cloud, disturbance = begin(), FAULTS[fault](number)
        outcome = run(cloud, desired, disturbance)
        if not disturbance.has_happened:
            assert number > 5
            return
        assert re.fullmatch(f"cloud cloud001: {SENTENCES[fault]}", str(outcome.failure)), outcome.failure
        again = run(cloud, desired)
        assert again.failure is None, (number, cloud.requests[-1], again.failure)
        assert run(cloud, desired).steps == []
        assert cloud.content() == whole, (number, str(outcome.failure))
    pytest.fail("a run has more than a hundred requests")


def test_user_data_are_for_new_machines_alone_and_read_before_anything_is_touched(
    desired: Options, tmp_path: Path
) -> None:
    desired, cloud = {**desired, "user_data": str(tmp_path)}, StrictCloud()
    before = cloud.content()
    with pytest.raises(converge_module.Refused) as refused:
        run(cloud, desired)
    assert str(refused.value) == (
        f"server alice-1: its user data {tmp_path}/alice.yml cannot be read (No such file or directory); have "
        "cloud_user_data write it"
    )
    assert cloud.content() == before
    (tmp_path / "alice.yml").write_text("#cloud-config\n")
    assert run(cloud, desired).failure is None
    assert base64.b64decode(cloud.one("server", "alice-1")["OS-EXT-SRV-ATTR:user_data"]) == b"#cloud-config\n"
    (tmp_path / "alice.yml").unlink()
    assert run(cloud, desired).steps == []


@pytest.mark.parametrize("lets_go", [True, False])
def test_a_machine_that_somebody_deletes_during_the_run_is_made_again_by_the_next_one(
    desired: Options, lets_go: bool
) -> None:
    whole = made(desired).content()
    said = set()
    for number in range(100):
        cloud = StrictCloud()
        disturbance = Disturbance(number, by_hand(cloud, lets_go), counts=partial(has_machines, cloud))
        outcome = run(cloud, desired, disturbance)
        if not disturbance.has_happened:
            break
        said.add(str(outcome.failure))
        assert run(cloud, desired).failure is None
        assert run(cloud, desired).steps == []
        assert cloud.content() == whole
    assert number > 5
    assert {re.sub(r"server-\d+", "ID", each) for each in said if each.startswith("cloud")} == {
        "cloud cloud001: Nova answered 404 when asked to create server alice-1: server ID could not be found; it went "
        "meanwhile; run again",
    }
    assert "server alice-1 was deleted by somebody else while the run was waiting for it; run again" in said
    left = "server alice-1" if lets_go else "port alice-1-control"
    assert [each for each in said if each.startswith(f"{left} is still not as wanted after the change: ")]


def has_machines(cloud: StrictCloud, _request: Request) -> bool:
    return bool(cloud.kinds["server"])


def by_hand(cloud: StrictCloud, lets_go: bool) -> Callable[[Request], None]:
    def delete(_request: Request) -> None:
        for server in list(cloud.kinds["server"]):
            cloud.delete_server(server, lets_go)

    return delete
