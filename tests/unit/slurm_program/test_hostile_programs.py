# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that Slurm runs, with Slurm and V-IPU saying what must not be obeyed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host import programs
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program import dynamic, mapping, program
from ansible_collections.ipu.pod.plugins.module_utils._text.line import LONGEST
from tests.support.hostile import is_seen, nothing_ran
from tests.support.hostile_programs import JOB, NAMES, write_programs
from tests.support.slurm_settings import settings

# No job has these.
NUMBERS = ["0", "007", "9" * 20, "9" * 5000, "\u0663"]
OF_NO_JOB = [f"slurm_{number}" for number in NUMBERS]


@pytest.fixture(name="host")
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Slurm controller; who makes a partition calls it as they like, and the vPOD is called `good`."""
    path = write_programs(tmp_path, [*NAMES, *OF_NO_JOB])
    listed = json.loads((tmp_path / "partitions.json").read_text())
    for partition in listed["partitions"]:
        partition["spec"]["allocation_id"] = "good"
    (tmp_path / "partitions.json").write_text(json.dumps(listed))
    monkeypatch.setattr(programs, "SEARCH_PATH", f"{path}:{programs.SEARCH_PATH}")
    monkeypatch.setenv("PATH", programs.SEARCH_PATH)
    there = settings(allocation="good", api_host="127.0.0.1", state=str(tmp_path))
    monkeypatch.setattr(program, "_settings", lambda: there)
    monkeypatch.setattr(program.Settings, "is_of_ipus", lambda _self, _partition: True)
    return tmp_path


def test_ipuinfo_shows_the_others_and_nothing_that_steers_the_terminal(
    host: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["info"], {}) == 0
    lines = capsys.readouterr().out.split("\n")
    assert list(filter(is_seen, lines)) == lines
    assert max(map(len, lines)) <= LONGEST
    assert lines[1].startswith("12 ")
    assert any("is not understood" in line for line in lines)
    assert sum(line.startswith("  partition ") for line in lines) == len([*NAMES, *OF_NO_JOB, "good"])
    assert program.main(["info", "--json"], {}) == 0
    assert JOB.id in [job["job"] for job in json.loads(capsys.readouterr().out)["jobs"]]
    assert nothing_ran(host)


def test_why_a_job_does_not_start_is_one_line_to_everybody(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main([], {"SLURM_SCRIPT_CONTEXT": "prolog_slurmctld", "SLURM_JOB_ID": "12"}) == 1
    *told, end = (host / "told").read_bytes().decode().split("\0")
    logged, last = capsys.readouterr().err.split("\n")
    assert [words.partition(" ")[0] for words in told] == ["update", "notify"]
    assert list(filter(is_seen, [*told, logged])) == [*told, logged]
    # A note comes back as it was written.
    assert max(map(len, [*told, logged])) < 2000
    assert (end, last) == ("", "")
    assert nothing_ran(host)


def test_what_is_called_as_no_job_is_never_taken_back(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["reap"], {}) == 0
    *lines, last = capsys.readouterr().err.split("\n")
    assert list(filter(is_seen, lines)) == lines
    assert max(map(len, lines)) <= LONGEST
    assert [line for line in lines if "took back" in line] == []
    assert last == ""
    assert nothing_ran(host)


@pytest.mark.parametrize(("name", "beginning"), [(dynamic.NAME, "slurm_"), (mapping.NAME, "c")])
def test_a_name_is_a_jobs_by_the_number_of_one(name: re.Pattern[str], beginning: str) -> None:
    assert name.fullmatch(f"{beginning}4294967295")
    assert [number for number in NUMBERS if name.fullmatch(f"{beginning}{number}")] == []
