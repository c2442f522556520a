# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the results of tasks to recorded steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._review.recorded import Task, looked_at, recorded_steps

MTU = {"action": "update", "kind": "port", "name": "Et9/1", "reason": "mtu is 1500, wanted 9214", "risk": "disruptive"}
PORTS = {
    "changed": True,
    "before": {"port": {"Et9/1": {"mtu": 1500, "vlan": 101}, "Et10/1": {"mtu": 9214, "vlan": 101}}, "vlan": {}},
    "after": {"port": {"Et9/1": {"mtu": 9214, "vlan": 101}, "Et10/1": {"mtu": 9214, "vlan": 101}}, "vlan": {"101": {}}},
    "diff": {
        "before": {"port": {"Et9/1": {"mtu": 1500}}},
        "after": {"port": {"Et9/1": {"mtu": 9214}}, "vlan": {"101": {}}},
    },
    "plan": [dict(MTU, action="create", kind="vlan", name="101", reason="is missing", risk="none"), MTU],
}


MODULES = ("rnic_network", "rnic_roce")


def task(role: str, module: str, name: str = "Something", **arguments: Any) -> Task:
    return Task(role, module, name, arguments)


def one(role: str, module: str, result: dict[str, Any], task_name: str = "", **arguments: Any) -> dict[str, Any]:
    (step,) = recorded_steps(Task(role, module, task_name, arguments), "host", result)
    return step


def test_a_plan_is_recorded_with_what_differs_and_what_was_observed() -> None:
    vlan, port = recorded_steps(task("tor_switch", "tor_switch"), "pod001-tor", PORTS)
    assert (vlan["from"], vlan["to"], vlan["observed"]) == (None, {}, None)
    assert port == {
        "device": "pod001-tor",
        "layer": "switch",
        **MTU,
        "from": {"mtu": 1500},
        "to": {"mtu": 9214},
        "observed": {"mtu": 1500, "vlan": 101},
    }


def test_of_a_failed_change_only_what_was_done_is_recorded() -> None:
    failed = {**PORTS, "done": PORTS["plan"][:1]}
    assert [step["kind"] for step in recorded_steps(task("tor_switch", "tor_switch"), "pod001-tor", failed)] == ["vlan"]


def test_everything_compared_is_known_whether_it_differs_or_not() -> None:
    assert looked_at(task("tor_switch", "tor_switch"), PORTS) == [
        ("port", "Et9/1"),
        ("port", "Et10/1"),
        ("vlan", "101"),
    ]
    same = {"changed": False, "diff": {}}
    assert looked_at(task("vpod", "template", dest="/etc/vipu/vipu-cli.hcl"), same) == [
        ("file", "/etc/vipu/vipu-cli.hcl")
    ]
    assert looked_at(task("vpod", "assert"), {"changed": False}) == []
    assert looked_at(task("vpod", "template", dest="/x"), {"changed": False, "skipped": True}) == []


def test_what_is_no_layer_of_a_pod_is_not_recorded() -> None:
    assert recorded_steps(task("", "copy", dest="/tmp/plan.json"), "localhost", {"changed": True}) == []
    assert looked_at(task("", "copy", dest="/tmp/plan.json"), {"changed": True}) == []


def test_a_new_file_is_created() -> None:
    diff = [{"before": "", "after": "a\nb\n", "after_header": "x"}, {"before": {"path": "/x"}, "after": {"path": "/x"}}]
    step = one("vpod", "template", {"changed": True, "diff": diff}, dest="/x")
    assert (step["action"], step["kind"], step["name"]) == ("create", "file", "/x")
    assert (step["from"], step["to"], step["observed"]) == (None, {"lines": ["a", "b"]}, None)


def test_of_an_edited_file_the_lines_that_differ_are_told() -> None:
    diff = [{"before": "a\nb\nc\n", "after": "a\nB\nc\n", "before_header": "/x"}]
    step = one("vipu_controller", "template", {"changed": True, "diff": diff}, dest="/x")
    assert (step["action"], step["from"], step["to"]) == ("update", {"lines": ["b"]}, {"lines": ["B"]})
    assert step["reason"] == "content differs"
    assert step["observed"]["lines"].startswith("sha256:")


