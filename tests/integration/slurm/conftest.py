# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod with Slurm for the modules of this folder: one story, in the order of their names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import brought_up, running_pod
from tests.integration.slurm.cluster import Slurm
from tests.support.checkout import ROOT

INVENTORY = ROOT / "inventories" / "sim_slurm"


class Declared:
    """The pod's inventory, whose vPOD and way of Slurm are others from module to module."""

    def __init__(self, pod: Any, folder: Path) -> None:
        self.pod = pod
        self.folder = folder
        for path in INVENTORY.iterdir():
            if path.name != "pods.yml":
                (folder / path.name).symlink_to(path)
        self._document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
        self.change()

    def change(self, **partitions: dict[str, Any]) -> None:
        """From now on these are the partitions of the vPOD."""
        self._document["vpods"]["jobs"]["partitions"] = partitions
        (self.folder / "pods.yml").write_text(yaml.safe_dump(self._document, sort_keys=False))

    def run(self, playbook: str, *, dry: bool = False, **variables: Any) -> Any:
        """Run one of the playbooks."""
        options = ["-e", json.dumps(variables), *(["--check"] if dry else [])]
        return self.pod.playbook(playbook, *options, inventory=self.folder)

    def done(self, playbook: str, *, dry: bool = False, **variables: Any) -> Any:
        """A run that has to succeed."""
        run = self.run(playbook, dry=dry, **variables)
        assert run.code == 0, run.messages
        return run


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(INVENTORY)


@pytest.fixture(scope="package")
def pod(fresh_pod: Any) -> Any:
    """The pod after site.yml."""
    return brought_up(fresh_pod)


@pytest.fixture(scope="package")
def declared(pod: Any, tmp_path_factory: pytest.TempPathFactory) -> Declared:
    """The pod's inventory, in which tests declare other partitions."""
    return Declared(pod, tmp_path_factory.mktemp("declared"))


@pytest.fixture(scope="package")
def slurm(pod: Any) -> Slurm:
    """Slurm there; before its role has come, it is nothing but packages."""
    found = Slurm(pod)
    found.prepare()
    return found
