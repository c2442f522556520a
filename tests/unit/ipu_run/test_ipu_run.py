# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ipu-run with a simulated V-IPU controller and an engine in memory: who gets which IPUs, and when they are free."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run import functions
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.arguments import ENGINES, arguments_from
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.engine import Engine, engine_for
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.functions import Functions
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.partitions import Clock, Partitions
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.registry import Registry
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.released import Releases
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.report import as_json, as_table
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.runs import Runs
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.settings import Function, Settings, Vpod, settings_from
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.user import User
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Function as VirtualFunction
from tests.support.in_memory.container_runs import ContainerRuns, Ran
from tests.support.in_memory.controller import InProcess
from tests.support.in_memory.server import MemorySysfs

ALICE = Vpod("alice", 16, "alice", "ipu-alice", "alice", "10.3.1.200", 8090, "/etc/vipu/vipu-cli.hcl", ())
BOB = replace(ALICE, name="bob", allocation="bob", network="ipu-bob", group="bob")
# On a server that it shares with others.
SHARED = replace(ALICE, function=Function("rnic0", 0, 201))
MAC = "02:00:0a:05:01:68"
ROOT = User("root", 0, 0, "/root", None)
ANN = User("ann", 1001, 1002, "/home/ann", ("ann", "alice"))


class Bed:
    """A server with podman and Docker, and two vPODs of 16 IPUs."""

    def __init__(self, folder: Path) -> None:
        self.vipu = InProcess()
        for number in range(1, 9):
            self.vipu.controller.create_agent(f"m{number}", f"10.2.1.{number}", 8080)
        self.admin("create", "cluster", "c", "--agents", ",".join(f"m{n}" for n in range(1, 9)), "--topology", "mesh")
        for vpod in (ALICE, BOB):
            self.admin("create", "allocation", vpod.allocation, "--size", "16")
        self.folder = folder / "containers"
        self.settings = Settings(str(self.folder), (ALICE,))
        self.engines = {name: ContainerRuns(["ipu-alice", "ipu-bob"]) for name in ENGINES}
        self.podman = self.engines["podman"]
        self.log: list[str] = []
        self.sysfs = MemorySysfs()
        self.set: list[list[str]] = []
        self.kept = [{"vf": 0, "address": MAC, "vlan_list": [{"vlan": 201}], "spoofchk": True, "trust": False}]
        self.seconds = 0.0
        self.each_second: Callable[[], None] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        self.each_second()

    def ip(self, argv: list[str]) -> tuple[int, str, str]:
        """The server's links."""
        if argv == ["ip", "-details", "-json", "address", "show"]:
            link = {"ifname": "rnic0", "ifindex": 2, "mtu": 9000, "address": "0c:42:a1:00:00:01", "flags": ["UP"]}
            return 0, json.dumps([{**link, "addr_info": [], "operstate": "UP", "vfinfo_list": self.kept}]), ""
        self.set.append(argv)
        return 0, "", ""

    def admin(self, *words: str) -> None:
        code, _output, errors = self.vipu.run(["vipu-admin", "-H", "localhost", "-P", "8091", *words])
        assert code == 0, errors

    def run(self, words: str, user: User = ROOT) -> int:
        return self.run_words(words.split(), user)

    def run_image(self, image: str, user: User) -> int:
        return self.run_words([image], user)

    def run_words(self, words: list[str], user: User) -> int:
        programs = Programs(lambda argv: self.engines[argv[0]].run(argv))
        clock = Clock(lambda: 1795000000.0 + self.seconds, self.sleep)
        runs = Runs(
            settings=self.settings,
            registry=self.registry,
            releases=self.releases,
            partitions=Partitions(self.registry, self.releases, lambda _vpod: self.vipu.client, self.log.append, clock),
            choose_engine=lambda network, name: engine_for(network, name, programs, ENGINES),
            execute=lambda argv: self.engines[argv[0]].execute(argv),
            log=self.log.append,
            clock=clock,
            terminal=(True, False),
            shared_memory="1024k",
            functions=Functions(Programs(self.ip), self.sysfs),
        )
        return runs.run(arguments_from(words), user)

    def refusal(self, words: str, user: User = ROOT) -> str:
        """What it says, having left nothing behind."""
        partitions = self.partitions
        with pytest.raises((Refused, DeviceError)) as refused:
            self.run(words, user)
        assert self.partitions == partitions
        return str(refused.value)

    @property
    def registry(self) -> Registry:
        return Registry(str(self.folder))

    @property
    def releases(self) -> Releases:
        programs = Programs(lambda argv: self.engines[argv[0]].run(argv))
        engine = lambda name: Engine(name, programs)  # noqa: E731
        return Releases(self.settings, self.registry, lambda _vpod: self.vipu.client, engine, self.log.append)

    @property
    def partitions(self) -> list[str]:
        return sorted(self.vipu.client.read(("partition",))["partition"])

    @property
    def records(self) -> list[str]:
        return list(self.registry.read())

    def killed_while(self, words: str, state: str) -> None:
        """An ipu-run is killed while its container has a state, or "" while it has none yet."""

        class Killed(BaseException):
            pass

        def kill() -> int:
            raise Killed

        self.podman.meanwhile = kill
        with pytest.raises(Killed):
            self.run(words)
        self.podman.meanwhile = lambda: 0
        self.podman.containers = dict.fromkeys(self.podman.containers, state) if state else {}


