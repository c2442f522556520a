# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command that initialises a controller's storage, with a program that says its key where it should not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

TASKS = Path(__file__).resolve().parents[3] / "roles" / "vipu_controller" / "tasks" / "service.yml"
PROGRAM = """#!/bin/sh
: > storage.json
echo "Access key is 's3cret'"
echo "vipu-server: Access key is 's3cret', but $1 failed" >&2
exit {code}
"""


@pytest.mark.parametrize("mode", ["secure", "insecure"])
@pytest.mark.parametrize("code", [0, 1])
def test_what_the_program_says_of_a_key_stays_in_its_log(tmp_path: Path, mode: str, code: int) -> None:
    program = tmp_path / "vipu-server"
    program.write_text(PROGRAM.format(code=code))
    program.chmod(0o755)
    settings = {
        "vipu_controller_directory": str(tmp_path),
        "vipu_controller_mode": mode,
        "vipu_controller_unfinished": str(tmp_path / "unfinished"),
        "vipu_controller_storage": str(tmp_path / "storage.json"),
        "vipu_controller_log": str(tmp_path / "vipu-server.log"),
        "vipu_controller_program": str(program),
        "vipu_controller_as_user": "",
        "vipu_controller_keep_certificates": "",
        "vipu_controller_if_not_as_user": "",
        "vipu_controller_secure": "--secure" if mode == "secure" else "",
    }
    (task,) = [task for task in yaml.safe_load(TASKS.read_text()) if task["name"] == "Initialise the storage"]
    command = Templar(DataLoader(), variables=settings).template(
        trust_as_template(task["ansible.builtin.shell"]["cmd"])
    )
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert run.returncode == code
    assert (tmp_path / "storage.json").exists() == (code == 0)
    log = tmp_path / "vipu-server.log"
    assert run.stdout == ""
    assert run.stderr == (f"{program} --init failed; why is in {log}, as is perhaps a key\n" if code else "")
    assert log.read_text().count("s3cret") == 2
    assert log.stat().st_mode & 0o777 == 0o600
