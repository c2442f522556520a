# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role containers writes: ipu-run, its settings and its timer, and who may run it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.settings import Function, Vpod, settings_from
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.containers import (
    OPTIONS,
    PROGRAM,
    SETTINGS,
    STATE,
    SUDOERS,
    containers_resources,
    looked_by_containers,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.plain_data import looked_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import Absent, File, Program, Unit
from tests.support.in_memory.vpod_hosts import CONTAINERS, SHARED, shared_with


def wanted(*vpods: dict[str, Any], **groups: str) -> list[Any]:
    return containers_resources({"containers_vpods": list(vpods), "containers_groups": groups})


def files(resources: list[Any]) -> dict[str, File]:
    return {each.path: each for each in resources if isinstance(each, File)}


def test_without_containers_nothing_of_it_is_there() -> None:
    resources = wanted(alice="alice")
    assert {type(each) for each in resources} == {Absent}
    # Whatever may be there, the program last: it is what the timer runs.
    assert [each.path for each in resources][-1] == PROGRAM
    assert {each.path for each in resources} == {
        *(each.path for each in wanted(CONTAINERS, alice="alice") if isinstance(each, (File, Program, Absent)))
    }


def test_ipu_run_reads_the_settings_that_are_written() -> None:
    bob = {**CONTAINERS, "name": "bob", "network": {**CONTAINERS["network"], "name": "ipu-bob"}}
    settings = settings_from(files(wanted(CONTAINERS, bob, bob="lab"))[SETTINGS].content or "")
    assert settings.state == STATE
    where = ("10.1.0.1", 8090, "/etc/vipu/vipu-cli.hcl", ("/dev/infiniband",))
    assert settings.vpods == (
        Vpod("alice", 16, "alice", "ipu-alice", "", *where),
        Vpod("bob", 16, "alice", "ipu-bob", "lab", *where),
    )


def test_where_vpods_share_a_server_ipu_run_is_told_the_function_and_the_client_of_each() -> None:
    settings = settings_from(files(wanted(SHARED, shared_with("bob", 1)))[SETTINGS].content or "")
    assert [(vpod.function, vpod.devices, vpod.vipu_config) for vpod in settings.vpods] == [
        (
            Function("rnic0", number, 201 + number),
            ("/dev/infiniband/rdma_cm",),
            f"/etc/ipu-pod/vipu/{name}/vipu-cli.hcl",
        )
        for number, name in enumerate(("alice", "bob"))
    ]


def test_only_members_of_a_group_may_use_sudo() -> None:
    file = files(wanted(CONTAINERS, alice="lab", bob="others"))[SUDOERS]
    assert (file.content or "").splitlines()[-1] == f"%lab ALL=(root) NOPASSWD: {PROGRAM}"
    assert "others" not in (file.content or "")
    assert file.mode == "0440"
    assert Absent(SUDOERS) in wanted(CONTAINERS)


@pytest.mark.parametrize("group", ["", "ALL", "lab, %root", "lab ALL=(ALL) NOPASSWD: ALL\n#", "a" * 33])
def test_what_is_no_group_never_gets_into_the_settings_of_sudo(group: str) -> None:
    with pytest.raises(
        Refused, match=r"^containers_groups.alice: .* is not the name of a group; write one like alice$"
    ):
        wanted(CONTAINERS, alice=group)


def test_the_options_of_earlier_releases_go() -> None:
    assert Absent(OPTIONS) in wanted(CONTAINERS)


def test_all_of_it_is_looked_at() -> None:
    looked = looked_resources(wanted(CONTAINERS, alice="alice"))
    assert {name: sorted(values) for name, values in looked_by_containers().items()} == {
        name: sorted({*looked[name], *([OPTIONS] if name == "texts" else [])}) for name in ("paths", "texts", "units")
    }
    assert any(isinstance(each, Unit) for each in wanted(CONTAINERS))
