# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nobody gets IPUs counted beside job_submit.lua, in the words of old Slurm and of new."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.job_submit import ACCESS_DENIED, ERROR, SUCCESS, JobSubmit, asking_for
from tests.support.slurm_settings import settings

NOTE = "ipu.pod ipus=16 gcds=1"
FIELDS = ("licenses", "tres_per_node", "tres_per_job", "tres_per_socket", "tres_per_task")
# Whatever any release of Slurm counts as licences or GRES of ours.
COUNTED = {
    **{f"licence {text}": {"licenses": text} for text in ("ipu", "ipu:64", "ipu=64", "ipu*64", "ipu(n1):4", "ipu@x:1")},
    **{f"licence {text}": {"licenses": text} for text in ("a,ipu=1", "a;ipu=1", "a:1|ipu:1", ",ipu=1", "a=1;;ipu")},
    **{f"{field} {text}": {field: text} for field in FIELDS[1:] for text in ("license/ipu=64", "cpu:1,license/ipu:64")},
    **{f"{field} License:ipu": {field: "License:ipu"} for field in FIELDS[1:]},
    **{f"{field} {text}": {field: text} for field in FIELDS[2:] for text in ("gres/vipu:4=1", "gres:vipu:4:1", "vipu")},
}
# As Slurm splits a request for licences: 22.05, and 23.11 and later.
SPLITS = (("[,;]", "[:*]"), ("[,;|]", "[:=]"))
PIECES = (
    "ipu",
    "other",
    ":",
    "=",
    "*",
    ",",
    ";",
    "|",
    "@",
    "(",
    ")",
    "64",
    "-1",
    " ",
    "\t",
    "\n",
    "license/",
    "%s",
    "\xff",
)


@pytest.fixture(params=["dynamic", "static"])
def scripts(tmp_path: Path, request: pytest.FixtureRequest) -> JobSubmit:
    return JobSubmit(tmp_path, settings(way=request.param, partitions=[], slurm_partitions=["ipu"]))


@pytest.fixture
def script(tmp_path: Path) -> JobSubmit:
    return JobSubmit(tmp_path, settings(slurm_partitions=["ipu"]))


@pytest.mark.parametrize("asked", COUNTED.values(), ids=COUNTED)
def test_a_job_in_another_slurm_partition_does_not_get_ipus_counted(scripts: JobSubmit, asked: dict[str, Any]) -> None:
    answer, _job = scripts.submit({"partition": "cpu", **asked})
    assert (answer, scripts.failed) == (ERROR, [])
    assert re.search(r"; (ask for IPUs with|use) --(ipus=N|gres=vipu:IPUS:1)$", scripts.told[0])


@pytest.mark.parametrize("asked", COUNTED.values(), ids=COUNTED)
def test_nor_does_a_job_that_is_changed(scripts: JobSubmit, asked: dict[str, Any]) -> None:
    assert scripts.modify(asked, {"partition": "cpu"}) == ACCESS_DENIED


@pytest.mark.parametrize("asked", COUNTED.values(), ids=COUNTED)
def test_nor_does_a_part_of_a_heterogeneous_job(scripts: JobSubmit, asked: dict[str, Any]) -> None:
    assert scripts.submit({"partition": "cpu", "het_job_offset": 1, **asked})[0] == ERROR


def test_no_part_of_a_heterogeneous_job_has_ipus(script: JobSubmit) -> None:
    answer, _job = script.submit({"partition": "ipu", "het_job_offset": 1, **asking_for(4)})
    sentence = "the parts of a heterogeneous job cannot have IPUs; submit them as jobs of their own"
    assert (answer, script.told) == (ERROR, [sentence])


def test_what_says_that_a_job_was_checked_is_not_the_users_to_write(scripts: JobSubmit) -> None:
    forged = {"partition": "cpu", "admin_comment": NOTE}
    assert scripts.submit(forged) == (SUCCESS, {**forged, "admin_comment": ""})


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", ["", "other:1"])
def test_what_an_ipu_job_is_counted_for_is_neither_changed_nor_emptied(
    script: JobSubmit, field: str, value: str
) -> None:
    assert script.modify({field: value}, {"partition": "ipu", "admin_comment": NOTE}) == ACCESS_DENIED


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", ["", "ipus=2", "other:1;ipux=3", "gres/gpu:ipu=1"])
def test_what_is_not_ours_is_left_alone(script: JobSubmit, field: str, value: str) -> None:
    asked = {"partition": "cpu", field: value}
    assert script.submit(asked) == (SUCCESS, asked)
    assert script.modify({field: value}, {"partition": "cpu"}) == SUCCESS


def test_a_model_is_taken_out_in_either_spelling(script: JobSubmit) -> None:
    for request in ("vipu:pod64", "gres:vipu:pod64:1", "gres/vipu:pod64=1,gpu:1"):
        answer, job = script.submit({"partition": "ipu", "tres_per_node": request, **asking_for(4)})
        assert (answer, job["licenses"], job["admin_comment"]) == (SUCCESS, "ipu:4", "ipu.pod ipus=4 gcds=1")
        assert job["tres_per_node"] in ("", "gpu:1")


def test_ipus_are_not_added_to_licences_of_which_one_is_enough(script: JobSubmit) -> None:
    answer, _job = script.submit({"partition": "ipu", "licenses": "a:1|b:1", **asking_for(4)})
    assert (answer, script.told) == (
        ERROR,
        ["-L a:1|b:1: IPUs cannot be added to licences of which one is enough; name the one that the job takes"],
    )


def counts_ours(text: str) -> bool:
    """Whether any release of Slurm counts a licence of ours in a text that it accepts."""
    return any(re.split(end, entry, maxsplit=1)[0] == "ipu" for cut, end in SPLITS for entry in re.split(cut, text))


def test_no_text_gets_ipus_counted_or_breaks_the_examination(script: JobSubmit) -> None:
    chance = random.Random(19)
    found = 0
    for _each in range(5000):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 8)))
        ours, counted = counts_ours(text), dict.fromkeys(FIELDS, text)
        answers = [script.submit({"partition": "cpu", "licenses": text})[0], script.modify(counted, {})]
        assert not ours or answers == [ERROR, ACCESS_DENIED], text
        script.submit({"partition": "ipu", **counted, **asking_for(4)})
        assert script.failed == []
        found += ours
    assert found > 100
