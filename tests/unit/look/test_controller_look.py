# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controllers of a host are found by their units, and each says what it holds or why it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File, Files
from ansible_collections.ipu.pod.plugins.module_utils._look.controllers import Place, controllers_from, places_of
from tests.support.in_memory.files import MemoryFiles

UNIT = "[Service]\nExecStart=/usr/local/bin/vipu-server --storage {} --user-port 1 --admin-port {}{}\n"
SHARED = {"name": "", "admin_port": 8091, "storage": "/var/lib/vipu/vipu-server.json", "config": None}


def unit(storage: str, port: int, secure: bool = False) -> File:
    return File(UNIT.format(storage, port, " --secure --default-user-id admin" if secure else ""))


def test_dedicated_controllers_are_found_by_their_units() -> None:
    files = MemoryFiles(
        **{
            "/etc/systemd/system/vipu-server.service": unit(SHARED["storage"] or "", 8091, secure=True),
            "/etc/systemd/system/vipu-server-alice.service": unit("/a.json", 10405),
            "/etc/systemd/system/vipu-server-bob.service": unit("/b.json", 10406, secure=True),
            "/etc/systemd/system/vipu-server-eve.service": File("[Service]\nExecStart=true\n"),
            "/etc/systemd/system/other.service": File(""),
        }
    )
    shared = Place("", 8091, "/var/lib/vipu/vipu-server.json", None, secure=True)
    assert places_of([SHARED], False, files) == [shared]
    assert places_of([SHARED], True, files) == [
        shared,
        Place("alice", 10405, "/a.json"),
        Place("bob", 10406, "/b.json", "/etc/vipu/vipu-admin-bob.hcl", secure=True),
        Place("eve", None, ""),
    ]
    named = {"name": "bob", "admin_port": 1, "storage": "/b.json", "config": "/c.hcl"}
    assert places_of([named], True, files)[0] == Place("bob", 1, "/b.json", "/c.hcl", secure=True)
    assert [place.name for place in places_of([named], True, files)] == ["bob", "alice", "eve"]


def vipu_admin(argv: list[str]) -> tuple[int, str, str]:
    """The program, where a controller without anything answers at port 1, and one that is in trouble at port 2."""
    port, words = argv[argv.index("-P") + 1], argv[argv.index("-P") + 2 :]
    if words[-1:] == ["--help"]:
        return 0, "Usage:\n  --agents NAMES\n", ""
    if port != "1":
        return 1, "", f"no V-IPU controller at localhost:{port}:\n Connection refused"
    if words == ["--server-version"]:
        return 0, "version: v1.18.0\n", ""
    answers: dict[str, list[Any]] = {words[-1]: []}
    return 0, json.dumps(answers), ""


def test_a_controller_that_does_not_answer_takes_no_other_with_it() -> None:
    places = [Place("", 1, "/there.json"), Place("alice", 2, "/gone.json"), Place("eve", None, "")]
    found = controllers_from(places, ["train"], vipu_admin, exists=lambda path: path == "/there.json")
    shared, alice, eve = found[""], found["alice"], found["eve"]
    nothing: dict[str, Any] = {kind: {} for kind in ("agents", "clusters", "allocations", "users", "partitions")}
    known = {"storage": True, "secure": False, "admin_port": 1, "release": "1.18.0", "ipuof_configurations": {}}
    assert {**shared, **known, **nothing} == shared
    assert (alice["storage"], alice["admin_port"]) == (False, 2)
    assert alice["message"].endswith("failed: no V-IPU controller at localhost:2: Connection refused")
    assert eve["message"] == (
        "/etc/systemd/system/vipu-server-eve.service has no --admin-port; correct it or remove it"
    )


def test_a_controller_that_is_not_finished_counts_as_none() -> None:
    for there, counts in (({"/s.json"}, True), ({"/s.json", "/s.json.unfinished"}, False)):
        assert (
            controllers_from([Place("", 2, "/s.json")], [], vipu_admin, exists=there.__contains__)[""]["storage"]
            == counts
        )


def test_a_unit_that_is_masked_says_nothing(tmp_path: Path) -> None:
    units = tmp_path / "etc/systemd/system"
    units.mkdir(parents=True)
    for name in ("vipu-server.service", "vipu-server-alice.service"):
        (units / name).symlink_to("/dev/null")
    shared, alice = places_of([SHARED], True, Files(str(tmp_path)))
    assert (shared.secure, shared.admin_port) == (False, 8091)
    assert alice == Place("alice", None, "")
