# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/user_data.yml, run as a person would, where the V-IPU controller's host is this one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.roles_and_playbooks.user_data_place import DECLARED, KEY, PRIVATE, Place
from tests.support.playbook_run import LOUD


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Place:
    return Place(tmp_path, DECLARED)


def refused(place: Place, *options: str) -> str:
    """What a person sees of a run that fails, and writes nothing."""
    done = place.run("user_data", *options)
    assert done.returncode != 0
    assert not place.file.exists()
    return done.stdout + done.stderr


def test_the_file_is_for_the_operator_and_its_key_in_no_output(place: Place) -> None:
    for options, is_there in ((("--check",), False), ((), True)):
        done = place.run("user_data", *LOUD, "-e", "vpod=alice", *options)
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
    ) in refused(place, "-e", "vpod=alice")


def test_a_vpod_that_is_not_given_or_has_no_machines_is_refused(place: Place) -> None:
    assert "vpod not given; say -e vpod=NAME." in refused(place)
    assert "vpod 'bob' has nothing in a cloud; give it a cloud in pods.yml" in refused(place, "-e", "vpod=bob")