@pytest.fixture(name="bed")
def _bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def ran(bed: Bed) -> Ran:
    return bed.podman.ran[-1]


def during(bed: Bed, words: str, look: Callable[[], Any], user: User = ROOT) -> Any:
    """What a look sees while a container runs."""
    seen = []

    def meanwhile() -> int:
        seen.append(look())
        return 0

    bed.podman.meanwhile = meanwhile
    assert bed.run(words, user) == 0
    bed.podman.meanwhile = lambda: 0
    return seen[0]


def test_a_container_has_its_ipus_as_long_as_it_runs(bed: Bed) -> None:
    def look() -> tuple[Any, ...]:
        (configuration,) = bed.folder.glob("*/ipuof.conf.d/ipuof.conf")
        return bed.partitions, bed.records, len(json.loads(configuration.read_text())["devices"])

    assert during(bed, "--name train --ipus 8 image sh -c true", look) == (["train"], ["train"], 8)
    assert (bed.partitions, bed.records, list(bed.folder.iterdir())) == ([], [], [])
    assert (ran(bed).image, ran(bed).command) == ("image", ["sh", "-c", "true"])


def test_it_has_no_privilege_and_not_the_network_of_the_host(bed: Bed) -> None:
    bed.settings = Settings(str(bed.folder), (replace(ALICE, devices=("/dev/null",)),))
    assert bed.run("--name train --env A=1 --env B= --home image", ANN) == 0
    assert ran(bed).options == {
        "--rm": [],
        "--name": ["train"],
        "--label": ["ipu.pod=container"],
        "--network": ["ipu-alice"],
        "--ulimit": ["memlock=-1:-1"],
        "--shm-size": ["1024k"],
        "--security-opt": ["no-new-privileges"],
        "--userns": ["host"],
        "--device": ["/dev/null"],
        "--mount": [f"type=bind,source={bed.folder}/train/ipuof.conf.d,target=/etc/ipuof.conf.d,readonly"],
        "--env": ["IPUOF_CONFIG_PATH=/etc/ipuof.conf.d/ipuof.conf", "A=1", "B="],
        "--volume": ["/home/ann:/home/ann"],
        "--user": ["1001:1002"],
        "--cap-drop": ["ALL"],
        "--interactive": [],
    }


def test_its_exit_status_is_that_of_the_container(bed: Bed) -> None:
    bed.podman.meanwhile = lambda: 42
    assert bed.run("image") == 42
    assert bed.partitions == []


def test_without_a_name_it_is_called_after_its_user(bed: Bed) -> None:
    (name,) = during(bed, "image", lambda: bed.records, replace(ANN, name="LAB\\ann"))
    assert name.startswith("LAB-ann-")
    assert len(name) == len("LAB-ann-") + 8


def test_a_device_that_is_missing_is_said(bed: Bed) -> None:
    bed.settings = Settings(str(bed.folder), (replace(ALICE, devices=("/dev/no-such-device",)),))
    assert bed.run("image") == 0
    assert "--device" not in ran(bed).options
    assert bed.log[0] == "this server has no /dev/no-such-device, so the container has no RDMA; load the RNIC's driver"


