# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role cloud_partitions on a V-IPU controller's host, and the program that its timer starts there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.container_server import ContainerServer, begin_play
from tests.support.controller_host import MACHINES, controller_host
from tests.support.openstack_services import Services, running_services
from tests.support.playbook_run import LOUD, playbook_run

PASSWORD = "its password"
SERVICE = "ipu-pod-cloud-partitions"
OURS = "find /etc/ipu-pod /usr/libexec/ipu-pod /var/lib/ipu-pod /etc/systemd/system -name '*cloud-partitions*'"
CONTROLLER = "cd /root; vipu-server --init; systemd-run --unit vipu-server --working-directory /root vipu-server"


@dataclass
class Bed:
    """The host with a V-IPU controller, a cloud that it reaches, and where its plays are."""

    folder: Path
    server: ContainerServer
    services: Services

    def play(self, entry: str = "main", check: bool = False, **variables: Any) -> tuple[int, str]:
        """Run an entry point of the role. Returns how many tasks have changed or failed, and all that was said."""
        role = {"name": "ipu.pod.cloud_partitions", "tasks_from": entry}
        play = {"hosts": "poplar_servers", "gather_facts": False, "tasks": [{"ansible.builtin.import_role": role}]}
        settings = {
            "cloud_partitions_vpods": [{"name": "alice", "cloud": "cloud001", "declared": ["declared"]}],
            "cloud_partitions_clouds": {
                "cloud001": {"auth": {"auth_url": self.services.url, "username": "reader", "password": PASSWORD}}
            },
            "cloud_partitions_wait_seconds": 0,
            **variables,
        }
        running = begin_play(self.folder / "run", [self.server], [play], check, LOUD, **settings)
        output, errors = running.communicate()
        run = playbook_run("the play", running.returncode, output, errors)
        changed = run.document["stats"][self.server.name]["changed"]
        return (-1 if run.code else changed), output + errors

    def round(self) -> None:
        """What the timer starts."""
        self.server.sh(f"systemctl start {SERVICE}.service")

    @property
    def partitions(self) -> list[str]:
        listed = json.loads(self.server.sh("vipu-admin --showjson list partitions"))
        return sorted(partition["id"] for partition in listed["partitions"])

    @property
    def files(self) -> list[str]:
        return self.server.sh(f"{OURS} 2>/dev/null || true").split()


@pytest.fixture(name="bed", scope="module")
def _bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    folder = tmp_path_factory.mktemp("host")
    with controller_host(folder) as server, running_services(host=server.host_address) as services:
        services.project("alice")
        server.sh(CONTROLLER)
        server.until("vipu-admin list agents")
        names = list(MACHINES)[:4]
        for name in names:
            server.sh(f"vipu-admin create agent {name} --host {MACHINES[name]}")
        server.sh(f"vipu-admin create cluster c --agents {','.join(names)}")
        server.sh("vipu-admin create allocation alice --size 16 --cluster c")
        yield Bed(folder, server, services)


def test_1_a_cloud_without_credentials_is_refused_and_nothing_is_touched(bed: Bed) -> None:
    ended, said = bed.play(cloud_partitions_clouds={"another": {}})
    assert ended == -1
    assert "cloud_partitions_clouds has no entry cloud001, which cloud_partitions_vpods names; add it." in said
    assert bed.files == []


def test_2_a_dry_run_counts_what_a_run_does_and_a_second_run_does_nothing(bed: Bed) -> None:
    foreseen, said = bed.play(check=True)
    assert bed.files == []
    changed, more = bed.play()
    assert foreseen == changed > 0
    again, most = bed.play()
    assert again == 0
    assert PASSWORD not in said + more + most
    assert bed.server.sh(f"systemctl is-active {SERVICE}.timer").strip() == "active"


def test_3_only_root_reads_the_credentials_and_the_records(bed: Bed) -> None:
    modes = bed.server.sh("stat -c '%a %U' /etc/ipu-pod/cloud-partitions-clouds.json /var/lib/ipu-pod/cloud-partitions")
    assert modes.split("\n")[:2] == ["600 root", "700 root"]


def test_4_the_partition_of_a_deleted_machine_goes(bed: Bed) -> None:
    bed.server.sh(f"systemctl stop {SERVICE}.timer")
    machine = bed.services.boot("web")
    for name in ("web-train", "declared", "other"):
        bed.server.sh(f"vipu-admin create partition {name} --size 4 --allocation alice")
    bed.round()
    bed.services.delete(machine)
    bed.round()
    assert bed.partitions == ["declared", "other", "web-train"]
    bed.round()
    assert bed.partitions == ["declared", "other"]
    journal = bed.server.sh(f"journalctl --unit {SERVICE} --output cat")
    assert f"vPOD alice: removed partition web-train of deleted machine {machine}" in journal
    assert PASSWORD not in journal
    assert bed.services.wrong == []


def test_5_an_error_makes_the_service_fail_and_says_why(bed: Bed) -> None:
    bed.services.users["reader"] = "another password"
    bed.server.sh("vipu-admin create partition new --size 4 --allocation alice")
    assert bed.server.sh(f"systemctl start {SERVICE}.service 2>/dev/null || echo failed").strip() == "failed"
    sentence = "vPOD alice: cloud001: Keystone gave no token for project alice: HTTP status 401"
    assert sentence in bed.server.sh(f"journalctl --unit {SERVICE} --output cat")


def test_6_all_of_it_can_be_removed_but_the_partitions(bed: Bed) -> None:
    there = bed.partitions
    foreseen, _said = bed.play("removed", check=True)
    assert bed.files != []
    changed, _said = bed.play("removed")
    assert bed.files == []
    # Whether a directory is empty then shows only then.
    assert 0 < foreseen <= changed
    again, _said = bed.play("removed")
    assert (again, bed.partitions) == (0, there)
