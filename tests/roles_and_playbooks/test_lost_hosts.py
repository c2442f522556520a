# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that refuse the login in a stage or in the verification: nobody who comes after them is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.checkout import ROOT
from tests.support.playbook_run import run_playbook

PODS = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "poplar_servers": 3}},
    "controllers": {"ctrl": {"address": "192.0.2.1"}},
    "clusters": {"c": {"controller": "ctrl", "pods": ["p"]}},
}
# Notes whom it should reach, and is turned away.
SSH = """\
#!/bin/sh
for word; do case "$word" in 192.0.2.*) echo "$word" >>{folder}/asked; break;; esac; done
echo "root@p: Permission denied (publickey)." >&2
exit 255
"""
OPTIONS = {
    "servers": {"interfaces": []},
    "vpods": {"vipu": {}, "ipuof": {"mode": "environment", "partitions": []}, "containers": []},
    "verification": {"interface": "rnic0", "peers": {"p-ipum1": "192.0.2.99"}, "partitions": []},
    "tenants": {
        "mode": "simple",
        "admin_port": 8091,
        "users": [],
        "partitions": [],
        "strict_sizes": True,
        "any_replica_size": False,
    },
}
ADDRESSES = {"ctrl": "192.0.2.1", **{f"p-poplar{number}": f"192.0.2.1{number}" for number in (1, 2, 3)}}
SERVERS = [name for name in ADDRESSES if name != "ctrl"]


def asked(folder: Path, members: dict[str, list[str]], *phases: str) -> tuple[list[str], str]:
    """Who was asked for anything, once each, and what was said, by phases of a run with these members of stages."""
    ssh = folder / "ssh"
    ssh.write_text(SSH.format(folder=folder))
    ssh.chmod(0o755)
    inventory = folder / "inventory"
    (inventory / "host_vars").mkdir(parents=True)
    (inventory / "pods.yml").write_text(yaml.safe_dump(PODS))
    for name, address in ADDRESSES.items():
        reached = {
            "ansible_host": address,
            "ansible_ssh_executable": str(ssh),
            "ansible_python_interpreter": "/bin/true",
        }
        (inventory / "host_vars" / f"{name}.yml").write_text(yaml.safe_dump(reached))
    tasks = [
        {
            "name": "Put the devices into the stages",
            "ansible.builtin.add_host": {
                "name": host,
                "groups": [
                    "ipu_pod_changing",
                    *(f"ipu_pod_stage_{stage}" for stage in members if host in members[stage]),
                ],
                "ipu_pod_options": OPTIONS,
            },
        }
        for host in ADDRESSES
        if any(host in hosts for hosts in members.values())
    ]
    plays = [
        {"name": "Decide", "hosts": "localhost", "gather_facts": False, "tasks": tasks},
        *({"import_playbook": str(ROOT / "playbooks" / "phases" / f"{phase}.yml")} for phase in phases),
    ]
    playbook = folder / "playbook.yml"
    playbook.write_text(yaml.safe_dump(plays, sort_keys=False))
    decision = json.dumps({"ipu_pod_decision": {"made_at": 9999999999, "troubles": [], "findings": [], "hooks": {}}})
    done = run_playbook(playbook, "-e", decision, inventory=inventory, COLUMNS="1000")
    assert done.returncode != 0
    lines = (folder / "asked").read_text().split()
    return [next(name for name in ADDRESSES if ADDRESSES[name] == each) for each in dict.fromkeys(lines)], done.stdout


@pytest.mark.parametrize("stage", ["servers", "vpods"])
def test_of_a_stage_nobody_is_touched_after_a_host_that_is_lost(tmp_path: Path, stage: str) -> None:
    hosts, said = asked(tmp_path, {stage: SERVERS}, "stages", "unlock")
    assert hosts == ["p-poplar1"]
    assert "Permission denied (publickey).; correct how the inventory says to log in" in said
    assert "p-poplar1 was lost, as said above, so nothing is done to p-poplar2" in said


def test_of_a_run_no_stage_begins_after_a_host_that_is_lost(tmp_path: Path) -> None:
    hosts, _said = asked(tmp_path, {"tenants": ["ctrl"], "vpods": SERVERS}, "stages", "unlock", "verify")
    assert hosts == ["ctrl"]


def test_a_run_that_cannot_verify_everywhere_does_not_go_on_to_its_report(tmp_path: Path) -> None:
    hosts, said = asked(tmp_path, {"verification": SERVERS}, "verify", "verified", "report")
    assert sorted(hosts) == SERVERS
    assert said.count("correct how the inventory says to log in") == len(SERVERS)
    # The report would fail here, as nothing was decided.
    assert "FAILED localhost" not in said