def test_containers_of_one_vpod_are_called_not_isolated(bed: Bed) -> None:
    bed.run("--name train image")
    assert bed.log == [
        "container train has 4 IPUs of vPOD alice; containers of one vPOD share a VLAN, and are not isolated from each "
        "other"
    ]


def test_a_detached_container_keeps_its_ipus_until_it_has_ended(bed: Bed) -> None:
    assert bed.run("--name train --detach image") == 0
    assert bed.releases.release_ended() == []
    assert (bed.partitions, bed.records) == (["train"], ["train"])
    del bed.podman.containers["train"]
    assert bed.releases.release_ended() == []
    assert (bed.partitions, bed.records) == ([], [])
    assert bed.log[-1] == "freed 4 IPUs of container train of root, which has ended"


def test_a_detached_container_that_could_not_start_has_nothing(bed: Bed) -> None:
    bed.podman.execute = lambda _argv: 125  # type: ignore[method-assign]
    assert bed.run("--name train --detach image") == 125
    assert (bed.partitions, bed.records) == ([], [])


@pytest.mark.parametrize("state", ["", "created", "exited", "dead"])
def test_ipus_are_free_after_ipu_run_was_killed_and_the_container_has_ended(bed: Bed, state: str) -> None:
    bed.killed_while("--name train image", state)
    assert bed.partitions == ["train"]
    assert bed.releases.release_ended() == []
    assert (bed.partitions, bed.records, bed.podman.containers) == ([], [], {})


@pytest.mark.parametrize("state", ["running", "paused", "restarting", "removing", "stopping", "what engines call new"])
def test_a_container_that_may_still_run_keeps_its_ipus(bed: Bed, state: str) -> None:
    bed.killed_while("--name train image", state)
    assert bed.releases.release_ended() == []
    assert (bed.partitions, bed.records) == (["train"], ["train"])


def test_nothing_is_freed_under_an_ipu_run_that_is_still_there(bed: Bed) -> None:
    def look() -> tuple[list[str], list[str]]:
        bed.podman.containers = {}
        return bed.releases.release_ended(), bed.partitions

    assert during(bed, "--name train image", look) == ([], ["train"])


def test_an_engine_that_is_down_says_nothing_of_containers(bed: Bed) -> None:
    bed.killed_while("--name train image", "running")
    bed.podman.is_down = True
    (failure,) = bed.releases.release_ended()
    assert "Cannot connect to the podman daemon" in failure
    assert bed.partitions == ["train"]
    bed.podman.is_down, bed.podman.containers = False, {}
    assert bed.releases.release_ended() == []
    assert bed.partitions == []


def test_an_engine_that_crashes_leaves_ipus_with_the_container_until_it_answers(bed: Bed) -> None:
    def crash() -> int:
        bed.podman.is_down = True
        return 125

    bed.podman.meanwhile = crash
    assert bed.run("--name train image") == 125
    assert bed.partitions == ["train"]
    assert bed.log[-1].endswith("; the IPUs of container train are freed when it has ended")
    bed.podman.is_down = False
    assert bed.releases.release_ended() == []
    assert bed.partitions == ["train"]
    bed.podman.containers = {}
    assert bed.releases.release_ended() == []
    assert bed.partitions == []


def test_a_container_that_outlives_its_partition_is_ended(bed: Bed) -> None:
    def look() -> tuple[list[str], dict[str, str]]:
        bed.admin("remove", "partition", "train", "--force")
        return bed.releases.release_ended(), dict(bed.podman.containers)

    assert during(bed, "--name train image", look) == ([], {})
    assert bed.log[1:] == [
        "ended container train of root: its partition is not there any more",
        "partition train was removed by somebody else while its container ran",
    ]
    assert bed.records == []


