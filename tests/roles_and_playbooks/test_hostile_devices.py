# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks that only read, where a switch, its neighbours and a V-IPU controller say what must not be obeyed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.checkout import PROGRAMS, ROOT
from tests.support.hostile import HOSTILE, MARKER, TEMPLATE, is_seen, nothing_ran
from tests.support.playbook_run import run_playbook
from tests.support.simulated_pod import NEWEST_ANSIBLE
from tests.support.simulated_tor import Tor, running_tor

DOCUMENT: dict[str, Any] = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "tor": {"address": "127.0.0.1"}}},
    "controllers": {"v": {"address": "127.0.0.2"}},
}
PORTS = [f"Ethernet{number}/1" for number in range(9, 33)]
# What EOS takes in one word, and in one line.
BY_HAND = [
    *("configure", "vlan 101", "name {{lookup('pipe','id')}}", "vlan 102", "name {%raw%}"),
    *("interface Ethernet9/1", f"description {TEMPLATE}", "interface Ethernet10/1", "description {# $(id); <script>"),
    *("interface Ethernet30/1", "switchport access vlan 101", "end", "write"),
]
ONLY = ("--limit", "localhost:switches:vipu_controllers")


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Tor]:
    """A switch with hostile settings and neighbours, and a host whose vipu-admin fails with hostile words."""
    with running_tor(tmp_path) as tor:
        tor.declare(DOCUMENT)
        local = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "vipu_controller_storage": str(tmp_path / "vipu-server.json"),
        }
        (tor.inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(local))
        tor.type(*BY_HAND)
        texts = [text for text in HOSTILE.values() if text.encode(errors="ignore").decode() == text]
        tor.observe(
            neighbours={
                port: {"device": text, "port": text, "mac": "04:3f:72:00:01:02"}
                for port, text in zip(PORTS, texts, strict=False)
            }
        )
        (tmp_path / "vipu-server.json").write_text("{}")
        (tmp_path / "said").write_bytes("\n".join(HOSTILE.values()).encode(errors="surrogateescape"))
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "vipu-admin"
        program.write_text(f"#!/bin/sh\ncat {tmp_path}/said >&2\nexit 1\n")
        program.chmod(0o755)
        yield tor


@pytest.mark.parametrize("programs", [PROGRAMS, NEWEST_ANSIBLE], ids=["oldest", "newest"])
def test_nothing_that_a_device_says_is_obeyed(rack: Tor, programs: Path) -> None:
    if not (programs / "ansible-playbook").exists():
        pytest.skip("no python3.13 on this machine when `make setup` ran; without it there is no newest Ansible")
    before = (rack.directory / "running-config").read_text()
    path = os.pathsep.join(map(str, (rack.directory / "bin", programs, PROGRAMS, os.environ["PATH"])))
    for name in ("cabling", "gather", "plan", "drift"):
        where = {"inventory": rack.inventory, "directory": rack.directory, "programs": programs}
        done = run_playbook(name, *ONLY, **where, PATH=path)
        assert "Traceback" not in done.stdout + done.stderr
        for lines in (done.stdout.split("\n"), done.stderr.split("\n")):
            assert list(filter(is_seen, lines)) == lines, name
        (rack.directory / f"{name}.out").write_text(done.stdout)
    # What was said has come as far as that.
    for name, words in (("cabling", "\\x1b]52;c;"), ("gather", "\\x1b[2J"), ("gather", "pods.yml cannot call it")):
        assert words in (rack.directory / f"{name}.out").read_text()
    assert nothing_ran(rack.directory)
    assert not [folder for folder in (ROOT, ROOT / "playbooks") if (folder / MARKER).exists()]
    assert (rack.directory / "running-config").read_text() == before
    written = [path for folder in ("gathered", "plan", "drift") for path in (rack.directory / folder).rglob("*.*")]
    assert {path.suffix for path in written} >= {".yml", ".md", ".json"}
    for path_ in written:
        assert list(filter(is_seen, path_.read_text().split("\n"))) == path_.read_text().split("\n"), path_
    yaml.safe_load((rack.directory / "gathered" / "pods.yml").read_text())
    ElementTree.parse(rack.directory / "drift" / "junit.xml")
