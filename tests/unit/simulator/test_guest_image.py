# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a cloud's virtual machines: its disk, what goes in, and what has to be there to make it."""

from __future__ import annotations

import io
import struct
import tarfile

import pytest

from podsim.floor import cli, guest_image, prerequisites
from podsim.floor.errors import FloorError

# A boot sector has room for four partitions, each with these fields, and two bytes that mark it.
PARTITION = struct.Struct("<B3sB3sII")
MARK = b"\x55\xaa"


def test_a_pc_starts_from_its_first_partition_and_linux_has_the_rest() -> None:
    table = guest_image.partition_table()
    assert (len(table), table[-2:]) == (512 - guest_image.PARTITION_TABLE, MARK)
    (active, _, fat, _, start, size), (inactive, _, linux, _, root, root_size), *unused = PARTITION.iter_unpack(
        table.removesuffix(MARK)
    )
    assert (active, fat, inactive, linux) == (0x80, 0x0E, 0, 0x83)
    assert start * 512 == 1024 * 1024
    assert (root, (root + root_size) * 512) == (start + size, guest_image.ROOT_START + guest_image.ROOT_SIZE)
    assert {entry for entry in unused if any(entry[4:])} == set()


def test_its_kernel_does_without_the_test_of_a_timer_that_is_late_on_a_busy_host() -> None:
    (options,) = (line for line in guest_image.BOOT_MENU.read_text().splitlines() if line.split()[0] == "APPEND")
    assert "no_timer_check" in options.split()


def test_it_has_what_its_programs_import_and_no_part_of_a_controller() -> None:
    with tarfile.open(fileobj=io.BytesIO(guest_image.files())) as archive:
        modes = {member.name: member.mode for member in archive}
    assert modes["usr/local/bin/vipu"] == modes["usr/local/bin/ipu-workload"] == 0o755
    assert {"opt/podsim/podsim/vipu/cli.py", "opt/podsim/podsim/workload.py"} < set(modes)
    assert [name for name in modes if name.endswith(("/server.py", "/controller.py", "/machine.py"))] == []


def test_another_content_is_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = guest_image.guest_image()
    assert guest_image.guest_image() == before
    monkeypatch.setattr("podsim.floor.guest_image.PACKAGES", ("systemd",))
    assert guest_image.guest_image() != before


def test_the_programs_that_make_it_are_asked_for_only_where_there_is_a_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = ("mcopy", "syslinux")
    monkeypatch.setattr("shutil.which", lambda program, path: None if program in lacking else f"{path}/{program}")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert prerequisites.missing_packages(virtual_machines=True) == []
    assert prerequisites.missing_packages(virtual_machines=False, clouds=True) == ["mtools", "syslinux"]
    with pytest.raises(FloorError) as refusal:
        prerequisites.refuse_missing(virtual_machines=False, clouds=True)
    assert str(refusal.value) == (
        "missing on this host: mtools, syslinux; run `podsim prerequisites --install --clouds` as root."
    )


def test_the_command_for_it_refuses_without_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda program, path: None if program == "mcopy" else f"{path}/{program}")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert cli.main(["guest-image"]) == 1
    assert capsys.readouterr().err == (
        "podsim: missing on this host: mtools; run `podsim prerequisites --install --clouds` as root.\n"
    )
