# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that chooses the IPU-Machines of an allocation itself: the switch and the servers follow it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from .tor_playbooks import PROGRAMS, ROOT

DOCUMENT = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64"}},
    "controllers": {"v": {"address": "127.0.0.2"}},
    "clusters": {"c": {"controller": "v", "pods": ["p"]}},
    "vpods": {"alice": {"cluster": "c", "ipus": 8, "vlan": 101, "poplar_servers": ["p-poplar1"]}},
}


def machines(*numbers: int) -> list[str]:
    return [f"p-ipum{number}" for number in numbers]


def in_vlan_101(directory: Path, given: list[str], *options: str) -> list[str]:
    """The ports that are to be in alice's VLAN, when the controller has given her these IPU-Machines."""
    inventory = directory / "inventory"
    (inventory / "group_vars").mkdir(parents=True, exist_ok=True)
    (inventory / "pods.yml").write_text(yaml.safe_dump(DOCUMENT))
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    (inventory / "group_vars" / "all.yml").write_text(yaml.safe_dump(local))
    now = {"allocations": {"alice": {"cluster": "c", "size": 8, "agents": given}}}
    plan = "{{ (hostvars['v'].ipu_pod_declaration | ipu.pod.vpod_plan({'v': {'allocations': {}}}, {}, none)).desired }}"
    asked = {"preflight_allocations": {}, "preflight_tenants": {"users": {}, "partitions": {}}}
    before = {**asked, "vipu_controller_now": now, "ipu_pod_desired": plan}
    wanted = "{{ hostvars['localhost'].ipu_pod_desired.tor_switches['p-tor'].ports | to_json }}"
    play: list[dict[str, Any]] = [
        {
            "hosts": "localhost:ipu_pods:!ipu_machines",
            "gather_facts": False,
            "tasks": [{"ansible.builtin.set_fact": before}],
        },
        {"import_playbook": str(ROOT / "playbooks" / "phases" / "places.yml")},
        {
            "hosts": "localhost",
            "gather_facts": False,
            "tasks": [{"ansible.builtin.copy": {"content": wanted, "dest": str(directory / "ports")}}],
        },
    ]
    (directory / "play.yml").write_text(yaml.safe_dump(play))
    done = subprocess.run(
        [f"{PROGRAMS}/ansible-playbook", "-i", str(inventory), str(directory / "play.yml"), *options],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ports = json.loads((directory / "ports").read_text())
    return [port["name"] for port in ports if port.get("vlan") == 101]


def test_the_ports_follow_what_the_controller_has_given(tmp_path: Path) -> None:
    assert in_vlan_101(tmp_path, machines(1, 2)) == ["Ethernet9/1", "Ethernet10/1"]
    assert in_vlan_101(tmp_path, machines(5, 6)) == ["Ethernet13/1", "Ethernet14/1"]
