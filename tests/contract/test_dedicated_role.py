# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dedicated V-IPU controllers on one host beside the shared one, as real services of a container with systemd."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from tests.contract.container_server import ContainerServer, begin_play, end_of
from tests.contract.controller_host import MACHINES, controller_host
from tests.playbook_run import PlaybookRun

HOST = "poplar1"
PLACES = {"alice": ["p-ipum1", "p-ipum2"], "bob": ["p-ipum3", "p-ipum4"]}
ALICE, BOB, SHARED = 10405, 10409, 8091

DECLARED: dict[str, Any] = {
    "schema": 1,
    "pods": {
        "p": {
            "model": "bow-pod64",
            "overrides": {name: {"gateway_address": address} for name, address in MACHINES.items()},
        }
    },
    "controllers": {HOST: {"address": "127.0.0.1", "mode": "secure"}},
    "clusters": {"c": {"controller": HOST, "pods": ["p"]}},
}
VPODS: dict[str, dict[str, Any]] = {
    name: {
        "cluster": "c",
        "ipus": 8,
        "vlan": vlan,
        "users": [name],
        "controller": "dedicated",
        "partitions": {"train": {"ipus": 8}},
    }
    for name, vlan in (("alice", 101), ("bob", 102))
}


@dataclass
class Bed:
    """The host, and where its plays are."""

    folder: Path
    server: ContainerServer

    def run(
        self, *vpods: str, check: bool = False, declared: Any = VPODS, removed: tuple[str, ...] = ()
    ) -> PlaybookRun:
        """Have the shared controller and the dedicated ones of these vPODs, and not the removed ones."""
        shared, own = controllers(vpods, declared)
        options = {f"vipu_controller_{key}": value for key, value in shared.items() if key != "name"}
        return self.play(
            role("removed", vipu_controller_removed=list(removed)),
            role("main", **options),
            role("dedicated", vipu_controller_dedicated=own),
            check=check,
        )

    def move(self, vpod: str, machines: list[str], declared: Any, check: bool = False) -> PlaybookRun:
        """Have a vPOD elsewhere, as far as its dedicated controller goes."""
        _shared, own = controllers([vpod], declared, {vpod: machines})
        there = {"agents": PLACES[vpod], "partitions": ["train"]}
        emptied = {
            kind: [{"name": name, "state": "absent"} for name in there.get(kind, [vpod])]
            for kind in ("agents", "clusters", "allocations", "users", "partitions")
        }
        return self.play(
            role("emptied", vipu_controller_emptied=[{"name": vpod, **emptied}]),
            role("dedicated", vipu_controller_dedicated=own),
            check=check,
        )

    def play(self, *tasks: dict[str, Any], check: bool = False) -> PlaybookRun:
        """Run tasks on the host."""
        play = {"hosts": "poplar_servers", "gather_facts": False, "tasks": tasks}
        # What is set for the shared controller must not reach the others.
        running = begin_play(self.folder / "run", [self.server], [play], check, vipu_controller_directory="/srv/vipu")
        document = end_of(running)
        return PlaybookRun(running.returncode, document)

    def held(self, port: int, kind: str, name: str = "") -> list[str]:
        """The names of what a controller holds of a kind, asked as its administrator."""
        suffix = f"-{name}" if name else ""
        asked = f"vipu-admin --config /etc/vipu/vipu-admin{suffix}.hcl -P {port} --showjson list {kind}"
        return sorted(each["id"] for each in json.loads(self.server.sh(asked))[kind])


