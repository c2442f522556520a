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
from tests.support.hostile import HOSTILE, is_seen
from tests.support.in_memory.cloud import bare_look, network
from tests.support.in_memory.pod import CONTROLLER, declared, pod
from tests.unit.decision.two_vpods import ALICE, DEVICES, DOCUMENT

Looks = dict[str, Any]


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


HYPERVISORS: dict[str, Any] = {
    "hypervisors": ["p-poplar1"],
    "virtual_functions": 0,
    "rnic": {"interface": "rnic0", "vlan": 100},
}


def test_the_files_keep_a_pod_with_hypervisors_as_it_is() -> None:
    there = pod()
    there.carry_out(there.decide(declared({"alice": ALICE}, **HYPERVISORS)))
    begin = {**DOCUMENT, "pods": {"p": {**DOCUMENT["pods"]["p"], **HYPERVISORS}}}
    found = gather(
        {**begin, "clusters": {"c": {"controller": CONTROLLER, "pods": ["p"]}}, "vpods": {"alice": ALICE}},
        there.looks(),
    )
    assert found.left == []
    document = yaml.safe_load(found.files["pods.yml"])
    assert document["pods"]["p"]["rnic"]["vlan"] == 100
    assert (document["vpods"]["alice"]["vlan"], document["vpods"]["alice"]["poplar_servers"]) == (101, ["p-poplar1"])
    assert parse_declaration(yaml.safe_load(gather(begin, there.looks()).files["pods.yml"])).pods["p"].rnic_vlan == 100


CLOUD = {"physical_network": "rnic", "control_network": "control", "control_sources": ["10.6.0.0/16"]}


def test_a_cloud_is_gathered_with_the_pods(looks: Looks) -> None:
    cloud = bare_look()
    cloud["networks"].append(network("by-hand", "p-admin", None, vlan=ALICE["vlan"], projects=["zoe"]))
    looks["cloud001"] = {"host": "cloud001", "outcome": "answered", "message": "", "parts": {"cloud": cloud}}
    found = gather({**DOCUMENT, "clouds": {"cloud001": CLOUD}}, looks)
    assert (found.unread, found.left) == ([], [])
    assert yaml.safe_load(found.files["pods.yml"])["clouds"] == {"cloud001": CLOUD}
    (line,) = [each for each in found.lines if each.startswith("cloud001: ")]
    assert line.startswith(f"cloud001: network by-hand has VLAN {ALICE['vlan']} of vPOD alice, and bears no mark")
    assert "by-hand" in found.files["findings.md"]


def test_a_cloud_that_does_not_answer_is_named(looks: Looks) -> None:
    looks["cloud001"] = {"host": "cloud001", "outcome": "failed", "message": "Nova does not answer", "parts": {}}
    found = gather({**DOCUMENT, "clouds": {"cloud001": CLOUD}}, looks)
    assert found.unread == ["cloud001 could not be read: Nova does not answer"]


def test_a_document_that_cannot_be_meant_is_refused(looks: Looks) -> None:
    with pytest.raises(DeclarationError, match="pods"):
        gather({**DOCUMENT, "pods": {}}, looks)


def test_a_pod_that_nobody_could_ask_keeps_its_pods_yml() -> None:
    looks = {name: {"host": name, "outcome": "timed out", "message": "away", "parts": {}} for name in DEVICES}
    found = gather(DOCUMENT, looks)
    assert len(found.unread) == len(DEVICES)
    assert yaml.safe_load(found.files["pods.yml"])["pods"] == DOCUMENT["pods"]


@pytest.mark.parametrize("name", ["{{lookup('pipe','id')}}", "{%raw%}", "{#", "a\x1b[2J", "a\u2028b: c"])
def test_what_pods_yml_cannot_call_a_vlan_is_said_and_the_vlan_left_as_it_is(looks: Looks, name: str) -> None:
    looks["p-tor"]["parts"]["info"]["vlans"].append({"vlan_id": 555, "name": name})
    found = gather(DOCUMENT, looks)
    assert 555 not in parse_declaration(yaml.safe_load(found.files["pods.yml"])).pods["p"].vlans.values()
    (line,) = [line for line in found.lines if "VLAN 555 stays as it is, because pods.yml cannot call it " in line]
    assert is_seen(line)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_breaks_no_gathered_file_and_is_no_template_there(looks: Looks, text: str) -> None:
    users = looks[CONTROLLER]["parts"]["controllers"][""]["users"]
    users[text] = {"admin": False, "allocations": ["bob"]}
    users[f"admin {text}"] = {"admin": True, "allocations": []}
    looks["p-poplar2"]["parts"]["network"]["gathered"][0]["description"] = text
    looks["p-poplar2"]["parts"]["network"]["lasting"] = []
    looks["p-poplar3"]["parts"]["nics"] = {"message": text}
    looks["p-tor"].update(outcome="timed out", message=text, parts={})
    found = gather(DOCUMENT, looks)
    assert list(filter(is_seen, found.lines)) == found.lines
    assert list(filter(is_seen, [*found.partly, *found.unread])) == [*found.partly, *found.unread]
    for name, content in found.files.items():
        assert list(filter(is_seen, content.split("\n"))) == content.split("\n"), name
        if name.endswith(".yml"):
            read = yaml.load(content, Loader=_AnsibleLoader)
            assert templates_in(read) == [], name
    kept = yaml.load(found.files[f"{CONTROLLER}.vipu_state.yml"], Loader=_AnsibleLoader)
    assert [user["name"] for user in kept["users"]][-1] == text


class _AnsibleLoader(yaml.SafeLoader):
    """What Ansible reads with `!unsafe` is no template."""


_AnsibleLoader.add_constructor("!unsafe", lambda loader, node: Data(loader.construct_scalar(node)))


class Data(str):
    """A text that is no template."""


def templates_in(read: Any) -> list[str]:
    """The texts that Ansible would take for templates."""
    if isinstance(read, dict):
        return [each for pair in read.items() for half in pair for each in templates_in(half)]
    if isinstance(read, list):
        return [each for item in read for each in templates_in(item)]
    is_template = (
        isinstance(read, str) and not isinstance(read, Data) and any(sign in read for sign in ("{{", "{%", "{#"))
    )
    return [read] if is_template else []
