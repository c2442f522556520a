# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod with a cloud where the V-IPU controller's host is this one, and what that has for machines of vPOD alice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.support.playbook_run import run_playbook
from tests.support.secret_spellings import secrets_in

KEY, PRIVATE = "0ldKey-eight-words", "what-is-in-tls.key"
# Where a vPOD lies is then no question to the controller.
LIES = {"ipu_machines": [f"pod001-ipum{number}" for number in (1, 2, 3, 4)]}
DECLARED: dict[str, Any] = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {
        "pod001": {
            "model": "bow-pod64",
            "poplar_servers": 4,
            "hypervisors": ["pod001-poplar3"],
            "virtual_functions": 0,
            "rnic": {"vlan": 100},
        }
    },
    "controllers": {"ctrl001": {"address": "10.3.1.200", "mode": "secure"}},
    "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
    "clouds": {
        "cloud001": {
            "physical_network": "rnic",
            "control_network": "control",
            "control_sources": ["10.6.0.0/16"],
            "controllers": {"ctrl001": "10.6.0.200"},
        }
    },
    "vpods": {
        "alice": {
            "cluster": "c001",
            "ipus": 16,
            "vlan": 101,
            "users": ["alice"],
            "poplar_servers": ["pod001-poplar3"],
            "partitions": {"alice-train": {"ipus": 16}},
            "cloud": {
                "name": "cloud001",
                "login": "debian",
                "users": ["alice"],
                "image": "poplar",
                "machine": {"vcpus": 1, "memory": 512, "disk": 4},
            },
        },
        "bob": {"cluster": "c001", "ipus": 4, "vlan": 102, "users": ["bob"]},
    },
}


class Place:
    """An inventory, the controller's files, and where the user data is written."""

    def __init__(self, folder: Path, declared: dict[str, Any]) -> None:
        self.folder = folder
        self.key = folder / "vipu" / "keys" / "alice.key"
        self.file = folder / "user-data" / "alice.yml"
        certificates = folder / "vipu" / "vipu-certs" / "client"
        for directory in (certificates, self.key.parent, folder / "inventory" / "group_vars"):
            directory.mkdir(parents=True)
        for name in ("ca.crt", "tls.crt", "tls.key"):
            (certificates / name).write_text(f"{PRIVATE}\n" if name == "tls.key" else f"{name}\n")
        self.key.write_text(f"{KEY}\n")
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        everywhere = {"vpod_controller_directory": str(folder / "vipu")}
        for path, text in (
            ("pods.yml", declared),
            ("group_vars/vipu_controllers.yml", local),
            ("group_vars/all.yml", everywhere),
        ):
            (folder / "inventory" / path).write_text(yaml.safe_dump(text))

    def run(self, playbook: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A run, in whose output no secret is."""
        environment = {"COLUMNS": "1000", **environment}
        inventory = self.folder / "inventory"
        done = run_playbook(playbook, *options, inventory=inventory, directory=self.folder, **environment)
        assert secrets_in(done.stdout + done.stderr, (KEY, PRIVATE)) == []
        return done
