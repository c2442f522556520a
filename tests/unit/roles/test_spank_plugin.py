# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SPANK plugin, which runs as root for every task of every user, under the sanitizers of the C compiler."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from tests.support.checkout import ROOT

HARNESS = ROOT / "tests" / "support" / "spank"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# Text that was never written has no end.
STRICT = {"ASAN_OPTIONS": "strict_string_checks=1:detect_leaks=0"}
ANSWER = re.compile(r"-?[0-9]+")
DONE, FAILED = 0, -1
NONE = "-"
FILE = "gcds=2\nIPUOF_VIPU_API_PARTITION_ID=p\nIPU_POD_IPUS=4\nIPU_POD_X=%g-%g\n"
OPTION = "SLURM_SPANK__SLURM_SPANK_OPTION_ipu_ipus"


@dataclass(frozen=True)
class Task:
    """A task of a job, with what its user and root have written for it."""

    environment: Sequence[str] = ()
    file: str = NONE
    asked: str = NONE
    rank: int = 0
    options: str = "ipus,num-replicas"

    @property
    def words(self) -> Sequence[str]:
        return (str(self.rank), self.options, self.asked, self.file, *self.environment, ".")


@dataclass(frozen=True)
class Outcome:
    """The plugin's answer, what it said, and the task's environment afterwards."""

    answer: int
    said: Sequence[str]
    environment: Sequence[str]


Run = Callable[[Sequence[Task]], list[Outcome]]


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs gcc with its sanitizers; the package gcc has both")
    folder = tmp_path_factory.mktemp("spank")
    program, jobs = folder / "harness", folder / "jobs"
    jobs.mkdir()
    includes = (f"-I{HARNESS}", f"-I{ROOT}/roles/slurm/files")
    argv = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", *SANITIZERS, *includes]
    subprocess.run([*argv, f"{HARNESS}/harness.c", "-o", str(program)], check=True)

    def run(tasks: Sequence[Task]) -> list[Outcome]:
        words = "".join(f"{word}\0" for task in tasks for word in task.words)
        done = subprocess.run(
            [str(program), str(jobs)],
            input=words.encode("latin-1"),
            capture_output=True,
            env={**os.environ, **STRICT},
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        assert done.stderr == b""
        return outcomes(done.stdout.decode("latin-1").split("\0")[:-1])

    return run


def outcomes(words: Sequence[str]) -> list[Outcome]:
    found: list[Outcome] = []
    start = 0
    while start < len(words):
        end = words.index(".", start)
        answer = next(number for number in range(start, end) if ANSWER.fullmatch(words[number]))
        found.append(Outcome(int(words[answer]), words[start:answer], words[answer + 1 : end]))
        start = end + 1
    return found


def test_an_entry_without_a_sign_ends_no_removal(run: Run) -> None:
    environment = ("IPU_POD_X", "A=1", "IPU_POD_Y=2", "IPU_POD_Z", "IPU_POD_=3", "IPU_POD_Y=4", OPTION, f"{OPTION}=4")
    for file in (NONE, FILE):
        (found,) = run([Task(environment, file)])
        assert found.answer == DONE
        assert found.environment[:4] == ["IPU_POD_X", "A=1", "IPU_POD_Z", OPTION]
        assert [entry for entry in found.environment[4:] if entry.startswith("IPU_POD_")] == (
            [] if file == NONE else ["IPU_POD_IPUS=4", "IPU_POD_X=0-0"]
        )


@pytest.mark.parametrize("file", ["", "\n", "refuse", "gcds=", "gcds=0\nrefused", "gcds=1\nrefused\n"])
def test_a_file_that_says_nothing_is_not_understood(run: Run, file: str) -> None:
    (found,) = run([Task(file=file)])
    assert found.answer == FAILED
    assert found.said[-1].endswith("is not understood; tell your administrator")


def test_a_job_that_got_nothing_is_told_so(run: Run) -> None:
    for file in ("refused", "refused\n", "refused\nmore\n"):
        (found,) = run([Task(file=file)])
        assert (found.answer, found.said[-1][:34]) == (FAILED, "ipu: this job got no IPUs here; Sl")


def test_what_is_no_number_is_not_told_to_whom_asks(run: Run) -> None:
    told, untold = run([Task(asked="8"), Task(asked="\x1b[2J8")])
    assert told.said == ["ipu: --ipus=8 changes nothing here: this job has no IPUs; submit a new one for that"]
    assert [sentence for sentence in untold.said if sentence.startswith("ipu:")] == []


PIECES = (
    *("IPU_POD_", "IPU_POD_X", "IPUOF_CONFIG_PATH", "IPUOF_VIPU_API_GCD_ID", OPTION, "A", "=", "=", "=1", "\n", "\xff"),
    *("gcds=1\n", "gcds=", "gcds=4\nIPU_POD_IPUS=4\n", "refused", "%g", "%", "0", "999999", "9" * 30, "-", "x" * 5000),
    *("ipus", "num-replicas", ",", ",,", " "),
)


def test_nothing_that_users_or_files_say_breaks_it(run: Run) -> None:
    chance = random.Random(19)

    def text(most: int) -> str:
        return "".join(chance.choices(PIECES, k=chance.randint(0, most)))

    def task() -> Task:
        environment = [text(4) for _each in range(chance.randint(0, 8))]
        asked = chance.choice([NONE, text(2), str(chance.randint(0, 99))])
        return Task(environment, chance.choice([NONE, text(8)]), asked, chance.choice([0, 1, 2**32 - 1]), text(5))

    tasks = [task() for _each in range(3000)]
    found = run(tasks)
    assert len(found) == len(tasks)
    assert {DONE, FAILED} == {each.answer for each in found}
    for given, left in zip(tasks, found, strict=True):
        names = {entry.partition("=")[0] for entry in left.environment if "=" in entry}
        ours = {name for name in names if name.startswith(("IPU_POD_", OPTION))}
        assert all(name in given.file for name in ours)
