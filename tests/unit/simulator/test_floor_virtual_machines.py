# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines with a kernel of their own: how they are declared, what starts them, what they start from."""

from __future__ import annotations

import fcntl
import itertools
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from podsim.floor import cli, prerequisites, tap_launcher
from podsim.floor.errors import FloorError
from podsim.floor.facts import MachineType
from podsim.floor.facts_file import facts_from, read_facts
from podsim.floor.image import CONTAINER_FILES, root_files
from podsim.floor.initramfs import cpio, load_order
from podsim.floor.plan import Floor, plan
from podsim.floor.state import StateDirectory
from podsim.floor.virtual_machines import boot_options, launch_command
from podsim.floor.vm_image import VmImage, vm_image

PODS_FILE = Path(__file__).parents[3] / "inventories" / "sim_vms" / "pods.yml"


@pytest.fixture(name="floor")
def _floor() -> Floor:
    return plan(read_facts(PODS_FILE))


def option(command: list[str], name: str) -> list[str]:
    """The values of an option that may be repeated."""
    return [value for flag, value in itertools.pairwise(command) if flag == name]


def test_the_servers_are_virtual_machines_and_the_ipu_machines_containers(floor: Floor) -> None:
    assert [machine.name for machine in floor.virtual_machines] == ["pod001-poplar1", "pod001-poplar2"]
    assert [machine.name for machine in floor.containers] == ["pod001-ipum1", "pod001-ipum2"]


def test_a_server_is_a_container_unless_it_says_vm() -> None:
    sim = yaml.safe_load(PODS_FILE.read_text(encoding="utf-8"))["sim"]
    del sim["poplar_servers"]["pod001-poplar1"]["machine"]
    assert [server.machine for server in facts_from(sim).poplar_servers] == [
        MachineType.CONTAINER,
        MachineType.VIRTUAL_MACHINE,
    ]


def test_another_type_is_refused() -> None:
    sim = yaml.safe_load(PODS_FILE.read_text(encoding="utf-8"))["sim"]
    sim["poplar_servers"]["pod001-poplar1"]["machine"] = "kvm"
    with pytest.raises(FloorError) as refusal:
        facts_from(sim)
    assert str(refusal.value) == (
        "sim.poplar_servers.pod001-poplar1.machine is 'kvm', but it has to be `container` or `vm`."
    )


def test_every_cable_is_an_inherited_tap_of_its_namespace(floor: Floor, tmp_path: Path) -> None:
    machine = floor.virtual_machines[0]
    command = launch_command(machine, floor.networks, VmImage(tmp_path), StateDirectory(tmp_path / "pod"))
    taps = [word.removeprefix("--tap=") for word in command if word.startswith("--tap=")]
    assert taps == ["psm1", "podsim.dataplane/pst1e25-1", "podsim.dataplane/pst1e26-1"]
    assert option(command, "-netdev") == ["tap,id=net0,fd=10", "tap,id=net1,fd=11", "tap,id=net2,fd=12"]
    assert [device.split(",")[1] for device in option(command, "-device") if "netdev" in device] == [
        "mac=02:00:0a:03:01:65",
        "mac=04:3f:72:00:01:02",
        "mac=04:3f:72:00:01:03",
    ]


def test_its_kernel_does_without_the_test_of_a_timer_that_is_late_on_a_busy_host(floor: Floor, tmp_path: Path) -> None:
    command = launch_command(floor.virtual_machines[0], floor.networks, VmImage(tmp_path), StateDirectory(tmp_path))
    assert "no_timer_check" in option(command, "-append")[0].split()


def test_no_two_machines_share_a_file_or_a_mac(floor: Floor, tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "pod")
    commands = [launch_command(each, floor.networks, VmImage(tmp_path), state) for each in floor.virtual_machines]
    for name in ("-drive", "-serial", "-qmp", "-virtfs", "-append"):
        assert len({tuple(option(command, name)) for command in commands}) == len(commands)
    macs = [
        word
        for command in commands
        for device in command
        if "mac=" in device
        for word in [device.split("mac=")[1][:17]]
    ]
    assert len(macs) == len(set(macs)) == 6


def test_boot_options_carry_the_name_the_links_and_the_management_port(floor: Floor) -> None:
    assert boot_options(floor.virtual_machines[1], floor.networks) == [
        "systemd.hostname=pod001-poplar2",
        "podsim.link=04:3f:72:00:01:04,rnic0",
        "podsim.link=04:3f:72:00:01:05,rnic1",
        "podsim.address=10.3.1.102/24",
        "podsim.route=10.1.1.0/24",
        "podsim.route=10.2.1.0/24",
        "podsim.route=10.4.1.0/24",
    ]


def test_modules_are_loaded_after_those_that_they_need() -> None:
    dependencies = """\
kernel/drivers/virtio/virtio.ko:
kernel/drivers/virtio/virtio_ring.ko: kernel/drivers/virtio/virtio.ko
kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko
kernel/fs/ext4/ext4.ko:
"""
    # A module that is not listed is part of the kernel.
    order = load_order(dependencies, ("virtio_pci", "crc32c_generic", "ext4"))
    assert [Path(module).stem for module in order] == ["virtio", "virtio_ring", "virtio_pci", "ext4"]


def members(archive: bytes) -> list[tuple[str, int, bytes]]:
    """Name, mode and content of each member, read as the kernel's documentation describes the format."""
    found, place = [], 0
    while place < len(archive):
        assert (archive[place : place + 6], place % 4) == (b"070701", 0)
        fields = [int(archive[start : start + 8], 16) for start in range(place + 6, place + 110, 8)]
        mode, size, length = fields[1], fields[6], fields[11]
        content = (place + 110 + length + 3) // 4 * 4
        name = archive[place + 110 : place + 110 + length - 1].decode()
        found.append((name, mode, archive[content : content + size]))
        place = (content + size + 3) // 4 * 4
    return found


