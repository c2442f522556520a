# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel of machines that have one of their own, from the host's archive; it is not installed on the host."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from podsim.floor.commands import run
from podsim.floor.errors import FloorError
from podsim.floor.initramfs import write_initramfs

PACKAGE = "linux-image-amd64"
# Its only file is a busybox without shared libraries.
STATIC_BUSYBOX = "busybox-static"
MODULE_LISTS = ("modules.builtin", "modules.builtin.modinfo", "modules.order")


def install_kernel(root: Path, modules: Iterable[str], needed: Iterable[str], boot: Path) -> None:
    """Give a root file system its kernel modules, and a directory the `vmlinuz` and `initramfs` that start it.

    Args:
        root: the root file system.
        modules: patterns of the module files that the machine may ever need.
        needed: the modules that find the root file system.
        boot: the directory.
    """
    unpacked = boot / "packages"
    package = _kernel_package()
    _unpack((package, STATIC_BUSYBOX), unpacked)
    version = package.removeprefix("linux-image-")
    target = root / "lib" / "modules" / version
    _copy_modules(unpacked / "lib" / "modules" / version, target, modules)
    run("chroot", str(root), "depmod", version)
    write_initramfs(boot / "initramfs", target, unpacked / "bin" / "busybox", needed)
    shutil.copy2(unpacked / "boot" / f"vmlinuz-{version}", boot / "vmlinuz")
    shutil.rmtree(unpacked)


def _kernel_package() -> str:
    """The package of the release's current kernel, such as `linux-image-6.1.0-56-amd64`."""
    for line in run("apt-cache", "depends", "--important", PACKAGE).splitlines():
        relation, _, package = line.strip().partition(": ")
        if relation == "Depends" and package.startswith("linux-image-"):
            return package
    raise FloorError(f"apt knows no package {PACKAGE}; virtual machines need a Debian of this architecture.")


def _unpack(packages: Iterable[str], directory: Path) -> None:
    """Download Debian packages and unpack them all into one directory."""
    directory.mkdir()
    run("sh", "-c", 'cd "$1" && shift && apt-get -q download "$@"', "sh", str(directory), *packages)
    for archive in directory.glob("*.deb"):
        run("dpkg-deb", "--extract", str(archive), str(directory))


def _copy_modules(source: Path, target: Path, patterns: Iterable[str]) -> None:
    wanted = {path for pattern in patterns for path in (source / "kernel").glob(pattern)}
    for path in (*sorted(wanted), *(source / name for name in MODULE_LISTS)):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
