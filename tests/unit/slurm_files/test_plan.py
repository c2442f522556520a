# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files for a new cluster and for one that is there, and what of the latter is in the way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.filter.roles import administrator
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import PROGRAM, SETTINGS
from tests.unit.slurm_files.vpod_for_slurm import (
    FOUND,
    FOUR_EACH,
    NEW_CLUSTER,
    NOTHING,
    SERVERS,
    declared,
    for_jobs,
    planned,
)

CONF, INCLUDED, GRES = "/etc/slurm/slurm.conf", "/etc/slurm/ipu-pod.conf", "/etc/slurm/ipu-pod-gres.conf"
GRES_OF = dict(zip(SERVERS, ("vipu:4:2", "vipu:16:1", "vipu:32:1", "vipu:32:1"), strict=True))


def parameters(plan: dict[str, Any], path: str = INCLUDED) -> dict[str, str]:
    """Key to value of a configuration, without its lines of nodes."""
    lines = (line.partition("=") for line in plan["conf"][path].splitlines() if not line.startswith(("#", "include")))
    return {key: value for key, _sign, value in lines if not key.endswith("Name") or key == "ClusterName"}


def test_each_hook_is_the_program() -> None:
    wanted = parameters(planned(declared()))
    assert {wanted[hook] for hook in ("PrologSlurmctld", "EpilogSlurmctld", "Prolog", "Epilog")} == {PROGRAM}


@pytest.mark.parametrize(
    ("declaration", "way", "counters"),
    [
        (declared(), "dynamic", {"Licenses": "ipu:64", "GresTypes": "vipu", "CliFilterPlugins": "lua"}),
        (declared(partitions=FOUR_EACH), "static", {"GresTypes": "vipu"}),
        (
            declared(partitions={"whole": {"ipus": 32, "reconfigurable": True}}),
            "reconfigurable",
            {"Licenses": "ipu:32", "RequeueExit": "75"},
        ),
        (for_jobs(), "mapping", {"Licenses": "ipu:64"}),
    ],
)
def test_each_way_has_its_counters(declaration: dict[str, Any], way: str, counters: dict[str, str]) -> None:
    wanted = parameters(planned(declaration, way=way))
    names = ("Licenses", "GresTypes", "CliFilterPlugins", "RequeueExit")
    assert {name: wanted[name] for name in names if name in wanted} == counters


def test_what_the_site_says_stays() -> None:
    values = {
        "PrologFlags": "Contain",
        "JobSubmitPlugins": "require_timelimit,lua",
        "GresTypes": "gpu",
        "Licenses": "matlab:4",
        "SchedulerParameters": "nohold_on_prolog_fail,bf_window=60",
        "AuthInfo": "socket=/run/munge.socket,cred_expire=60",
        "Prolog": "/etc/slurm/prolog.d/*",
        "EpilogSlurmctld": "",
    }
    plan = planned(declared(), {**FOUND, "values": values}, cred_expire=5)
    wanted = parameters(plan)
    assert wanted["PrologFlags"] == "Contain,Alloc"
    assert wanted["JobSubmitPlugins"] == "require_timelimit,lua"
    assert wanted["GresTypes"] == "gpu,vipu"
    assert wanted["Licenses"] == "matlab:4,ipu:64"
    assert wanted["SchedulerParameters"] == "nohold_on_prolog_fail,bf_window=60"
    assert wanted["AuthInfo"] == "socket=/run/munge.socket,cred_expire=5"
    assert plan["settings"]["chained"] == {"prolog_slurmd": "/etc/slurm/prolog.d/*"}
    assert json.loads(plan["files"][SETTINGS]) == plan["settings"]


def test_the_time_after_a_failed_prolog_is_the_sites_unless_set() -> None:
    assert "AuthInfo" not in parameters(planned(declared()))


def test_a_hook_is_never_chained_to_itself() -> None:
    assert planned(declared(), {**FOUND, "values": {"Prolog": PROGRAM}})["settings"]["chained"] == {}


def test_a_cluster_that_is_there_keeps_its_own_configuration() -> None:
    plan = planned(declared())
    assert plan["conf"].keys() == {INCLUDED}
    assert plan["refusals"] == []


def test_a_new_cluster_has_the_servers_as_nodes() -> None:
    cluster = {"name": "new", "partition": "all", "node_parameters": {"CPUs": 8}, "parameters": {"TaskPlugin": "none"}}
    plan = planned(declared(), NOTHING, cluster=cluster)
    assert plan["refusals"] == []
    lines = plan["conf"][CONF].splitlines()
    assert "SlurmctldHost=ctrl001(10.3.1.200)" in lines
    assert "NodeName=pod001-poplar1 NodeAddr=10.3.1.101 CPUs=8" in lines
    assert f"PartitionName=all Nodes={','.join(SERVERS)} Default=YES MaxTime=INFINITE State=UP" in lines
    assert lines[-1] == f"include {INCLUDED}"
    assert parameters(plan, CONF)["TaskPlugin"] == "none"
    assert plan["user"] == "slurm"


