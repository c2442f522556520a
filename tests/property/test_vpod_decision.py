# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random vPODs on a random server: the decision says what the role does there, and after it there is nothing to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, RECREATE, REMOVE, UPDATE, Step
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.vpod_steps import OnController, vpod_steps
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.containers import SETTINGS as CONTAINERS_SETTINGS
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.containers import TIMER, TIMER_FILE
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import CLIENT, client_of
from tests.support.in_memory.vpod_hosts import (
    CLIENT_OPTIONS,
    CONTAINERS,
    DIRECTORY,
    NETWORK,
    SECURE,
    SETTINGS,
    SHARED,
    Host,
    carry_out,
    controller,
    options,
    shared_with,
)

PARTITIONS = ("train", "serve")
FOREIGN = st.sampled_from(
    [
        CLIENT,
        client_of("alice"),
        CONTAINERS_SETTINGS,
        TIMER_FILE,
        "/etc/vipu/certs/tls.key",
        "/etc/ipuof.conf.d/train_ipuof.conf",
    ]
)
OPTIONS = st.builds(
    options,
    client=st.sampled_from([None, CLIENT_OPTIONS, SECURE, {**SECURE, "user": "bob"}, {**SECURE, "api_port": 8190}]),
    mode=st.sampled_from(["environment", "files"]),
    partitions=st.sampled_from([(), PARTITIONS[:1], PARTITIONS]),
    containers=st.sampled_from(
        [
            [],
            [CONTAINERS],
            [{**CONTAINERS, "network": {**NETWORK, "interface": "rnic1"}}],
            [{**CONTAINERS, "name": "bob", "network": {**NETWORK, "name": "ipu-bob"}}],
            [SHARED],
            [shared_with("bob", 1)],
            [SHARED, shared_with("bob", 1)],
            [{**SHARED, "vipu_kept": True}, shared_with("bob", 1)],
        ]
    ),
)
OWNERS = st.sampled_from([{}, {"vpod_owner": "alice"}, {"vpod_file_mode": "0600"}])


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Host, Host, dict[str, Any]]:
    """A server as earlier runs, others and tired hands have left it, the host of its controller, and what is wanted."""
    wanted = draw(OPTIONS)
    host = controller("alice", "bob")
    host.configurations = {name: [{"devices": draw(st.lists(st.integers(0, 3)))}] for name in PARTITIONS}
    server = Host("pod001-poplar1")
    if draw(st.booleans()):
        carry_out(server, host, draw(st.one_of(st.just(wanted), OPTIONS)), {**SETTINGS, **draw(OWNERS)})
    for path in draw(st.sets(st.sampled_from(sorted(server.files.files)), max_size=2)) if server.files.files else ():
        file = server.files.files[path]
        by_hand = [
            replace(file, mode="0640"),
            *([] if "ipuof" in path else [replace(file, content=file.content + "#\n")]),
        ]
        server.files.write(path, draw(st.sampled_from(by_hand)))
    for path in draw(st.sets(FOREIGN, max_size=2)):
        if path not in server.files.files:
            server.files.write(path, File("of somebody else\n", owner="carol"))
    for path in draw(st.sets(st.sampled_from(sorted(server.directories)), max_size=1)) if server.directories else ():
        server.directories[path] = ("root", "root", "0700")
    for path in draw(st.one_of(st.just(()), st.sets(st.sampled_from(sorted(host.files.files)), max_size=1))):
        host.files.remove(path)
    return server, host, wanted


def others(wanted: dict[str, Any], there: OnController) -> dict[str, OnController]:
    """The controllers of the vPODs that share the server: all are one, on which the plan makes no other user's key."""
    user = (wanted["vipu"] or {}).get("user")
    return {
        vpod["name"]: there if (vpod.get("vipu") or {}).get("user") == user else replace(there, new_key=False)
        for vpod in wanted["containers"]
    }


def actions(steps: list[Step]) -> dict[str, str]:
    # What is made again is another one afterwards.
    return {step.name: UPDATE if step.action == RECREATE else step.action for step in steps}


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    """Path to what has become of it, as a plan calls that."""
    # A unit goes with its file, and what is in a directory with that.
    gone = before.keys() - after.keys() - {TIMER}
    found = {path: REMOVE for path in gone if not any(path.startswith(f"{each}/") for each in gone)}
    found.update((path, CREATE) for path in after.keys() - before.keys())
    return {**found, **{path: UPDATE for path in before.keys() & after.keys() if before[path] != after[path]}}


@given(world=worlds(), owner=OWNERS, new_key=st.booleans(), changed=st.sets(st.sampled_from(PARTITIONS)))
def test_a_decision_says_what_the_role_does(
    world: tuple[Host, Host, dict[str, Any]], owner: dict[str, str], new_key: bool, changed: set[str]
) -> None:
    server, host, wanted = world
    settings = {**SETTINGS, **owner}
    user = (wanted["vipu"] or {}).get("user")
    new_key = new_key and bool(user)
    earlier = [Step(CREATE, "partition", name, "is missing") for name in sorted(changed)]
    look, before = server.look(), server.seen()
    there = OnController(host.look(), new_key, earlier)

    # What the plan does on the controller before.
    if new_key:
        host.files.write(f"{DIRECTORY}/keys/{user}.key", File("another key\n"))
    host.configurations.update({name: [{"devices": [10]}] for name in changed})
    try:
        carry_out(server, host, wanted, settings)
    except Refused:
        with pytest.raises(Refused):
            vpod_steps(wanted, settings, look, there, (), others(wanted, there))
        return

    steps = vpod_steps(wanted, settings, look, there, (), others(wanted, there))
    assert actions(steps) == changes(before, server.seen())
    assert len(actions(steps)) == len(steps)
    there = OnController(host.look())
    assert vpod_steps(wanted, settings, server.look(), there, (), others(wanted, there)) == []


@given(world=worlds(), is_same=st.booleans())
def test_a_decision_knows_what_the_way_down_will_have_done(
    world: tuple[Host, Host, dict[str, Any]], is_same: bool
) -> None:
    """The way down leaves the server without a vPOD, or with one that stays."""
    server, host, wanted = world
    first = wanted if is_same else options()
    look, there = server.look(), OnController(host.look())
    try:
        earlier = vpod_steps(first, SETTINGS, look, there, (), others(first, there))
        predicted = vpod_steps(wanted, SETTINGS, look, there, earlier, others(wanted, there))
    except Refused:
        assume(False)
    carry_out(server, host, first, SETTINGS)
    assert predicted == vpod_steps(wanted, SETTINGS, server.look(), there, (), others(wanted, there))
