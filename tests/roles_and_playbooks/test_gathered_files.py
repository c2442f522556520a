# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who can read what gather.yml writes."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.support.checkout import ROOT
from tests.support.playbook_run import run_playbook

WRITING = ("Create the directories of the files", "Write the files")


def test_gathered_files_are_for_nobody_else_to_read(tmp_path: Path) -> None:
    plays = yaml.safe_load((ROOT / "playbooks" / "gather.yml").read_text())
    tasks = [task for task in plays[-1]["tasks"][0]["block"] if task["name"] in WRITING]
    assert len(tasks) == len(WRITING)
    folder = tmp_path / "gathered"
    files = {"pods.yml": "schema: 1\n", "host_vars/p-poplar1.yml": "a: 1\n"}
    settings = {"gather_directory": str(folder), "gathered": {"files": files}}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": settings, "tasks": tasks}
    playbook = tmp_path / "play.yml"
    playbook.write_text(yaml.safe_dump([play]))
    run = run_playbook(playbook, directory=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    found = {str(path.relative_to(tmp_path)): path.stat().st_mode & 0o777 for path in folder.rglob("*")}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert found == {
        "gathered/host_vars": 0o700,
        "gathered/pods.yml": 0o600,
        "gathered/host_vars/p-poplar1.yml": 0o600,
    }
