# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owner's agent.toml keeps everything that is theirs."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._backend_ai_host.look import PACKAGE
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files import agent_toml
from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.agent_toml import with_plugin

PATH = "/etc/backend.ai/agent.toml"
OWNERS = """\
[etcd]
password = "secret" # ours

[agent]
backend = "docker"
# what we use
allow-compute-plugins = [
    "ai.backend.accelerator.cuda_open", # for the other rack
]

[container]
scratch-root = "./scratches"    # small

[resource]
allocation-order = ["cpu", "mem"] # no others
"""


def edited(text: str, scratch_root: str = "") -> str:
    return with_plugin(text, PATH, scratch_root)


def test_the_plugin_is_added_to_the_list_and_everything_else_stays() -> None:
    text = edited(OWNERS)
    assert text.replace(f'    "{PACKAGE}",\n', "", 1).replace('"ipu",', "", 1) == OWNERS
    assert tomllib.loads(text)["agent"]["allow-compute-plugins"] == ["ai.backend.accelerator.cuda_open", PACKAGE]


@pytest.mark.parametrize("text", ["", "[agent]\n", "# nothing but a comment\n"])
def test_a_file_without_the_list_gets_one(text: str) -> None:
    assert tomllib.loads(edited(text))["agent"] == {"allow-compute-plugins": [PACKAGE]}


@pytest.mark.parametrize("allowed", [PACKAGE, "ai.backend.accelerator", "ai"])
def test_a_file_that_allows_it_already_stays_as_it_is(allowed: str) -> None:
    order = '[resource]\nallocation-order = ["cpu", "ipu"]\n'
    text = f'[agent]\nallow-compute-plugins = ["{allowed}"]\n[container]\n{order}'
    assert edited(text) == text


def test_ipus_come_first_in_the_order_of_allocation() -> None:
    assert tomllib.loads(edited(OWNERS))["resource"]["allocation-order"] == ["ipu", "cpu", "mem"]
    assert 'allocation-order = ["ipu", "cuda", "rocm", "tpu", "cpu", "mem"]\n' in edited("")


def test_a_name_that_only_begins_in_the_same_way_is_another_one() -> None:
    text = '[agent]\nallow-compute-plugins = ["ai.backend.accelerator.ip"]\n'
    assert PACKAGE in tomllib.loads(edited(text))["agent"]["allow-compute-plugins"]


def test_scratch_space_is_the_owners_unless_it_is_chosen() -> None:
    assert tomllib.loads(edited(OWNERS))["container"]["scratch-root"] == "./scratches"
    text = edited(OWNERS, "/scratch")
    assert tomllib.loads(text)["container"]["scratch-root"] == "/scratch"
    assert "# small" in text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[agent]\nblock-compute-plugins = ["ai.backend.accelerator.ipu"]\n', "block-compute-plugins has ai.backend"),
        ('[agent]\nbackend = "kubernetes"\n', r"\[agent\] backend is not docker"),
        ('[agent]\nmode = "kubernetes"\n', r"\[agent\] backend is not docker"),
        ("[agent\n", "agent.toml is no TOML"),
        ('agent = "x"\n', r"agent is no table; write \[agent\]"),
        ("[agent]\nallow-compute-plugins = 3\n", "allow-compute-plugins is no list of names; write it like"),
        ("[resource]\nallocation-order = [1]\n", r"\[resource\] allocation-order is no list of names"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_place(text: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        edited(text)


def test_a_refusal_quotes_no_value() -> None:
    with pytest.raises(Refused) as refused:
        edited('[etcd]\npassword = "secret\n')
    assert "secret" not in str(refused.value)


def test_a_control_node_without_tomlkit_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_toml, "HAS_TOMLKIT", False)
    with pytest.raises(Refused, match="has no Python package tomlkit; install it for the Python that runs Ansible"):
        edited("")


KEYS = st.text("abc-", min_size=1).map(lambda name: f"k{name}")
VALUES = st.one_of(st.integers(-(10**9), 10**9), st.booleans(), st.text(max_size=20), st.lists(st.text(max_size=5)))
LISTS = st.lists(st.sampled_from([PACKAGE, "ai.backend.accelerator.mock", "x"]), unique=True)


@given(
    table=st.dictionaries(KEYS, VALUES, max_size=4),
    other=st.dictionaries(KEYS, VALUES, max_size=4),
    allowed=st.none() | LISTS,
)
def test_nothing_but_the_list_changes_and_a_second_time_nothing_at_all(
    table: dict[str, Any], other: dict[str, Any], allowed: list[str] | None
) -> None:
    before: dict[str, Any] = {"agent": dict(table), "other": other, "container": {}, "resource": {}}
    if allowed is not None:
        before["agent"]["allow-compute-plugins"] = allowed
    text = edited(tomlkit.dumps(before))
    after = tomllib.loads(text)
    there = after["agent"].pop("allow-compute-plugins")
    assert "ipu" in after["resource"].pop("allocation-order")
    before["agent"].pop("allow-compute-plugins", None)
    assert after == before
    assert there == [*(allowed or []), *([] if PACKAGE in (allowed or []) else [PACKAGE])]
    assert edited(text) == text
