# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod whose tenant has an agent of Backend.AI in each of two racks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.backend_ai.backend_ai_site import Site
from tests.integration.conftest import brought_up, running_pod
from tests.support.checkout import ROOT

INVENTORY = ROOT / "inventories" / "sim_backend_ai"


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(INVENTORY)


@pytest.fixture(scope="package")
def site(fresh_pod: Any) -> Site:
    """The pod as declared, a manager that runs, and agents whose operator has installed them, but that have no IPUs."""
    found = Site(fresh_pod)
    # It comes up while the playbook runs.
    found.start_manager()
    brought_up(fresh_pod)
    found.prepare_agents()
    found.prepare_manager()
    return found
