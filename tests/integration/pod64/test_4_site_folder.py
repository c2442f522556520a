# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pod from a site's folder and the installed artefact, as somebody without the checkout has it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.pod64.reviewer import INVENTORY
from tests.support.checkout import PROGRAMS
from tests.support.installed_collection import InstalledCollection
from tests.support.simulated_pod import NEWEST_ANSIBLE, STATE


@pytest.fixture
def home() -> Iterator[Path]:
    """Where somebody's home is made."""
    # The paths of ssh's control sockets must be short.
    with tempfile.TemporaryDirectory(prefix="home-") as directory:
        yield Path(directory) / "home"


@pytest.mark.parametrize("programs", [PROGRAMS, NEWEST_ANSIBLE], ids=["oldest", "newest"])
def test_the_playbooks_of_the_artefact_keep_a_pod_as_it_is(pod: Any, programs: Path, home: Path) -> None:
    if not (programs / "ansible-playbook").exists():
        pytest.skip("no python3.13 on this machine when `make setup` ran; without it there is no newest Ansible")
    installed = InstalledCollection(home, programs)
    installed.install()
    assert installed.run("ansible-playbook", "ipu.pod.new_site", "-e", "site=mine").returncode == 0
    site = installed.home / "mine"
    shutil.copy(INVENTORY / "pods.yml", site)
    shutil.copytree(INVENTORY / "group_vars", site / "group_vars", dirs_exist_ok=True)

    before, writes = pod.fingerprint(), pod.write_requests()
    for playbook in ("ipu.pod.site", "ipu.pod.verify"):
        run = installed.run("ansible-playbook", playbook, "-e", f"podsim_state={STATE}", directory=site)
        assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    drift = installed.run("ansible-playbook", "ipu.pod.drift", "-e", f"podsim_state={STATE}", directory=site)
    assert drift.returncode == 0, drift.stdout + drift.stderr
    assert (site / "drift" / "drift.json").exists()
