# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible and its modules on this host, with less of a processor; see startup/sitecustomize.py."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.simulated_pod import PROJECT

# The simulated machines have the second one, too.
FOLDERS = ("tests/quick_ansible/startup", "simulator/podsim/floor/rootfs/usr/lib/python3/dist-packages")


@pytest.fixture(scope="session", autouse=True)
def quick_ansible() -> Iterator[None]:
    """For all programs that the tests of a folder start."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", os.pathsep.join(str(PROJECT / folder) for folder in FOLDERS))
        yield
