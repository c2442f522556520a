# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SSH connection is found although sudo removes it from the environment."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.ipu.pod.plugins.module_utils._rnic.connection import ssh_addresses


def process(proc: Path, pid: int, parent: int, *environment: str) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "environ").write_text("\0".join([*environment, ""]))
    (folder / "status").write_text(f"Name:\tpython3\nPPid:\t{parent}\n")


def test_connections_of_all_ancestors(tmp_path: Path) -> None:
    process(tmp_path, 30, 20, "PATH=/usr/bin")
    process(tmp_path, 20, 10, "SSH_CONNECTION=10.3.1.254 50000 ::ffff:10.3.1.101 22")
    process(tmp_path, 10, 1, "SSH_CONNECTION=fe80::9 50001 fe80::1%eno1 22")
    assert ssh_addresses(30, str(tmp_path)) == {"10.3.1.101", "fe80::1"}


def test_no_connection(tmp_path: Path) -> None:
    process(tmp_path, 30, 20, "PATH=/usr/bin")
    assert ssh_addresses(30, str(tmp_path)) == frozenset()
