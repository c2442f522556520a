# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The timer that removes partitions of deleted machines: a simulated V-IPU controller, a stand-in for OpenStack."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud_partitions.decision import Answers, Moment, Records
from ansible_collections.ipu.pod.plugins.module_utils._cloud_partitions.openstack import Cloud
from ansible_collections.ipu.pod.plugins.module_utils._cloud_partitions.program import Rounds
from ansible_collections.ipu.pod.plugins.module_utils._cloud_partitions.settings import (
    Credentials,
    Settings,
    Vpod,
    credentials_from,
)
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from tests.support.in_memory.controller import InProcess
from tests.support.openstack_services import Answer, Services, running_services

AGENTS = [f"m{number}" for number in range(1, 9)]
ALICE = Vpod("alice", "alice", "cloud001", "alice", "Default", ("declared",), 8091, "")
BOB = replace(ALICE, name="bob", allocation="bob", project="bob")
PASSWORD = "its password"


class Bed:
    """Two vPODs, their projects in a cloud, and the program between them; its clock is turned by hand."""

    def __init__(self, folder: Path, services: Services, **auth: str) -> None:
        self.services = services
        self.vipu = InProcess()
        for number, name in enumerate(AGENTS, 1):
            self.vipu.controller.create_agent(name, f"10.2.1.{number}", 8080)
        self.admin("create", "cluster", "c", "--agents", ",".join(AGENTS), "--topology", "mesh")
        for vpod in (ALICE, BOB):
            self.admin("create", "allocation", vpod.name, "--size", "16")
            services.project(vpod.project)
        self.auth = {"auth_url": services.url, "username": "reader", "password": PASSWORD, **auth}
        self.log: list[str] = []
        self.seconds = 0.0
        self.vpods: tuple[Vpod, ...] = (ALICE, BOB)
        self.folder = folder

    def admin(self, *words: str) -> None:
        code, _output, errors = self.vipu.run(["vipu-admin", "-H", "localhost", "-P", "8091", *words])
        assert code == 0, errors

    def partition(self, name: str, size: int = 4, vpod: str = "alice") -> None:
        self.admin("create", "partition", name, "--size", str(size), "--allocation", vpod)

    def round(self, later: float = 0) -> int:
        self.seconds += later
        settings = Settings(300, str(self.folder / "state"), self.vpods)
        rounds = Rounds(
            settings, lambda _vpod: self.vipu.client, self.ask, lambda _vpod: nullcontext(), self.log.append
        )
        return rounds.round(Moment("boot", self.seconds))

    def ask(self, vpod: Vpod, records: Records) -> Answers:
        return Cloud(vpod.cloud, Credentials(self.auth)).ask(vpod.project, vpod.domain, records)

    @property
    def partitions(self) -> list[str]:
        return sorted(self.vipu.client.read(("partition",))["partition"])


@pytest.fixture(name="services")
def _services() -> Iterator[Services]:
    with running_services() as services:
        yield services
        assert services.wrong == []


@pytest.fixture(name="bed")
def _bed(tmp_path: Path, services: Services) -> Bed:
    return Bed(tmp_path, services)


def test_the_partitions_of_a_deleted_machine_go_and_no_others(bed: Bed) -> None:
    web, _db = bed.services.boot("web"), bed.services.boot("db")
    for name in ("web", "web-train", "db-train", "other", "declared"):
        bed.partition(name, 2)
    bed.services.boot("web", "bob")
    bed.partition("web-bob", vpod="bob")
    assert bed.round() == 0
    bed.services.delete(web)
    assert [bed.round(60), bed.round(299)] == [0, 0]
    assert bed.partitions == ["db-train", "declared", "other", "web", "web-bob", "web-train"]
    assert bed.round(1) == 0
    assert bed.partitions == ["db-train", "declared", "other", "web-bob"]
    assert bed.log == [
        f"vPOD alice: removed partition {name} of deleted machine {web}" for name in ("web", "web-train")
    ]
    assert bed.round(60) == 0
    assert bed.partitions == ["db-train", "declared", "other", "web-bob"]


