# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks that only read, where a switch, its neighbours and a V-IPU controller say what must not be obeyed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.plugin_utils._reports.plan_document import fingerprint_of
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.hostile import HOSTILE, MARKER, TEMPLATE, is_seen, nothing_ran
from tests.support.hostile_programs import FAILING_PORT, NAMES, write_programs
from tests.support.playbook_run import run_playbook
from tests.support.simulated_pod import NEWEST_ANSIBLE
from tests.support.simulated_tor import Tor, running_tor

DOCUMENT: dict[str, Any] = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "tor": {"address": "127.0.0.1"}}},
    "controllers": {"v": {"address": "127.0.0.2"}, "w": {"address": "127.0.0.3"}},
}
PORTS = [f"Ethernet{number}/1" for number in range(9, 33)]
# What EOS takes in one word, and in one line.
BY_HAND = [
    *("configure", "vlan 101", "name {{lookup('pipe','id')}}", "vlan 102", "name {%raw%}"),
    *("interface Ethernet9/1", f"description {TEMPLATE}", "interface Ethernet10/1", "description {# $(id); <script>"),
    *("interface Ethernet30/1", "switchport access vlan 101", "end", "write"),
]
ONLY = ("--limit", "localhost:switches:vipu_controllers")

# What comes as far as the terminal, and of which run.
SAID = [
    *(("cabling", "\\x1b]52;c;"), ("gather", "\\x1b[2J"), ("gather", "pods.yml cannot call it")),
    *(("gather", "w: allocation \\x1b[2J"), ("apply", "plan/hostile.json is not carried out")),
]


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Tor]:
    """A switch and a V-IPU controller that are full of hostile words, and a controller that fails with them."""
    with running_tor(tmp_path) as tor:
        tor.declare(DOCUMENT)
        local = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "vipu_controller_storage": str(tmp_path / "vipu-server.json"),
        }
        (tor.inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(local))
        (tor.inventory / "host_vars").mkdir()
        (tor.inventory / "host_vars" / "v.yml").write_text(yaml.safe_dump({"vipu_controller_admin_port": FAILING_PORT}))
        tor.type(*BY_HAND)
        texts = [text for text in HOSTILE.values() if text.encode(errors="ignore").decode() == text]
        tor.observe(
            neighbours={
                port: {"device": text, "port": text, "mac": "04:3f:72:00:01:02"}
                for port, text in zip(PORTS, texts, strict=False)
            }
        )
        (tmp_path / "vipu-server.json").write_text("{}")
        # YAML takes its time to be written.
        write_programs(tmp_path, [name[:10_000] for name in NAMES])
        yield tor


def edit(path: Path, edited: Path) -> None:
    """Put hostile words into a saved plan, with the fingerprint that belongs to them."""
    plan = json.loads(path.read_text())
    for step, text in zip(plan["steps"], HOSTILE.values(), strict=False):
        step.update(name=text, reason=text, to={text: text})
    edited.write_text(json.dumps({**plan, "fingerprint": fingerprint_of(plan["steps"])}))


@pytest.mark.parametrize("programs", [PROGRAMS, NEWEST_ANSIBLE], ids=["oldest", "newest"])
def test_nothing_that_a_device_says_is_obeyed(rack: Tor, programs: Path) -> None:
    if not (programs / "ansible-playbook").exists():
        pytest.skip("no python3.13 on this machine when `make setup` ran; without it there is no newest Ansible")
    before = (rack.directory / "running-config").read_text()
    path = os.pathsep.join(map(str, (rack.directory / "bin", programs, PROGRAMS, os.environ["PATH"])))
    for name, *more in (["cabling"], ["gather"], ["plan"], ["drift"], ["apply", "-e", "plan=plan/hostile.json"]):
        where = {"inventory": rack.inventory, "directory": rack.directory, "programs": programs}
        done = run_playbook(name, *ONLY, *more, **where, PATH=path)
        assert "Traceback" not in done.stdout + done.stderr
        for lines in (done.stdout.split("\n"), done.stderr.split("\n")):
            assert list(filter(is_seen, lines)) == lines, name
        (rack.directory / f"{name}.out").write_text(done.stdout)
        if name == "plan":
            edit(rack.directory / "plan" / "plan.json", rack.directory / "plan" / "hostile.json")
    # What was said has come as far as that.
    for name, words in SAID:
        assert words in (rack.directory / f"{name}.out").read_text(), name
    assert nothing_ran(rack.directory)
    assert not [folder for folder in (ROOT, ROOT / "playbooks") if (folder / MARKER).exists()]
    # Nor has the edited plan been carried out.
    assert (rack.directory / "running-config").read_text() == before
    written = [path for folder in ("gathered", "plan", "drift") for path in (rack.directory / folder).rglob("*.*")]
    assert {path.suffix for path in written} >= {".yml", ".md", ".json"}
    for path_ in written:
        assert list(filter(is_seen, path_.read_text().split("\n"))) == path_.read_text().split("\n"), path_
    yaml.safe_load((rack.directory / "gathered" / "pods.yml").read_text())
    ElementTree.parse(rack.directory / "drift" / "junit.xml")
