# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The traces of a floor on the host: package sources, state directory, processes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from podsim.floor.daemons import Daemons
from podsim.floor.errors import FloorError
from podsim.floor.facts import Software
from podsim.floor.image import NAME, archive_sources, tag
from podsim.floor.state import StateDirectory, state_directory, write_private


def test_the_image_is_made_from_the_releases_own_archive_only() -> None:
    # As `apt-get indextargets` lists one-line and deb822 sources alike; one line per architecture.
    listed = """\
bookworm deb http://archive.example/debian/ bookworm main
bookworm deb http://archive.example/debian/ bookworm contrib
bookworm deb http://archive.example/debian/ bookworm main
bookworm-updates deb http://archive.example/debian/ bookworm-updates main
bookworm-backports deb http://archive.example/debian/ bookworm-backports main
bookworm-security deb http://archive.example/debian-security/ bookworm-security main
trixie deb http://archive.example/debian/ trixie main
"""
    assert archive_sources(listed, "bookworm") == [
        "deb http://archive.example/debian/ bookworm main",
        "deb http://archive.example/debian/ bookworm-updates main",
        "deb http://archive.example/debian-security/ bookworm-security main",
    ]


def test_an_image_with_more_software_is_another_one() -> None:
    tags = [tag(software).split(":") for software in ([], *([each] for each in Software))]
    assert [name for name, _tag in tags] == [NAME, *(f"{NAME}-{each.value}" for each in Software)]
    assert len({found for _name, found in tags}) == len(tags)


def test_the_state_directory_goes_but_not_what_a_person_put_there(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "build" / "podsim")
    state.create()
    state.known_hosts.write_text("", encoding="ascii")
    note = state.root / "note.txt"
    note.write_text("mine", encoding="utf-8")
    state.remove()
    assert list(state.root.iterdir()) == [note]
    note.unlink()
    state.remove()
    assert not state.root.exists()
    state.remove()


def test_the_state_directory_is_chosen_by_argument_then_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PODSIM_STATE", raising=False)
    assert state_directory(None).root == tmp_path / "build" / "podsim"
    monkeypatch.setenv("PODSIM_STATE", str(tmp_path / "a"))
    assert state_directory(None).root == tmp_path / "a"
    assert state_directory(str(tmp_path / "b")).root == tmp_path / "b"


def test_a_state_directory_that_the_tools_could_not_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FloorError, match=r"needs a path of letters, digits and"):
        StateDirectory(tmp_path / "my pod")


def test_a_secret_is_its_owners_only(tmp_path: Path) -> None:
    write_private(tmp_path / "key", b"old")
    write_private(tmp_path / "key", b"new")
    assert (tmp_path / "key").read_bytes() == b"new"
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_daemon_is_found_by_its_mark_and_ended(tmp_path: Path) -> None:
    daemons, others = Daemons(StateDirectory(tmp_path / "pod")), Daemons(StateDirectory(tmp_path / "pod2"))
    process = daemons.start("sleeper", ["sleep", "60"], tmp_path / "log")
    assert daemons.running() == {"sleeper": process.pid}
    others.stop()
    assert process.poll() is None
    daemons.stop()
    assert process.wait(timeout=30) == -15
    assert daemons.running() == {}


def test_a_daemon_of_a_pod_on_a_machine_within_this_one_is_left_alone(tmp_path: Path) -> None:
    daemons = Daemons(StateDirectory(tmp_path / "pod"))
    machine = ["unshare", *(["--map-root-user"] if os.geteuid() else []), "--pid", "--fork", "--kill-child"]
    mark = [f"{name}={value}" for name, value in daemons.mark("sleeper").items()]
    sleeper = ["env", *mark, "sh", "-c", "echo begun; read -r line; echo $line"]
    with subprocess.Popen([*machine, *sleeper], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as within:
        assert within.stdout
        assert within.stdout.readline() == "begun\n"
        daemons.stop()
        assert within.communicate("still here\n")[0] == "still here\n"