def test_what_the_operator_has_declared_is_no_machine_s(bed: Bed) -> None:
    machine = bed.services.boot("declared")
    bed.partition("declared")
    bed.round()
    bed.services.delete(machine)
    for later in (0, 300, 300):
        assert bed.round(later) == 0
    assert bed.partitions == ["declared"]


def test_nova_is_not_asked_where_nothing_depends_on_it(bed: Bed) -> None:
    assert bed.round() == 0
    bed.partition("train")
    assert bed.round() == 0
    asked = list(bed.services.requests)
    assert bed.round() == 0
    assert bed.services.requests == asked != []


def test_one_round_costs_a_token_and_a_list_and_one_question_for_each_machine_that_is_not_there(bed: Bed) -> None:
    bed.vpods = (ALICE,)
    for name in ("web", "db"):
        bed.services.boot(name)
        bed.partition(f"{name}-a", 2)
    bed.round()
    bed.services.delete(next(iter(bed.services.machines)))
    bed.services.requests.clear()
    bed.round()
    assert [request.split("?")[0].split(" ")[0] for request in bed.services.requests] == ["POST", "GET", "GET"]


def status(code: int) -> Callable[[Answer], Answer]:
    return lambda _answer: (code, {}, json.dumps({"error": {"code": code}}).encode())


def text(body: bytes, code: int = 200) -> Callable[[Answer], Answer]:
    return lambda answer: (code, answer[1], body)


FAULTS = {
    "an expired password": ("token", status(401)),
    "no token": ("token", lambda answer: (201, {}, answer[2])),
    "a redirection of Keystone": ("token", lambda _answer: (302, {"Location": "http://192.0.2.1/"}, b"")),
    "a role that was taken away": ("list", status(403)),
    "an expired token": ("list", status(401)),
    "Nova is busy": ("list", status(503)),
    "Nova has no such list": ("list", status(404)),
    "Nova dies": ("list", lambda _answer: (0, {}, b"")),
    "an empty list": ("list", text(b'{"servers": []}')),
    "no list": ("list", text(b"{}")),
    "half a list": ("list", lambda answer: (answer[0], {}, answer[2][:-5])),
    "no JSON": ("list", text(b"<html>")),
    "deep JSON": ("list", text(b"[" * 100_000)),
    "null": ("list", text(b"null")),
    "an error of a machine": ("machine", status(500)),
    "a 404 of something before Nova": ("machine", text(b"<html>not found</html>", 404)),
    "another 404": ("machine", status(404)),
    "another machine": ("machine", text(b'{"server": {"id": "another", "status": "DELETED"}}')),
}


@pytest.mark.parametrize("case", FAULTS)
def test_nothing_goes_while_an_answer_is_not_as_it_should_be(bed: Bed, case: str) -> None:
    web, _db = bed.services.boot("web"), bed.services.boot("db")
    bed.partition("web-a", 2)
    bed.partition("db-a", 2)
    bed.vpods = (ALICE,)
    assert bed.round() == 0
    bed.services.delete(web)
    assert bed.round(10) == 0
    kind, fault = FAULTS[case]
    bed.services.faults[kind] = fault
    assert [bed.round(300), bed.round(300)] == [1, 1]
    bed.services.faults.clear()
    # The counting starts again.
    assert [bed.round(300), bed.round(299)] == [0, 0]
    assert bed.partitions == ["db-a", "web-a"]
    assert bed.round(1) == 0
    assert bed.partitions == ["db-a"]
    assert all(line.startswith("vPOD alice: ") and PASSWORD not in line for line in bed.log)


