# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions of ipu-run on servers in memory: what each container has, and that all of it ends together."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._ipu_run import part
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.arguments import arguments_from
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.document import part_for, part_from, session_from
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.part import Leader
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.registry import Record
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.report import as_json, as_table
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.settings import Function, Settings
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.user import User
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from tests.support.in_memory.session_servers import ALICE, SessionFloor, SessionServer

ROOT = User("root", 0, 0, "/root", None)
# Files can be given to nobody else by who is not root.
ANN = User("ann", os.getuid() or 1001, os.getgid() or 1002, "/home/ann", ("ann", "alice"))
TWO = "--servers pod001-poplar1,pod001-poplar2 --ipus 16 --name train"
DOCUMENT = {"servers": ["a", "b"], "ipus": 8, "image": "image", "command": ["true"]}
PART = {**DOCUMENT, "name": "train", "vpod": "alice", "gcd": 1}
del PART["command"]


@pytest.fixture(name="floor")
def _floor(tmp_path: Path) -> SessionFloor:
    return SessionFloor(tmp_path, servers=4)


def run(floor: SessionFloor, words: str, user: User = ANN) -> int:
    """A session, after which nothing is left."""
    try:
        return floor.first.lead(arguments_from(words.split()), user)
    finally:
        assert left(floor) == []


def left(floor: SessionFloor) -> list[Any]:
    """What is left of sessions."""
    found: list[Any] = [thread for thread in floor.parts if thread.is_alive()]
    for server in floor.servers.values():
        found += [*server.files, *server.podman.containers, *server.engines["docker"].containers]
    return [*found, *floor.partitions]


def refusal(floor: SessionFloor, words: str, user: User = ANN) -> str:
    with pytest.raises((Refused, DeviceError)) as refused:
        run(floor, words, user)
    return str(refused.value)


def during(floor: SessionFloor, words: str, look: Callable[[], Any], user: User = ANN) -> Any:
    """What a look sees while the command runs."""
    seen = []

    def meanwhile() -> int:
        seen.append(look())
        return 0

    for engine in floor.first.engines.values():
        engine.meanwhile = meanwhile
    assert run(floor, words, user) == 0
    return seen[0]


def session_files(server: SessionServer) -> dict[str, str]:
    files = (path for path in (server.folder / "train").rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(server.folder / "train")): path.read_text() for path in files}


def test_each_server_has_a_container_with_a_gcd_of_one_partition(floor: SessionFloor) -> None:
    def look() -> Any:
        partition = floor.connect(ALICE).read(("partition",))["partition"]["train"]
        configurations = [
            json.loads(session_files(server)["ipuof.conf.d/ipuof.conf"]) for server in (floor.first, floor.others[0])
        ]
        running = [dict(server.podman.containers) for server in floor.servers.values()]
        return partition["size"], partition["gcds"], configurations, running

    size, gcds, (first, second), running = during(floor, f"{TWO} image true", look)
    assert (size, gcds) == (16, 2)
    assert [each["attributes"]["GCD Id"] for each in (first, second)] == ["0", "1"]
    assert (len(first["devices"]), len(second["devices"])) == (8, 8)
    assert not {json.dumps(each) for each in first["devices"]} & {json.dumps(each) for each in second["devices"]}
    assert running == [{"train": "running"}, {"train": "running"}, {}, {}]


def test_the_command_runs_in_the_first_container_and_its_status_is_that_of_the_session(floor: SessionFloor) -> None:
    floor.first.podman.meanwhile = lambda: 42
    assert run(floor, f"{TWO} image sh -c true") == 42
    (command,) = floor.first.commands
    assert command.words == ["podman", "exec", "--interactive", "train", "sh", "-c", "true"]


