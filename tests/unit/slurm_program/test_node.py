# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a node puts in place for a job, and that none of them stays."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File, Files
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.node import Node
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from tests.support.in_memory.slurm import NODES, FakeJob, FakeSlurm
from tests.support.slurm_settings import settings

RUN = "/run/ipu-pod/slurm"
CERTIFICATES = {"ca.crt": "the CA\n", "tls.crt": "a certificate\n", "tls.key": "a key\n"}
ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="what belongs to root only root can make")
pytestmark = ROOT_ONLY


class Bed:
    """One node, its files, Slurm, and a V-IPU controller that answers or not."""

    def __init__(self, root: Path, **changes: Any) -> None:
        self.root = root
        self.files = Files(str(root))
        self.slurm = FakeSlurm()
        self.log: list[str] = []
        self.asked: list[str] = []
        self.is_up = True
        self.node = Node(settings(**changes), NODES[0], self.slurm.client, self._connect, self.files, self.log.append)

    def start(self, job: FakeJob) -> list[str] | None:
        """The lines for the SPANK plugin after the job's prolog; None where there is no file."""
        job.uid = pwd.getpwnam("nobody").pw_uid
        self.slurm.add(job)
        self.node.prolog(job.id)
        return self.lines(job.id)

    def lines(self, number: int) -> list[str] | None:
        file = self.files.read(f"{RUN}/{number}.env")
        assert file is None or (file.owner, file.mode) == ("root", "0644")
        return file.content.splitlines() if file else None

    def _connect(self, config: str) -> Controller:
        def run(argv: list[str]) -> tuple[int, str, str]:
            self.asked.append(" ".join(argv[5:]))
            devices = [{"ip": "10.5.1.1", "device_id": 0}]
            answer = json.dumps({"devices": devices, "attributes": {"GCD Id": argv[argv.index("--gcd") + 1]}})
            return (0, answer, "") if self.is_up else (1, "", "no V-IPU controller")

        return Controller(run, "vipu", "10.3.1.200", 8090, ["--config", config] if config else [], "vipu")


def test_the_environment_alone(tmp_path: Path) -> None:
    bed = Bed(tmp_path)
    assert bed.start(FakeJob(5, 16, note="ipu.pod ipus=16 gcds=4 replicas=4 partition=slurm_5")) == [
        "gcds=4",
        "IPU_POD_IPUS=16",
        "IPU_POD_PARTITION=slurm_5",
        "IPUOF_VIPU_API_HOST=10.3.1.200",
        "IPUOF_VIPU_API_PORT=8090",
        "IPUOF_VIPU_API_PARTITION_ID=slurm_5",
        "IPUOF_VIPU_API_GCD_ID=%g",
    ]
    assert bed.asked == []
    bed.node.epilog(5)
    assert bed.lines(5) is None


def test_files_for_each_gcd(tmp_path: Path) -> None:
    bed = Bed(tmp_path, hand_over="file", node_vipu_config="/etc/vipu/vipu-cli.hcl")
    assert bed.start(FakeJob(5, 16, note="ipu.pod ipus=16 gcds=2 replicas=2 partition=slurm_5")) == [
        "gcds=2",
        "IPU_POD_IPUS=16",
        "IPU_POD_PARTITION=slurm_5",
        "IPUOF_CONFIG_PATH=/run/ipu-pod/slurm/5/slurm_5_gcd%g_ipuof.conf",
    ]
    assert bed.asked == [
        f"--config /etc/vipu/vipu-cli.hcl get partition slurm_5 --gcd {gcd} --ipuof-configs" for gcd in (0, 1)
    ]
    for gcd in (0, 1):
        file = bed.files.read(f"{RUN}/5/slurm_5_gcd{gcd}_ipuof.conf")
        assert file
        assert json.loads(file.content)["attributes"] == {"GCD Id": str(gcd)}
        assert (file.owner, file.mode) == ("nobody", "0400")
    bed.node.epilog(5)
    assert list((tmp_path / RUN.lstrip("/")).iterdir()) == []


def test_a_static_job_gets_the_partitions_of_this_node(tmp_path: Path) -> None:
    names = {"a": NODES[1:2], "b": NODES[:1], "c": NODES[:1]}
    partitions = [{"name": name, "ipus": 4, "gcds": 1, "replicas": 1, "nodes": nodes} for name, nodes in names.items()]
    bed = Bed(tmp_path, way="static", hand_over="file", partitions=partitions)
    note = "ipu.pod ipus=12 gcds=1 replicas=1 partition=a partitions=a,b,c"
    assert bed.start(FakeJob(5, nodes=NODES[:2], note=note)) == [
        "gcds=1",
        "IPU_POD_IPUS=12",
        "IPU_POD_PARTITION=b",
        "IPU_POD_PARTITIONS=b,c",
        "IPUOF_CONFIG_PATH=/run/ipu-pod/slurm/5/b_gcd%g_ipuof.conf",
    ]
    assert sorted(bed.files.names(f"{RUN}/5")) == ["b_gcd0_ipuof.conf", "c_gcd0_ipuof.conf"]


