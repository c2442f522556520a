# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server's access key, while its V-IPU client is written, rotated and removed as loudly as Ansible can be."""

from __future__ import annotations

import getpass
import grp
import json
import os
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.playbook_run import LOUD, run_playbook
from tests.support.secret_spellings import secrets_in

HEADER = "# ours"
OLD, NEW = "0ldKey-eight-words", "n3wKey-eight-words"


def client(key: str) -> str:
    """The configuration of a client of an open controller, or with a key of a secure one."""
    return f'{HEADER}\napi-user-id="alice"\n' + (f'api-access-key="{key}"\n' if key else "")


@pytest.mark.parametrize(
    ("tasks", "old", "new"),
    [
        ("client", "", NEW),
        ("client", OLD, NEW),
        ("client", OLD, ""),
        ("no_client", OLD, ""),
    ],
    ids=["open to secure", "key rotated", "secure to open", "vPOD removed"],
)
def test_no_change_of_a_client_shows_its_key(tmp_path: Path, tasks: str, old: str, new: str) -> None:
    place, source = tmp_path / "vipu-cli.hcl", tmp_path / "alice.key"
    place.write_text(client(old))
    source.write_text(f"{new}\n")
    file = {
        "path": str(place),
        "content": client("(secret)" if new else ""),
        "owner": getpass.getuser(),
        "group": grp.getgrgid(os.getgid()).gr_name,
        "mode": "0600",
        "source": str(source),
    }
    wanted = {"files": [] if new else [file], "secret_files": [file] if new else [], "absent": [str(place)]}
    settings = {
        "vpod_wanted": wanted,
        "vpod_vipu": {"controller": "localhost"},
        "vpod_client_file": str(place),
        "vpod_header": HEADER,
        "vpod_new_key": False,
    }
    task = {"ansible.builtin.include_tasks": f"{ROOT}/roles/vpod/tasks/{tasks}.yml"}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": settings, "tasks": [task]}
    playbook = tmp_path / "play.yml"
    playbook.write_text(json.dumps([play]))
    for options in (("--check",), ()):
        run = run_playbook(playbook, *LOUD, *options, directory=tmp_path)
        output = run.stdout + run.stderr
        assert run.returncode == 0, output
        assert secrets_in(output, (OLD, NEW)) == []
    assert (place.read_text() if place.exists() else None) == (client(new) if tasks == "client" else None)
