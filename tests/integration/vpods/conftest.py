# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod with four tenants for the modules of this folder: 1.0.0 brings it up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.conftest import brought_up, running_pod
from tests.support.checkout import ROOT

INVENTORY = ROOT / "inventories" / "sim_vpods"


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(INVENTORY)


@pytest.fixture(scope="package")
def pod(fresh_pod: Any) -> Any:
    """The pod as declared, whoever has brought it up."""
    return brought_up(fresh_pod)