def test_the_same_again_in_the_second_run() -> None:
    """Parameters that the first run has written are not taken for the site's own."""
    cluster = {"name": "new", "parameters": {"SchedulerParameters": "sched_interval=2"}}
    first = planned(declared(), NOTHING, cluster=cluster)
    assert parameters(first)["SchedulerParameters"] == "sched_interval=2,nohold_on_prolog_fail"
    second = planned(declared(), {**FOUND, "slurm_conf": "role", "included": True}, cluster=cluster)
    assert (second["conf"], second["files"]) == (first["conf"], first["files"])


def test_static_partitions_are_counted_on_their_nodes() -> None:
    plan = planned(declared(partitions=FOUR_EACH), NOTHING, way="static", cluster=NEW_CLUSTER)
    nodes = [line for line in plan["conf"][CONF].splitlines() if line.startswith("NodeName=")]
    assert [line.rpartition("Gres=")[2] for line in nodes] == list(GRES_OF.values())
    assert "NodeName=pod001-poplar1 Name=vipu Type=4 Count=2 Flags=CountOnly" in plan["conf"][GRES].splitlines()


@pytest.mark.parametrize(
    ("found", "choice", "sentence"),
    [
        (NOTHING, {}, f"{CONF} is not there; bring Slurm up, or declare a new cluster in slurm_cluster"),
        (
            FOUND,
            {"cluster": NEW_CLUSTER},
            f"{CONF} is there and not from this role; leave slurm_cluster out, to add to that cluster",
        ),
        ({**FOUND, "slurm_conf": "role"}, {}, f"{CONF} is from this role; say in slurm_cluster what it is to be"),
        (
            {**FOUND, "nodes": dict.fromkeys(SERVERS[1:], "")},
            {},
            f"{CONF} has no node pod001-poplar1; add one: NodeName=pod001-poplar1",
        ),
        (
            {**FOUND, "nodes": {**FOUND["nodes"], "login1": "", "login2": ""}},
            {"ipu_partitions": ["ipu"]},
            f"{CONF} has login1, login2, whose jobs would start our programs, too; put them into the inventory group "
            "slurm_clients",
        ),
        (
            {**FOUND, "nodes": {**FOUND["nodes"], "ctrl001": ""}},
            {},
            f"{CONF} has nodes that are no Poplar servers of the vPOD; name the Slurm partitions of those that are in "
            "slurm_ipu_partitions",
        ),
        (
            {**FOUND, "values": {"Licenses": "matlab:4,ipu@server:2"}},
            {},
            f"{CONF}: Licenses has ipu already, which is ours to count; give it another name",
        ),
        (
            {**FOUND, "overridden": ["Prolog"]},
            {},
            f"{CONF}: Prolog must stand before the line that includes {INCLUDED}",
        ),
        (
            {**FOUND, "scripts": {"job_submit": "site", "cli_filter": ""}, "site_scripts": ["job_submit"]},
            {},
            "/etc/slurm/job_submit.lua and /etc/slurm/job_submit.site.lua are both the site's; make them one",
        ),
        (
            {**FOUND, "nodes": {**FOUND["nodes"], SERVERS[3]: "gpu:1,vipu:4:1"}},
            {},
            f"{CONF}: the line of NodeName=pod001-poplar4 must have no Gres of vipu; change it there",
        ),
    ],
)
def test_obstacles_are_refused(found: dict[str, Any], choice: dict[str, Any], sentence: str) -> None:
    assert planned(declared(), found, **choice)["refusals"] == [sentence]


def test_a_site_has_to_write_the_gres_of_its_nodes_itself() -> None:
    declaration = declared(partitions=FOUR_EACH)
    nodes = {name: f"gpu:1,{gres}" for name, gres in GRES_OF.items()}
    assert planned(declaration, {**FOUND, "nodes": nodes}, way="static")["refusals"] == []
    short = {name: nodes[name] for name in SERVERS[1:]}
    assert planned(declaration, {**FOUND, "nodes": short}, way="static")["refusals"] == [
        f"{CONF} has no node pod001-poplar1; add one: NodeName=pod001-poplar1 Gres=vipu:4:2"
    ]
    wrong = {**nodes, SERVERS[1]: "vipu:4:2"}
    assert planned(declaration, {**FOUND, "nodes": wrong}, way="static")["refusals"] == [
        f"{CONF}: the line of NodeName=pod001-poplar2 has to say Gres=vipu:16:1; change it there"
    ]


@pytest.mark.parametrize(
    ("declaration", "way", "words"),
    [
        (declared(), "dynamic", "options=ipus,num-replicas run=/run/ipu-pod/slurm"),
        (declared(partitions=FOUR_EACH), "static", "run=/run/ipu-pod/slurm"),
    ],
)
def test_the_plugin_has_the_options_of_the_way(declaration: dict[str, Any], way: str, words: str) -> None:
    plugstack = planned(declaration, way=way)["files"]["/etc/slurm/plugstack.conf.d/ipu-pod.conf"]
    assert plugstack.splitlines()[1:] == [f"required /usr/lib/ipu-pod/spank_ipu.so {words}"]


def test_the_administrators_certificates_are_elsewhere() -> None:
    text = 'api-user-id="admin"\napi-access-key="k"\ntls-certs="/var/lib/vipu/vipu-certs/client"\n'
    assert administrator(text, "/etc/x") == 'api-user-id="admin"\napi-access-key="k"\ntls-certs="/etc/x"\n'