def test_a_controller_that_does_not_answer_ends_no_container(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.killed_while("--name train image", "running")
    monkeypatch.setattr(bed.vipu.client, "_run", lambda _argv: (1, "", "Unable to connect to the server"))
    (failure,) = bed.releases.release_ended()
    assert "Unable to connect" in failure
    assert bed.podman.containers == {"train": "running"}


def test_what_cannot_be_freed_is_freed_later(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.killed_while("--name train image", "exited")
    with monkeypatch.context() as broken:
        broken.setattr(bed.vipu.client, "_run", lambda _argv: (1, "", "Unable to connect to the server"))
        assert len(bed.releases.release_ended()) == 1
        assert bed.records == ["train"]
    assert bed.releases.release_ended() == []
    assert (bed.partitions, bed.records) == ([], [])


def test_ipus_of_an_ended_container_are_free_for_the_next(bed: Bed) -> None:
    bed.killed_while("--name train --ipus 16 image", "exited")
    assert during(bed, "--name next --ipus 16 image", lambda: bed.partitions) == ["next"]


def test_where_ipus_are_short_it_is_said_who_has_them(bed: Bed) -> None:
    bed.admin("create", "partition", "mine", "--size", "4", "--allocation", "alice")
    bed.admin("create", "partition", "elsewhere", "--size", "4", "--allocation", "bob")
    bed.run("--name train --ipus 8 --detach image", ANN)
    assert bed.refusal("--ipus 8 image") == (
        "8 IPUs are not free together in vPOD alice, which has 16: partition mine has 4, container train of ann has 8"
    )
    assert bed.records == ["train"]


def test_who_waits_gets_ipus_when_they_are_free(bed: Bed) -> None:
    bed.run("--name train --ipus 16 --detach image")
    bed.each_second = lambda: bed.podman.containers.clear() if bed.seconds > 5 else None
    assert during(bed, "--name next --ipus 16 --wait 60 image", lambda: bed.partitions) == ["next"]
    assert bed.log[1] == (
        "waiting up to 60 s: 16 IPUs are not free together in vPOD alice, which has 16: container train of root has 16"
    )
    assert bed.seconds == 6


def test_nobody_waits_longer_than_they_say(bed: Bed) -> None:
    bed.run("--name train --ipus 16 --detach image")
    assert bed.refusal("--name next --wait 3 image").startswith("4 IPUs are not free together in vPOD alice")
    assert bed.seconds == 3
    assert bed.records == ["train"]


def test_who_waits_has_its_turn(bed: Bed) -> None:
    with bed.registry.in_turn("alice", 0) as is_first:
        assert is_first
        assert bed.refusal("--name next --wait 0.1 image") == "others wait for IPUs, too, and 0.1 s are over"
    assert bed.records == []


def test_two_vpods_on_one_server_are_kept_apart(bed: Bed) -> None:
    bed.settings = Settings(str(bed.folder), (ALICE, BOB))
    assert bed.refusal("image") == "this server has vPODs alice, bob; say which one with --vpod"
    assert bed.refusal("--vpod carol image") == "this server has no vPOD carol; use alice, bob"
    assert bed.refusal("--vpod bob image", ANN) == "you may have no IPUs of vPOD bob; be a member of bob"
    assert bed.run("image", ANN) == 0
    assert ran(bed).options["--network"] == ["ipu-alice"]
    assert bed.run("--vpod bob image") == 0
    assert ran(bed).options["--network"] == ["ipu-bob"]


def test_a_server_without_containers_says_so(bed: Bed) -> None:
    bed.settings = Settings(str(bed.folder), ())
    assert bed.refusal("image") == (
        "no vPOD of this server has containers; declare vpods.NAME.containers, and run vpods.yml"
    )


def test_a_vpod_without_a_group_is_for_root(bed: Bed) -> None:
    bed.settings = Settings(str(bed.folder), (replace(ALICE, group=""),))
    assert bed.refusal("image", ANN) == "you may have no IPUs of vPOD alice; be root"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--ipus 32 image", "--ipus 32: vPOD alice has 16; ask for fewer"),
        ("--ipus 3 image", "--ipus 3: there are no such partitions; use 1, 2, 4, 8, 16, 32, 64 and multiples of 64"),
        ("--ipus four image", "argument --ipus: invalid int value: 'four'; see ipu-run --help"),
        ("--ipu 4 image", "unrecognized arguments: --ipu; see ipu-run --help"),
        ("--ipus 4", "there is no IMAGE; see ipu-run --help"),
        ("--env A image", "--env A: there is no value; write NAME=VALUE"),
        ("--name -x image", "argument --name: expected one argument; see ipu-run --help"),
        ("--name ../x image", "--name '../x': a name has letters, digits, '.', '_' and '-', at most 64 of them"),
        ("--engine lxc image", "argument --engine: invalid choice: 'lxc'"),
    ],
)
def test_what_is_not_understood_or_not_possible_is_said(bed: Bed, words: str, said: str) -> None:
    assert bed.refusal(words).startswith(said)


