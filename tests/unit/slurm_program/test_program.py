# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that Slurm runs, as it is shipped, and the site's own scripts before it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program import program
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import Settings
from ansible_collections.ipu.pod.plugins.plugin_utils._programs.build import SLURM
from ansible_collections.ipu.pod.plugins.plugin_utils._programs.build import program as shipped
from tests.support.slurm_settings import settings

# A host of the tests has none.
NO_SETTINGS = "/etc/ipu-pod/slurm.json is not there; run the role slurm, which writes it\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("libexec") / "slurm"
    path.write_bytes(shipped(SLURM))
    return path


@pytest.mark.parametrize(
    ("words", "environment", "code", "message"),
    [
        ([], {}, 2, "use reap, info or info --json; without an argument this is for Slurm\n"),
        (["what"], {}, 2, "use reap, info or info --json; without an argument this is for Slurm\n"),
        (["info", "--xml"], {}, 2, "use reap, info or info --json; without an argument this is for Slurm\n"),
        (["reap"], {"SLURM_SCRIPT_CONTEXT": "prolog_slurmd"}, 1, f"reap: {NO_SETTINGS}"),
        (["info"], {}, 1, f"info: {NO_SETTINGS}"),
        ([], {"SLURM_SCRIPT_CONTEXT": "epilog_slurmctld", "SLURM_JOB_ID": "5"}, 1, f"job 5: {NO_SETTINGS}"),
        ([], {"SLURM_SCRIPT_CONTEXT": "prolog_slurmd"}, 2, "use reap, info"),
        ([], {"SLURM_SCRIPT_CONTEXT": "prolog_task", "SLURM_JOB_ID": "5"}, 2, "use reap, info"),
    ],
)
@pytest.mark.skipif(Path("/etc/ipu-pod/slurm.json").exists(), reason="this host is set up for Slurm and IPUs")
def test_what_it_is_asked(file: Path, words: list[str], environment: dict[str, str], code: int, message: str) -> None:
    done = subprocess.run([sys.executable, file, *words], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(message)


def test_nobodys_environment_changes_what_slurms_programs_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQUEUE_PARTITION", "another")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
    code, output, _errors = program.run_slurm(["env"], "")
    assert code == 0
    assert {line.partition("=")[0] for line in output.splitlines()} == {"PATH", "SLURM_CONF"}


def test_a_program_that_is_not_there() -> None:
    assert program.run_slurm(["no-such-program"], "") == (127, "", "no-such-program: No such file or directory")


class Site:
    """Scripts of the site; each writes its name and the job's number, and ends with a given code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"

    def script(self, name: str, end: str = "exit 0") -> None:
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho "{name} $SLURM_JOB_ID" >> {self.log}\n{end}\n')
        path.chmod(0o755)

    def hook(self, word: str, monkeypatch: pytest.MonkeyPatch) -> int:
        """The exit code of a hook of a node; ours writes its own line."""

        def ours(word: str, number: int, _name: str, _settings: Settings) -> int:
            with self.log.open("a") as log:
                log.write(f"{word} {number}\n")
            return 0

        monkeypatch.setattr(program, "_on_node", ours)
        monkeypatch.setattr(program, "_settings", lambda: settings(chained={word: str(self.folder / "*.sh")}))
        environment = {"SLURM_SCRIPT_CONTEXT": word, "SLURM_JOB_ID": "5", "SLURMD_NODENAME": "n1"}
        return program.main([], environment)

    @property
    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: Any) -> Site:
    monkeypatch.setenv("PATH", "")
    return Site(tmp_path)


def test_the_sites_scripts_run_first_in_their_order(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.script("20-b.sh")
    site.script("10-a.sh")
    assert site.hook("prolog_slurmd", monkeypatch) == 0
    assert site.lines == ["10-a.sh 5", "20-b.sh 5", "prolog_slurmd 5"]


@pytest.mark.parametrize(("end", "code"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_a_prolog_of_the_site_that_fails_is_the_last_word(
    site: Site, monkeypatch: pytest.MonkeyPatch, end: str, code: int
) -> None:
    site.script("10-a.sh", end)
    site.script("20-b.sh")
    assert site.hook("prolog_slurmd", monkeypatch) == code
    assert site.lines == ["10-a.sh 5"]


def test_an_epilog_of_the_site_that_fails_does_not_keep_ours_from_its_work(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.script("10-a.sh", "exit 3")
    assert site.hook("epilog_slurmd", monkeypatch) == 3
    assert site.lines == ["10-a.sh 5", "epilog_slurmd 5"]