def test_the_one_reconfigurable_partition(tmp_path: Path) -> None:
    partition = {"name": "all", "ipus": 64, "gcds": 1, "replicas": 1, "nodes": NODES}
    bed = Bed(tmp_path, way="reconfigurable", partitions=[partition])
    lines = bed.start(FakeJob(5, 8, note="ipu.pod ipus=8 partition=all"))
    assert lines
    assert lines[:3] == ["gcds=1", "IPU_POD_IPUS=8", "IPU_POD_PARTITION=all"]


def test_an_allocation_alone_says_nothing_to_poplar(tmp_path: Path) -> None:
    bed = Bed(tmp_path, way="mapping", hand_over="file")
    assert bed.start(FakeJob(5, note="ipu.pod ipus=16 allocation=c5")) == [
        "gcds=1",
        "IPU_POD_IPUS=16",
        "IPU_POD_ALLOCATION=c5",
    ]
    assert bed.asked == []


def test_the_jobs_user_is_for_its_owner_alone(tmp_path: Path) -> None:
    bed = Bed(
        tmp_path, way="mapping", secure=True, job_users=True, hand_over="file", node_certificates="/etc/vipu/certs"
    )
    for name, content in CERTIFICATES.items():
        bed.files.write(f"/etc/vipu/certs/{name}", File(content))
    sealed = bed.slurm.client.for_root_alone("the key")
    note = f"ipu.pod ipus=16 gcds=1 allocation=c5 partition=p5 access={sealed}"
    lines = bed.start(FakeJob(5, 16, note=note))
    assert lines == [
        "gcds=1",
        "IPU_POD_IPUS=16",
        "IPU_POD_ALLOCATION=c5",
        "IPU_POD_PARTITION=p5",
        "IPU_POD_VIPU_CONFIG=/run/ipu-pod/slurm/5/vipu.hcl",
        "IPUOF_CONFIG_PATH=/run/ipu-pod/slurm/5/p5_gcd%g_ipuof.conf",
    ]
    assert bed.asked == ["--config /run/ipu-pod/slurm/5/vipu.hcl get partition p5 --gcd 0 --ipuof-configs"]
    config = bed.files.read(f"{RUN}/5/vipu.hcl")
    assert config
    assert (config.owner, config.mode) == ("nobody", "0400")
    assert config.content == (
        'api-host="10.3.1.200"\napi-port="8090"\napi-user-id="j5"\napi-access-key="the key"\n'
        'tls-certs="/run/ipu-pod/slurm/5"\n'
    )
    for name, content in CERTIFICATES.items():
        copy = bed.files.read(f"{RUN}/5/{name}")
        assert copy
        assert (copy.content, copy.owner, copy.mode) == (content, "nobody", "0400")


@pytest.mark.parametrize("note", ["", "by somebody", "ipu.pod"])
def test_a_job_without_ipus_gets_nothing_and_what_was_left_over_goes(tmp_path: Path, note: str) -> None:
    bed = Bed(tmp_path)
    bed.files.write(f"{RUN}/5.env", File("gcds=1\n"))
    bed.files.write(f"{RUN}/5/old", File("old\n"))
    assert bed.start(FakeJob(5, note=note)) is None
    assert bed.files.names(RUN) == []


@pytest.mark.parametrize(
    ("job", "command"),
    [(FakeJob(5, 16), ["scontrol", "requeue", "5"]), (FakeJob(5, 16, batch=False), ["scancel", "5"])],
    ids=["batch", "interactive"],
)
def test_a_job_that_cannot_have_its_files_goes_back(tmp_path: Path, job: FakeJob, command: list[str]) -> None:
    bed = Bed(tmp_path, hand_over="file")
    bed.is_up = False
    job.note = "ipu.pod ipus=16 gcds=2 partition=slurm_5"
    assert bed.start(job) == ["refused"]
    assert bed.slurm.commands == [command]
    assert bed.log[0].startswith("job 5 does not start here: the V-IPU controller at 10.3.1.200:8090:")


def test_a_job_that_the_controller_has_given_nothing_goes_back(tmp_path: Path) -> None:
    bed = Bed(tmp_path)
    assert bed.start(FakeJob(5, 16, note="ipu.pod ipus=16 gcds=2")) == ["refused"]
    assert bed.log == ["job 5 does not start here: the Slurm controller has given it no IPUs"]


def test_a_slurm_that_does_not_answer_is_no_fault_of_the_node(tmp_path: Path) -> None:
    bed = Bed(tmp_path)
    bed.slurm.silent_until = 1e9
    assert bed.start(FakeJob(5)) == ["refused"]
    assert "Unable to contact slurm controller" in bed.log[0]


def test_a_job_that_cannot_go_back_is_no_fault_of_the_node_either(tmp_path: Path) -> None:
    bed = Bed(tmp_path)
    bed.slurm.refused.add("scontrol requeue")
    assert bed.start(FakeJob(5, 16)) == ["refused"]
    assert bed.log[1] == "job 5: scontrol requeue: it is refused"
