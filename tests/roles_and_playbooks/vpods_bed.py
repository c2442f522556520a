# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/vpods.yml on a pod of which only the V-IPU controller's host is managed, and runs in a container."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.container_server import ContainerServer
from tests.support.controller_host import MACHINES, controller_host
from tests.support.playbook_run import JSON_OUTPUT, PlaybookRun, read_run, run_playbook

ADMIN_PORTS = {"alice": 10405, "bob": 10409, "": 8091}


def vpod(vlan: int, **words: Any) -> dict[str, Any]:
    entry = {"cluster": "c", "ipus": 8, "vlan": vlan, "controller": "dedicated", "partitions": {"train": {"ipus": 8}}}
    return {key: value for key, value in {**entry, **words}.items() if value is not None}


@dataclass
class Bed:
    """A controller's host, and the inventory that has it.

    Attributes:
        managed: the layers that are.
        excluded: IPU-Machines that are out of order.
    """

    inventory: Path
    server: ContainerServer
    managed: tuple[str, ...] = ("controller",)
    excluded: tuple[str, ...] = ()

    def run(self, *options: str, check: bool = False, **vpods: Any) -> PlaybookRun:
        """Have these vPODs."""
        document = {
            "plugin": "ipu.pod.pods",
            "schema": 1,
            "pods": {
                "p": {
                    "model": "bow-pod64",
                    "managed": list(self.managed),
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
        options = (*options, "--check") if check else options
        return read_run("vpods", run_playbook("vpods", *options, inventory=self.inventory, **JSON_OUTPUT))

    def held(self, controller: str, kind: str, host: ContainerServer | None = None) -> list[str]:
        """The names of what a vPOD's controller holds of a kind; without a vPOD, what the shared one does.

        It is on the shared one's host, unless another one is given.
        """
        answer = (host or self.server).sh(f"vipu-admin -P {ADMIN_PORTS[controller]} --showjson list {kind}")
        return sorted(each["id"] for each in json.loads(answer)[kind])

    def machines_of(self, vpod: str) -> list[str]:
        """Where the shared controller says that a vPOD lies."""
        answer = self.server.sh(f"vipu-admin -P {ADMIN_PORTS['']} --showjson list allocations")
        (there,) = (each for each in json.loads(answer)["allocations"] if each["id"] == vpod)
        return sorted(there["spec"]["agent_ids"])

    def as_predicted(self, *options: str, **vpods: Any) -> None:
        """Have these vPODs, and see that a dry run says before what the run then does."""
        check, run = (self.run(*options, check=check, **vpods) for check in (True, False))
        for each in (check, run):
            assert each.messages == ""
        assert check.predicted == run.done


@contextmanager
def running_bed(tmp_path: Path) -> Iterator[Bed]:
    """A host with agents to reach, and no controller."""
    inventory = tmp_path / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    with controller_host(tmp_path) as server:
        (inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(server.variables))
        yield Bed(inventory, server)