def test_the_kernels_archive_holds_what_was_put_in() -> None:
    assert members(cpio(("bin",), {"init": b"#!/bin/sh\n", "bin/busybox": b"abc"})) == [
        ("bin", 0o040755, b""),
        ("init", 0o100755, b"#!/bin/sh\n"),
        ("bin/busybox", 0o100755, b"abc"),
        ("TRAILER!!!", 0, b""),
    ]


def test_the_image_does_not_depend_on_what_only_containers_have(monkeypatch: pytest.MonkeyPatch) -> None:
    before = vm_image()
    monkeypatch.setitem(CONTAINER_FILES, Path(__file__).parent, ("*.py",))
    assert vm_image() == before
    monkeypatch.setattr("podsim.floor.vm_image.PACKAGES", ("systemd",))
    assert vm_image() != before


def test_files_of_several_folders_make_one_archive(tmp_path: Path) -> None:
    for name in ("a/etc/x", "a/usr/y", "b/etc/z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="ascii")
    archive = tmp_path / "files.tar"
    archive.write_bytes(root_files({tmp_path / "a": ("etc/*",), tmp_path / "b": ("**/*",)}))
    listed = subprocess.run(["tar", "-tf", str(archive)], capture_output=True, text=True, check=True).stdout
    assert listed.split() == ["etc/x", "etc/z"]


def test_qemu_is_asked_for_only_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program, path: None if "qemu" in program else f"{path}/{program}")
    assert prerequisites.missing_packages(virtual_machines=False) == []
    assert prerequisites.missing_packages(virtual_machines=True) == ["qemu-system-x86", "qemu-utils"]
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(FloorError) as refusal:
        prerequisites.refuse_missing(virtual_machines=True)
    assert str(refusal.value) == (
        "missing on this host: qemu-system-x86, qemu-utils; "
        "run `podsim prerequisites --install --virtual-machines` as root."
    )


class Apt:
    """apt-get and apt-cache of a Debian host that lacks QEMU.

    Args:
        archive: the packages that its archive has.
        fails: the apt-get command that fails.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, archive: tuple[str, ...], fails: str = "") -> None:
        self.asked: list[str] = []
        self._archive, self._fails = archive, fails
        monkeypatch.setattr("shutil.which", lambda program, path: None if "qemu" in program else f"{path}/{program}")
        monkeypatch.setattr("platform.machine", lambda: "x86_64")
        monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "debian"})
        monkeypatch.setattr("os.geteuid", lambda: 0)
        monkeypatch.setattr(subprocess, "run", self._run)

    def _run(self, command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        if command[0] == "apt-cache":
            package = command[-1]
            known = f"{package}:\n  Installed: (none)\n  Candidate: 1:7.2\n" if package in self._archive else ""
            return subprocess.CompletedProcess(command, 0, known, "")
        [verb] = {"update", "install"} & set(command)
        self.asked.append(verb)
        return subprocess.CompletedProcess(command, 100 if verb == self._fails else 0, "", "")


@pytest.mark.parametrize("archive", [(), ("qemu-utils",)])
def test_where_the_archive_has_no_qemu_virtual_machines_are_unavailable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], archive: tuple[str, ...]
) -> None:
    apt = Apt(monkeypatch, archive)
    assert cli.main(["prerequisites", "--install", "--virtual-machines"]) == os.EX_UNAVAILABLE
    lacking = [package for package in ("qemu-system-x86", "qemu-utils") if package not in archive]
    assert capsys.readouterr().err == (
        f"podsim: virtual machines need {', '.join(lacking)}, which this host's package archive does not have.\n"
    )
    # Its lists were new, and nothing was installed.
    assert apt.asked == ["update"]


@pytest.mark.parametrize("command", ["update", "install"])
def test_where_apt_fails_they_are_not_unavailable(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    Apt(monkeypatch, ("qemu-system-x86", "qemu-utils"), fails=command)
    assert cli.main(["prerequisites", "--install", "--virtual-machines"]) == 1


def test_without_root_they_are_not_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    Apt(monkeypatch, ())
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert cli.main(["prerequisites", "--install", "--virtual-machines"]) == 1


def test_on_another_processor_they_are_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert cli.main(["prerequisites", "--install", "--virtual-machines"]) == os.EX_UNAVAILABLE


def test_virtual_machines_are_refused_on_another_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(FloorError, match=r"^virtual machines need an x86-64 host, and this one is aarch64\.$"):
        prerequisites.refuse_missing(virtual_machines=True)


def test_the_launched_program_has_the_taps_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened = []

    def open_tap(device: str, namespace: str) -> int:
        opened.append((namespace, device))
        return os.open(tmp_path, os.O_RDONLY)

    launched = []
    monkeypatch.setattr(tap_launcher, "open_tap", open_tap)
    monkeypatch.setattr(tap_launcher, "FIRST_DESCRIPTOR", 200)
    monkeypatch.setattr(os, "execvp", lambda program, arguments: launched.append((program, arguments)))
    tap_launcher.main(["--tap=psm1", "--tap=podsim.dataplane/pst1e25-1", "--", "qemu", "-name", "x"])
    assert opened == [("", "psm1"), ("podsim.dataplane", "pst1e25-1")]
    assert launched == [("qemu", ["qemu", "-name", "x"])]
    for descriptor in (200, 201):
        assert not fcntl.fcntl(descriptor, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
        os.close(descriptor)
