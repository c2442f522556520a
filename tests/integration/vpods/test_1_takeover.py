# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod with tenants that release 1.0.0 has brought up: this release takes it over."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.vpods.conftest import INVENTORY
from tests.support.checkout import PROGRAMS, ROOT

# The last commit of 1.0.0.
RELEASE = "2cbff261d9d5c778e81a67ea31a721b1aff4c380"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of 1.0.0, where Ansible finds a collection."""
    place: Path = tmp_path_factory.mktemp("release")
    checkout = place / "ansible_collections" / "ipu" / "pod"
    checkout.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", RELEASE], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", checkout], input=archive, check=True)
    return checkout


@pytest.fixture(scope="module")
def pod_of_the_release(fresh_pod: Any, release: Path) -> Any:
    """The pod as 1.0.0 leaves it."""
    done = subprocess.run(
        [f"{PROGRAMS}/ansible-playbook", "-i", str(INVENTORY), "playbooks/site.yml"],
        cwd=release,
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(release.parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    return fresh_pod


def test_site_changes_nothing_but_what_copies_and_rotates(pod_of_the_release: Any) -> None:
    run = pod_of_the_release.playbook("site")
    assert (run.code, run.messages) == (0, "")
    done, _summary = run.reported
    assert done == "ctrl001: /usr/local/sbin/vipu-backup changed; /etc/logrotate.d/vipu-server added"


def test_after_that_it_finds_nothing_to_change(pod_of_the_release: Any) -> None:
    run = pod_of_the_release.playbook("site")
    assert (run.code, run.messages) == (0, "")
    (line,) = run.reported
    assert line.startswith("nothing changed; 6 devices looked at in ")


def test_nothing_has_drifted(pod_of_the_release: Any, tmp_path: Path) -> None:
    code, output = pod_of_the_release.say("drift", "-e", f"drift_directory={tmp_path}", inventory=INVENTORY)
    assert code == 0, output


def test_its_runs_are_listed(pod_of_the_release: Any) -> None:
    code, output = pod_of_the_release.say("runs", inventory=INVENTORY)
    assert code == 0, output
    assert "site.yml" in output
