# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that tell Poplar about its partitions: what stands in them, whose they are, what is refused."""

from __future__ import annotations

import grp
import json
import os
import pwd
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import Files
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import (
    DeviceError,
    Outcome,
    Refused,
    converge,
    one_by_one,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.module_utils._vipu.ipuof_files import IpuofFiles

OWNERSHIP = ipuof.Ownership(pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name)
CONFIG = {"devices": [{"ip": "10.5.1.1", "device_id": 0}], "attributes": {"GCD Id": "0"}}
CONFIGURATIONS = {name: [CONFIG, CONFIG] for name in ["train", "serve", "old", "kept", "new1", "new2"]}


def option(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "api_host": "10.3.1.200", "api_port": 8090, "gcd": 0, **more}


def run(
    root: Path, mode: str, *options: dict[str, Any], login: str | None = None, configurations: Any = CONFIGURATIONS
) -> Outcome:
    partitions = ipuof.partitions_from(options, configurations)
    environment = mode == "environment"
    wanted = ipuof.environment_files(partitions, login) if environment else ipuof.configuration_files(partitions)
    store = IpuofFiles(Files(str(root)))
    apply = one_by_one(store.carry_out)
    return converge(store.read, lambda actual: ipuof.plan(wanted, OWNERSHIP, actual), apply, check_mode=False)


def files_below(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_a_login_shell_has_the_variables_of_the_login_partition(tmp_path: Path) -> None:
    run(tmp_path, "environment", option("train"), option("serve", api_port=8190), login="serve")
    shell = ["sh", "-euc", f". {tmp_path}/etc/profile.d/ipuof.sh; env"]
    printed = subprocess.run(shell, env={}, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {line for line in printed if line.startswith("IPUOF")} == {
        "IPUOF_VIPU_API_HOST=10.3.1.200",
        "IPUOF_VIPU_API_PORT=8190",
        "IPUOF_VIPU_API_PARTITION_ID=serve",
        "IPUOF_VIPU_API_GCD_ID=0",
    }


def test_environment_file_as_systemd_and_docker_take_it(tmp_path: Path) -> None:
    run(tmp_path, "environment", option("train"))
    assert (tmp_path / "etc/ipuof.env.d/train.env").read_text() == (
        "# Written by ipu.pod.ipuof_config, which overwrites what is changed here by hand.\n"
        "IPUOF_VIPU_API_HOST=10.3.1.200\n"
        "IPUOF_VIPU_API_PORT=8090\n"
        "IPUOF_VIPU_API_PARTITION_ID=train\n"
        "IPUOF_VIPU_API_GCD_ID=0\n"
    )


def test_configuration_files_are_named_after_their_gcds(tmp_path: Path) -> None:
    run(tmp_path, "files", option("train"), option("train", gcd=1), option("serve"))
    assert files_below(tmp_path / "etc/ipuof.conf.d") == {
        "train_gcd0_ipuof.conf",
        "train_gcd1_ipuof.conf",
        "serve_ipuof.conf",
        ".ipu.pod.json",
    }
    assert json.loads((tmp_path / "etc/ipuof.conf.d/serve_ipuof.conf").read_text()) == CONFIG


def test_a_moved_partition_has_its_file_written_again(tmp_path: Path) -> None:
    run(tmp_path, "files", option("train"), option("serve"))
    moved = {**CONFIG, "devices": [{"ip": "10.5.1.9", "device_id": 0}]}
    outcome = run(
        tmp_path, "files", option("train"), option("serve"), configurations={**CONFIGURATIONS, "train": [moved]}
    )
    assert [(step.action, step.name) for step in outcome.steps] == [
        ("update", "/etc/ipuof.conf.d/train_ipuof.conf"),
    ]


def test_owner_and_mode_are_compared_too(tmp_path: Path) -> None:
    run(tmp_path, "environment", option("train"))
    (tmp_path / "etc/ipuof.env.d/train.env").chmod(0o600)
    outcome = run(tmp_path, "environment", option("train"))
    assert [step.reason for step in outcome.steps] == ["mode is 0600, wanted 0644"]


def test_no_partitions_removes_ours_and_only_ours(tmp_path: Path) -> None:
    run(tmp_path, "files", option("train"))
    (tmp_path / "etc/ipuof.conf.d/of_others.conf").write_text("{}")
    (tmp_path / "etc/ipuof.conf.d/link.conf").symlink_to("of_others.conf")
    outcome = run(tmp_path, "files")
    assert outcome.after == {
        "file": {},
        "foreign_file": {"/etc/ipuof.conf.d/link.conf": {}, "/etc/ipuof.conf.d/of_others.conf": {}},
    }
    assert [step.name for step in outcome.steps][-1] == ipuof.MANIFEST


def test_the_other_mode_takes_its_files_away(tmp_path: Path) -> None:
    run(tmp_path, "environment", option("train"))
    run(tmp_path, "files", option("train"))
    assert files_below(tmp_path) == {"etc/ipuof.conf.d/.ipu.pod.json", "etc/ipuof.conf.d/train_ipuof.conf"}


@pytest.mark.parametrize("done", range(5))
def test_a_run_that_breaks_off_anywhere_is_finished_by_the_next(tmp_path: Path, done: int) -> None:
    run(tmp_path, "files", option("old"), option("kept"))
    store = IpuofFiles(Files(str(tmp_path)))
    wanted = ipuof.configuration_files(
        ipuof.partitions_from([option("kept"), option("new1"), option("new2")], CONFIGURATIONS)
    )
    for step in ipuof.plan(wanted, OWNERSHIP, store.read())[:done]:
        store.carry_out(step)
    run(tmp_path, "files", option("kept"), option("new1"), option("new2"))
    names = {".ipu.pod.json", "kept_ipuof.conf", "new1_ipuof.conf", "new2_ipuof.conf"}
    assert files_below(tmp_path / "etc/ipuof.conf.d") == names


@pytest.mark.parametrize("path", ["etc/profile.d/ipuof.sh", "etc/ipuof.env.d/train.env"])
def test_a_file_of_others_in_the_way_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("export IPUOF_LOG_LEVEL=DEBUG\n")
    with pytest.raises(Refused, match=f"/{path} exists and was not written by this collection; move it away"):
        run(tmp_path, "environment", option("train"))
    assert files_below(tmp_path) == {path}


@pytest.mark.parametrize("text", ["", "[]", '{"files": ["../profile"]}'])
def test_a_damaged_manifest_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "etc/ipuof.conf.d").mkdir(parents=True)
    (tmp_path / "etc/ipuof.conf.d/.ipu.pod.json").write_text(text)
    with pytest.raises(DeviceError, match=re.escape(f"{ipuof.MANIFEST} is damaged")):
        run(tmp_path, "environment", option("train"))


@pytest.mark.parametrize(
    ("mode", "options", "login", "message"),
    [
        ("environment", [option("a b")], None, "partition 'a b': the name must be 1 to 64 letters"),
        ("environment", [option("x" * 65)], None, "the name must be 1 to 64 letters"),
        ("environment", [option("a", api_host="$(id)")], None, "partition a: api_host '$(id)' is no host name"),
        ("environment", [option("a", api_port=0)], None, "partition a: api_port 0 is no TCP port"),
        ("environment", [option("a", gcd=-1)], None, "partition a: gcd -1 is negative"),
        (
            "environment",
            [option("a"), option("a")],
            None,
            "and partition a, GCD 0 share the file name a",
        ),
        ("environment", [option("a")], "b", "login_partition: b is not among the partitions, which are: a"),
        ("files", [option("a")], None, "partition a, GCD 0: is not in configurations"),
        ("files", [option("train", gcd=2)], None, "partition train, GCD 2: is not in configurations"),
    ],
)
def test_refused(tmp_path: Path, mode: str, options: list[dict[str, Any]], login: str | None, message: str) -> None:
    with pytest.raises(Refused) as refused:
        run(tmp_path, mode, *options, login=login)
    assert message in str(refused.value)
    assert files_below(tmp_path) == set()


def test_check_mode_leaves_out_the_content_that_a_new_partition_will_have(tmp_path: Path) -> None:
    run(tmp_path, "files", option("kept"))
    partitions = ipuof.partitions_from([option("kept"), option("new1")], {"kept": [CONFIG]})
    wanted = ipuof.configuration_files(partitions, predict=True)
    predicted = ipuof.plan(wanted, OWNERSHIP, IpuofFiles(Files(str(tmp_path))).read())
    real = run(tmp_path, "files", option("kept"), option("new1"))
    assert [step.public() for step in predicted] == [step.public() for step in real.steps]
    new = {step.name: step.after for step in predicted}["/etc/ipuof.conf.d/new1_ipuof.conf"]
    assert new == {"owner": OWNERSHIP.owner, "group": OWNERSHIP.group, "mode": OWNERSHIP.mode}


def test_check_mode_predicts_that_files_of_a_partition_that_is_made_again_are_written(tmp_path: Path) -> None:
    """Whatever is there is of the partition that is gone."""
    run(tmp_path, "files", option("train"))
    path = tmp_path / "etc/ipuof.conf.d/train_ipuof.conf"
    path.chmod(0o600)
    options = {"partitions": [option("train")], "configurations": {}, "mode": "files", "login_partition": None}
    wanted = ipuof.wanted_files(options, predict=True)
    predicted = ipuof.plan(wanted, OWNERSHIP, IpuofFiles(Files(str(tmp_path))).read())
    assert [(step.action, step.name, step.reason) for step in predicted] == [
        ("update", f"/{path.relative_to(tmp_path)}", "its partition is yet to be made, mode is 0600, wanted 0644"),
    ]
    assert "content" not in (predicted[0].after or {})
