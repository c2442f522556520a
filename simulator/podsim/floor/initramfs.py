# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first file system of a virtual machine: the kernel modules that find the disk and the NICs, and `vm/init`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

INIT = Path(__file__).parent / "vm" / "init"
DIRECTORY, FILE = 0o040755, 0o100755
END = "TRAILER!!!"


def write_initramfs(target: Path, modules: Path, busybox: Path, needed: Iterable[str]) -> None:
    """Write the archive.

    Args:
        target: the file to write.
        modules: `lib/modules/VERSION` of the kernel that will read it, with its `modules.dep`.
        busybox: a busybox without shared libraries.
        needed: the modules that it loads.
    """
    order = load_order((modules / "modules.dep").read_text(encoding="ascii"), needed)
    files = {
        "init": INIT.read_bytes(),
        "bin/busybox": busybox.read_bytes(),
        "modules/order": "".join(f"{Path(module).name}\n" for module in order).encode(),
        **{f"modules/{Path(module).name}": (modules / module).read_bytes() for module in order},
    }
    target.write_bytes(cpio(("bin", "dev", "modules", "proc", "root", "sys"), files))


def load_order(dependencies: str, names: Iterable[str]) -> list[str]:
    """The module files to load one after the other, so that each finds what it needs; from a modules.dep."""
    needs = {}
    for line in dependencies.splitlines():
        module, _, needed = line.partition(":")
        # A line names what has to be loaded first last.
        needs[Path(module).stem] = [*reversed(needed.split()), module]
    return list(dict.fromkeys(module for name in names for module in needs.get(name, ())))


def cpio(directories: Iterable[str], files: dict[str, bytes]) -> bytes:
    """An archive as the kernel unpacks it (cpio, "newc"), the same for the same content; every file is executable."""
    members = [*((name, DIRECTORY, b"") for name in directories), *((name, FILE, files[name]) for name in files)]
    archive = bytearray()
    for number, (name, mode, content) in enumerate([*members, (END, 0, b"")]):
        # Inode, mode, owner, group, links, time, size, four device numbers, length of the name, no checksum.
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        archive += bytes(-len(archive) % 4)
        archive += content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)
