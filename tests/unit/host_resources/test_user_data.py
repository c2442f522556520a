# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user data of a vPOD's machines in a cloud: the files that its servers have, for cloud-init."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.user_data import secret_sources, user_data

ROLE = Path(__file__).resolve().parents[3] / "roles" / "vpod"
DEFAULTS: dict[str, Any] = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
INSECURE = {"controller": "ctrl001", "dedicated": None, "api_host": "10.1.0.1", "api_port": 8090, "user": None}
SETTINGS = {**DEFAULTS, "vpod_owner": "debian", "vpod_group": "debian", "vpod_vipu": {**INSECURE, "user": "alice"}}
CERTIFICATES = "/var/lib/vipu/vipu-certs/client"
SECRETS = {
    f"{CERTIFICATES}/ca.crt": "authority\n",
    f"{CERTIFICATES}/tls.crt": "certificate\n",
    f"{CERTIFICATES}/tls.key": "a key\nof: two lines \"'{{ }}\n",
    "/var/lib/vipu/keys/alice.key": "0123abc\n",
}
TRAIN = {"name": "alice-train", "api_host": "10.1.0.1"}


def written(text: str) -> dict[str, dict[str, Any]]:
    """The files by their paths, as cloud-init reads them."""
    assert text.startswith("#cloud-config\n")
    return {file["path"]: file for file in yaml.safe_load(text)["write_files"]}


def test_a_machine_has_the_client_of_a_server_with_its_key() -> None:
    files = written(user_data(SETTINGS, SECRETS))
    assert files["/etc/vipu/vipu-cli.hcl"]["content"] == (
        "# The collection ipu.pod writes this file.\n"
        'api-host="10.1.0.1"\n'
        'api-port="8090"\n'
        'api-user-id="alice"\n'
        'api-access-key="0123abc"\n'
        'tls-certs="/etc/vipu/certs"\n'
    )
    assert {path.rpartition("/")[2]: file["content"] for path, file in files.items() if "/certs/" in path} == {
        "ca.crt": "authority\n",
        "tls.crt": "certificate\n",
        "tls.key": SECRETS[f"{CERTIFICATES}/tls.key"],
    }


def test_credentials_are_for_the_images_user_alone_who_is_there_by_then() -> None:
    files = written(user_data(SETTINGS, SECRETS)).values()
    assert {(file["owner"], file["permissions"], file["defer"]) for file in files} == {("debian:debian", "0600", True)}


def test_the_sources_of_secrets_are_those_of_the_role() -> None:
    assert secret_sources(SETTINGS) == list(SECRETS)
    assert secret_sources({**SETTINGS, "vpod_vipu": INSECURE}) == []


def test_a_secret_that_the_controller_lacks_is_named() -> None:
    with pytest.raises(Refused) as refusal:
        user_data(SETTINGS, {**SECRETS, "/var/lib/vipu/keys/alice.key": ""})
    assert str(refusal.value) == (
        "ctrl001 has no /var/lib/vipu/keys/alice.key, which /etc/vipu/vipu-cli.hcl of a machine is made from; run "
        "playbooks/vpods.yml, and if it is the key of a user who is there already, write it there"
    )


def test_without_authentication_there_is_nothing_secret() -> None:
    files = written(user_data({**SETTINGS, "vpod_vipu": INSECURE}, {}))
    assert [(path, file["owner"], file["permissions"]) for path, file in files.items()] == [
        ("/etc/vipu/vipu-cli.hcl", "root:root", "0644")
    ]


def test_programs_find_a_declared_partition_by_the_environment() -> None:
    files = written(user_data({**SETTINGS, "vpod_partitions": [TRAIN]}, SECRETS))
    assert "IPUOF_VIPU_API_PARTITION_ID=alice-train\n" in files["/etc/ipuof.env.d/alice-train.env"]["content"]
    profile = files["/etc/profile.d/ipuof.sh"]
    # Root's shells read it, too.
    assert (profile["owner"], profile["permissions"]) == ("root:root", "0644")
    assert "export IPUOF_VIPU_API_PORT='8090'\n" in profile["content"]


def test_or_by_files() -> None:
    settings = {**SETTINGS, "vpod_partitions": [TRAIN], "vpod_ipuof": "files"}
    files = written(user_data(settings, SECRETS, {"alice-train": [{"devices": []}]}))
    assert '"devices": []' in files["/etc/ipuof.conf.d/alice-train_ipuof.conf"]["content"]


def test_more_than_a_cloud_takes_is_refused() -> None:
    settings = {**SETTINGS, "vpod_partitions": [TRAIN], "vpod_ipuof": "files"}
    with pytest.raises(Refused, match=r"^the user data of a machine has \d+ bytes in base64, and a cloud takes 65535"):
        user_data(settings, SECRETS, {"alice-train": [{"devices": ["x" * 65536]}]})