def controllers(
    vpods: Iterable[str], declared: Any, places: Any = MappingProxyType(PLACES)
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the shared controller should be, and the dedicated ones."""
    declaration = parse_declaration({**DECLARED, "vpods": {name: declared[name] for name in vpods}})
    wanted = desired(declaration, place(declaration, {HOST: places}))
    return wanted["vipu_controllers"][HOST], wanted["dedicated_controllers"][HOST]


def role(entry_point: str, **options: Any) -> dict[str, Any]:
    words = {"name": "ipu.pod.vipu_controller", "tasks_from": entry_point}
    return {"name": entry_point, "ansible.builtin.include_role": words, "vars": options}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A host with agents to reach, and no controller."""
    folder = tmp_path_factory.mktemp("controller")
    with controller_host(folder) as server:
        yield Bed(folder, server)


def test_they_come_as_foretold_stay_apart_and_go_alone(bed: Bed) -> None:
    made = as_foretold(lambda check: bed.run("alice", "bob", check=check))

    assert bed.held(SHARED, "allocations") == ["alice", "bob"]
    assert bed.held(SHARED, "partitions") == []
    for name, port in (("alice", ALICE), ("bob", BOB)):
        assert bed.held(port, "allocations", name) == bed.held(port, "clusters", name) == [name]
        assert bed.held(port, "partitions", name) == ["train"]
        assert bed.held(port, "users", name) == ["admin", name]
        assert bed.held(port, "agents", name) == PLACES[name]
    secrets = bed.server.sh("cat /var/lib/vipu-server-*/keys/*.key; stat -c %a /var/lib/vipu-server-*").split()
    assert len(set(secrets[:2])) == 2
    assert secrets[2:] == ["700", "700"]
    assert not [key for key in secrets[:2] if key in json.dumps(made.document)]
    metrics = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:10406/metrics').read().decode())"
    assert "vipu_partitions" in bed.server.sh(f'python3 -c "{metrics}"')

    again = bed.run("alice", "bob")
    assert again.changed == {HOST: 0}

    # As after a run that has written the unit, and failed before it could restart the controller.
    bed.server.sh("touch /etc/systemd/system/vipu-server-bob.service")
    _shared, own = controllers(["alice", "bob"], VPODS)
    owed = bed.play(role("dedicated", vipu_controller_dedicated=own), check=True)
    assert [task.rpartition(" : ")[2] for _, task, result in owed.tasks if result.get("changed")] == [
        "Start the controller"
    ]

    moved = {name: {**words, "vlan": words["vlan"] + 10} for name, words in VPODS.items()}
    as_foretold(lambda check: bed.run(*moved, declared=moved, check=check))
    assert bed.held(BOB + 40, "partitions", "bob") == ["train"]

    bobs = bed.server.sh("cd /var/lib/vipu-server-bob; find . -type f ! -name '*.log' -exec sha256sum {} + | sort")
    gone = bed.run("bob", removed=("alice",), declared=moved)
    assert gone.messages == ""
    left = bed.server.sh("find /etc /var/lib /usr/local /srv -name '*alice*'").split()
    assert [path.rsplit("/", 1)[0] for path in left] == ["/var/lib/vipu-removed"]
    assert "alice" not in bed.server.sh("systemctl list-units --all --plain 'vipu-server*'")
    assert bobs == bed.server.sh(
        "cd /var/lib/vipu-server-bob; find . -type f ! -name '*.log' -exec sha256sum {} + | sort"
    )
    assert bed.run("bob", removed=("alice",), declared=moved).changed == {HOST: 0}

    elsewhere = ["p-ipum7", "p-ipum8"]
    key = bed.server.sh("cat /var/lib/vipu-server-bob/keys/bob.key")
    as_foretold(lambda check: bed.move("bob", elsewhere, moved, check=check))
    assert bed.held(BOB + 40, "agents", "bob") == elsewhere
    assert bed.held(BOB + 40, "partitions", "bob") == ["train"]
    assert bed.server.sh("cat /var/lib/vipu-server-bob/keys/bob.key") != key


def as_foretold(run: Callable[[bool], PlaybookRun]) -> PlaybookRun:
    """A run that does what a dry run has said."""
    foretold, made = run(True), run(False)
    for each in (foretold, made):
        assert each.messages == ""
    said, done = (sorted(task for _, task, result in each.tasks if result.get("changed")) for each in (foretold, made))
    assert said == done
    return made