def test_of_a_file_with_another_mode_the_mode_is_told() -> None:
    diff = {"before": {"path": "/x", "mode": "0666"}, "after": {"path": "/x", "mode": "0644"}}
    step = one("vpod", "file", {"changed": True, "diff": diff}, path="/x")
    assert (step["from"], step["to"], step["reason"]) == (
        {"mode": "0666"},
        {"mode": "0644"},
        "mode is '0666', wanted '0644'",
    )


def test_a_new_directory_is_created_and_a_stray_file_removed() -> None:
    made = {"before": {"path": "/d", "state": "absent"}, "after": {"path": "/d", "state": "directory"}}
    assert one("vpod", "file", {"changed": True, "diff": made}, path="/d")["action"] == "create"
    gone = {"before": {"path": "/d", "state": "file"}, "after": {"path": "/d", "state": "absent"}}
    assert one("vpod", "file", {"changed": True, "diff": gone}, path="/d")["action"] == "remove"


def test_a_secret_file_has_a_path_and_nothing_else() -> None:
    result = {"changed": True, "censored": "the output has been hidden"}
    step = one("vpod", "copy", result, dest="/etc/vipu/certs/tls.key", content="-----BEGIN PRIVATE KEY-----")
    assert (step["name"], step["from"]) == ("/etc/vipu/certs/tls.key", {"content": "(secret)"})
    assert "PRIVATE" not in json.dumps(step)


@pytest.mark.parametrize(
    ("status", "wanted", "old", "new", "risk"),
    [
        (("inactive", "enabled"), "started", {"state": "inactive"}, {"state": "active"}, "none"),
        (("active", "disabled"), "started", {"enabled": False}, {"enabled": True}, "none"),
        (("active", "enabled"), "restarted", {"state": "active"}, {"state": "restarted"}, "disruptive"),
    ],
)
def test_a_service_tells_what_it_does_and_will_do(status: Any, wanted: str, old: Any, new: Any, risk: str) -> None:
    result = {"changed": True, "status": {"LoadState": "loaded", "ActiveState": status[0], "UnitFileState": status[1]}}
    step = one("vipu_controller", "systemd_service", result, name="vipu-server.service", state=wanted, enabled=True)
    assert (step["kind"], step["name"], step["action"]) == ("service", "vipu-server.service", "update")
    assert (step["from"], step["to"], step["risk"]) == (old, new, risk)


def test_a_service_whose_unit_is_yet_to_come_is_created() -> None:
    result = {"changed": True, "status": {"LoadState": "not-found", "ActiveState": "inactive"}}
    step = one("vipu_controller", "systemd_service", result, name="vipu-server.service", state="started", enabled=True)
    assert (step["action"], step["from"], step["to"]) == ("create", None, {"state": "active", "enabled": True})


def test_a_command_is_a_step_by_the_name_of_its_task() -> None:
    step = one("vipu_controller", "shell", {"changed": True}, "Storage is initialised, once", creates="/var/lib/s")
    assert (step["action"], step["kind"], step["name"]) == ("run", "task", "Storage is initialised, once")
    assert step["reason"] == "/var/lib/s is not there"


def test_packages_are_one_step() -> None:
    step = one("poplar_server", "package", {"changed": True}, name=["perftest", "lldpd"])
    assert (step["kind"], step["name"]) == ("package", "perftest, lldpd")


def test_the_two_modules_of_an_interface_have_kinds_of_their_own() -> None:
    step = {"action": "update", "kind": "interface", "name": "rnic0", "reason": "", "risk": "none"}
    result = {"changed": True, "plan": [step], "before": {"interface": {"rnic0": {"pfc": []}}}, "diff": {}}
    kinds = {module: recorded_steps(task("poplar_server", module), "x", result)[0]["kind"] for module in MODULES}
    assert kinds == {"rnic_network": "interface", "rnic_roce": "roce"}
    assert looked_at(task("poplar_server", "rnic_roce"), result) == [("roce", "rnic0")]