def test_a_machine_whose_database_does_not_answer_is_not_taken_for_deleted(bed: Bed) -> None:
    machine = bed.services.boot("web")
    bed.partition("web-a")
    bed.vpods = (ALICE,)
    bed.round()
    # So Nova shows those of a cell that is down, without a name.
    bed.services.machines[machine] = {
        "id": machine, "tenant_id": bed.services.project("alice"), "status": "UNKNOWN"
    }  # fmt: skip
    assert [bed.round(300), bed.round(300)] == [1, 1]
    assert bed.partitions == ["web-a"]
    assert bed.log[0] == "vPOD alice: cloud001: Nova's list of machines is not whole, or of another project"


def test_a_project_that_was_made_again_under_its_name_is_another_one(bed: Bed) -> None:
    bed.services.boot("web")
    bed.partition("web-a")
    bed.vpods = (ALICE,)
    bed.round()
    del bed.services.projects["alice"]
    bed.services.project("alice")
    assert [bed.round(300), bed.round(300)] == [1, 1]
    assert bed.partitions == ["web-a"]
    assert bed.log[0] == "vPOD alice: partition web-a is of a machine of another project with the same name"


def test_a_cloud_that_is_away_is_one_line_and_the_other_vpod_s_partitions_go(bed: Bed) -> None:
    machine = bed.services.boot("web", "bob")
    bed.partition("web-a")
    bed.partition("web-b", vpod="bob")
    bed.vpods = (replace(ALICE, project="gone"), BOB)
    bed.round()
    bed.services.delete(machine)
    assert [bed.round(), bed.round(300)] == [1, 1]
    assert bed.partitions == ["web-a"]
    assert bed.log[0] == "vPOD alice: cloud001: Keystone gave no token for project gone: HTTP status 401"


def test_many_machines_come_in_several_answers(bed: Bed) -> None:
    bed.services.page = 3
    bed.vpods = (ALICE,)
    machines = [bed.services.boot(f"vm{number}") for number in range(10)]
    for number in range(8):
        bed.partition(f"vm{number}-a", 1)
    assert bed.round() == 0
    bed.services.delete(machines[7])
    assert [bed.round(), bed.round(300)] == [0, 0]
    assert bed.partitions == [f"vm{number}-a" for number in range(7)]


def test_a_partition_that_is_made_again_meanwhile_is_not_removed(bed: Bed) -> None:
    machine = bed.services.boot("web")
    bed.partition("web-a")
    bed.vpods = (ALICE,)
    bed.round()
    bed.services.delete(machine)
    bed.round()
    ask = bed.ask

    def made_again_while_nova_is_asked(vpod: Vpod, records: Records) -> Answers:
        bed.admin("remove", "partition", "web-a")
        bed.partition("web-a", 16)
        return ask(vpod, records)

    bed.ask = made_again_while_nova_is_asked  # type: ignore[method-assign]
    assert bed.round(300) == 0
    bed.ask = ask  # type: ignore[method-assign]
    assert [bed.round(300), bed.round(300)] == [0, 0]
    assert bed.partitions == ["web-a"]


def test_a_partition_that_does_not_go_is_tried_again_and_not_in_the_way_of_others(bed: Bed, monkeypatch: Any) -> None:
    machine = bed.services.boot("web")
    bed.partition("web-a", 2)
    bed.partition("web-b", 2)
    bed.vpods = (ALICE,)
    bed.round()
    bed.services.delete(machine)
    bed.round()
    real = bed.vipu.client.remove_partition_by_force

    def remove(name: str) -> None:
        if name == "web-a":
            raise DeviceError("it is stuck")
        real(name)

    monkeypatch.setattr(bed.vipu.client, "remove_partition_by_force", remove)
    assert bed.round(300) == 1
    assert bed.partitions == ["web-a"]
    monkeypatch.undo()
    assert bed.round(60) == 0
    assert bed.partitions == []


