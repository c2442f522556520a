# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From pods.yml and the owner's variables to the settings of the hooks; and contradictions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import SETTINGS
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import settings_from
from tests.unit.slurm_files.vpod_for_slurm import FOUR_EACH, MACHINES, SERVERS, declared, for_jobs, planned

WHOLE = {"whole": {"ipus": 32, "reconfigurable": True}}


def settings(declaration: dict[str, Any], **choice: Any) -> dict[str, Any]:
    """The settings of the hooks."""
    found: dict[str, Any] = planned(declaration, **choice)["settings"]
    return found


def test_dynamic_is_all_of_the_vpod() -> None:
    hooks = settings(declared())
    assert (hooks["ipus"], hooks["cluster"], hooks["allocation"]) == (64, "c001", "jobs")
    assert (hooks["api_host"], hooks["api_port"], hooks["admin_port"]) == ("10.3.1.200", 8090, 8091)
    assert (hooks["secure"], hooks["vipu_config"], hooks["hand_over"]) == (False, "", "environment")
    assert hooks["gres_types"] == ["pod64"]


def test_a_secure_controller_asks_who_asks() -> None:
    hooks = settings(declared("secure", users=["slurm"]))
    assert hooks["vipu_config"] == "/etc/ipu-pod/slurm-vipu.hcl"
    assert (hooks["node_vipu_config"], hooks["node_certificates"]) == ("/etc/vipu/vipu-cli.hcl", "/etc/vipu/certs")
    assert (hooks["hand_over"], hooks["job_users"]) == ("file", False)


def test_a_dedicated_controller_has_names_and_ports_of_its_own() -> None:
    hooks = settings(declared(controller="dedicated", users=["slurm"]))
    assert (hooks["cluster"], hooks["api_port"], hooks["admin_port"]) == ("jobs", 10404, 10405)


def test_reconfigurable_is_its_one_partition() -> None:
    hooks = settings(declared(partitions=WHOLE), way="reconfigurable")
    assert (hooks["ipus"], hooks["default_ipus"]) == (32, 32)
    (partition,) = hooks["partitions"]
    assert (partition["name"], partition["ipus"], partition["nodes"]) == ("whole", 32, SERVERS)
    assert (partition["gcds"], partition["replicas"], partition["options"]) == (1, 1, {"reconfigurable": True})
    assert settings(declared(partitions=WHOLE), way="reconfigurable", default_ipus=4)["default_ipus"] == 4


def test_mapping_shares_the_machines_out_in_equal_runs() -> None:
    hooks = settings(for_jobs("secure"), way="mapping")
    assert hooks["mapping"] == {name: MACHINES[4 * number : 4 * number + 4] for number, name in enumerate(SERVERS)}
    assert (hooks["allocation"], hooks["job_users"]) == ("", True)
    assert not settings(for_jobs(), way="mapping")["job_users"]


@pytest.mark.parametrize("way", ["dynamic", "static", "reconfigurable", "mapping"])
def test_the_hooks_can_read_what_is_written(way: str) -> None:
    declarations = {
        "static": declared(partitions=FOUR_EACH),
        "reconfigurable": declared(partitions=WHOLE),
        "mapping": for_jobs(),
    }
    plan = planned(declarations.get(way, declared()), way=way)
    assert settings_from(plan["files"][SETTINGS]).way == way


@pytest.mark.parametrize(
    ("declaration", "choice", "sentence"),
    [
        (declared(), {"vpod": "bob"}, "slurm_vpod is 'bob', and pods.yml declares no such vPOD; it declares jobs"),
        (
            declared(),
            {"way": "magic"},
            "slurm_way is 'magic'; use one of mapping, static, reconfigurable, dynamic",
        ),
        (
            declared(),
            {"way": "mapping"},
            "vpods.jobs has allocation: own, but slurm_way mapping needs allocation: jobs",
        ),
        (for_jobs(), {}, "vpods.jobs has allocation: jobs, but slurm_way dynamic needs allocation: own"),
        (
            declared(partitions=WHOLE),
            {},
            "vpods.jobs.partitions: with slurm_way dynamic jobs make all partitions; leave them out",
        ),
        (
            declared(),
            {"way": "static"},
            "vpods.jobs.partitions: with slurm_way static jobs use those that are declared; declare some",
        ),
        (
            declared(partitions=FOUR_EACH),
            {"way": "reconfigurable"},
            "vpods.jobs.partitions: slurm_way reconfigurable needs one partition, with reconfigurable: true",
        ),
        (declared(poplar_servers=[]), {}, "vpods.jobs.poplar_servers is empty, but they are Slurm's nodes; name some"),
        (
            declared(partitions={"a": {"ipus": 4}}),
            {"way": "static"},
            "vpods.jobs.partitions.a: 4 Poplar servers may use it, but with slurm_way static it belongs to one, or to "
            "one for each GCD; name them in its poplar_servers",
        ),
        (
            declared(
                partitions={
                    "a": {"ipus": 4, "poplar_servers": SERVERS[:1]},
                    "b": {"ipus": 4, "gcds": 2, "poplar_servers": SERVERS[:2]},
                }
            ),
            {"way": "static"},
            "vpods.jobs.partitions.b: partitions of 4 IPUs are on 1 nodes, and this on 2; use one",
        ),
        (declared(), {"hand_over": "post"}, "slurm_hand_over is 'post'; use one of environment, file"),
        (
            declared("secure", users=["slurm"]),
            {"hand_over": "environment"},
            "slurm_hand_over is environment, but the V-IPU controller is secure; use file",
        ),
        (
            declared(partitions=WHOLE),
            {"way": "reconfigurable", "default_ipus": 64},
            "slurm_default_ipus is 64; use 1 to 32",
        ),
        (
            for_jobs(),
            {"way": "mapping", "mapping": {SERVERS[0]: MACHINES}},
            f"slurm_mapping is for pod001-poplar1; name {', '.join(SERVERS)}, and no other",
        ),
        (
            for_jobs(),
            {"way": "mapping", "mapping": dict.fromkeys(SERVERS, MACHINES[:4])},
            "slurm_mapping: pod001-ipum1 is there twice; each IPU-Machine belongs to one server",
        ),
        (
            for_jobs(),
            {"way": "mapping", "mapping": {name: ["pod009-ipum1"] for name in SERVERS}},
            "slurm_mapping: pod009-ipum1 is not of vpods.jobs; use its ipu_machines",
        ),
        (
            for_jobs(),
            {
                "way": "mapping",
                "mapping": {
                    name: [MACHINES[n], *MACHINES[12 + n :: 99]][: 1 + n % 2] for n, name in enumerate(SERVERS)
                },
            },
            "slurm_mapping: the servers have different numbers of IPU-Machines; give each as many",
        ),
        (
            declared(),
            {"cluster": {"partition": "ipu"}},
            "slurm_cluster has no name; say what the new cluster is called",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    declaration: dict[str, Any], choice: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Refused, match=re.escape(sentence)):
        planned(declaration, **choice)
