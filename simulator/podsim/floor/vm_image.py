# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The boot files of virtual machines: a Debian kernel, an initramfs and a disk, from the host's own archive.

They are kept in a directory whose name is a hash of what they are made from, so what exists is never stale.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from podsim.floor import image
from podsim.floor.commands import run
from podsim.floor.initramfs import INIT
from podsim.floor.kernel import install_kernel
from podsim.floor.state import StateDirectory

CACHE = Path("/var/cache/podsim")
ROOT_FILES = Path(__file__).parent / "vm" / "rootfs"
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "udev", "kmod", "openssh-server", "python3"),
    *("iproute2", "iputils-ping", "ethtool", "netplan.io", "network-manager"),
    *("rdma-core", "ibverbs-utils", "rdmacm-utils", "perftest"),
)
# Of a container's own files only these: a kernel of its own needs no stand-ins, and forgets by itself.
COMMON_FILES = ("etc/ssh/**/*", "etc/systemd/network/*", image.KEEP_BYTECODE)
# Which of them configures the RNICs is for the owner to say.
DISABLED_UNITS = ("systemd-networkd.service", "systemd-networkd.socket", "NetworkManager.service")
# The kernel has 4000 more, all for hardware that no virtual machine has.
MODULES = (
    *("arch/**/*.ko", "block/**/*.ko", "crypto/**/*.ko", "lib/**/*.ko", "mm/**/*.ko", "net/**/*.ko"),
    *("fs/9p/*.ko", "fs/configfs/*.ko", "fs/ext4/*.ko", "fs/fscache/*.ko", "fs/jbd2/*.ko", "fs/mbcache.ko"),
    *("fs/netfs/*.ko", "drivers/block/virtio_blk.ko", "drivers/infiniband/core/*.ko", "drivers/infiniband/sw/**/*.ko"),
    *("drivers/net/*.ko", "drivers/net/bonding/*.ko", "drivers/virtio/*.ko"),
)
# ext4 asks for its checksum by name, so no dependency tells of it.
NEEDED_MODULES = ("virtio_pci", "virtio_blk", "virtio_net", "crc32c_generic", "ext4")
DISK_SIZE = "3G"


@dataclass(frozen=True)
class VmImage:
    """The files that virtual machines start from; none of them is ever written to."""

    directory: Path

    @property
    def kernel(self) -> Path:
        """The kernel, as QEMU loads it."""
        return self.directory / "vmlinuz"

    @property
    def initramfs(self) -> Path:
        """The first file system."""
        return self.directory / "initramfs"

    @property
    def disk(self) -> Path:
        """The root file system, ext4 without a partition table."""
        return self.directory / "disk"


def vm_image() -> VmImage:
    """Where the image of this version of the simulator is, or will be."""
    recipe = (PACKAGES, _hooks(), MODULES, NEEDED_MODULES, DISK_SIZE, INIT.read_bytes())
    return VmImage(CACHE / f"vm-{image.fingerprint(recipe, _files())}")


def build_vm_image(state: StateDirectory) -> None:
    """Build the image unless it exists, in place of those of earlier versions; takes about two minutes."""
    finished = vm_image().directory
    CACHE.mkdir(parents=True, exist_ok=True)
    for earlier in CACHE.glob("vm-*"):
        shutil.rmtree(earlier)
    # Made under another name first, so that an interrupted build leaves no half an image.
    new = VmImage(finished.with_suffix(".new"))
    new.directory.mkdir()
    root = new.directory / "root"
    image.install_debian(root, PACKAGES, _files(), _hooks(), state)
    install_kernel(root, MODULES, NEEDED_MODULES, new.directory)
    run("mke2fs", "-q", "-t", "ext4", "-O", "^metadata_csum", "-d", str(root), str(new.disk), DISK_SIZE)
    shutil.rmtree(root)
    new.directory.rename(finished)


def _files() -> bytes:
    return image.root_files({image.ROOT_FILES: COMMON_FILES, ROOT_FILES: ("**/*",)})


def _hooks() -> tuple[str, ...]:
    return (
        f'chroot "$1" systemctl --quiet mask {" ".join(image.MASKED_UNITS)}',
        image.mask_generators(image.MASKED_GENERATORS),
        f'chroot "$1" systemctl --quiet disable {" ".join(DISABLED_UNITS)}',
        # Present and empty: a first start that is no first boot, which would enable every service.
        'install -d "$1/etc/podsim" && : >"$1/etc/machine-id"',
    )
