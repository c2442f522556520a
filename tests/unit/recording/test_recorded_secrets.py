# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No secret is recorded, wherever it stands and however it is spelled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._recording.recording import Recording

SECRET = "hunter2"


def recorded(**answer: Any) -> str:
    recording = Recording()
    recording.keep(["program", "x"], **answer)
    return json.dumps(recording.entries)


@pytest.mark.parametrize(
    "line",
    [
        f"username joe secret sha512 $6${SECRET}",
        f"username joe ssh-key ssh-rsa {SECRET}",
        f"snmp-server community {SECRET} ro",
        f"   neighbor 10.0.0.1 password 7 {SECRET}",
        f"ntp authentication-key 1 md5 7 {SECRET}",
        f"tacacs-server key 7 {SECRET}",
        f"radius-server host 10.0.0.1 key {SECRET}",
        f"   certificate a key {SECRET}",
        f"daemon agent / exec /usr/bin/agent --auth {SECRET}",
    ],
)
def test_a_line_of_a_switch(line: str) -> None:
    assert SECRET not in recorded(answers=[["hostname tor", line, "end"]])


@pytest.mark.parametrize(
    "lines",
    [
        [f"api-access-key = {SECRET}"],
        [f"    password: {SECRET}"],
        [f"psk={SECRET}"],
        [f"Access Key is '{SECRET}'"],
        [f"wrong token: {SECRET}"],
        [f"//server/share /mnt cifs rw,username=joe,password={SECRET} 0 0"],
        ["-----BEGIN CERTIFICATE-----", SECRET, "-----END CERTIFICATE-----"],
        ["-----BEGIN RSA PRIVATE KEY-----", SECRET],
    ],
)
def test_a_line_of_a_host(lines: list[str]) -> None:
    assert SECRET not in recorded(output=lines)
    assert SECRET not in recorded(text=lines)


@pytest.mark.parametrize("field", ["access_key", "apiAccessKey", "password", "community", "certificate", "token"])
def test_a_field_of_json(field: str) -> None:
    assert SECRET not in recorded(output={"json": {"users": [{field: SECRET, "name": "joe"}]}})
    assert SECRET not in recorded(output={"json": {field: [SECRET, "x"]}})
    assert "1234567" not in recorded(output={"json": {field: 1234567}})


def test_what_is_no_secret_stays() -> None:
    lines = ["vlan 7", "   name key", "interface Ethernet9/1", "   description token ring", "end"]
    assert json.loads(recorded(answers=[lines]))[0]["answers"] == [lines]
    help_text = ["Flags:", "      --api-access-key string   of the user", "  -h, --help"]
    assert json.loads(recorded(output=help_text))[0]["output"] == help_text
