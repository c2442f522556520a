# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the role vpod: the client's configuration and credentials, and the settings of containers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ipu.pod.plugins.module_utils._look.things import secrets_from, texts_from
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources import vpod
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import Absent, Directory, File
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import CLIENT, looked_by_vpod, vpod_resources

ROLE = Path(__file__).resolve().parents[3] / "roles" / "vpod"
DEFAULTS: dict[str, Any] = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
INSECURE = {"controller": "ctrl001", "dedicated": None, "api_host": "10.1.0.1", "api_port": 8090, "user": None}
SECURE = {**INSECURE, "user": "alice"}


def files(**settings: Any) -> dict[str, File]:
    things = vpod_resources({**DEFAULTS, **settings})
    return {thing.path: thing for thing in things if isinstance(thing, File)}


def test_an_insecure_client_says_where_the_controller_is_and_everybody_may_read_it() -> None:
    assert vpod_resources({**DEFAULTS, "vpod_vipu": INSECURE, "vpod_owner": "alice"}) == [
        Directory("/etc/vipu"),
        File(
            "/etc/vipu/vipu-cli.hcl",
            '# The collection ipu.pod writes this file.\napi-host="10.1.0.1"\napi-port="8090"\n',
        ),
    ]


def test_a_client_with_a_user_has_credentials_of_the_controllers_host() -> None:
    found = files(vpod_vipu=SECURE, vpod_owner="alice", vpod_group="users")
    assert {path: file.source for path, file in found.items()} == {
        "/etc/vipu/certs/ca.crt": "/var/lib/vipu/vipu-certs/client/ca.crt",
        "/etc/vipu/certs/tls.crt": "/var/lib/vipu/vipu-certs/client/tls.crt",
        "/etc/vipu/certs/tls.key": "/var/lib/vipu/vipu-certs/client/tls.key",
        "/etc/vipu/vipu-cli.hcl": "/var/lib/vipu/keys/alice.key",
    }
    assert all(file.is_secret for file in found.values())
    assert {(file.owner, file.group, file.mode) for file in found.values()} == {("alice", "users", "0600")}


def test_the_control_node_has_no_secret() -> None:
    found = files(vpod_vipu=SECURE)
    assert found["/etc/vipu/certs/tls.key"].content is None
    assert found[CLIENT].content == (
        "# The collection ipu.pod writes this file.\n"
        'api-host="10.1.0.1"\n'
        'api-port="8090"\n'
        'api-user-id="alice"\n'
        'api-access-key="(secret)"\n'
        'tls-certs="/etc/vipu/certs"\n'
    )


def test_a_look_hides_the_key_just_where_the_text_has_none(tmp_path: Path) -> None:
    there = tmp_path / "vipu-cli.hcl"
    text = files(vpod_vipu=SECURE)[CLIENT].content or ""
    there.write_text(text.replace("(secret)", "0123abc"))
    assert secrets_from([str(there)], "of the run")[str(there)]["text"] == text
    # Whether it is ours is seen in its text, which a look hands on for a client without a user.
    assert texts_from([str(there)]) == {str(there): text}


def test_credentials_of_a_dedicated_controller_are_where_that_runs() -> None:
    found = files(vpod_vipu={**SECURE, "dedicated": "alice"}, vpod_dedicated_parent="/srv")
    assert found[CLIENT].source == "/srv/vipu-server-alice/keys/alice.key"
    assert found["/etc/vipu/certs/ca.crt"].source == "/srv/vipu-server-alice/vipu-certs/client/ca.crt"


def test_the_client_of_a_vpod_that_shares_the_server_is_for_root_alone() -> None:
    settings = {**DEFAULTS, "vpod_vipu": SECURE, "vpod_owner": "alice", "vpod_group": "users"}
    found = [thing for thing in vpod_resources(settings, vpod="bob") if isinstance(thing, File)]
    names = ("certs/ca.crt", "certs/tls.crt", "certs/tls.key", "vipu-cli.hcl")
    assert [file.path for file in found] == [f"/etc/ipu-pod/vipu/bob/{name}" for name in names]
    assert {(file.owner, file.group, file.mode) for file in found} == {("root", "root", "0600")}
    assert 'tls-certs="/etc/ipu-pod/vipu/bob/certs"' in (found[-1].content or "")


def test_without_a_vpod_the_client_is_absent_and_its_configuration_goes_last() -> None:
    certificates = [Absent(f"/etc/vipu/certs/{name}") for name in ("ca.crt", "tls.crt", "tls.key")]
    assert vpod_resources(DEFAULTS) == [*certificates, Absent(CLIENT)]
    assert vpod_resources(DEFAULTS, is_ours=False) == []


def test_all_that_any_vpod_needs_is_looked_at() -> None:
    server = looked_by_vpod(DEFAULTS, is_server=True, is_controller=False)
    for settings in ({}, {"vpod_vipu": INSECURE}, {"vpod_vipu": SECURE}):
        things = vpod_resources({**DEFAULTS, **settings})
        assert {thing.path for thing in things if isinstance(thing, Absent | Directory | File)} <= {*server["paths"]}
        assert {path for path, file in files(**settings).items() if file.is_secret} <= {*server["secrets"]}
        assert {path for path, file in files(**settings).items() if not file.is_secret} <= {*server["texts"]}
    assert looked_by_vpod(DEFAULTS, is_server=False, is_controller=True) == {
        "paths": [],
        "texts": [],
        "secrets": [
            *(f"/var/lib/vipu/vipu-certs/client/{name}" for name in ("ca.crt", "tls.crt", "tls.key")),
            "/var/lib/vipu/keys/*.key",
            *(f"/var/lib/vipu-server-*/vipu-certs/client/{name}" for name in ("ca.crt", "tls.crt", "tls.key")),
            "/var/lib/vipu-server-*/keys/*.key",
        ],
    }


def test_the_role_knows_its_files_by_the_same_names() -> None:
    variables = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())
    assert variables["vpod_header"] == vpod.HEADER
    assert variables["vpod_client_file"] == vpod.CLIENT