@pytest.mark.parametrize("server", [0, 1])
def test_a_container_of_a_user_has_no_privilege(floor: SessionFloor, server: int) -> None:
    run(floor, f"{TWO} --env A=1 --home --engine docker image true")
    place = list(floor.servers.values())[server]
    (ran,) = place.engines["docker"].ran
    mounts = ran.options.pop("--mount")
    folder = place.folder / "train"
    assert mounts == [
        f"type=bind,source={folder}/ipuof.conf.d,target=/etc/ipuof.conf.d,readonly",
        f"type=bind,source={folder}/session,target=/etc/ipu-session,readonly",
        f"type=bind,source={folder}/etc-hosts,target=/etc/hosts,readonly",
        f"type=bind,source={folder}/ssh-config,target=/etc/ssh/ssh_config.d/ipu-session.conf,readonly",
        f"type=bind,source={folder}/passwd,target=/etc/passwd,readonly",
    ]
    assert ran.options == {
        "--name": ["train"],
        "--label": ["ipu.pod=container"],
        "--network": ["ipu-alice"],
        "--ulimit": ["memlock=-1:-1"],
        "--shm-size": ["1024k"],
        "--security-opt": ["no-new-privileges"],
        "--userns": ["host"],
        "--env": [
            "IPUOF_CONFIG_PATH=/etc/ipuof.conf.d/ipuof.conf",
            "OMPI_MCA_orte_default_hostfile=/etc/ipu-session/hostfile",
            "OMPI_MCA_plm_rsh_args=-F /etc/ssh/ssh_config.d/ipu-session.conf",
            "A=1",
        ],
        "--volume": ["/home/ann:/home/ann"],
        "--user": [f"{ANN.uid}:{ANN.gid}"],
        "--cap-drop": ["ALL"],
        "--hostname": [place.host],
        "--entrypoint": ["/usr/sbin/sshd"],
    }
    assert (ran.image, ran.command) == ("image", ["-D", "-e", "-f", "/etc/ipu-session/sshd_config"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be root")
def test_root_has_what_its_ssh_server_and_mpi_need(floor: SessionFloor) -> None:
    run(floor, f"{TWO} image true", ROOT)
    (ran,) = floor.others[0].podman.ran
    assert (ran.options["--tmpfs"], ran.options["--cap-add"]) == (["/run/sshd:mode=0755"], ["AUDIT_WRITE"])
    assert {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"} <= set(ran.options["--env"])
    assert not any("/etc/passwd" in mount for mount in ran.options["--mount"])


def test_all_know_each_other(floor: SessionFloor) -> None:
    both = during(floor, f"{TWO} image true", lambda: [session_files(each) for each in floor.servers.values()])
    for found, host in zip(both, ("pod001-poplar1", "pod001-poplar2"), strict=False):
        one, two = (floor.public_key(name) for name in ("pod001-poplar1", "pod001-poplar2"))
        assert found["session/hosts"] == "pod001-poplar1\npod001-poplar2\n"
        assert found["session/hostfile"] == "pod001-poplar1 slots=1\npod001-poplar2 slots=1\n"
        assert found["session/known_hosts"] == f"[pod001-poplar1]:2222 {one}\n[pod001-poplar2]:2222 {two}\n"
        assert found["session/authorized_keys"] == f"{one} pod001-poplar1\n{two} pod001-poplar2\n"
        assert found["etc-hosts"] == "127.0.0.1 localhost\n10.5.1.129 pod001-poplar1\n10.5.1.130 pod001-poplar2\n"
        assert found["ssh-config"].splitlines()[:3] == [
            *("Host pod001-poplar1 pod001-poplar2", "Port 2222", "IdentityFile /etc/ipu-session/key"),
        ]
        assert "StrictHostKeyChecking yes" in found["ssh-config"]
        assert found["session/key"] == f"secret of {host}"


@pytest.mark.parametrize(("options", "home"), [("", "/"), ("--home", "/home/ann")])
def test_a_user_has_a_name_in_each_container(floor: SessionFloor, options: str, home: str) -> None:
    """Nothing of an image is read for that, as it could lead anywhere on the server."""
    both = during(
        floor,
        f"{TWO} {options} image true",
        lambda: [session_files(server)["passwd"] for server in (floor.first, floor.others[0])],
    )
    assert both == [f"root:x:0:0::/root:/bin/sh\nann:x:{ANN.uid}:{ANN.gid}::{home}:/bin/sh\n"] * 2


def test_a_private_key_is_for_its_user_and_stays_on_its_server(floor: SessionFloor) -> None:
    def look() -> Any:
        keys = [server.folder / "train" / "session" / "key" for server in (floor.first, floor.others[0])]
        return [(key.stat().st_mode & 0o777, key.stat().st_uid) for key in keys]

    assert during(floor, f"{TWO} image true", look) == [(0o600, ANN.uid)] * 2
    assert "secret" not in "".join(floor.first.log + floor.others[0].log)


def test_a_login_has_the_environment_of_the_container(floor: SessionFloor) -> None:
    words = [*f"{TWO} --env A=1 --env".split(), 'B=say "b"', "image", "true"]
    seen = []

    def meanwhile() -> int:
        seen.append(session_files(floor.others[0])["session/sshd_config"])
        return 0

    floor.first.podman.meanwhile = meanwhile
    floor.first.lead(arguments_from(words), ANN)
    assert seen[0].splitlines()[-1] == (
        'SetEnv "PATH=/opt/poplar/bin:/usr/bin" "IPUOF_CONFIG_PATH=/etc/ipuof.conf.d/ipuof.conf" '
        '"OMPI_MCA_orte_default_hostfile=/etc/ipu-session/hostfile" '
        '"OMPI_MCA_plm_rsh_args=-F /etc/ssh/ssh_config.d/ipu-session.conf" "A=1"'
    )
    assert {"UsePAM no", "StrictModes no", "Port 2222", "AuthenticationMethods publickey"} <= set(seen[0].splitlines())


def test_every_server_lists_its_container(floor: SessionFloor) -> None:
    def look() -> Any:
        records = [list(server.registry.read().values()) for server in floor.servers.values()]
        return as_table(records[1]), json.loads(as_json(records[1]))

    table, (listed,) = during(floor, f"{TWO} image true", look)
    assert table.splitlines() == [
        "CONTAINER  USER  VPOD   IPUS  GCD     ENGINE  SINCE             IMAGE",
        "train      ann   alice  8     1 of 2  podman  2026-11-18 11:06  image",
    ]
    assert (listed["gcd"], listed["gcds"], listed["is_ready"]) == (1, 2, True)
    assert listed["servers"] == {"pod001-poplar1": "10.5.1.129", "pod001-poplar2": "10.5.1.130"}


def test_a_container_that_ends_ends_all_others(floor: SessionFloor) -> None:
    def meanwhile() -> int:
        floor.others[0].podman.containers.clear()
        return -1

    floor.first.podman.meanwhile = meanwhile
    assert refusal(floor, f"{TWO} image true") == "server pod001-poplar2: its container has ended"
    assert [command.ended for command in floor.first.commands] == [True]


def test_a_server_that_is_not_reached_is_named(floor: SessionFloor) -> None:
    floor.unreachable = {"pod001-poplar2"}
    assert refusal(floor, f"{TWO} image true") == (
        "server pod001-poplar2: ssh: connect to host pod001-poplar2 port 22: No route to host"
    )


@pytest.mark.parametrize("server", ["pod001-poplar1", "pod001-poplar2"])
def test_an_image_without_ssh_is_named(floor: SessionFloor, server: str) -> None:
    floor.servers[server].podman.has_sshd = False
    said = refusal(floor, f"{TWO} image true")
    assert said.endswith("image image has no /usr/sbin/sshd, which a session needs; install OpenSSH in it")
    assert said.startswith("server pod001-poplar2: ") == (server == "pod001-poplar2")


def test_an_ssh_server_that_does_not_work_has_the_last_word(floor: SessionFloor) -> None:
    floor.others[0].podman.sshd_works = False
    assert refusal(floor, f"{TWO} image true") == (
        "server pod001-poplar2: /usr/sbin/sshd of image image does not work: Bad configuration option"
    )


def test_an_ssh_server_is_waited_for_until_it_listens(floor: SessionFloor) -> None:
    floor.others[0].listens_after = 3
    run(floor, f"{TWO} image true")
    assert floor.others[0].slept == [0.1] * 3
    floor.first.listens_after = 10000
    assert refusal(floor, f"{TWO} image true").startswith("/usr/sbin/sshd of image image does not work: ")
    assert sum(floor.first.slept) == pytest.approx(30)


def test_the_sentence_of_another_server_is_passed_on(floor: SessionFloor) -> None:
    other = floor.others[0]
    other.settings = Settings(str(other.folder), (replace(ALICE, group="lab"),))
    assert refusal(floor, f"{TWO} image true") == (
        "server pod001-poplar2: you may have no IPUs of vPOD alice; be a member of lab"
    )
    other.settings = Settings(str(other.folder), ())
    assert refusal(floor, f"{TWO} image true").startswith(
        "server pod001-poplar2: no vPOD of this server has containers"
    )
    other.settings = Settings(str(other.folder), (ALICE,))
    other.podman.is_down = other.engines["docker"].is_down = True
    with pytest.raises(DeviceError, match=r"^server pod001-poplar2: podman does not answer"):
        floor.first.lead(arguments_from(f"{TWO} image true".split()), ANN)


def test_where_a_vpod_has_one_container_at_a_time_there_is_no_session(floor: SessionFloor) -> None:
    said = "vPOD alice has virtual function 0 of rnic0 of pod001-poplar{}, for one container at a time"
    for number, server in enumerate([floor.first, floor.others[0]], 1):
        server.settings = replace(server.settings, vpods=(replace(ALICE, function=Function("rnic0", 0, 201)),))
        assert said.format(number) in refusal(floor, f"{TWO} image true")
        server.settings = replace(server.settings, vpods=(ALICE,))


def test_a_name_that_is_taken_on_any_server_is_refused(floor: SessionFloor) -> None:
    for server in (floor.first, floor.others[0]):
        with server.registry.held("train"):
            with pytest.raises(Refused if server is floor.first else DeviceError) as refused:
                floor.first.lead(arguments_from(f"{TWO} image true".split()), ANN)
            assert str(refused.value).endswith("container train is there; give another --name")
            server.registry.forget("train")


def test_a_partition_of_that_name_stays_and_nothing_begins(floor: SessionFloor) -> None:
    floor.admin("create", "partition", "train", "--size", "4", "--allocation", "alice")
    with pytest.raises(Refused, match=r"^partition train is there and belongs to no container here"):
        floor.first.lead(arguments_from(f"{TWO} image true".split()), ANN)
    assert (floor.partitions, floor.parts, floor.first.podman.ran) == (["train"], [], [])


def test_where_ipus_are_short_nothing_is_left(floor: SessionFloor) -> None:
    floor.admin("create", "partition", "mine", "--size", "32", "--allocation", "alice")
    for words in (TWO, f"{TWO} --wait 0.1"):
        with pytest.raises(
            Refused, match=r"^16 IPUs are not free together in vPOD alice, which has 32: partition mine"
        ):
            floor.first.lead(arguments_from(f"{words} image true".split()), ANN)
        assert left(floor) == ["mine"]


def test_who_waits_for_ipus_does_not_wait_for_a_server_that_has_gone(floor: SessionFloor) -> None:
    floor.admin("create", "partition", "mine", "--size", "32", "--allocation", "alice")

    def gone(_log: str) -> None:
        floor.others[0].podman.containers.clear()

    floor.first.log = _Listening(gone)  # type: ignore[assignment]
    with pytest.raises(DeviceError, match=r"^server pod001-poplar2: its container has ended$"):
        floor.first.lead(arguments_from(f"{TWO} --wait 600 image true".split()), ANN)
    assert left(floor) == ["mine"]


class _Listening(list[str]):
    """A log that tells each line."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def append(self, line: str) -> None:
        self._tell(line)


def test_a_partition_that_the_controller_refuses_leaves_nothing(floor: SessionFloor) -> None:
    floor.vipu.failing = {"train"}
    assert "train" in refusal(floor, f"{TWO} image true")


def test_a_part_does_not_believe_what_it_is_told_of_ipus(floor: SessionFloor) -> None:
    """It asks the controller, and takes a partition of its own vPOD with so many GCDs alone."""
    floor.admin("create", "partition", "theirs", "--size", "8", "--allocation", "alice")
    other = floor.others[0]
    said = _part(other, {**PART, "name": "theirs"}, [_member_of(floor, "pod001-poplar1")])
    assert said[1] == "vPOD alice has no partition theirs with 2 GCDs"
    assert (other.files, other.podman.containers, floor.partitions) == ([], {}, ["theirs"])


def test_a_part_takes_no_partition_of_another_vpod(floor: SessionFloor) -> None:
    for number in (9, 10):
        floor.vipu.controller.create_agent(f"m{number}", f"10.2.1.{number}", 8080)
    floor.admin("create", "cluster", "d", "--agents", "m9,m10", "--topology", "mesh")
    floor.admin("create", "allocation", "bob", "--size", "8", "--cluster", "d")
    floor.admin("create", "partition", "theirs", "--size", "8", "--allocation", "bob", "--num-gcds", "2")
    other = floor.others[0]
    said = _part(other, {**PART, "name": "theirs"}, [_member_of(floor, "pod001-poplar1")])
    assert said[1] == "vPOD alice has no partition theirs with 2 GCDs"
    assert (other.files, other.podman.containers, floor.partitions) == ([], {}, ["theirs"])


def _member_of(floor: SessionFloor, host: str) -> dict[str, str]:
    return {"name": host, "address": "10.5.1.129", "key": floor.public_key(host)}


def _part(server: SessionServer, *lines: Any, silence: float = 60.0) -> tuple[list[str], str]:
    """What a part says to these lines of a first server, and how it ends."""
    answers: list[str] = []
    reads, writes = os.pipe()
    with os.fdopen(reads, "rb", 0) as source, os.fdopen(writes, "wb", 0) as sink:
        for line in lines:
            sink.write((line if isinstance(line, str) else json.dumps(line)).encode() + b"\n")
        if silence == 60.0:
            sink.close()
        try:
            server.be_part(Leader(source, answers.append, silence), ANN)
        except (Refused, DeviceError) as error:
            return answers, str(error)
    return answers, ""


def test_a_part_ends_with_its_input(floor: SessionFloor) -> None:
    other = floor.others[0]
    (answer,), said = _part(other, PART)
    assert json.loads(answer)[0]["name"] == "pod001-poplar2"
    assert (said, other.files, other.podman.containers) == ("", [], {})


def test_a_part_that_hears_nothing_ends(floor: SessionFloor) -> None:
    other = floor.others[0]
    (answer,), said = _part(other, PART, silence=0.1)
    assert answer
    assert (said, other.files, other.podman.containers) == ("", [], {})


def test_a_line_without_an_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "_LONGEST", 100)
    reads, writes = os.pipe()
    looks = iter([True, False])
    with os.fdopen(reads, "rb", 0) as source, os.fdopen(writes, "wb", 0) as sink:
        sink.write(b"x" * 200)
        assert Leader(source, print).line(lambda: next(looks)) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gcd": 0}, "this is no part of a session; ipu-run starts parts itself, see ipu-run --help"),
        ({"gcd": 2}, "this is no part of a session"),
        ({"gcd": "1"}, "this is no part of a session"),
        ({"gcd": True}, "this is no part of a session"),
        ({"name": ""}, "this is no part of a session"),
        ({"vpod": ""}, "this is no part of a session"),
        ({"vpod": "bob"}, "this server has no vPOD bob; use alice"),
        ({"name": "../x"}, "name '../x': a name has letters"),
        ({"image": "--privileged"}, "--privileged is no image"),
        ({"image": "dir:/root"}, "dir:/root is not the name of an image"),
        ({"volumes": ["/:/host"]}, "--volume is for root alone"),
        ({"engine": "sh"}, "engine sh: there is no such engine; use podman or docker"),
        ({"ipus": 64}, "--ipus 64: vPOD alice has 32; ask for fewer"),
        ({"environment": {"A": 1}}, "environment: this is not an object of texts"),
        ({"network": "host"}, "network: a session has no such key; use "),
    ],
)
def test_a_forged_part_is_refused(floor: SessionFloor, changes: dict[str, Any], said: str) -> None:
    other = floor.others[0]
    answers, refused = _part(other, {**PART, **changes})
    assert (answers, other.files, other.podman.ran) == ([], [], [])
    assert refused.startswith(said)


@pytest.mark.parametrize("line", ["", "[]", "{", "nonsense", json.dumps([1, 2]), '"' + "x" * 100])
def test_what_is_no_document_is_refused(floor: SessionFloor, line: str) -> None:
    answers, refused = _part(floor.others[0], line)
    assert (answers, floor.others[0].podman.ran) == ([], [])
    assert refused.startswith(("the session is no JSON", "nothing is asked for"))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "a\nb"},
        {"name": "*"},
        {"address": "10.5.1.129 pod001-tor"},
        {"key": 'ssh-ed25519 AAAA" command="x'},
        {"key": "ssh-ed25519 AAAA\nssh-rsa"},
        {"key": 5},
    ],
)
def test_forged_members_are_refused(floor: SessionFloor, changes: dict[str, Any]) -> None:
    other = floor.others[0]
    floor.admin("create", "partition", "train", "--size", "8", "--allocation", "alice", "--num-gcds", "2")
    answers, refused = _part(other, PART, [{**_member_of(floor, "pod001-poplar1"), **changes}])
    assert len(answers) == 1
    assert refused.startswith("says something that is not understood")
    assert (other.files, other.podman.containers) == ([], {})


def test_what_another_server_says_is_not_believed_either(floor: SessionFloor) -> None:
    other = floor.others[0]
    other.host = "*"
    assert refusal(floor, f"{TWO} image true") == (
        "server pod001-poplar2: says something that is not understood; have one release of ipu-run on all servers"
    )


def test_two_servers_of_one_name_are_refused(floor: SessionFloor) -> None:
    floor.others[1].host = "pod001-poplar2"
    assert refusal(floor, f"--servers {','.join(floor.servers)} --ipus 16 image true") == (
        "--servers: pod001-poplar2 and pod001-poplar3 are both called pod001-poplar2; name each once"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--servers pod001-poplar1 image true", "--servers: a session has 2 to 8 servers, not 1"),
        ("--servers a,b,c,d,e,f,g,h,i image true", "--servers: a session has 2 to 8 servers, not 9"),
        ("--servers a,a image true", "--servers: a is there twice; name each server once"),
        ("--servers a,-oProxyCommand=x image true", "--servers: '-oProxyCommand=x' is no name of a server"),
        ("--servers a, image true", "--servers: '' is no name of a server"),
        ("--servers a,b,c --ipus 8 image true", "--ipus 8: each server has a GCD, and 8 IPUs cannot be split into 3"),
        ("--servers a,b --ipus 1 image true", "--ipus 1: each server has a GCD, and 1 IPUs cannot be split into 2"),
        ("--servers a,b --ipus 192 image true", "--ipus 192: each server has a GCD, and 192 IPUs in 2 GCDs are 96"),
        ("--servers a,b --detach image true", "--detach: a session lasts as long as its ipu-run; leave it out"),
        ("--servers a,b image", "there is no COMMAND; a session runs one in its first container"),
        ("--session f --ipus 8", "--session: the document says everything; leave the rest out"),
        ("--session=f image", "--session: the document says everything; leave the rest out"),
        ("--servers pod001-poplar2,pod001-poplar1 image true", "--servers: pod001-poplar2 is not this server, pod001-"),
        ("--servers pod001-poplar1,pod001-poplar1.lab image true", "--servers: pod001-poplar1.lab is this server, too"),
        ("--servers pod001-poplar1,b --ipus 64 image true", "--ipus 64: vPOD alice has 32; ask for fewer"),
    ],
)
def test_what_is_not_possible_is_said_before_anything_is_done(floor: SessionFloor, words: str, said: str) -> None:
    assert refusal(floor, words).startswith(said)
    assert (floor.parts, floor.first.podman.ran) == ([], [])


def test_what_is_left_of_a_session_after_kill_9_ends(floor: SessionFloor) -> None:
    """Nobody holds its containers, so they have nobody to work for; the partition is the first one's."""
    floor.admin("create", "partition", "train", "--size", "16", "--allocation", "alice", "--num-gcds", "2")
    record = Record("train", "alice", "ann", 8, "podman", "image", 0.0, is_ready=True, gcds=2)
    first, other = floor.first, floor.others[0]
    for server, gcd in ((first, 0), (other, 1)):
        with server.registry.held("train"):
            server.registry.write(replace(record, gcd=gcd))
        server.podman.containers["train"] = "running"
    assert other.releases.release_ended() == []
    assert (other.podman.containers, other.files, floor.partitions) == ({}, [], ["train"])
    assert first.releases.release_ended() == []
    assert left(floor) == []
    assert first.log == ["freed 16 IPUs of container train of ann, whose session has ended"]
    assert other.log == ["removed container train of ann, whose session has ended"]


def test_a_timer_leaves_a_session_that_runs_alone(floor: SessionFloor) -> None:
    def look() -> Any:
        failures = [server.releases.release_ended() for server in floor.servers.values()]
        return failures, [dict(server.podman.containers) for server in floor.servers.values()], floor.partitions

    failures, running, partitions = during(floor, f"{TWO} image true", look)
    assert failures == [[]] * 4
    assert running == [{"train": "running"}, {"train": "running"}, {}, {}]
    assert partitions == ["train"]


def test_a_session_ends_when_somebody_removes_its_partition(floor: SessionFloor) -> None:
    def meanwhile() -> int:
        if "train" in floor.partitions:
            floor.admin("remove", "partition", "train", "--force")
        floor.others[0].releases.release_ended()
        return -1

    floor.first.podman.meanwhile = meanwhile
    assert refusal(floor, f"{TWO} image true") == "server pod001-poplar2: its container has ended"


def test_a_document_says_the_same_as_the_command_line() -> None:
    words = (
        "--servers a,b --ipus 8 --name train --vpod alice --engine docker --env A=1 --env B=x=y --volume /d:/d --home "
        "--shm-size 1g --wait 60 image sh -c true"
    )
    document = {
        "servers": ["a", "b"],
        "ipus": 8,
        "name": "train",
        "vpod": "alice",
        "engine": "docker",
        "environment": {"A": "1", "B": "x=y"},
        "volumes": ["/d:/d"],
        "home": True,
        "shared_memory": "1g",
        "wait": 60,
        "image": "image",
        "command": ["sh", "-c", "true"],
    }
    asked = arguments_from(words.split())
    assert session_from(json.dumps(document)) == asked
    assert part_from(part_for(asked, 1)) == replace(asked, gcd=1, command=(), wait=0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"comand": []},
            "comand: a session has no such key; use command, engine, environment, home, image, ipus, name",
        ),
        ({"gcd": 1}, "gcd: a session has no such key"),
        ({"ipus": "8"}, "ipus: this is not a number"),
        ({"ipus": True}, "ipus: this is not a number"),
        ({"ipus": 3}, "ipus 3: there are no such partitions"),
        ({"command": "true"}, "command: this is not a list of texts"),
        ({"command": [1]}, "command: this is not a list of texts"),
        ({"command": []}, "command: is missing; a session has servers, ipus, image, command"),
        ({"servers": []}, "servers: is missing"),
        ({"servers": ["a"]}, "servers: a session has 2 to 8 servers, not 1"),
        ({"home": 1}, "home: this is not true or false"),
        ({"environment": ["A=1"]}, "environment: this is not an object of texts"),
        ({"wait": "1"}, "wait: this is not a number"),
    ],
)
def test_a_document_that_is_not_right_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused) as refused:
        session_from(json.dumps({**DOCUMENT, **changes}))
    assert str(refused.value).startswith(said)


def test_a_record_of_an_earlier_release_is_understood(floor: SessionFloor) -> None:
    registry = floor.first.registry
    record = Record("train", "alice", "ann", 8, "podman", "image", 0.0)
    with registry.held("train"):
        registry.write(record)
    file = floor.first.folder / "train" / "record.json"
    known = json.loads(file.read_text())
    file.write_text(json.dumps({key: known[key] for key in known if key not in ("gcd", "gcds", "servers")}))
    assert registry.record("train") == record
