# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixtures that the tests of several scenarios share."""

from __future__ import annotations

from typing import Any

import pytest
import testinfra


@pytest.fixture(scope="module")
def controller(request: pytest.FixtureRequest) -> Any:
    """The V-IPU controller's host."""
    return testinfra.get_host("ssh://ctrl001", ssh_config=request.config.option.ssh_config)
