# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/first_contact.yml on a simulated switch: it only reads, and what it writes says nothing of the site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._anonymous.archive import facts_by_device
from tests.support.checkout import ROOT
from tests.support.loopback import closed_port, free_port
from tests.support.simulated_tor import Tor, over, running_tor

PLAYBOOK = ROOT / "playbooks" / "first_contact.yml"
OF_THE_SITE = ("acme", "gizmo", "zorro", "kilroy", "$6$", "0c:42:a1:00:00:01", "10.77.3.4", "p-tor", "p-ipum1")
ALONE = ("--limit", "p-tor")


def prepare(tor: Tor, **variables: object) -> None:
    pod = {"model": "ipu-pod64", "tor": {"address": "127.0.0.1"}}
    tor.declare({"plugin": "ipu.pod.pods", "schema": 1, "pods": {"p": pod}}, **variables)
    tor.observe(
        macs=[{"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1"}],
        neighbours={"Ethernet9/1": {"device": "p-ipum1.acme.example", "port": "gizmo0", "mac": "0c:42:a1:00:00:01"}},
    )
    typed = ["hostname acme-tor", "username kilroy secret sha512 $6$abc", "ip name-server 10.77.3.4"]
    tor.type("configure", *typed, "vlan 7", "name zorro", "interface Ethernet9/1", "description gizmo of acme", "end")


@pytest.mark.parametrize("connection", ["httpapi", "network_cli"])
def test_a_first_contact_only_reads_and_writes_one_anonymous_file(connection: str, tmp_path: Path) -> None:
    ssh_port = free_port()
    with running_tor(tmp_path, "--ssh", f"127.0.0.1:{ssh_port}") as tor:
        prepare(tor, **over(connection, ssh_port))
        before = (tor.directory / "running-config").read_text()
        tor.requests()
        run = tor.playbook(PLAYBOOK, *ALONE)
        assert run.returncode == 0, run.stdout + run.stderr
        asked = {command.split(" ")[0] for request in tor.requests() for command in request}
        assert (tor.directory / "running-config").read_text() == before
    assert asked <= {"show", "enable", "terminal"}
    (path,) = (tor.directory / "first-contact").iterdir()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    text = path.read_text()
    assert [word for word in OF_THE_SITE if word in text] == []
    archive = json.loads(text)
    assert archive["source"] == "real"
    (facts,) = facts_by_device(archive).values()
    assert facts["release"] == {"eos": True}
    assert [part for part in facts.values() if "message" in part] == []
    assert "p-tor, here w1: 2 answers, 7 of 7 parts understood" in run.stdout
    assert "look at it before you give it away" in run.stdout


def test_more_names_can_be_given_and_a_simulated_pod_says_so(tmp_path: Path) -> None:
    with running_tor(tmp_path) as tor:
        prepare(tor)
        with (tor.inventory / "pods.yml").open("a") as stream:
            stream.write("sim: {}\n")
        path = tor.directory / "first-contact" / "answers.json"
        tor.playbook(PLAYBOOK, *ALONE)
        assert '"Arista"' in path.read_text()
        assert json.loads(path.read_text())["source"] == "simulated"
        tor.playbook(PLAYBOOK, *ALONE, "--check", "-e", '{"first_contact_names": ["Arista"]}')
        assert '"Arista"' not in path.read_text()


def test_a_pod_without_an_answer_gives_no_file(tmp_path: Path) -> None:
    with running_tor(tmp_path) as tor, closed_port() as port:
        prepare(tor, ansible_httpapi_port=port)
        run = tor.playbook(PLAYBOOK, *ALONE)
    assert run.returncode != 0
    assert "no device has answered" in run.stdout + run.stderr
    assert not (tor.directory / "first-contact").exists()
