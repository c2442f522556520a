# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random partitions on random servers: one run reaches them, check mode predicts it, files of others stay."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Outcome, Refused, converge, one_by_one
from ansible_collections.ipu.pod.plugins.module_utils._vipu import ipuof
from ansible_collections.ipu.pod.plugins.module_utils._vipu.ipuof_files import IpuofFiles
from tests.support.in_memory.server import MemoryFiles

NAMES = ["train", "serve", "a.b-c_d"]
CONTENTS = st.sampled_from(["", "{}", "export IPUOF_LOG_LEVEL=DEBUG\n", ipuof.HEADER + " Not.\n"])
PATHS = [
    ipuof.PROFILE,
    *(f"{ipuof.ENVIRONMENTS}/{name}.env" for name in [*NAMES, "train_gcd1"]),
    *(f"{ipuof.CONFIGURATIONS}/{name}_ipuof.conf" for name in [*NAMES, "train_gcd1"]),
    f"{ipuof.CONFIGURATIONS}/README",
]


@st.composite
def declarations(draw: st.DrawFn) -> dict[str, list[str]]:
    """The files for random partitions in a random mode."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 2)), unique=True))
    options: list[dict[str, Any]] = [
        {
            "name": name,
            "api_host": draw(st.sampled_from(["10.3.1.200", "ctrl001"])),
            "api_port": draw(st.sampled_from([8090, 8190])),
            "gcd": gcd,
        }
        for name, gcd in pairs
    ]
    configurations = {name: [{"devices": draw(st.lists(st.integers(0, 3)))} for _ in range(3)] for name in NAMES}
    partitions = ipuof.partitions_from(options, configurations)
    if draw(st.booleans()):
        return ipuof.configuration_files(partitions)
    return ipuof.environment_files(partitions, draw(st.sampled_from([None, *(name for name, _ in pairs)])))


OWNERSHIPS = st.builds(
    ipuof.Ownership, group=st.sampled_from(["root", "poplar"]), mode=st.sampled_from(["0644", "0640"])
)


def run(files: MemoryFiles, wanted: dict[str, list[str]], ownership: ipuof.Ownership, check_mode: bool) -> Outcome:
    store = IpuofFiles(files)
    return converge(store.read, partial(ipuof.plan, wanted, ownership), one_by_one(store.carry_out), check_mode)


@given(
    earlier=declarations(),
    wanted=declarations(),
    ownerships=st.tuples(OWNERSHIPS, OWNERSHIPS),
    foreign=st.dictionaries(st.sampled_from(PATHS), CONTENTS, max_size=2),
    by_hand=CONTENTS,
)
def test_one_run_reaches_what_is_declared_as_check_mode_predicted(
    earlier: dict[str, list[str]],
    wanted: dict[str, list[str]],
    ownerships: tuple[ipuof.Ownership, ipuof.Ownership],
    foreign: dict[str, str],
    by_hand: str,
) -> None:
    files = MemoryFiles()
    run(files, earlier, ownerships[0], check_mode=False)
    for path in sorted(earlier.keys() - {ipuof.MANIFEST})[:1]:
        files.files[path] = File(files.files[path].content + by_hand)
    others = {path: File(text, owner="alice") for path, text in foreign.items() if path not in files.files}
    files.files.update(others)
    before = dict(files.files)
    in_the_way = [path for path in wanted if path in others]
    if in_the_way:
        with pytest.raises(Refused, match=re.escape(in_the_way[0])):
            run(files, wanted, ownerships[1], check_mode=False)
        assert files.files == before
        return

    predicted = run(files, wanted, ownerships[1], check_mode=True)
    assert files.files == before

    real = run(files, wanted, ownerships[1], check_mode=False)
    assert real.failure is None
    assert real.result() == predicted.result()
    assert run(files, wanted, ownerships[1], check_mode=True).steps == []
    expected = {
        path: File("".join(line + "\n" for line in lines), "root", ownerships[1].group, ownerships[1].mode)
        for path, lines in wanted.items()
    }
    assert {path: file for path, file in files.files.items() if path in wanted} == expected
    assert files.files.keys() == expected.keys() | others.keys()
    assert {path: files.files[path] for path in others} == others