def test_a_directory_of_the_server_is_for_root_alone(bed: Bed) -> None:
    assert bed.refusal("--volume /etc:/etc image", ANN) == (
        "--volume is for root alone, since it opens directories that ann may not; use --home"
    )
    assert bed.run("--volume /data:/data:ro image") == 0
    assert ran(bed).options["--volume"] == ["/data:/data:ro"]
    assert "--user" not in ran(bed).options


@pytest.mark.parametrize("image", ["dir:/root", "oci:layout", "docker-archive:/root/a.tar", "/root/image", "a b", "X"])
def test_files_of_the_server_are_no_image_for_users(bed: Bed, image: str) -> None:
    with pytest.raises(Refused, match=r" is not the name of an image; write one like poplar:3.3 or host/poplar:3.3$"):
        bed.run_image(image, ANN)


@pytest.mark.parametrize("image", ["poplar", "lab/poplar:3.3", "reg.lab:5000/a/b", "a@sha256:" + "0" * 64])
def test_an_image_is_taken_by_its_name(bed: Bed, image: str) -> None:
    assert bed.run_image(image, ANN) == 0
    assert ran(bed).image == image


def test_a_name_that_is_taken_is_refused(bed: Bed) -> None:
    bed.run("--name train --detach image")
    assert bed.refusal("--name train image") == "container train is there; give another --name"
    bed.admin("create", "partition", "mine", "--size", "4", "--allocation", "alice")
    assert bed.refusal("--name mine image") == (
        "partition mine is there and belongs to no container here; give another --name"
    )
    assert bed.records == ["train"]


def test_the_engine_is_the_one_that_is_asked_for_or_the_first_with_the_network(bed: Bed) -> None:
    assert bed.run("--engine docker image") == 0
    assert (len(bed.podman.ran), len(bed.engines["docker"].ran)) == (0, 1)
    bed.podman.networks = []
    assert bed.run("image") == 0
    assert len(bed.engines["docker"].ran) == 2
    assert bed.refusal("--engine podman image") == (
        "podman has no network ipu-alice of this collection; run vpods.yml, which makes it"
    )
    bed.engines["docker"].is_down = True
    assert bed.refusal("image").startswith("docker does not answer: ")


def test_a_partition_that_does_not_come_up_leaves_nothing(bed: Bed) -> None:
    bed.vipu.failing = {"train"}
    assert "train" in bed.refusal("--name train image")
    assert bed.records == []


def test_the_list_says_who_has_what(bed: Bed) -> None:
    assert as_table([]) == "no container has IPUs"
    bed.run("--name train --ipus 8 --detach poplar:3", ANN)
    records = list(bed.registry.read().values())
    assert as_table(records).splitlines() == [
        "CONTAINER  USER  VPOD   IPUS  GCD  ENGINE  SINCE             IMAGE",
        "train      ann   alice  8     -    podman  2026-11-18 11:06  poplar:3",
    ]
    waiting = replace(records[0], name="next", is_ready=False)
    assert as_table([waiting]).splitlines()[1].split() == [
        *("next", "ann", "alice", "0", "of", "8", "-", "podman", "2026-11-18", "11:06", "poplar:3"),
    ]
    (listed,) = json.loads(as_json(records))
    assert (listed["name"], listed["user"], listed["ipus"], listed["is_ready"]) == ("train", "ann", 8, True)


@pytest.mark.parametrize("engine", ENGINES)
def test_either_engine_says_which_containers_run(bed: Bed, engine: str) -> None:
    bed.run(f"--name train --engine {engine} --detach image")
    assert bed.releases.release_ended() == []
    assert bed.partitions == ["train"]
    bed.engines[engine].containers["train"] = "exited"
    assert bed.releases.release_ended() == []
    assert (bed.partitions, bed.engines[engine].containers) == ([], {})


def test_a_record_that_is_not_understood_is_named(bed: Bed) -> None:
    bed.run("--name train --detach image")
    (bed.folder / "train" / "record.json").write_text("{}")
    (failure,) = bed.releases.release_ended()
    assert failure.startswith(f"{bed.folder}/train/record.json is not understood; ")


