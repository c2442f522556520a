# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod with four tenants for the modules of this folder: 1.0.0 brings it up."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import brought_up, running_pod
from tests.support.checkout import ROOT

INVENTORY = ROOT / "inventories" / "sim_vpods"


def declared_otherwise(place: Path, change: Callable[[dict[str, Any]], None] = lambda _vpods: None) -> Path:
    """A copy of the inventory in an empty directory, with other vPODs; the floor is the same."""
    shutil.copytree(INVENTORY, place, dirs_exist_ok=True)
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["sim"]["floor"] = str((INVENTORY / document["sim"]["floor"]).resolve())
    change(document["vpods"])
    (place / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
    return place


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(INVENTORY)


@pytest.fixture(scope="package")
def pod(fresh_pod: Any) -> Any:
    """The pod as declared, whoever has brought it up."""
    return brought_up(fresh_pod)
