# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Become another program that inherits open TAP devices, each of whichever network namespace it is in.

A virtual machine has its management port in the host's namespace and its RNICs in the data plane's; QEMU itself can
only open the devices of one namespace.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import os
import struct
from pathlib import Path

# The first device has this descriptor, the second the next one, and so on.
FIRST_DESCRIPTOR = 10
# From linux/sched.h and linux/if_tun.h: frames as they are, nothing in front of them.
CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def main(argv: list[str] | None = None) -> int:
    """Open the devices and run the program in place of this one."""
    parser = argparse.ArgumentParser(prog="podsim tap-launcher", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tap", action="append", default=[], metavar="[NAMESPACE/]DEVICE", help="a TAP device; may be repeated"
    )
    parser.add_argument("program", nargs="+", help="the program and its arguments, after --")
    arguments = parser.parse_args(argv)
    for descriptor, tap in enumerate(arguments.tap, FIRST_DESCRIPTOR):
        namespace, _, device = tap.rpartition("/")
        opened = open_tap(device, namespace)
        os.dup2(opened, descriptor, inheritable=True)
        os.close(opened)
    os.execvp(arguments.program[0], arguments.program)


def open_tap(device: str, namespace: str) -> int:
    """The open descriptor of a TAP device that exists, in a named network namespace or, for "", in ours."""
    if not namespace:
        return _attach(device)
    with Path("/proc/self/ns/net").open("rb") as ours, Path("/run/netns", namespace).open("rb") as theirs:
        _enter(theirs.fileno())
        try:
            return _attach(device)
        finally:
            _enter(ours.fileno())


def _attach(device: str) -> int:
    descriptor = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI))
    return descriptor


def _enter(namespace: int) -> None:
    # os.setns came with Python 3.12.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "the network namespace can not be entered")
