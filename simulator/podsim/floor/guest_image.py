# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a cloud's virtual machines: a small Debian that starts by itself, from the host's own archive.

It is one disk, as a cloud takes it: a boot loader and a FAT partition for it to read, and the root file system. Its
owner says by cloud-init whose machine it is. No loop device and no mount is needed to make it.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterable
from modulefinder import ModuleFinder
from pathlib import Path

import podsim
from podsim.floor import image
from podsim.floor.commands import run
from podsim.floor.initramfs import INIT
from podsim.floor.kernel import install_kernel
from podsim.floor.state import StateDirectory
from podsim.floor.vm_image import CACHE

SOURCE = Path(podsim.__file__).parent
FILES = Path(__file__).parent / "guest"
LINK = CACHE / "guest.qcow2"
BOOT_MENU = FILES / "boot" / "syslinux.cfg"
# What a tenant's machine has of the simulated pod; each brings along the modules that it imports.
PROGRAMS = ("usr/local/bin/vipu", "usr/local/bin/ipu-workload")
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "udev", "kmod", "openssh-server", "sudo", "cloud-init"),
    *("python3", "python3-protobuf", "python3-pycurl"),
    *("iproute2", "iputils-ping", "ethtool", "e2fsprogs"),
)
# logind stays: it hears the power button, by which a cloud switches a machine off.
MASKED_UNITS = (
    *(unit for unit in image.MASKED_UNITS if unit not in ("systemd-logind.service", "getty.target")),
    # Each is a process, and an emulated processor starts few in a second. Of cloud-init's stages three are enough.
    *("cloud-config.service", "e2scrub_reap.service", "kmod-static-nodes.service", "systemd-binfmt.service"),
    *("systemd-network-generator.service", "systemd-pstore.service", "systemd-repart.service"),
    *("systemd-sysusers.service", "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service"),
    *("dev-hugepages.mount", "dev-mqueue.mount", "proc-sys-fs-binfmt_misc.automount", "sys-fs-fuse-connections.mount"),
    *("sys-kernel-config.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount"),
)
ENABLED_UNITS = ("systemd-networkd.service",)
# Hardware of virtual machines alone, and what a person may want to load.
MODULES = (
    *("arch/**/*.ko", "block/**/*.ko", "crypto/**/*.ko", "lib/**/*.ko", "mm/**/*.ko"),
    *("fs/autofs/*.ko", "fs/binfmt_misc.ko", "fs/ext4/*.ko", "fs/fat/*.ko", "fs/isofs/*.ko", "fs/jbd2/*.ko"),
    *("fs/mbcache.ko", "fs/nls/*.ko"),
    *("drivers/acpi/button.ko", "drivers/ata/*.ko", "drivers/block/virtio_blk.ko", "drivers/cdrom/*.ko"),
    *("drivers/char/hw_random/*.ko", "drivers/input/evdev.ko", "drivers/net/net_failover.ko"),
    *("drivers/net/virtio_net.ko",),
    *("drivers/pci/**/*.ko", "drivers/scsi/s[dr]_mod.ko", "drivers/scsi/scsi_*.ko", "drivers/scsi/virtio_scsi.ko"),
    *("drivers/virtio/*.ko", "net/802*/*.ko", "net/bridge/*.ko", "net/core/*.ko"),
    *("net/ipv[46]/**/*.ko", "net/llc/*.ko", "net/netfilter/**/*.ko", "net/packet/*.ko"),
)
# ext4 asks for its checksum by name, so no dependency tells of it. cloud-init looks for the config drive, a disk or a
# CD, before udev has loaded anything.
NEEDED_MODULES = (
    *("virtio_pci", "virtio_blk", "virtio_net", "crc32c_generic", "ext4"),
    *("ata_piix", "ahci", "sr_mod", "sd_mod", "virtio_scsi", "isofs", "vfat"),
)

MIB = 1024 * 1024
SECTOR = 512
BOOT_START, BOOT_SIZE, ROOT_SIZE = 1 * MIB, 32 * MIB, 1536 * MIB
ROOT_START = BOOT_START + BOOT_SIZE
MASTER_BOOT_RECORD = Path("/usr/lib/SYSLINUX/mbr.bin")
PARTITION_TABLE = 446
FAT, LINUX, ACTIVE = 0x0E, 0x83, 0x80
GEOMETRY = ("-h", "255", "-s", "63")


