# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever builds the artefact of a commit gets the same bytes, and the checksum file says which."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from artefact import build, reproducible

from tests.support.checkout import PROGRAMS, ROOT


def clone(place: Path, umask: int, modified: int) -> Path:
    """A clone of the checkout, made under a umask, whose files were all modified at some time."""
    place.parent.mkdir(parents=True)
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place)], check=True, umask=umask)
    for path in place.rglob("*"):
        os.utime(path, (modified, modified), follow_symlinks=False)
    return place


def test_two_builds_of_one_commit_are_equal_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    first = build(clone(tmp_path / "a" / "checkout", 0o022, 1_000_000_000), tmp_path / "first")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    second = build(clone(tmp_path / "b" / "of another name", 0o077, 1_700_000_000), tmp_path / "second")
    assert first.read_bytes() == second.read_bytes()
    stated = (first.parent / f"{first.name}.sha256").read_text()
    assert stated == f"{sha256(first.read_bytes()).hexdigest()}  {first.name}\n"
    subprocess.run(["sha256sum", "--check", "--quiet", f"{second.name}.sha256"], check=True, cwd=second.parent)
    with tarfile.open(first) as archive:
        members = archive.getmembers()
        files, manifest = (archive.extractfile(name) for name in ("FILES.json", "MANIFEST.json"))
        assert files is not None
        assert manifest is not None
        listed = files.read()
        assert json.loads(manifest.read())["file_manifest_file"]["chksum_sha256"] == sha256(listed).hexdigest()
    names = [member.name for member in members[2:]]
    assert names == sorted(names)
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}
    assert {member.mtime for member in members} == {members[0].mtime}


def packed(path: Path, names: Sequence[str]) -> Path:
    """An artefact of these files, in this order."""
    files = json.dumps({"files": [{"name": name} for name in names]})
    manifest = json.dumps({"file_manifest_file": {"chksum_sha256": sha256(files.encode()).hexdigest()}})
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {**dict.fromkeys(names, "x"), "FILES.json": files, "MANIFEST.json": manifest}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_the_order_in_which_a_file_system_lists_its_files_is_not_in_it(tmp_path: Path) -> None:
    first, second = packed(tmp_path / "first", ["a", "b"]), packed(tmp_path / "second", ["b", "a"])
    assert reproducible(first, 0) == reproducible(second, 0)


def test_the_artefact_is_what_ansible_galaxy_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    made = build(ROOT, tmp_path / "built")
    (tmp_path / "ansible.cfg").touch()
    environment = {**os.environ, "ANSIBLE_CONFIG": str(tmp_path / "ansible.cfg")}
    install = ["ansible-galaxy", "collection", "install", "--no-deps", "--offline", "-p", str(tmp_path), str(made)]
    subprocess.run(install, check=True, env=environment)
    assert (tmp_path / "ansible_collections" / "ipu" / "pod" / "plugins" / "modules" / "vipu_state.py").exists()
    verified = ["ansible-galaxy", "collection", "verify", "--offline", "ipu.pod", "-p", str(tmp_path)]
    subprocess.run(verified, check=True, env=environment)
