# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Backend.AI after its playbook: each session has the IPUs that it asked for, and no others. One story."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.backend_ai.backend_ai_site import SERVERS, SETTINGS, Site, until
from tests.support.playbook_run import PlaybookRun

Ipu = tuple[str, int]
ONE, OTHER = SERVERS
USERS = ("user", "user2")
FILE = "/etc/ipuof.conf.d/ipuof.conf"
# What an operator could want next: one more variable of the agents.
MORE = ("-e", json.dumps({"backend_ai_agent_environment": {"POPLAR_LOG_LEVEL": "INFO"}}))
LATER = "the agent has not read its new settings yet, since containers of sessions run here: "


def ipus_of(configuration: str) -> set[Ipu]:
    """The IPUs of an IPUoF configuration, by machine and number there."""
    return {(device["ip"], device["device_id"]) for device in json.loads(configuration)["devices"]}


def share(site: Site, server: str, container: str) -> set[Ipu]:
    """The IPUs that a session's container has."""
    return ipus_of(site.in_container(server, container, f"cat {FILE}"))


def partition(site: Site, server: str) -> set[Ipu]:
    """The IPUs that an agent has."""
    return ipus_of(site.pod.inside(server, f"cat /etc/ipuof.conf.d/ml-rack{SERVERS.index(server) + 1}_ipuof.conf"))


def answers(site: Site, server: str, container: str, address: str) -> None:
    """Frames of 9000 bytes, which only the RNIC network takes, from an address there."""
    own = site.inspected(server, container)["NetworkSettings"]["Networks"]["ipu-ml"]["IPAddress"]
    site.in_container(server, container, f"ping -c 1 -W 2 -M do -s 8972 -I {own} {address}")


def ran(run: PlaybookRun) -> PlaybookRun:
    assert (run.code, run.messages) == (0, "")
    return run


def test_a_dry_run_says_what_the_run_does_and_a_second_changes_nothing(site: Site) -> None:
    before = site.touched()
    check = ran(site.pod.playbook("backend_ai", "--check"))
    assert site.touched() == before
    run = ran(site.pod.playbook("backend_ai"))
    assert check.changes == run.changes != []
    assert ran(site.pod.playbook("backend_ai")).changes == []


def test_the_agents_offer_the_ipus_of_their_partitions(site: Site) -> None:
    until(lambda: site.slots() == dict.fromkeys(SERVERS, 8), "the agents are not at their manager, with 8 IPUs each")


@pytest.mark.parametrize("server", SERVERS)
def test_all_else_in_the_settings_of_an_agent_stays(site: Site, server: str) -> None:
    ours = ("allow-compute-plugins = ", "allocation-order = ")
    lines = site.pod.inside(server, f"cat {SETTINGS}").splitlines()
    assert [line for line in lines if not line.startswith(ours)] == site.settings_of(server).splitlines()


@pytest.mark.parametrize(
    ("fault", "mended", "sentence"),
    [
        (
            "mv /usr/local/bin/gc-monitor /root/",
            "mv /root/gc-monitor /usr/local/bin/",
            "the IPUs of partition ml-rack2 are not known (",
        ),
        (
            f"cp -p {SETTINGS} /root/; echo [agent >>{SETTINGS}",
            f"cp -p /root/agent.toml {SETTINGS}",
            f"{SETTINGS} is no TOML (",
        ),
    ],
    ids=["no gc-monitor", "a broken agent.toml"],
)
def test_what_is_in_the_way_is_said_before_anything_is_touched(
    site: Site, fault: str, mended: str, sentence: str
) -> None:
    site.pod.inside(OTHER, fault)
    before = site.touched()
    run = site.pod.playbook("backend_ai", *MORE)
    after = site.touched()
    site.pod.inside(OTHER, mended)
    assert run.code != 0
    assert f"{OTHER}: {sentence}" in run.messages
    assert after == before


