# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same tests over both transports: the programs and the published user service, insecure and secure."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, REMOVE, Step
from ansible_collections.ipu.pod.plugins.module_utils._vipu import user_service
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import Credentials
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.connection import Client
from ansible_collections.ipu.pod.plugins.module_utils._vipu.dialect import ADMIN, USERS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import ALLOCATION, PARTITION
from ansible_collections.ipu.pod.plugins.module_utils._vipu.user_service import UserService, connect
from tests.support.checkout import PROGRAMS
from tests.support.loopback import HOST, closed_port, free_port, started
from tests.support.processes import end
from tests.support.simulated_controller import agent_processes


class Installation:
    """A controller with one allocation of two machines, `alice`, and the programs to ask it."""

    def __init__(self, directory: Path, secure: bool) -> None:
        self.directory = directory
        self.user_port, self.admin_port = free_port(), free_port()
        self.calls: list[list[str]] = []
        self.faults = directory / "faults.json"
        prepared = subprocess.run(
            [f"{PROGRAMS}/vipu-server", "--listen", HOST, "--init", *(["--secure"] if secure else [])],
            cwd=directory,
            check=True,
            capture_output=True,
            text=True,
        )
        self.certificates = str(directory / "vipu-certs" / "client") if secure else ""
        printed = dict(line.split(": ") for line in prepared.stdout.splitlines())
        self.administrator = self.credentials(printed.get("Default user is", ""), printed.get("Access Key is", ""))

    def credentials(self, user_id: str, access_key: str) -> Credentials:
        return Credentials(user_id, access_key, self.certificates)

    def program(self, name: str, who: Credentials) -> Controller:
        def run(argv: list[str]) -> tuple[int, str, str]:
            self.calls.append(argv)
            environment = {**os.environ, **who.environment(), "HOME": str(self.directory)}
            done = subprocess.run(
                argv, capture_output=True, text=True, check=False, env=environment, cwd=self.directory
            )
            return done.returncode, done.stdout, done.stderr

        port = self.admin_port if name == ADMIN else self.user_port
        return Controller(run, f"{PROGRAMS}/{name}", HOST, port, who.options(), name)

    def requests(self) -> list[str]:
        """The calls that the controller has heard, by name."""
        return [json.loads(line)["method"] for line in (self.directory / "requests.jsonl").read_text().splitlines()]


def create(kind: str, name: str, **fields: Any) -> Step:
    return Step(CREATE, kind, name, "is not there", after=fields)


@pytest.fixture(scope="module")
def agent_ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    with agent_processes([f"a{number}" for number in range(1, 5)], tmp_path_factory.mktemp("agents")) as ports:
        yield ports


@pytest.fixture(params=["insecure", "secure"])
def installation(request: pytest.FixtureRequest, tmp_path: Path, agent_ports: list[int]) -> Iterator[Installation]:
    secure = request.param == "secure"
    found = Installation(tmp_path, secure)
    found.faults.write_text("{}")
    options = ["--creation-time", "0.05", "--reset-time", "0.05", "--poll-interval", "0.05", "--metrics-port", "0"]
    ports = ["--user-port", str(found.user_port), "--admin-port", str(found.admin_port)]
    log = ["--request-log", str(tmp_path / "requests.jsonl"), "--faults", str(found.faults)]
    mode = ["--secure"] if secure else []
    server = started(
        [f"{PROGRAMS}/vipu-server", "--listen", HOST, *ports, *options, *log, *mode], tmp_path, found.admin_port
    )
    admin = found.program(ADMIN, found.administrator)
    for number, port in enumerate(agent_ports, 1):
        admin.carry_out(create("agent", f"a{number}", host=HOST, port=port))
    admin.carry_out(create("cluster", "c", agents=["a1", "a2", "a3", "a4"], topology="torus", ipu_link_domains=1))
    admin.carry_out(create("allocation", "alice", cluster="c", size=8, agents=["a3", "a4"]))
    yield found
    end(server)


@pytest.fixture(params=["cli", "grpc"])
def client(request: pytest.FixtureRequest, installation: Installation) -> Iterator[Client]:
    """A client of the user end-point, as alice where the controller wants to know."""
    who = installation.administrator
    if who.user_id:
        key = installation.program(ADMIN, who).create_user("alice", {"allocations": ["alice"]})
        who = installation.credentials("alice", key)
    if request.param == "cli":
        yield installation.program(USERS, who)
        return
    with connect(HOST, installation.user_port, who) as channel:
        yield UserService(channel, f"{HOST}:{installation.user_port}", who)


def test_a_partition_comes_up_and_goes(client: Client) -> None:
    wanted = {"allocation": "alice", "size": 4, "gcds": 2, "replicas": 4, "sync_type": "pod-native-default"}
    client.carry_out(create(PARTITION, "train", **wanted))
    train = client.read([PARTITION])[PARTITION]["train"]
    assert {**train, **wanted} == train
    assert (train["status"], train["routing"], train["gw_routing"]) == ("ACTIVE", "dnc", "default")
    client.carry_out(Step(REMOVE, PARTITION, "train", "is declared absent", before=train))
    assert client.read([PARTITION]) == {PARTITION: {}}


def test_reading_is_one_request_per_kind(client: Client, installation: Installation) -> None:
    before = len(installation.requests())
    client.read(client.kinds)
    assert sorted(installation.requests()[before:]) == sorted(f"List{kind.capitalize()}s" for kind in client.kinds)


