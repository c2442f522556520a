# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/vpods.yml with dedicated V-IPU controllers, on a pod of which only the controller's host is managed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from podsim.floor import image
from tests.contract.container_server import PROGRAMS, ROOT, ContainerServer, podman_in, skip_without_podman
from tests.contract.test_dedicated_role import MACHINES
from tests.playbook_run import JSON_OUTPUT, PlaybookRun, playbook_run

ADMIN_PORTS = {"alice": 10405, "bob": 10409, "": 8091}


def vpod(vlan: int, **words: Any) -> dict[str, Any]:
    said = {"cluster": "c", "ipus": 8, "vlan": vlan, "controller": "dedicated", "partitions": {"train": {"ipus": 8}}}
    return {key: value for key, value in {**said, **words}.items() if value is not None}


@dataclass
class Bed:
    """A controller's host, and the inventory that has it."""

    inventory: Path
    server: ContainerServer
    excluded: tuple[str, ...] = ()

    def run(self, *options: str, check: bool = False, **vpods: Any) -> PlaybookRun:
        """Have these vPODs."""
        document = {
            "plugin": "ipu.pod.pods",
            "schema": 1,
            "pods": {
                "p": {
                    "model": "bow-pod64",
                    "managed": ["controller"],
                    "vlans": {"quarantine": 999},
                    "excluded": list(self.excluded),
                    "overrides": {name: {"gateway_address": address} for name, address in MACHINES.items()},
                }
            },
            "controllers": {"ctrl": {"address": self.server.address}},
            "clusters": {"c": {"controller": "ctrl", "pods": ["p"]}},
            "vpods": vpods,
        }
        (self.inventory / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
        done = subprocess.run(
            [
                f"{PROGRAMS}/ansible-playbook",
                *("-i", self.inventory, ROOT / "playbooks" / "vpods.yml", *options),
                *(["--check"] if check else []),
            ],
            cwd=ROOT,
            env={**os.environ, **JSON_OUTPUT},
            capture_output=True,
            text=True,
            check=False,
        )
        return playbook_run("vpods", done.returncode, done.stdout, done.stderr)

    def held(self, controller: str, kind: str) -> list[str]:
        """The names of what a vPOD's controller holds of a kind; without a vPOD, what the shared one does."""
        answer = self.server.sh(f"vipu-admin -P {ADMIN_PORTS[controller]} --showjson list {kind}")
        return sorted(each["id"] for each in json.loads(answer)[kind])

    def machines_of(self, vpod: str) -> list[str]:
        """Where the shared controller says that a vPOD lies."""
        answer = self.server.sh(f"vipu-admin -P {ADMIN_PORTS['']} --showjson list allocations")
        (there,) = (each for each in json.loads(answer)["allocations"] if each["id"] == vpod)
        return sorted(there["spec"]["agent_ids"])

    def as_foretold(self, *options: str, **vpods: Any) -> None:
        """Have these vPODs, and see that a dry run says before what the run then does."""
        said, done = (self.run(*options, check=check, **vpods) for check in (True, False))
        for run in (said, done):
            assert run.messages == ""
        tasks = [sorted(task for _, task, result in run.tasks if result.get("changed")) for run in (said, done)]
        assert tasks[0] == tasks[1]


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A host with agents to reach, and no controller."""
    skip_without_podman()
    podman = podman_in(tmp_path)
    server = ContainerServer(podman, tmp_path)
    tag = image.tag()
    if not podman.images(tag):
        pytest.skip("needs the image of the simulated pod; any `podsim up` makes it")
    inventory = tmp_path / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    (inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(server.variables))
    try:
        server.start(tag)
        for name, address in MACHINES.items():
            agent = f"podsim agent --listen {address}:8080 --id {name} --metrics-port 0"
            server.sh(f"systemd-run --quiet --unit agent-{name} /usr/local/bin/{agent}")
        yield Bed(inventory, server)
    finally:
        server.stop()


def test_a_tenant_with_a_controller_of_their_own_comes_grows_and_goes(bed: Bed) -> None:
    alice, bob = vpod(101), vpod(102)
    bed.as_foretold(alice=alice, bob=bob)
    assert (bed.held("", "allocations"), bed.held("", "partitions")) == (["alice", "bob"], [])
    assert (bed.held("alice", "agents"), bed.held("bob", "agents")) == (["p-ipum1", "p-ipum2"], ["p-ipum3", "p-ipum4"])
    assert bed.run(alice=alice, bob=bob).changed["ctrl"] == 0

    grown = vpod(101, ipus=16)
    refused = bed.run(alice=grown, bob=bob)
    assert "partition train" in refused.messages
    assert "vpods_interrupt" in refused.messages
    bed.as_foretold("-e", '{"vpods_interrupt": ["alice"]}', alice=grown, bob=bob)
    assert bed.held("alice", "agents") == [f"p-ipum{n}" for n in range(5, 9)]
    assert bed.held("alice", "partitions") == ["train"]

    smaller = vpod(102, partitions={"train": {"ipus": 4}})
    assert "partition train: size is 8, wanted 4" in bed.run(alice=grown, bob=smaller).messages
    bed.as_foretold("-e", '{"vpods_interrupt": ["bob"]}', alice=grown, bob=smaller)
    assert bed.held("bob", "partitions") == ["train"]
    bed.as_foretold("-e", '{"vpods_interrupt": ["bob"]}', alice=grown, bob=bob)

    shared = bed.run(alice=grown, bob=vpod(102, controller=None))
    assert "vPOD bob shall be on the shared controller of ctrl, and has a dedicated one there" in shared.messages

    # That it has a controller of its own need not be said any more.
    gone = {"cluster": "c", "state": "absent", "vlan": 101}
    assert "partition train" in bed.run(alice=gone, bob=bob).messages
    bed.as_foretold("-e", '{"vpods_interrupt": ["alice"]}', alice=gone, bob=bob)
    assert (
        bed.server.sh("find /etc /var/lib /usr/local -name '*alice*'").split()[0].startswith("/var/lib/vipu-removed/")
    )
    assert bed.held("", "allocations") == ["bob"]
    assert bed.held("bob", "partitions") == ["train"]
    assert bed.run(alice=gone, bob=bob).changed["ctrl"] == 0


def test_a_vpod_on_a_dead_machine_stays_until_it_may_be_interrupted(bed: Bed) -> None:
    alice, bob = vpod(101, controller=None), vpod(102, controller=None, partitions={"serve": {"ipus": 4}})
    bed.as_foretold(alice=alice)
    bed.server.sh("systemctl stop agent-p-ipum2")
    bed.excluded = ("p-ipum2",)
    run = bed.run(alice=alice, bob=bob)
    assert run.messages == ""
    assert "degraded: p-ipum2 is excluded; vPOD alice has p-ipum2 and its partitions are left as they are" in said(run)
    assert bed.machines_of("alice") == ["p-ipum1", "p-ipum2"]
    assert bed.held("", "partitions") == ["serve", "train"]
    bed.as_foretold("-e", '{"vpods_interrupt": ["alice"]}', alice=alice, bob=bob)
    assert bed.machines_of("alice") == ["p-ipum5", "p-ipum6"]
    assert bed.held("", "partitions") == ["serve", "train"]
    run = bed.run(alice=alice, bob=bob)
    assert run.changed["ctrl"] == 0
    assert "degraded: p-ipum2 is excluded" in said(run)
    assert "left as they are" not in said(run)


def said(run: PlaybookRun) -> str:
    return json.dumps(run.document)