def guest_image() -> Path:
    """Where the disk of this version of the simulator is, or will be."""
    recipe = (PACKAGES, _hooks(), MODULES, NEEDED_MODULES, partition_table(), INIT.read_bytes(), BOOT_MENU.read_bytes())
    return CACHE / f"guest-{image.fingerprint(recipe, files())}" / "disk.qcow2"


def link(disk: Path) -> None:
    """Let a pods.yml find the disk where its name does not change."""
    if not LINK.is_symlink() or LINK.readlink() != disk:
        LINK.unlink(missing_ok=True)
        LINK.symlink_to(disk)


def build_guest_image(state: StateDirectory) -> None:
    """Build the disk unless it exists, in place of those of earlier versions; takes about a minute."""
    finished = guest_image()
    CACHE.mkdir(parents=True, exist_ok=True)
    for earlier in CACHE.glob("guest-*"):
        shutil.rmtree(earlier)
    # Made under another name first, so that an interrupted build leaves no half an image.
    new = finished.parent.with_suffix(".new")
    root, disk = new / "root", new / "disk"
    new.mkdir()
    image.install_debian(root, PACKAGES, files(), _hooks(), state)
    install_kernel(root, MODULES, NEEDED_MODULES, new)
    write_disk(disk, root, (new / "vmlinuz", new / "initramfs", BOOT_MENU))
    run("qemu-img", "convert", "-q", "-f", "raw", "-O", "qcow2", str(disk), str(new / finished.name))
    for intermediate in (disk, new / "vmlinuz", new / "initramfs"):
        intermediate.unlink()
    shutil.rmtree(root)
    new.rename(finished.parent)


def write_disk(disk: Path, root: Path, boot_files: Iterable[Path]) -> None:
    """A disk that a PC's firmware starts from, with the content of the directory `root` as its root file system."""
    with disk.open("wb") as file:
        file.write(MASTER_BOOT_RECORD.read_bytes().ljust(PARTITION_TABLE, b"\0") + partition_table())
        file.truncate(ROOT_START + ROOT_SIZE)
    fat = f"{disk}@@{BOOT_START}"
    run("mformat", "-i", fat, "-T", str(BOOT_SIZE // SECTOR), "-H", str(BOOT_START // SECTOR), *GEOMETRY, "::")
    run("mcopy", "-i", fat, *map(str, boot_files), "::")
    run("syslinux", "--install", "--offset", str(BOOT_START), str(disk))
    ext4 = ("-q", "-F", "-t", "ext4", "-O", "^metadata_csum", "-d", str(root), "-E", f"offset={ROOT_START}")
    run("mke2fs", *ext4, str(disk), f"{ROOT_SIZE // 1024}k")


def partition_table() -> bytes:
    """The end of the first sector: the FAT partition, which is started from, and the root file system."""
    used = ((ACTIVE, FAT, BOOT_START, BOOT_SIZE), (0, LINUX, ROOT_START, ROOT_SIZE))
    # Where a disk counts cylinders and heads is nobody's business any more.
    entries = (struct.pack("<BxxxBxxxII", flag, kind, at // SECTOR, size // SECTOR) for flag, kind, at, size in used)
    return b"".join(entries).ljust(4 * 16, b"\0") + b"\x55\xaa"


def files() -> bytes:
    """A tar archive of the image's own files, and of all that its programs import."""
    folders = {image.ROOT_FILES: (*PROGRAMS, image.KEEP_BYTECODE), FILES / "rootfs": ("**/*",)}
    return image.root_files(folders, {f"opt/podsim/{name}": SOURCE.parent / name for name in _modules()})


def _modules() -> list[str]:
    """The files of this package that the programs import."""
    finder = ModuleFinder(path=[str(SOURCE.parent)])
    for program in PROGRAMS:
        finder.run_script(str(image.ROOT_FILES / program))
    ours = (module for name, module in finder.modules.items() if name.split(".")[0] == podsim.__name__)
    return sorted(str(Path(vars(module)["__file__"]).relative_to(SOURCE.parent)) for module in ours)


def _hooks() -> tuple[str, ...]:
    return (
        f'chroot "$1" systemctl --quiet mask {" ".join(MASKED_UNITS)}',
        image.mask_generators(image.MASKED_GENERATORS),
        f'chroot "$1" systemctl --quiet enable {" ".join(ENABLED_UNITS)}',
        'chroot "$1" python3 -m compileall -q /opt/podsim',
        # Present and empty: a first start that is no first boot, which would enable every service.
        ': >"$1/etc/machine-id"',
    )
