# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's ARP probe: real frames between two network namespaces, and what it makes of bad ones."""

from __future__ import annotations

import os
import runpy
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROBE = Path(__file__).resolve().parents[2] / "roles" / "tor_switch" / "files" / "arp_probe.py"
PROGRAM = runpy.run_path(str(PROBE))
MACHINE = bytes.fromhex("0c42a1000101")
SERVER = bytes.fromhex("043f72000102")


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def server() -> Iterator[str]:
    """A namespace with rnic0, up and without address, wired to one in which a machine has 10.5.1.1."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces need root and iproute2")
    names = [f"ipu-arp-{end}-{os.getpid()}" for end in ("server", "machine")]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", "rnic0", "netns", names[0], "type", "veth", "peer", "name", "rnic0", "netns", names[1])
        ip("-n", names[1], "address", "add", "10.5.1.1/16", "dev", "rnic0")
        for name in names:
            ip("-n", name, "link", "set", "rnic0", "up")
        yield names[0]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def run(namespace: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["ip", "netns", "exec", namespace, sys.executable, str(PROBE), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_machine_answers_to_a_server_without_address(server: str) -> None:
    done = run(server, "rnic0", "10.5.1.1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "silent: nobody\n", "")


def test_a_silent_address_is_reported_and_is_no_error(server: str) -> None:
    done = run(server, "rnic0", "10.5.1.1", "10.5.1.2")
    assert (done.returncode, done.stdout) == (0, "silent: 10.5.1.2\n")


def test_an_interface_that_is_down_or_not_there_is_an_error_in_one_line(server: str) -> None:
    ip("-n", server, "link", "set", "rnic0", "down")
    done = run(server, "rnic0", "10.5.1.1")
    assert (done.returncode, done.stderr) == (1, "rnic0: its link is down\n")
    done = run(server, "rnic7", "10.5.1.1")
    assert done.returncode == 1
    assert done.stderr.startswith("rnic7: [Errno 2]")


def test_the_probe_is_from_nobody_and_to_everybody() -> None:
    frame = PROGRAM["probe"](SERVER, "10.5.1.1")
    assert frame[:14] == b"\xff" * 6 + SERVER + b"\x08\x06"
    sender_ip, target_ip = frame[28:32], frame[38:42]
    assert (sender_ip, target_ip) == (bytes(4), socket.inet_aton("10.5.1.1"))


def test_only_an_answer_counts() -> None:
    header = SERVER + MACHINE + b"\x08\x06"
    answer = header + bytes.fromhex("0001080006040002") + MACHINE + socket.inet_aton("10.5.1.1") + SERVER + bytes(4)
    assert PROGRAM["answered_by"](answer) == "10.5.1.1"
    assert PROGRAM["answered_by"](answer + bytes(18)) == "10.5.1.1"
    assert PROGRAM["answered_by"](answer[:30]) == ""
    assert PROGRAM["answered_by"](PROGRAM["probe"](SERVER, "10.5.1.1")) == ""