def test_sessions_of_two_users_on_one_server_have_different_ipus(site: Site) -> None:
    beside = f"--assign-agent i-{ONE}"
    containers = [site.create(f"session-of-{user}", 2, beside, user)[ONE] for user in USERS]
    shares = [share(site, ONE, container) for container in containers]
    assert [len(each) for each in shares] == [2, 2]
    assert shares[0].isdisjoint(shares[1])
    assert shares[0] | shares[1] <= partition(site, ONE)
    assert site.slots("occupied_slots") == {ONE: 4, OTHER: 0}
    for container, ipus in zip(containers, shares, strict=True):
        for address in {address for address, _ipu in ipus}:
            answers(site, ONE, container, address)
        assert_has_what_was_generated(site, ONE, container)
    owners = {site.inspected(ONE, each)["Config"]["Labels"]["ai.backend.owner-user-id"] for each in containers}
    assert len(owners) == 2
    for user in USERS:
        site.destroy(f"session-of-{user}", user)
    assert site.slots("occupied_slots") == dict.fromkeys(SERVERS, 0)


def assert_has_what_was_generated(site: Site, server: str, container: str) -> None:
    """A container has all that the plugin says, beside what is Backend.AI's own."""
    generated, found = site.generated(server, container), site.inspected(server, container)
    wanted: dict[str, Any] = generated["arguments"]
    assert set(wanted["Env"]) <= set(found["Config"]["Env"])
    for name, value in wanted["HostConfig"].items():
        has = found["HostConfig"][name]
        assert has == value if isinstance(value, str) else all(each in has for each in value), name
    assert set(generated["networks"]) <= set(found["NetworkSettings"]["Networks"])
    [mount] = [each for each in found["Mounts"] if each["Destination"] == generated["mount"]]
    files = {name: site.pod.inside(server, f"cat {mount['Source']}/{name}") for name in generated["files"]}
    assert files == generated["files"] == {"ipuof.conf": site.in_container(server, container, f"cat {FILE}")}


def test_a_session_has_a_container_in_each_rack(site: Site) -> None:
    """No agent has IPUs for two containers of it."""
    containers = site.create("pair", 5, "--cluster-mode multi_node --cluster-size 2")
    assert sorted(containers) == [*SERVERS]
    networks = {
        server: site.inspected(server, container)["NetworkSettings"]["Networks"]
        for server, container in containers.items()
    }
    for server, container in containers.items():
        ipus = share(site, server, container)
        assert len(ipus) == 5
        assert ipus <= partition(site, server)
        for address in {address for address, _ipu in ipus}:
            answers(site, server, container, address)
        [other] = [networks[each]["ipu-ml"]["IPAddress"] for each in SERVERS if each != server]
        answers(site, server, container, other)
        assert_has_what_was_generated(site, server, container)
    site.destroy("pair")


def test_an_agent_with_sessions_is_restarted_when_they_have_ended(site: Site) -> None:
    container = site.create("long", 2, f"--assign-agent i-{ONE}")[ONE]
    name, ipus, started = site.inspected(ONE, container)["Name"], share(site, ONE, container), site.agents_started()
    for changes in (True, False):
        run = ran(site.pod.playbook("backend_ai", *MORE))
        assert (run.changes != []) is changes
        assert said_later(run) == {ONE: f"{ONE}: {LATER}{name[1:]}. Run this playbook again when they have ended."}
    now = site.agents_started()
    assert now[ONE] == started[ONE]
    assert now[OTHER] != started[OTHER]
    assert (site.status("long"), share(site, ONE, container)) == ("RUNNING", ipus)
    site.destroy("long")
    run = ran(site.pod.playbook("backend_ai", *MORE))
    assert {host for host, _task in run.changes} == {ONE}
    assert said_later(run) == {}
    assert site.agents_started()[ONE] != started[ONE]
    # The agent writes its title over what /proc has of its environment.
    unit = site.pod.inside(ONE, "systemctl show --property=Environment,NeedDaemonReload backendai-agent")
    assert "POPLAR_LOG_LEVEL=INFO" in unit
    assert "NeedDaemonReload=no" in unit
    until(lambda: site.slots() == dict.fromkeys(SERVERS, 8), "the agents are not back at their manager")


def said_later(run: PlaybookRun) -> dict[str, str]:
    """What is said of agents that are restarted later, by server."""
    return {host: result["msg"] for host, _task, result in run.tasks if LATER in str(result.get("msg", ""))}
