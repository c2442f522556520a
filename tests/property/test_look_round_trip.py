# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look survives the way to the control node: the same types with the same values come out of JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._look.parts import plain
from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import Link, Server
from ansible_collections.ipu.pod.plugins.module_utils._rnic.uses import Mount, QueuePair, UsedFunction, Uses
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import TOOL_SETS
from ansible_collections.ipu.pod.plugins.module_utils._roce.settings import NAMES
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import Survey as RoceServer
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import Surveyed
from ansible_collections.ipu.pod.plugins.module_utils._roce.tool_sets import Nic
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.typed_looks import (
    from_plain,
    rnic_server_from,
    roce_server_from,
    uses_from,
)

WORDS = st.text(max_size=8)
NUMBERS = st.integers(0, 10_000)
PATHS = st.dictionaries(WORDS, WORDS, max_size=3)
WORD_SETS = st.frozensets(WORDS, max_size=3)
FUNCTIONS = st.fixed_dictionaries(
    {"index": NUMBERS, "mac": WORDS, "vlan": NUMBERS, "trust": st.booleans(), "spoof_check": st.booleans()}
)


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


LINKS = st.dictionaries(
    WORDS,
    st.builds(
        Link,
        device=WORDS,
        index=NUMBERS,
        kind=st.none() | WORDS,
        mac=WORDS,
        up=st.booleans(),
        mtu=NUMBERS,
        min_mtu=NUMBERS,
        max_mtu=NUMBERS,
        addresses=several(WORDS),
        dynamic=several(WORDS),
        ips=WORD_SETS,
        master=st.none() | WORDS,
        parent=st.none() | WORDS,
        vlan_id=st.none() | NUMBERS,
        bond_mode=st.none() | WORDS,
        virtual_functions=several(FUNCTIONS),
    ),
    max_size=3,
)
SERVERS = st.builds(
    Server,
    links=LINKS,
    default_devices=WORD_SETS,
    ssh_addresses=WORD_SETS,
    services=WORD_SETS,
    claims=st.dictionaries(WORDS, PATHS, max_size=3),
    files=PATHS,
    used_texts=PATHS,
    pci=PATHS,
    max_virtual_functions=st.dictionaries(WORDS, NUMBERS, max_size=3),
)
MOUNTS = st.builds(Mount, path=WORDS, type=WORDS, source=WORDS, address=st.none() | WORDS)
USES = st.builds(
    Uses,
    mounts=several(st.tuples(MOUNTS, st.none() | WORDS)),
    netdevs=st.dictionaries(WORDS, st.none() | WORDS, max_size=3),
    queue_pairs=st.none() | several(st.builds(QueuePair, rdma_device=WORDS, number=NUMBERS, user=WORDS)),
    functions=several(st.builds(UsedFunction, device=WORDS, index=NUMBERS, how=WORDS)),
)
# As texts from the kernel and from tools: a DSCP is the text of a number.
VALUES = (
    st.none()
    | NUMBERS
    | st.booleans()
    | WORDS
    | st.lists(NUMBERS, max_size=3)
    | st.dictionaries(NUMBERS.map(str), NUMBERS, max_size=3)
    | st.fixed_dictionaries({"np": st.lists(NUMBERS, max_size=3), "rp": st.lists(NUMBERS, max_size=3)})
)
SURVEYED = st.builds(
    Surveyed,
    nic=st.builds(Nic, device=WORDS, rdma_device=st.none() | WORDS, rdma_port=NUMBERS),
    running=st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)),
    script=st.none() | WORDS,
    unit=st.none() | WORDS,
    starts=st.booleans(),
)


def on_the_control_node(data: Any) -> Any:
    return json.loads(json.dumps(data))


@given(server=SERVERS)
def test_interfaces(server: Server) -> None:
    assert rnic_server_from(on_the_control_node(plain(server))) == server


@given(uses=USES)
def test_uses(uses: Uses) -> None:
    assert uses_from(on_the_control_node(plain(uses))) == uses


@given(tools=st.sampled_from(sorted(TOOL_SETS)), links=LINKS, surveyed=st.dictionaries(WORDS, SURVEYED, max_size=3))
def test_lossless_settings(tools: str, links: dict[str, Link], surveyed: dict[str, Surveyed]) -> None:
    data = on_the_control_node({"tools": tools, "links": plain(links), "interfaces": plain(surveyed)})
    found = roce_server_from(data)
    assert found == RoceServer(TOOL_SETS[tools], links, surveyed)
    # People read mappings in reasons, in the order that the tools gave them.
    for name, each in surveyed.items():
        assert repr(found.interfaces[name].running) == repr(each.running)


@given(server=SERVERS)
def test_a_look_that_saw_the_same_is_the_same_text(server: Server) -> None:
    again = from_plain(Server, plain(server))
    assert json.dumps(plain(again)) == json.dumps(plain(server))


def test_a_type_that_json_cannot_carry_is_an_error() -> None:
    with pytest.raises(TypeError, match="complex"):
        from_plain(complex, 1)
