# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The undo script itself, in a real shell on real file systems: full ones, and one that is still read-only."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.atomic import finished_name
from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._rnic import undo
from tests.support.in_memory.rnic_runs import changed, confirmed, networkd_server

FILE = "/etc/systemd/network/50-ipu-rnic0.network"
MADE = "/etc/systemd/network/50-ipu-rnic1.network"
FOLDER = "/etc/systemd/network"
# More than one page, so that a full file system has room for a part of it.
COMMENT = "# " + 5000 * "x" + "\n"
PROGRAMS = ("ip", "networkctl", "systemctl", "systemd-run")


class Disk:
    """The files of a server with an armed change below a folder, and its programs, which do nothing and are noted."""

    def __init__(self, root: Path) -> None:
        server = networkd_server()
        confirmed(server, [{"name": "rnic0", "mtu": 9000}])
        old = server.files.files[FILE].content + COMMENT
        server.files.write(FILE, File(old))
        assert changed(server, [{"name": "rnic0", "mtu": 4200}, {"name": "rnic1", "mtu": 4200}]).failure is None
        self.root, self.old, self.new = root, old, server.files.files[FILE].content
        for name, file in server.files.files.items():
            if name.startswith((undo.DIRECTORY, FOLDER, "/run")):
                # Where the script looks for what was at a path of this folder.
                path = self.path(name.replace(undo.saved_path(FOLDER), undo.saved_path(f"{root}{FOLDER}")))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self._below(file.content))
        (root / "bin").mkdir()
        for name in PROGRAMS:
            (root / "bin" / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{root}/calls\n')
            (root / "bin" / name).chmod(0o755)

    def path(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _below(self, text: str) -> str:
        for folder in (undo.DIRECTORY, "/etc/systemd", "/run/"):
            text = text.replace(folder, f"{self.root}{folder}")
        return text

    def undo(self, before: str = "true") -> subprocess.CompletedProcess[str]:
        """Run the script on file systems that a command has prepared for it alone, and show its folder afterwards."""
        shell = (
            f"({before}) && sh {self.path(undo.SCRIPT)}; code=$?; cat {self.path(FILE)} >{self.root}/seen; exit $code"
        )
        own = ["unshare", "--mount", "--propagation=private", *(["--map-root-user"] if os.geteuid() else [])]
        if subprocess.run([*own, "true"], capture_output=True, check=False).returncode:
            pytest.skip("needs mount namespaces: root, or user namespaces that the kernel allows")
        path = f"{self.root}/bin:{os.environ['PATH']}"
        done = subprocess.run(
            [*own, "sh", "-c", shell], capture_output=True, text=True, env={"PATH": path}, check=False
        )
        assert not done.stderr, done.stderr
        return done

    def full(self, path: str, size: str = "16k") -> str:
        """Commands that put a folder on a small file system, and fill that."""
        folder = self.path(path)
        small = f"mount -t tmpfs -o size={size} small {folder}"
        filled = f"! cat /dev/zero >{folder}/fill 2>&-"
        return f"cp -a {folder} {folder}.kept && {small} && cp -a {folder}.kept/. {folder} && {filled}"

    def is_at(self, flag: str) -> bool:
        return self.path(f"{undo.DIRECTORY}/{flag}").exists()

    @property
    def seen(self) -> str:
        """The file as the next boot would read it."""
        return (self.root / "seen").read_text()

    @property
    def calls(self) -> list[str]:
        return (self.root / "calls").read_text().splitlines()


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def test_it_says_in_the_journal_and_in_its_log_what_it_has_done(disk: Disk) -> None:
    done = disk.undo()
    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == [f"put back {disk.path(FILE)}", f"removed {disk.path(MADE)}"]
    assert done.stdout.splitlines()[-1] == "undone"
    assert done.stdout == disk.path(f"{undo.DIRECTORY}/log").read_text()
    assert disk.seen == disk.old
    assert not disk.path(MADE).exists()
    assert disk.is_at(undo.UNDONE)


def test_it_does_nothing_where_nothing_waits(disk: Disk) -> None:
    disk.path(f"{undo.DIRECTORY}/{undo.ARMED}").rename(disk.path(f"{undo.DIRECTORY}/{undo.CONFIRMED}"))
    done = disk.undo()
    assert (done.returncode, done.stdout, disk.seen) == (0, "", disk.new)


def test_a_full_disk_keeps_the_present_file_whole_and_is_tried_again(disk: Disk) -> None:
    done = disk.undo(disk.full(FOLDER))
    assert disk.seen == disk.new
    assert done.returncode == 1
    assert f"not put back, {disk.path(FILE)}: cp: error writing" in done.stdout
    assert "No space left on device" in done.stdout
    assert done.stdout.splitlines()[-1] == f"not undone: {disk.path(FILE)}; tried again in {undo.AGAIN} s"
    assert disk.is_at(undo.UNDOING)
    assert not disk.is_at(undo.UNDONE)
    assert disk.calls[-1] == " ".join(undo.start_in(undo.AGAIN))
    again = disk.undo()
    assert again.returncode == 0
    assert disk.seen == disk.old
    assert disk.is_at(undo.UNDONE)


def test_a_full_disk_below_its_own_folder_does_not_matter(disk: Disk) -> None:
    done = disk.undo(disk.full(undo.DIRECTORY, "64k"))
    assert done.returncode == 0
    assert disk.seen == disk.old
    assert done.stdout.splitlines()[-1] == "undone"


def test_what_is_left_of_a_file_that_was_being_written_is_taken_for_that() -> None:
    assert finished_name(".50-ipu-rnic0.network.ipu_undo") == "50-ipu-rnic0.network"


def test_a_read_only_file_system_is_no_success(disk: Disk) -> None:
    folder = disk.path(undo.DIRECTORY)
    done = disk.undo(f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}")
    assert disk.seen == disk.new
    assert done.returncode == 1
    assert "not undone: mv: cannot move" in done.stdout
    assert disk.is_at(undo.ARMED)
    assert disk.calls[-1] == " ".join(undo.start_in(undo.AGAIN))


def test_what_fails_at_boot_restores_the_running_settings_later(disk: Disk) -> None:
    """The network has started with the new files meanwhile."""
    disk.path(undo.SAME_BOOT).unlink()
    disk.undo(disk.full(FOLDER))
    assert "networkctl reload" not in disk.calls
    assert disk.undo().returncode == 0
    assert "networkctl reload" in disk.calls
    assert not disk.path(undo.SAME_BOOT).exists()


def test_the_unit_waits_for_file_systems_that_can_be_written() -> None:
    after = next(line for line in undo.UNIT_TEXT.splitlines() if line.startswith("After="))
    assert after.removeprefix("After=").split() == ["systemd-remount-fs.service", "local-fs.target"]
