# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secure V-IPU controller and one of a tenant's own: who sees what, and where no key is to be found."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.secret_spellings import SHOW_KEYS, secrets_in

ALICES = ("pod001-poplar1", "pod001-poplar2")
BOBS = ("pod001-poplar3", "pod001-poplar4")
OWNER = {**dict.fromkeys(ALICES, "alice"), **dict.fromkeys(BOBS, "bob")}
# Alice's controller has its own ports; bob is a user of the shared one.
ADMINISTRATOR = {
    "alice": "--config /etc/vipu/vipu-admin-alice.hcl -P 10805",
    "bob": "--config /etc/vipu/vipu-admin.hcl -P 8091",
}
ACCESS_KEY = re.compile(r'api-access-key="([^"]+)"')

testinfra_hosts = [f"ssh://{server}" for server in OWNER]


@pytest.fixture(scope="module")
def keys(controller: Any) -> set[str]:
    """Every access key that there is: of each controller's administrator, and of each user."""
    found = set(controller.check_output(SHOW_KEYS).split())
    assert len(found) == 2 + 2
    return found


def test_a_tenant_sees_what_is_theirs_and_nothing_else(host: Any) -> None:
    tenant = OWNER[host.check_output("hostname")]
    (allocation,) = json.loads(host.check_output("vipu --showjson list allocations"))["allocations"]
    assert allocation["id"] == tenant
    (partition,) = json.loads(host.check_output("vipu --showjson list partitions"))["partitions"]
    assert (partition["id"], partition["spec"]["allocation_id"]) == ("train", tenant)


def test_without_a_key_nobody_sees_anything(host: Any) -> None:
    refused = host.run("vipu --config /dev/null -H 10.3.1.200 list partitions")
    assert refused.rc != 0
    assert "train" not in refused.stdout


def test_a_key_is_worth_nothing_at_anothers_controller(host: Any) -> None:
    port = "8090" if OWNER[host.check_output("hostname")] == "alice" else "10804"
    refused = host.run(f"vipu -P {port} list allocations")
    assert refused.rc != 0
    assert refused.stdout == ""


def test_each_server_gets_its_own_controller_and_gcd(host: Any) -> None:
    name = host.check_output("hostname")
    output = host.file("/etc/ipuof.env.d/train.env").content_string.splitlines()
    assert f"IPUOF_VIPU_API_PORT={10804 if name in ALICES else 8090}" in output
    assert f"IPUOF_VIPU_API_GCD_ID={1 if name == ALICES[1] else 0}" in output


def test_a_file_with_a_key_is_for_those_alone_who_need_it(controller: Any) -> None:
    files = controller.check_output("grep -rlZ -e api-access-key /etc/vipu | xargs -0 stat -c '%n %U %a'").splitlines()
    files += controller.check_output("stat -c '%n %U %a' /var/lib/vipu*/keys/*.key").splitlines()
    assert len(files) == 2 + 2
    assert {line.split(maxsplit=1)[1] for line in files} == {"root 600"}


@pytest.mark.parametrize("vpod", ADMINISTRATOR)
def test_each_controller_has_the_tenants_users_and_machines(controller: Any, vpod: str) -> None:
    def held(kind: str) -> list[dict[str, Any]]:
        output = controller.check_output(f"vipu-admin {ADMINISTRATOR[vpod]} --showjson list {kind}")
        found: list[dict[str, Any]] = json.loads(output)[kind]
        return found

    assert sorted(user["id"] for user in held("users")) == ["admin", vpod]
    assert vpod in {allocation["id"] for allocation in held("allocations")}
    assert [(each["id"], each["spec"]["allocation_id"]) for each in held("partitions")] == [("train", vpod)]


def test_no_key_appears_in_any_run_or_journal(controller: Any, keys: set[str]) -> None:
    results = {path.name: path.read_text() for path in Path(os.environ["ANSIBLE_LOG_FOLDER"]).iterdir()}
    assert {"ctrl001", *OWNER} < results.keys()
    texts = (*results.values(), Path(os.environ["ANSIBLE_LOG_PATH"]).read_text(), controller.check_output("journalctl"))
    assert secrets_in("\n".join(texts), keys) == []


def test_no_key_of_another_is_on_a_server(host: Any, keys: set[str]) -> None:
    """A server has one key, that of its tenant."""
    there = set(ACCESS_KEY.findall(host.check_output("grep -rhs api-access-key /etc /root /home; true")))
    assert len(there & keys) == 1
    assert there <= keys
