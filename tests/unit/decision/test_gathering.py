# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From looks at a pod in service to the files that keep it as it is. What is adopted is in tests/unit/adoption."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.gathering import gather
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.in_memory.pod import CONTROLLER
from tests.unit.decision.two_vpods import ALICE, DEVICES

Looks = dict[str, Any]
DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "poplar_servers": 3, "rnic": {"interface": "rnic0"}}},
    "controllers": {CONTROLLER: {"address": "10.1.3.200", "mode": "secure"}},
}


def test_the_files_keep_a_pod_as_it_is(looks: Looks) -> None:
    found = gather(DOCUMENT, looks)
    assert (found.unread, found.left) == ([], [])
    document = yaml.safe_load(found.files["pods.yml"])
    assert parse_declaration(document).vpods["alice"].ipus == 16
    kept = document["vpods"]["alice"]
    assert {key: kept[key] for key in ("ipus", "vlan", "users", "poplar_servers")} == {
        key: ALICE[key] for key in ("ipus", "vlan", "users", "poplar_servers")
    }
    # Whose users are on a controller of its own, this one does not know.
    assert "bob" not in document["vpods"]
    assert yaml.safe_load(found.files[f"{CONTROLLER}.vipu_state.yml"])["allocations"][0]["name"] == "bob"
    assert [line for line in found.lines if line.startswith("ctrl: allocation bob is not in pods.yml: ")]
    assert json.loads(found.files["findings.json"]) == []
    assert found.files["pods.yml"].splitlines()[2].startswith("# - ctrl: allocation bob is not in pods.yml: ")


def test_gathered_again_it_is_the_same(looks: Looks) -> None:
    once = gather(DOCUMENT, looks)
    again = gather(yaml.safe_load(once.files["pods.yml"]), looks)
    assert again.files == once.files


@pytest.mark.parametrize(
    ("name", "part"), [("p-tor", "info"), (CONTROLLER, "controllers"), ("p-poplar1", "network"), ("p-poplar1", "")]
)
def test_a_device_that_cannot_be_read_is_named_and_its_declaration_kept(looks: Looks, name: str, part: str) -> None:
    earlier = yaml.safe_load(gather(DOCUMENT, looks).files["pods.yml"])
    if part:
        looks[name]["parts"][part] = {"message": "it would not say"}
    else:
        looks[name].update(outcome="timed out", message="it would not say", parts={})
    found = gather(earlier, looks)
    assert found.unread == [f"{name} could not be read: it would not say"]
    assert found.left == []
    now = yaml.safe_load(found.files["pods.yml"])
    if name == CONTROLLER:
        assert now["vpods"] == earlier["vpods"]
    if name == "p-tor":
        assert now["pods"]["p"]["tor"] == earlier["pods"]["p"]["tor"]


def test_a_controller_that_is_silent_on_a_host_that_answers_is_named(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""] = {"storage": True, "message": "nobody listens"}
    assert gather(DOCUMENT, looks).unread == [f"{CONTROLLER} could not be read: nobody listens"]


def test_a_device_without_connection_settings_is_no_failure(looks: Looks) -> None:
    looks["p-tor"].update(outcome="not asked", message="the inventory does not say how", parts={})
    assert gather(DOCUMENT, looks).unread == []


def test_a_device_that_was_read_only_in_part_is_reported(looks: Looks) -> None:
    found = gather(DOCUMENT, looks)
    assert [each for each in found.partly if "p-poplar1" in each] == [
        "p-poplar1: this server has neither mlnx_qos nor dcb"
    ]
    looks["p-poplar1"]["parts"]["nics"] = {"message": "lspci failed"}
    assert "p-poplar1: lspci failed" in gather(DOCUMENT, looks).partly


def test_settings_that_no_file_brings_back_are_left_as_a_comment(looks: Looks) -> None:
    network = looks["p-poplar2"]["parts"]["network"]
    network["lasting"] = []
    found = gather(DOCUMENT, looks)
    text = found.files["host_vars/p-poplar2.yml"]
    assert yaml.safe_load(text) == {"rnic_interfaces": []}
    assert "# rnic_interfaces:" in text
    assert "host_vars/p-poplar1.yml" not in found.files
    # Lasting or not, the files change nothing there.
    assert found.left == []


def test_changes_that_the_files_would_make_are_reported(looks: Looks) -> None:
    looks["p-tor"]["parts"]["running_config"]["text"] = looks["p-tor"]["parts"]["running_config"]["text"].replace(
        "switchport access vlan 101", "switchport access vlan 102", 1
    )
    (finding,) = gather(DOCUMENT, looks).left
    assert finding == (
        "The files do not reproduce p-tor; please report this with them: port Ethernet9/1: vpod alice: vlan is 102, "
        "wanted 101"
    )


def test_where_layers_contradict_each_other_it_is_found(looks: Looks) -> None:
    looks["p-poplar3"]["parts"]["network"]["gathered"][0]["addresses"].append("10.1.5.3/24")
    found = gather(DOCUMENT, looks)
    assert "10.1.5.3" in found.files["findings.md"]
    assert json.loads(found.files["findings.json"])
    assert any("10.1.5.3" in line for line in found.lines)


def test_a_document_that_cannot_be_meant_is_refused(looks: Looks) -> None:
    with pytest.raises(DeclarationError, match="pods"):
        gather({**DOCUMENT, "pods": {}}, looks)


def test_a_pod_that_nobody_could_ask_keeps_its_pods_yml() -> None:
    looks = {name: {"host": name, "outcome": "timed out", "message": "away", "parts": {}} for name in DEVICES}
    found = gather(DOCUMENT, looks)
    assert len(found.unread) == len(DEVICES)
    assert yaml.safe_load(found.files["pods.yml"])["pods"] == DOCUMENT["pods"]
