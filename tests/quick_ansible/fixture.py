# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible and its modules on this host, with less of a processor: see startup/sitecustomize.py and callback/."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.simulated_pod import PROJECT

# The simulated machines have the second one, too.
STARTUP = ("tests/quick_ansible/startup", "simulator/podsim/floor/rootfs/usr/lib/python3/dist-packages")


@pytest.fixture(scope="session", autouse=True)
def quick_ansible(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For all programs that the tests of a folder start."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", os.pathsep.join(str(PROJECT / folder) for folder in STARTUP))
        environment.setenv("QUICK_ANSIBLE", str(tmp_path_factory.mktemp("quick_ansible")))
        environment.setenv("ANSIBLE_CALLBACK_PLUGINS", str(PROJECT / "tests" / "quick_ansible" / "callback"))
        yield
