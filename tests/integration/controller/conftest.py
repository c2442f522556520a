# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod for the modules of this folder; each says what of its V-IPU controller it begins with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.conftest import running_pod
from tests.support.checkout import ROOT

INVENTORY = ROOT / "inventories" / "sim_two_servers"


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(INVENTORY)
