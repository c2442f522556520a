# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Root runs the install.sh of the archive that the operator means, and of no other one."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.playbook_run import run_playbook

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the directory of archives belongs to root")

MALLORY = 12345
# Of no V-IPU, and where an older release of the role had the archive.
RELEASE = "0.0.17"
COPIED_BEFORE = Path(f"/var/tmp/vipu-{RELEASE}.tar.gz")

PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_vars: {role}/defaults/main.yml
    - ansible.builtin.include_vars: {role}/vars/main.yml
    - ansible.builtin.import_tasks: {role}/tasks/release.yml
      vars: {{vipu_controller_wanted: {{links: []}}}}
"""


def archive_of(install: str) -> bytes:
    """A tarball whose install.sh does this."""
    script = f"#!/bin/sh\n{install}\n".encode()
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tarball:
        entry = tarfile.TarInfo("vipu/install.sh")
        entry.size, entry.mode, entry.uid = len(script), 0o755, MALLORY
        tarball.addfile(entry, io.BytesIO(script))
    return content.getvalue()


@pytest.fixture
def install(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Install an archive that makes the file ``program``; the argument is the checksum that the operator states."""
    (tmp_path / "play.yml").write_text(PLAY.format(role=ROOT / "roles" / "vipu_controller"), encoding="utf-8")
    archive = tmp_path / "vipu.tar.gz"
    owner = tmp_path / "owner"
    archive.write_bytes(archive_of(f"stat -c %u install.sh > {owner}; install -m 755 /dev/null {tmp_path}/program"))

    def run(checksum: str) -> subprocess.CompletedProcess[str]:
        variables = {
            "ansible_python_interpreter": sys.executable,
            "vipu_controller_archive": archive,
            "vipu_controller_archive_sha256": checksum or hashlib.sha256(archive.read_bytes()).hexdigest(),
            "vipu_controller_release": RELEASE,
            "vipu_controller_program": tmp_path / "program",
            "vipu_controller_archives": tmp_path / "archives",
        }
        options = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
        return run_playbook(tmp_path / "play.yml", "-i", "localhost,", "-c", "local", *options)

    return run


def test_who_placed_the_same_bytes_first_cannot_change_them_afterwards(
    tmp_path: Path, install: Callable[[str], subprocess.CompletedProcess[str]]
) -> None:
    hostile = archive_of(f"touch {tmp_path}/mallory; install -m 755 /dev/null {tmp_path}/program")
    over = threading.Event()

    def attack() -> None:
        with COPIED_BEFORE.open("r+b") as kept:
            while not over.wait(0.01):
                if os.fstat(kept.fileno()).st_uid == 0:
                    kept.write(hostile)
                    kept.truncate()
                    return

    try:
        COPIED_BEFORE.write_bytes((tmp_path / "vipu.tar.gz").read_bytes())
        os.chown(COPIED_BEFORE, MALLORY, MALLORY)
        mallory = threading.Thread(target=attack)
        mallory.start()
        run = install("")
        over.set()
        mallory.join()
    finally:
        COPIED_BEFORE.unlink(missing_ok=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert not (tmp_path / "mallory").exists()
    assert (tmp_path / "program").exists()


def test_the_archive_lies_where_only_root_reaches_it_and_is_gone_afterwards(
    tmp_path: Path, install: Callable[[str], subprocess.CompletedProcess[str]]
) -> None:
    assert install("").returncode == 0
    archives = tmp_path / "archives"
    assert (archives.stat().st_mode & 0o777, archives.stat().st_uid, list(archives.iterdir())) == (0o700, 0, [])
    # Whatever owner the archive names.
    assert (tmp_path / "owner").read_text() == "0\n"


@pytest.mark.parametrize(
    ("checksum", "message"),
    [
        ("0" * 64, "vipu_controller_archive has another SHA-256 checksum than vipu_controller_archive_sha256 says"),
        ("17", "vipu_controller_archive_sha256 is not the SHA-256 checksum of vipu_controller_archive, 64 hexadecimal"),
    ],
    ids=["another archive", "no checksum"],
)
def test_an_archive_that_is_not_the_stated_one_is_never_run(
    tmp_path: Path, install: Callable[[str], subprocess.CompletedProcess[str]], checksum: str, message: str
) -> None:
    run = install(checksum)
    assert run.returncode != 0
    assert message in " ".join((run.stdout + run.stderr).split())
    assert not (tmp_path / "program").exists()


PROGRAM_PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_vars: {role}/defaults/main.yml
    - ansible.builtin.import_tasks: {role}/tasks/program.yml
"""


def test_a_poplar_server_gets_the_program_once_by_the_words_of_its_own_role(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(PROGRAM_PLAY.format(role=ROOT / "roles" / "vpod"), encoding="utf-8")
    (tmp_path / "links").mkdir()
    archive = tmp_path / "vipu.tar.gz"
    archive.write_bytes(archive_of(f"echo run >> {tmp_path}/log; install -m 755 /dev/null {tmp_path}/vipu"))
    variables = {
        "ansible_python_interpreter": sys.executable,
        "vpod_vipu": {"controller": "ctrl001"},
        "vpod_archive": str(archive),
        "vpod_archive_sha256": "0" * 64,
        "vpod_release": RELEASE,
        "vpod_program": str(tmp_path / "vipu"),
        "vpod_program_links": str(tmp_path / "links"),
        "vipu_controller_archives": str(tmp_path / "archives"),
    }

    def run(**others: str) -> subprocess.CompletedProcess[str]:
        options = ("-i", "localhost,", "-c", "local", "-e", json.dumps({**variables, **others}))
        return run_playbook(tmp_path / "play.yml", *options)

    refused = run()
    assert "vpod_archive has another SHA-256 checksum than vpod_archive_sha256 says" in refused.stdout
    assert not (tmp_path / "log").exists()
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    for _ in range(2):
        done = run(vpod_archive_sha256=checksum)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "log").read_text() == "run\n"
    assert (tmp_path / "links" / "vipu").resolve() == tmp_path / "vipu"
