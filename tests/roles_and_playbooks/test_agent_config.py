# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module that edits an agent.toml, by Ansible on this machine: its file has the password of etcd."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkout import ROOT

TEXT = '[etcd]\npassword = "secret"\n\n[agent]\n# ours\nmode = "docker"\n'


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    path = tmp_path / "agent.toml"
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


def run(path: Path, *options: str) -> tuple[dict[str, Any], str]:
    """The result of the module, and everything that Ansible says."""
    words = [ROOT / ".venv/bin/ansible", "localhost", "-m", "ipu.pod.backend_ai_agent_config", "-a", f"path={path}"]
    environment = {"ANSIBLE_LOAD_CALLBACK_PLUGINS": "1", "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}
    ended = subprocess.run(
        [*words, "-vvv", "--diff", *options],
        cwd=ROOT,
        env={"PATH": f"{ROOT}/.venv/bin:/usr/bin:/bin", "HOME": str(path.parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    said = json.loads(ended.stdout[ended.stdout.index("{") :])
    return said["plays"][0]["tasks"][0]["hosts"]["localhost"], ended.stdout + ended.stderr


def test_a_dry_run_tells_what_a_run_does_and_neither_says_what_is_in_the_file(file: Path) -> None:
    predicted, said = run(file, "--check")
    assert predicted["changed"] is True
    assert file.read_text() == TEXT
    done, also_said = run(file)
    assert done["changed"] is True
    assert file.read_text().startswith(TEXT)
    for spelling in ("secret", base64.b64encode(TEXT.encode()[:24]).decode()):
        assert spelling not in said + also_said
    again, _said = run(file)
    assert again["changed"] is False


def test_the_file_stays_its_owners(file: Path) -> None:
    run(file)
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    result, _said = run(tmp_path / "agent.toml")
    assert result["failed"] is True
    assert result["msg"].endswith("install Backend.AI's agent first")
