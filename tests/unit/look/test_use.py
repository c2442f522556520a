# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running work on a server, as Slurm reports it; a Slurm that does not answer is not one without jobs."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._look.use import SQUEUE, connections, running_on, slurm_jobs
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError


def slurm(status: int = 0, output: str = "", errors: str = "") -> Programs:
    def run(argv: list[str]) -> tuple[int, str, str]:
        if argv == ["squeue", "--version"]:
            return 0, "slurm 23.11.4\n", ""
        assert argv == SQUEUE
        return status, output, errors

    return Programs(run)


def test_without_slurm_there_are_no_jobs() -> None:
    def run(argv: list[str]) -> tuple[int, str, str]:
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    assert slurm_jobs(Programs(run)) == []


def test_in_no_cluster_there_are_no_jobs() -> None:
    errors = (
        "squeue: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n"
        "squeue: error: fetch_config: DNS SRV lookup failed\n"
        "squeue: error: _establish_config_source: failed to fetch config\n"
        "squeue: fatal: Could not establish a configuration source\n"
    )
    assert slurm_jobs(Programs(lambda _argv: (1, "", errors))) == []


def test_each_job_has_its_user() -> None:
    assert slurm_jobs(slurm(output="4711 ann\n4712_3 bob\n")) == ["Slurm job 4711 of ann", "Slurm job 4712_3 of bob"]


@pytest.mark.parametrize(
    "programs",
    [
        slurm(status=1, errors="slurm_load_jobs error: Unable to contact slurm controller"),
        slurm(output="what is this\n"),
    ],
)
def test_an_answer_that_is_none_is_an_error(programs: Programs) -> None:
    with pytest.raises(DeviceError, match="squeue"):
        slurm_jobs(programs)


# As iproute2 6.1 prints them.
UDP = 'udp ESTAB 0      0      10.5.1.224:51628 10.5.1.1:9 users:(("python3",pid=471,fd=3))'
TCP = "tcp ESTAB 0      0      10.5.1.224:2049 10.5.1.1:9"


def test_a_connection_is_named_with_its_program() -> None:
    found = connections(Programs(lambda _argv: (0, f"{UDP}\n{TCP}\n", "")), "10.5.1.224")
    assert found == [
        "udp connection from 10.5.1.224:51628 to 10.5.1.1:9 of python3 (process 471)",
        "tcp connection from 10.5.1.224:2049 to 10.5.1.1:9 of an unknown program",
    ]


def test_only_the_connections_from_the_given_addresses_are_asked_for() -> None:
    asked: list[str] = []

    def run(argv: list[str]) -> tuple[int, str, str]:
        if argv[0] != "ss":
            raise FileNotFoundError(2, "No such file or directory", argv[0])
        asked.append(argv[-1])
        return 0, "", ""

    assert running_on(Programs(run), [], ["10.5.1.224"]) == ([], [])
    assert asked == ["src = 10.5.1.224"]


def test_connections_that_cannot_be_listed_count_as_use() -> None:
    def run(argv: list[str]) -> tuple[int, str, str]:
        if argv[0] != "ss":
            raise FileNotFoundError(2, "No such file or directory", argv[0])
        return 0, "what is this", ""

    in_use, unknown = running_on(Programs(run), [], ["10.5.1.224"])
    assert in_use == [f"whatever it is ({unknown[0]})"]
    assert unknown == ["ss: 'what is this' is no connection"]
