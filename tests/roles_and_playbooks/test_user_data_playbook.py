# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/user_data.yml, run as a person would, where the V-IPU controller's host is this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.playbook_run import LOUD, run_playbook
from tests.support.secret_spellings import secrets_in

KEY, PRIVATE = "0ldKey-eight-words", "what-is-in-tls.key"
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

    def __init__(self, folder: Path) -> None:
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
            ("pods.yml", DECLARED),
            ("group_vars/vipu_controllers.yml", local),
            ("group_vars/all.yml", everywhere),
        ):
            (folder / "inventory" / path).write_text(yaml.safe_dump(text))

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        done = run_playbook(
            "user_data", *options, inventory=self.folder / "inventory", directory=self.folder, COLUMNS="1000"
        )
        assert secrets_in(done.stdout + done.stderr, (KEY, PRIVATE)) == []
        return done

    def refused(self, *options: str) -> str:
        """What a person sees of a run that fails, and writes nothing."""
        done = self.run(*options)
        assert done.returncode != 0
        assert not self.file.exists()
        return done.stdout + done.stderr


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_file_is_for_the_operator_and_its_key_in_no_output(place: Place) -> None:
    for options, is_there in ((("--check",), False), ((), True)):
        done = place.run(*LOUD, "-e", "vpod=alice", *options)
        assert done.returncode == 0, done.stdout + done.stderr
        assert place.file.exists() == is_there
    assert (place.file.stat().st_mode & 0o777, place.file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    files = {file["path"]: file for file in yaml.safe_load(place.file.read_text())["write_files"]}
    client = files["/etc/vipu/vipu-cli.hcl"]
    assert (client["owner"], client["permissions"]) == ("debian:debian", "0600")
    assert 'api-host="10.6.0.200"\n' in client["content"]
    assert f'api-access-key="{KEY}"\n' in client["content"]
    assert files["/etc/vipu/certs/tls.key"]["content"] == f"{PRIVATE}\n"
    assert "IPUOF_VIPU_API_PARTITION_ID=alice-train\n" in files["/etc/ipuof.env.d/alice-train.env"]["content"]


def test_a_key_that_the_controller_lacks_is_named(place: Place) -> None:
    place.key.unlink()
    assert (
        f"ctrl001 has no {place.key}, which /etc/vipu/vipu-cli.hcl of a machine is made from; run playbooks/vpods.yml, "
        "and if it is the key of a user who is there already, write it there"
    ) in place.refused("-e", "vpod=alice")


def test_a_vpod_that_is_not_given_or_has_no_machines_is_refused(place: Place) -> None:
    assert "vpod not given; say -e vpod=NAME." in place.refused()
    assert "vpod 'bob' has nothing in a cloud; give it a cloud in pods.yml" in place.refused("-e", "vpod=bob")