def test_a_reconfigurable_partition(client: Client) -> None:
    client.carry_out(create(PARTITION, "shared", allocation="alice", size=2, reconfigurable=True))
    shared = client.read([PARTITION])[PARTITION]["shared"]
    assert (shared["reconfigurable"], shared["sync_type"], shared["size"]) == (True, "c2-compatible", 2)


def test_status(client: Client) -> None:
    client.carry_out(create(PARTITION, "train", allocation="alice", size=1))
    assert client.partition_status("train") == {
        "status": "ACTIVE",
        "operation": "IDLE",
        "errors": [],
        "auto_resets": 0,
    }
    client.reset_partition("train")
    assert client.partition_status("train")["status"] == "ACTIVE"


def test_a_partition_that_ends_in_error_says_why(client: Client, installation: Installation) -> None:
    installation.faults.write_text(json.dumps({"fail_partition": {"train": 1}}))
    with pytest.raises(DeviceError, match=r"train.* ended in .*ERROR: .*training failed"):
        client.carry_out(create(PARTITION, "train", allocation="alice", size=4, disable_auto_reset=True))
    assert "IPU-Link training failed" in " ".join(client.partition_status("train")["errors"])


def test_ipuof_configuration_of_each_gcd(client: Client) -> None:
    client.carry_out(create(PARTITION, "train", allocation="alice", size=8, gcds=2))
    first, second = (client.ipuof_configuration("train", gcd) for gcd in (0, 1))
    assert {device["ip"] for device in first["devices"]} == {"10.5.1.3"}
    assert [device["ip"] for device in second["devices"]] == ["10.5.1.4"] * 4
    assert [device["device_id"] for device in second["devices"]] == [3, 2, 1, 0]
    assert second["attributes"]["GCD Id"] == "1"


def test_ipu_attributes(client: Client) -> None:
    found = client.ipu_attributes()
    assert {"a3", "a4"} <= found.keys()
    assert sorted(found["a3"]) == [0, 1, 2, 3]
    assert found["a3"][0]["board type"]


def test_release(client: Client) -> None:
    assert client.server_version() == "1.18.0"


def test_a_refusal_has_the_controllers_words(client: Client) -> None:
    with pytest.raises(DeviceError, match="'gone' is unknown"):
        client.partition_status("gone")


def test_a_kind_that_the_end_point_does_not_show_is_an_error(client: Client) -> None:
    with pytest.raises(DeviceError):
        client.read(["agent"])


def test_only_who_has_the_key_is_answered(client: Client, installation: Installation) -> None:
    if not installation.certificates:
        assert client.read([PARTITION]) == {PARTITION: {}}
        return
    wrong = installation.credentials("alice", "wrong")
    with (
        connect(HOST, installation.user_port, wrong) as channel,
        pytest.raises(DeviceError, match="user id or access key is wrong"),
    ):
        UserService(channel, "here", wrong).read()
    with pytest.raises(DeviceError, match="user id or access key is wrong"):
        installation.program(USERS, wrong).read([ALLOCATION])


def test_no_key_on_a_command_line(client: Client, installation: Installation) -> None:
    client.read([PARTITION])
    key = installation.administrator.access_key
    assert not [argv for argv in installation.calls if key and key in " ".join(argv)]
    assert "access_key" not in repr(installation.administrator)


@pytest.fixture
def both(installation: Installation) -> Iterator[Callable[[str], Client]]:
    who = installation.administrator
    with connect(HOST, installation.user_port, who) as channel:
        clients = {
            "cli": installation.program(USERS, who),
            "grpc": UserService(channel, f"{HOST}:{installation.user_port}", who),
        }
        yield clients.__getitem__


def test_both_transports_read_the_same(both: Callable[[str], Client]) -> None:
    both("grpc").carry_out(create(PARTITION, "train", allocation="alice", size=4, gcds=2, routing="swnc"))
    both("cli").carry_out(create(PARTITION, "serve", allocation="alice", size=2, reconfigurable=True))
    for ask in (
        lambda client: client.read([PARTITION]),
        lambda client: client.ipuof_configuration("train", 1),
        lambda client: client.partition_status("serve"),
        lambda client: client.ipu_attributes(),
        lambda client: client.server_version(),
    ):
        assert ask(both("cli")) == ask(both("grpc"))


def test_nobody_there_is_named() -> None:
    with closed_port() as port, connect(HOST, port, Credentials()) as channel:
        service = UserService(channel, f"{HOST}:{port}", Credentials())
        with pytest.raises(DeviceError, match=rf"{HOST}:{port}: "):
            service.read()


def test_a_certificate_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"ca\.crt: No such file or directory; tls_certs has to be"):
        connect(HOST, 1, Credentials(tls_certs=str(tmp_path)))


@pytest.mark.parametrize("host", [HOST, "10.3.1.200"])
def test_a_key_never_goes_over_a_channel_without_tls(host: str) -> None:
    with pytest.raises(DeviceError, match=r"transport grpc: an access key goes to .*:1 over TLS alone; set tls_certs"):
        connect(host, 1, Credentials("alice", "s3cret"))


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_service, "MISSING", "No module named 'grpc'")
    with pytest.raises(DeviceError, match=r"transport grpc: No module named 'grpc'; install grpcio and protobuf for /"):
        connect(HOST, 1, Credentials())