def test_a_directory_without_a_record_goes(bed: Bed) -> None:
    (bed.folder / "train").mkdir(parents=True)
    assert bed.releases.release_ended() == []
    assert list(bed.folder.iterdir()) == []


def test_settings_are_read_as_the_role_writes_them_and_nothing_else(tmp_path: Path) -> None:
    written = {"state": str(tmp_path), "vpods": [{**vars(ALICE), "devices": ["/dev/infiniband"]}]}
    assert settings_from(json.dumps(written)).vpods == (replace(ALICE, devices=("/dev/infiniband",)),)
    for wrong in ("", "[]", "{}", json.dumps({**written, "more": 1}), json.dumps({**written, "vpods": [{}]})):
        with pytest.raises(Refused, match="run the role containers again"):
            settings_from(wrong)


@pytest.fixture(name="shared")
def _shared(bed: Bed) -> Bed:
    """The server is shared: alice has function 0, with its network in podman."""
    bed.settings = Settings(str(bed.folder), (SHARED,))
    bed.sysfs.taken["rnic0"] = [VirtualFunction(0, "0000:81:00.2", "mlx5_core", ("rnic0v0",), ("null",))]
    bed.sysfs.mtus = {"rnic0": "9000"}
    bed.podman.parents["ipu-alice"] = "rnic0v0"
    return bed


def test_a_container_on_a_shared_server_has_the_function_of_its_vpod_and_no_other_device(
    shared: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "_VERBS", "/dev")
    assert shared.run("--name train image") == 0
    assert ran(shared).options["--mac-address"] == [MAC]
    assert ran(shared).options["--device"] == ["/dev/null"]
    assert [" ".join(words) for words in shared.set] == [
        "ip link set dev rnic0v0 address 02:00:0a:05:01:68 mtu 9000 addrgenmode none arp off up"
    ]


def test_a_function_without_rdma_is_said(shared: Bed) -> None:
    shared.sysfs.taken["rnic0"] = [VirtualFunction(0, "0000:81:00.2", "mlx5_core", ("rnic0v0",))]
    assert shared.run("image") == 0
    assert shared.log[0] == (
        "virtual function 0 of rnic0 has no RDMA device, so the container has no RDMA; load the RNIC's driver"
    )


def test_one_container_at_a_time_has_a_function(shared: Bed) -> None:
    assert shared.run("--name train --detach image") == 0
    sentence = "container train of root has virtual function 0 of rnic0, which one has at a time"
    assert shared.refusal("--name other image") == sentence

    def end() -> None:
        if shared.seconds == 3:
            del shared.podman.containers["train"]

    shared.each_second = end
    assert shared.run("--name other --wait 10 image") == 0
    assert (shared.seconds, shared.records) == (3, [])
    assert f"waiting up to 10 s: {sentence}" in shared.log


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ([], "virtual function 0 of rnic0 is not there; run playbooks/poplar_servers.yml, which sets all functions"),
        (
            [VirtualFunction(0, "0000:81:00.2", "vfio-pci", ())],
            "virtual function 0 of rnic0 has no network device on this server; run playbooks/poplar_servers.yml, which "
            "sets all functions",
        ),
        (
            [VirtualFunction(0, "0000:81:00.2", "mlx5_core", ("rnic0v1",))],
            "network ipu-alice of podman is on rnic0v0, and virtual function 0 of rnic0 is rnic0v1; run vpods.yml, "
            "which makes it again",
        ),
    ],
)
def test_a_function_that_is_not_there_or_another_device_is_refused(
    shared: Bed, there: list[VirtualFunction], sentence: str
) -> None:
    shared.sysfs.taken["rnic0"] = there
    assert shared.refusal("image") == sentence
    assert (shared.records, shared.set) == ([], [])


@pytest.mark.parametrize("wrong", [{"vlan_list": [{"vlan": 202}]}, {"vlan_list": []}, {"spoofchk": False}, {"vf": 1}])
def test_a_function_that_the_nic_does_not_keep_is_refused(shared: Bed, wrong: dict[str, Any]) -> None:
    shared.kept = [{**shared.kept[0], **wrong}]
    assert shared.refusal("image") == (
        "the NIC does not keep virtual function 0 of rnic0 in VLAN 201, or does not check its MAC address; run "
        "playbooks/poplar_servers.yml, which sets all functions"
    )
