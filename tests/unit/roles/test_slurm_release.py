# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role slurm refuses a release of Slurm that it has not been tried with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.playbook_run import run_playbook

PLAY = """
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: ipu.pod.slurm
        tasks_from: tried
        rolespec_validate: false
      vars:
        slurm_found: {site: {version: "VERSION"}}
"""


@pytest.mark.parametrize(("version", "is_refused"), [("22.05.08", False), ("23.11.04", True), ("21.08.05", True)])
def test_a_release_that_is_untried_is_refused_and_those_tried_are_named(
    tmp_path: Path, version: str, is_refused: bool
) -> None:
    play = tmp_path / "play.yml"
    play.write_text(PLAY.replace("VERSION", version))
    done = run_playbook(play, "-i", "localhost,")
    assert (done.returncode != 0) is is_refused, done.stdout + done.stderr
    assert (f"Slurm {version[:5]}, which this role has not been tried with; use one of 22.05" in done.stdout) is (
        is_refused
    )


@pytest.mark.parametrize(("file", "later"), [("look.yml", "slurm_plan"), ("files.yml", "differing")])
def test_it_is_refused_before_it_is_planned_with_and_again_once_its_packages_are_there(file: str, later: str) -> None:
    tasks = (ROOT / "roles" / "slurm" / "tasks" / file).read_text()
    assert 0 < tasks.find("read.yml") < tasks.find("tried.yml") < tasks.find(f"ipu.pod.{later}:")
