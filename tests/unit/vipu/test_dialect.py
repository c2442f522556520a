# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of V-IPU's words agree with each other, and entities are spelled by them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, Step
from ansible_collections.ipu.pod.plugins.module_utils._vipu import dialect, messages
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import (
    AGENT,
    ALLOCATION,
    CLUSTER,
    KINDS,
    PARTITION,
    USER,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import (
    ASSUMED,
    DOCUMENTED,
    ENUMS,
    FIELDS,
    RELEASES,
    SEEN,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import ENTITY_OPTIONS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.spelling import (
    create_arguments,
    create_request,
    read_entity,
    read_partition_status,
    read_refusal,
)

TRAIN = {
    "id": "train",
    "spec": {
        "cluster_id": "c",
        "ipus": [{}, {}, {}, {}],
        "ipulink_routing_type": "IRT_RINGSWNC",
        "sync_type": "ST_GS2_DEFAULT",
        "num_gcds": 1,
        "reconfigurable": True,
        "gw_routing_type": "GRT_UNDEFINED",
        "num_replicas": 2,
        "allocation_id": "alice",
    },
    "ready_state": "PS_ACTIVE",
}


def test_every_command_and_flag_says_how_and_since_when_it_is_known() -> None:
    for command in dialect.COMMANDS:
        for entry in (command, *command.flags):
            assert entry.known in (DOCUMENTED, SEEN, ASSUMED)
            assert entry.since in RELEASES


def test_every_refusal_says_how_it_is_known() -> None:
    assert {refusal.known for refusal in dialect.REFUSALS} <= {DOCUMENTED, SEEN, ASSUMED}


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ("create allocation (a): failed: no free allocation of 16 IPUs.", dialect.NO_ROOM),
        ("create partition (p): failed: no free block of 16 IPUs in allocation 'a'.", dialect.NO_ROOM),
        ("create allocation (a): failed: agent 'ag0' is in allocation 'b' already.", dialect.NO_ROOM),
        ("create partition (p): failed: partition 'p' already exists.", dialect.EXISTS),
        ("remove partition (p): failed: partition 'p' is unknown.", dialect.UNKNOWN),
        ("create partition (p): failed: partition 'p' ended in PS_ERROR: agent 'ag0' is down.", dialect.FAILED),
        ("vipu-admin: no V-IPU controller at localhost:8091: Connection refused", ""),
    ],
)
def test_refusals_are_understood(errors: str, reason: str) -> None:
    assert read_refusal(errors) == reason


def test_every_kind_can_be_created_listed_removed_and_read() -> None:
    known = {(command.verb, command.entity) for command in dialect.COMMANDS}
    assert {(verb, kind) for verb in ("create", "list", "remove") for kind in KINDS} <= known
    assert FIELDS.keys() == set(KINDS)


def test_every_word_that_can_be_declared_has_a_name_in_the_published_api() -> None:
    declarable = {
        "routing": ["dnc", "swnc", "btnc", "ringswnc"],
        "gw_routing": ["default", "ring", "swring"],
        "sync_type": ["c2-compatible", "pod-native-default", "pod-native-replicated-pipeline"],
    }
    options = ENTITY_OPTIONS[PARTITION]["options"]
    assert {name: option["choices"] for name, option in options.items() if name in ENUMS} == declarable
    assert {name: list(ENUMS[name]) for name in declarable} == declarable


def test_names_of_the_published_api_are_spelled_as_published() -> None:
    published = {name for values in messages.ENUMS.values() for name in values}
    assert {name for names in ENUMS.values() for name in names.values()} <= published
    spec = {name for _, _, name in messages.MESSAGES["PartitionSpec"]}
    assert {place for place in places("shown") if place.startswith("spec.")} <= {f"spec.{name}" for name in spec}
    requirements = {f"requirements.{name}" for _, _, name in messages.MESSAGES["PartitionRequirements"]}
    assert places("request") <= requirements | {name for _, _, name in messages.MESSAGES["CreatePartitionRequest"]}


def places(where: str) -> set[str]:
    return {getattr(field, where) for field in FIELDS[PARTITION]} - {""}


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        (AGENT, {"host": "10.2.1.1", "port": 8080}, "--host 10.2.1.1 --port 8080"),
        (CLUSTER, {"agents": ["a", "b"], "topology": None, "looped": False}, "--agents a,b"),
        (
            CLUSTER,
            {"agents": ["a"], "ipu_link_domains": 2, "looped": True},
            "--agents a --num-ipulinkdomains 2 --cluster-topology looped",
        ),
        (ALLOCATION, {"cluster": "c", "size": 4, "agents": ["a"]}, "--size 4 --cluster c"),
        (
            PARTITION,
            {"allocation": "x", "size": 4, "index": 0, "reconfigurable": False},
            "--size 4 --allocation x --index 0",
        ),
        (
            PARTITION,
            {"size": 4, "gw_routing": "default", "sync_type": "c2-compatible"},
            "--size 4 --sync-type c2-compatible",
        ),
        (USER, {"allocations": ["x", "y"]}, "--allocations x,y"),
        (USER, {"allocations": []}, ""),
    ],
)
def test_creation(kind: str, fields: dict[str, Any], words: str) -> None:
    assert create_arguments(kind, "n", fields) == ["create", kind, "n", *words.split()]


def test_an_allocation_of_agents_has_no_size() -> None:
    fields = {"cluster": "c", "size": 8, "agents": ["a", "b"]}
    assert create_arguments(ALLOCATION, "x", fields, by_agents=True)[3:] == ["--cluster", "c", "--agents", "a,b"]


