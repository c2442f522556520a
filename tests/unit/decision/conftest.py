# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pod in service for all tests of what is decided."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.in_memory.pod import PodInMemory, declared, pod
from tests.unit.decision.two_vpods import VPODS


@pytest.fixture(scope="session")
def pod_in_service() -> PodInMemory:
    """A pod as two vPODs have it; nobody changes it."""
    there = pod()
    there.carry_out(there.decide(declared(VPODS)))
    return there


@pytest.fixture
def looks(pod_in_service: PodInMemory) -> dict[str, Any]:
    """Looks at it, which a test may change."""
    return pod_in_service.looks()