def test_nothing_is_forgotten_while_the_v_ipu_controller_does_not_answer(bed: Bed, monkeypatch: Any) -> None:
    machine = bed.services.boot("web")
    bed.partition("web-a")
    bed.vpods = (ALICE,)
    bed.round()
    bed.services.delete(machine)
    bed.round()

    def read(_kinds: Any) -> Any:
        raise DeviceError("no V-IPU controller")

    monkeypatch.setattr(bed.vipu.client, "read", read)
    assert bed.round(60) == 1
    monkeypatch.undo()
    assert bed.round(240) == 0
    assert bed.partitions == []


def test_the_records_are_for_root_alone_and_are_not_guessed(bed: Bed) -> None:
    bed.services.boot("web")
    bed.partition("web-a")
    bed.round()
    file = bed.folder / "state" / "records.json"
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("[]")
    with pytest.raises(
        DeviceError, match=r"records\.json is not understood; remove it, and partitions are recorded anew"
    ):
        bed.round()


# How it logs in


def test_an_application_credential_is_for_one_project(tmp_path: Path, services: Services) -> None:
    services.credentials["an-id"] = ("a secret", "alice")
    bed = Bed(tmp_path, services, application_credential_id="an-id", application_credential_secret="a secret")
    services.boot("web")
    bed.partition("web-a")
    bed.partition("web-b", vpod="bob")
    assert bed.round() == 1
    assert bed.log == ["vPOD bob: cloud001: the application credential is for another project than bob"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([], "Keystone names 0 addresses of Nova, not one; set region_name and interface"),
        (["RegionOne", "RegionTwo"], "Keystone names 2 addresses of Nova, not one; set region_name and interface"),
    ],
)
def test_there_is_one_nova(bed: Bed, changes: list[str], sentence: str) -> None:
    bed.services.endpoints = [
        {"url": f"{bed.services.url}/{region}", "region_id": region, "interface": "public"} for region in changes
    ] or [{"url": "x", "region_id": "r", "interface": "admin"}]
    with pytest.raises(DeviceError, match=sentence):
        bed.ask(ALICE, {})


def test_a_token_does_not_go_where_anybody_listens(bed: Bed) -> None:
    bed.services.endpoints = [{"url": "ftp://192.0.2.1", "region_id": "r", "interface": "public"}]
    with pytest.raises(DeviceError, match="Nova's address begins otherwise than auth_url; correct Keystone's list"):
        bed.ask(ALICE, {})


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """A certificate of its own authority, and its key."""
    files = str(folder / f"{name}.crt"), str(folder / f"{name}.key")
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        ["openssl", *words.split(), "-subj", f"/CN={name}", "-out", files[0], "-keyout", files[1]],
        check=True,
        capture_output=True,
    )
    return files


def test_the_site_s_authority_is_asked_for_and_no_other_is_believed(tmp_path: Path) -> None:
    own, key = certificate(tmp_path, "own")
    another, _key = certificate(tmp_path, "another")
    with running_services(own, key) as services:
        services.boot("web")
        auth = {"auth_url": services.url, "username": "reader", "password": PASSWORD}
        found = Cloud("cloud001", Credentials(auth, ca_file=own)).ask("alice", "Default", {})
        assert [machine.name for machine in found.listed.values()] == ["web"]
        asked = len(services.requests)
        with pytest.raises(DeviceError, match=r"cloud001: Keystone does not answer: .*CERTIFICATE_VERIFY_FAILED"):
            Cloud("cloud001", Credentials(auth, ca_file=another)).ask("alice", "Default", {})
        assert len(services.requests) == asked


def test_a_name_of_a_machine_steers_nothing(bed: Bed) -> None:
    bed.services.boot("../../x\n{{ 1 }}\x1b[2J")
    bed.services.boot("")
    bed.partition("web-a")
    assert bed.round() == 0
    assert bed.log == []


def test_credentials_are_in_no_text_of_theirs() -> None:
    file = {"clouds": {"cloud001": {"auth": {"auth_url": "https://k", "username": "u", "password": PASSWORD}}}}
    assert PASSWORD not in repr(credentials_from(json.dumps(file), "cloud001"))
