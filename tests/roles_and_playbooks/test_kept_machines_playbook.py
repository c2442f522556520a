# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that the run keeps have their V-IPU client from their first boot: openstack.yml, on a cloud in memory."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.roles_and_playbooks.user_data_place import DECLARED, KEY, LIES, PRIVATE, Place
from tests.support.playbook_run import LOUD
from tests.support.secret_spellings import secrets_in
from tests.support.strict_cloud import StrictCloud
from tests.support.strict_cloud_server import running

KEPT = {"machines": "kept", "key": "ssh-ed25519 AAAA alice", "users": ["ann"], "image": "debian"}


def kept() -> dict[str, Any]:
    declared = deepcopy(DECLARED)
    declared["pods"]["pod001"]["managed"] = []
    alice = declared["vpods"]["alice"]
    declared["vpods"] = {"alice": {**alice, **LIES, "cloud": {**alice["cloud"], **KEPT}}}
    return declared


class Bed:
    """The place, and the cloud that its runs reach."""

    def __init__(self, folder: Path, cloud: StrictCloud) -> None:
        self.place = Place(folder, kept())
        self.cloud = cloud
        self.environment = {"OS_CLIENT_CONFIG_FILE": f"{folder}/clouds.yaml", "ANSIBLE_LOCAL_TEMP": f"{folder}/tmp"}

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """A run, after which none of its secrets is left on the control node."""
        folder = self.place.folder
        locks = ("-e", f"pod_lock_own_directory={folder}/locks")
        done = self.place.run("openstack", *locks, *options, **self.environment)
        left = [path for path in folder.rglob("*") if path.is_file() and folder / "vipu" not in path.parents]
        assert [path for path in left if secrets_in(path.read_text(errors="replace"), (KEY, PRIVATE))] == []
        return done

    def machines(self) -> dict[str, dict[str, Any]]:
        """Machine to path to what cloud-init writes there."""
        return {
            server["name"]: {
                file["path"]: file
                for file in yaml.safe_load(base64.b64decode(server["OS-EXT-SRV-ATTR:user_data"]))["write_files"]
            }
            for server in self.cloud.kinds["server"].values()
        }


@pytest.fixture(name="bed")
def _bed(tmp_path: Path) -> Iterator[Bed]:
    cloud = StrictCloud()
    with running(cloud) as site:
        site.write_entry(tmp_path / "clouds.yaml", cloud.password)
        yield Bed(tmp_path, cloud)


def test_a_kept_machine_has_its_client_and_other_user_data_change_nothing(bed: Bed) -> None:
    for options in (LOUD, ("--limit", "cloud001")):
        done = bed.run(*options)
        assert done.returncode == 0, done.stdout + done.stderr
        files = bed.machines()["alice-1"]
        client = files["/etc/vipu/vipu-cli.hcl"]
        assert (client["owner"], client["permissions"]) == ("debian:debian", "0600")
        assert f'api-access-key="{KEY}"\n' in client["content"]
        assert 'api-host="10.6.0.200"\n' in client["content"]
        assert files["/etc/vipu/certs/tls.key"]["content"] == f"{PRIVATE}\n"
        assert "IPUOF_VIPU_API_PARTITION_ID=alice-train\n" in files["/etc/ipuof.env.d/alice-train.env"]["content"]
        bed.place.key.write_text("another key\n")
    assert "nothing changed" in done.stdout


def test_a_machine_that_is_made_again_has_what_the_controller_has_now(bed: Bed) -> None:
    assert bed.run().returncode == 0
    bed.cloud.delete_server(bed.cloud.one("server", "alice-1")["id"])
    bed.place.key.write_text("another key\n")
    assert bed.run("--limit", "cloud001").returncode == 0
    assert 'api-access-key="another key"\n' in bed.machines()["alice-1"]["/etc/vipu/vipu-cli.hcl"]["content"]


def test_check_mode_reads_no_key(bed: Bed) -> None:
    bed.place.key.unlink()
    done = bed.run("--check", *LOUD)
    assert done.returncode == 0, done.stdout
    assert "create server alice-1" in done.stdout
    assert "alice.key" not in done.stdout


def untouched(bed: Bed, *options: str) -> str:
    """What a person sees of a run that fails, and changes nothing in the cloud."""
    before = bed.cloud.content()
    done = bed.run(*options)
    assert done.returncode != 0
    assert bed.cloud.content() == before
    return done.stdout


def test_without_the_key_of_its_user_no_machine_is_made(bed: Bed) -> None:
    bed.place.key.unlink()
    assert (
        f"ctrl001 has no {bed.place.key}, which /etc/vipu/vipu-cli.hcl of a machine is made from; run playbooks/vpods"
    ) in untouched(bed)


def test_a_controller_that_is_not_reached_is_named(bed: Bed) -> None:
    away = {"ansible_connection": "ssh", "ansible_ssh_extra_args": "-o HostName=127.0.0.1 -o Port=1"}
    (bed.place.folder / "inventory" / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(away))
    assert "ctrl001, which has the credentials of vPOD alice's machines, is not reached (" in untouched(bed)