@pytest.mark.parametrize(("help_text", "flag"), [("  --size\n  --agents <list>", "--agents"), ("  --size", "--size")])
def test_the_programs_own_help_says_whether_it_allocates_by_agents(help_text: str, flag: str) -> None:
    calls: list[list[str]] = []

    def run(argv: list[str]) -> tuple[int, str, str]:
        calls.append(argv[5:])
        return 0, help_text, ""

    controller = Controller(run, "vipu-admin", "h", 1)
    for name in ("x", "y"):
        controller.carry_out(Step(CREATE, ALLOCATION, name, "", after={"cluster": "c", "size": 4, "agents": ["a"]}))
    assert [call[-1] for call in calls].count("--help") == 1
    assert all(flag in call for call in calls if "--help" not in call)


def test_a_creation_request_has_the_published_names() -> None:
    fields = {"allocation": "x", "size": 4, "gcds": None, "routing": "swnc", "relocatable": True}
    assert create_request("p", fields) == {
        "requirements": {"id": "p", "size": 4, "allocation_id": "x", "ipulink_routing_type": "IRT_SWNC"},
        "relocatable": True,
    }


def test_reading() -> None:
    assert read_entity(PARTITION, TRAIN) == (
        "train",
        {
            "allocation": "alice",
            "size": 4,
            "gcds": 1,
            "replicas": 2,
            "routing": "ringswnc",
            "gw_routing": "default",
            "sync_type": "c2-compatible",
            "reconfigurable": True,
            "status": "ACTIVE",
        },
    )


def test_a_word_that_nobody_knows_stays_as_it_is() -> None:
    strange = {**TRAIN, "ready_state": "PS_SLEEPING"}
    assert read_entity(PARTITION, strange)[1]["status"] == "PS_SLEEPING"


@pytest.mark.parametrize(
    ("kind", "printed"),
    [
        (PARTITION, {"partitions": None}),
        (PARTITION, {"partitions": {}}),
        (PARTITION, {"allocations": []}),
        (PARTITION, {"partitions": [{"id": "train"}]}),
        (PARTITION, {"partitions": [{**TRAIN, "id": 7}]}),
        (PARTITION, {"partitions": [{**TRAIN, "spec": {**TRAIN["spec"], "ipus": 4}}]}),  # type: ignore[dict-item]
        (PARTITION, [TRAIN]),
        (ALLOCATION, {"allocations": [{"id": "x", "spec": {"cluster_id": "c", "agent_ids": "a"}}]}),
        (USER, "none"),
    ],
)
def test_what_is_not_understood_is_an_error_that_names_the_command(kind: str, printed: Any) -> None:
    controller = Controller(lambda _argv: (0, json.dumps(printed), ""), "vipu-admin", "h", 1)
    with pytest.raises(DeviceError, match=f"`vipu-admin --showjson list {kind}s` printed something that is not under"):
        controller.read([kind])


@pytest.mark.parametrize("printed", ["", "1.18.0", "version:", "versions: 1"])
def test_a_version_that_is_not_understood_is_an_error(printed: str) -> None:
    controller = Controller(lambda _argv: (0, printed, ""), "vipu-admin", "h", 1)
    with pytest.raises(DeviceError, match="`vipu-admin --server-version` printed something that is not understood"):
        controller.server_version()


DISCOVERED = """
Host        | Port | Network Interface | Time Since Last Seen | Agent Auto-Add ID
---------------------------------------------------------------------------------
 10.2.1.1   | 8080 | eno1              | 3s                   | ag1
 10.2.1.2   | 8080 | eno1              | 1m2s                 | ag2
---------------------------------------------------------------------------------
"""


def discovering(printed: str) -> Controller:
    return Controller(lambda _argv: (0, printed, ""), "vipu-admin", "h", 1)


def test_discovered_agents_are_read_from_the_documented_table() -> None:
    assert discovering(DISCOVERED).discovered_agents() == [
        {"name": "ag1", "host": "10.2.1.1", "port": 8080},
        {"name": "ag2", "host": "10.2.1.2", "port": 8080},
    ]
    assert discovering(DISCOVERED.partition(" 10")[0]).discovered_agents() == []


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "no agents",
        "Host | Port\n10.2.1.1 | 8080",
        DISCOVERED.replace("8080", "?"),
        DISCOVERED + "ag3 | 8080",
        DISCOVERED + "10.2.1.3 | 8080 | eno1 | up | 3s | ag3",
    ],
)
def test_another_table_of_agents_is_an_error_and_not_an_empty_list(printed: str) -> None:
    with pytest.raises(DeviceError, match="`vipu-admin discover agent` printed something that is not understood"):
        discovering(printed).discovered_agents()


def test_an_installation_that_tells_no_errors_tells_the_status_alone() -> None:
    controller = Controller(lambda _argv: (0, json.dumps({"partition": TRAIN}), ""), "vipu-admin", "h", 1)
    assert controller.partition_status("train") == {"status": "ACTIVE"}
    status = {"ready_state": "PS_ERROR", "operation_state": "POS_FAILED", "errors": ["cable"]}
    assert read_partition_status(status) == {
        "status": "ERROR",
        "operation": "FAILED",
        "errors": ["cable"],
        "auto_resets": 0,
    }


@pytest.mark.parametrize(
    "answer",
    ["Access Key is 's3cret'", "Access key is: s3cret", 'api-access-key="s3cret"', '{"access_key": "s3cret"}'],
)
@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("is_error", [False, True])
def test_no_key_that_a_program_prints_enters_a_message(answer: str, code: int, is_error: bool) -> None:
    text = f"create user (alice): {answer}, but its file cannot be written"
    printed = ("", text) if is_error else (text, "")
    controller = Controller(lambda _argv: (code, *printed), "vipu-admin", "here", 8091)
    with pytest.raises(DeviceError) as failure:
        controller.partition_status("train")
    assert "s3cret" not in str(failure.value)
