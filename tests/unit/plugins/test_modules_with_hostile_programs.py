# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules on a host whose programs say what must not be obeyed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.ipu.pod.plugins.module_utils._text.line import LONGEST
from ansible_collections.ipu.pod.plugins.modules import server_use, vipu_info, vipu_probe
from tests.support.hostile import HOSTILE, is_seen, nothing_ran
from tests.support.hostile_programs import FAILING_PORT, NAMES, write_programs


@pytest.fixture(name="host")
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", os.pathsep.join([str(write_programs(tmp_path)), os.environ["PATH"]]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def result_of(module: ModuleType, capsys: pytest.CaptureFixture[str], **options: Any) -> dict[str, Any]:
    """What a module returns."""
    with patch_module_args(options), pytest.raises(SystemExit):
        module.main()
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def are_bounded_lines(messages: list[str]) -> bool:
    return bool(messages) and all(is_seen(message) and len(message) <= LONGEST for message in messages)


@pytest.mark.parametrize("end_point", ["admin", "user"])
def test_the_name_of_one_partition_hides_no_status_of_another(
    host: Path, capsys: pytest.CaptureFixture[str], end_point: str
) -> None:
    found = result_of(vipu_info, capsys, end_point=end_point, partition_status=True)
    assert found["partition_status"].keys() == {"good"}
    assert found["partition_status_unread"].keys() == {name.encode(errors="replace").decode() for name in NAMES}
    assert are_bounded_lines(list(found["partition_status_unread"].values()))
    asked = [line for line in (host / "called").read_text().splitlines() if "get" in line.split()]
    assert [line.partition(" get ")[2] for line in asked] == ["partition good"]
    assert nothing_ran(host)


@pytest.mark.parametrize("end_point", ["admin", "user"])
def test_what_a_program_of_v_ipu_says_while_it_fails_is_one_bounded_line(
    host: Path, capsys: pytest.CaptureFixture[str], end_point: str
) -> None:
    found = result_of(vipu_info, capsys, end_point=end_point, api_port=FAILING_PORT)
    assert found["failed"]
    assert HOSTILE["template"] in found["msg"]
    assert are_bounded_lines([found["msg"]])
    assert nothing_ran(host)


def test_a_probe_of_programs_of_v_ipu_tells_its_problems_in_bounded_lines(
    host: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = result_of(vipu_probe, capsys, api_port=FAILING_PORT)
    assert are_bounded_lines([*found["problems"], *found["differences"], *found["table"]])
    assert nothing_ran(host)


def test_jobs_are_told_in_bounded_lines_whoever_has_them(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result_of(server_use, capsys)
    assert are_bounded_lines(found["in_use"])
    assert nothing_ran(host)
