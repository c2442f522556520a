# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of a vPOD on the simulated POD64: made beside others, grown, moved, refused while in use, removed.
Nothing of its neighbours changes, and where it gets or loses machines they lose no packet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.vpods.conftest import INVENTORY, declared_otherwise
from tests.integration.vpods.floor import Floor, everything_comes_back
from tests.support.packets.running_flow import RunningFlow
from tests.support.playbook_run import did_what_was_predicted

LEFT_BEHIND = "ls /etc/vipu/vipu-cli.hcl /etc/vipu/certs/* /etc/profile.d/ipuof.sh /etc/ipuof.env.d/* 2>/dev/null; true"
# Slurm as far as it is asked: one job on this server.
SQUEUE = "#!/bin/sh\\ncase $1 in --version) echo slurm 23.11.4;; *) echo 4711 ann;; esac\\n"


class Vpods:
    """The pod's inventory, whose vPODs are declared otherwise from test to test."""

    def __init__(self, pod: Any, inventory: Path) -> None:
        self.pod = pod
        self.inventory = inventory
        self.document = yaml.safe_load((inventory / "pods.yml").read_text())
        self.vpods: dict[str, dict[str, Any]] = self.document["vpods"]
        self.write()

    def write(self) -> None:
        (self.inventory / "pods.yml").write_text(yaml.safe_dump(self.document, sort_keys=False))

    def change(self, vpod: str, **words: Any) -> None:
        """Write other words into the entry of a vPOD; None takes one out."""
        entry = {**self.vpods.get(vpod, {}), **words}
        self.vpods[vpod] = {key: value for key, value in entry.items() if value is not None}
        self.write()

    def run(self, *options: str, only: list[str] | None = None, allowed: list[str] | None = None) -> Any:
        """playbooks/vpods.yml, for some vPODs, some of which may be interrupted."""
        return self.pod.playbook("vpods", *self._options(only, allowed), *options, inventory=self.inventory)

    def done(self, *options: str, only: list[str] | None = None, allowed: list[str] | None = None) -> Any:
        """A run that has to succeed."""
        run = self.run(*options, only=only, allowed=allowed)
        assert (run.code, run.messages) == (0, "")
        return run

    def check_then_do(self, only: list[str], allowed: list[str] | None = None) -> Any:
        """Do it, after a dry run that has to predict what changes on which hosts, and see that nothing is left."""
        check = self.done("--check", only=only, allowed=allowed)
        assert check.changes == []
        run = self.done(only=only, allowed=allowed)
        did_what_was_predicted(check, run)
        self.nothing_is_left(only)
        return run

    def nothing_is_left(self, only: list[str]) -> None:
        """Another run changes nothing, and says so."""
        again = self.done(only=only)
        assert again.changes == []
        assert again.reported[-1].startswith("nothing changed; ")

    @contextmanager
    def untouched(self, *vpods: str) -> Iterator[None]:
        """Meanwhile everything of the tenants who are not named stays as it is."""
        before = self.others(*vpods)
        yield
        assert self.others(*vpods) == before

    @contextmanager
    def unnoticed(self, *vpods: str) -> Iterator[None]:
        """Meanwhile no packet of the tenants who are not named is lost, either."""
        neighbours = {name: entry for name, entry in self.vpods.items() if name not in vpods}
        with self.untouched(*vpods), RunningFlow(Floor(self.pod, neighbours).tenants) as flow:
            yield
            reports = flow.end()
        assert everything_comes_back(reports), reports

    def isolated(self) -> bool:
        """Whether every tenant reaches what is theirs, and nobody else."""
        return Floor(self.pod, self.vpods).faults(self.vpods) == []

    def others(self, *vpods: str) -> dict[str, Any]:
        """Everything of the tenants who are not named: their servers, ports, allocations, users and partitions."""
        theirs = {name: entry for name, entry in self.vpods.items() if name not in vpods}
        prints = self.pod.fingerprint()
        held = {kind: self.listed(kind) for kind in ("allocations", "users", "partitions")}
        machines = {
            agent for each in held["allocations"] if each["id"] in theirs for agent in each["spec"]["agent_ids"]
        }
        numbers = [8 + int(name.removeprefix("pod001-ipum")) for name in machines]
        numbers += [23 + 2 * int(server[-1]) for entry in theirs.values() for server in entry["poplar_servers"]]
        return {
            "servers": {server: prints[server] for entry in theirs.values() for server in entry["poplar_servers"]},
            "ports": {number: self.port(number) for number in sorted(numbers)},
            "allocations": [each for each in held["allocations"] if each["id"] in theirs],
            "users": [each for each in held["users"] if each["id"] in theirs],
            "partitions": [each for each in held["partitions"] if each["spec"]["allocation_id"] in theirs],
        }

    def listed(self, kind: str) -> list[dict[str, Any]]:
        """The entities of a kind that the controller holds."""
        found: list[dict[str, Any]] = json.loads(
            self.pod.inside("ctrl001", f"vipu-admin --config /etc/vipu/vipu-admin.hcl -P 8091 --showjson list {kind}")
        )[kind]
        return found

    def machines_of(self, vpod: str) -> list[str]:
        return [
            agent for each in self.listed("allocations") if each["id"] == vpod for agent in each["spec"]["agent_ids"]
        ]

    def port(self, number: int) -> str:
        """The block of a port in the running-config."""
        answer = self.pod.switch(f"show running-config interfaces Ethernet{number}/1")[-1]["output"]
        return str(answer)

    def running_config(self) -> str:
        return str(self.pod.switch("show running-config")[-1]["output"])

    @staticmethod
    def _options(only: list[str] | None, allowed: list[str] | None) -> list[str]:
        lists = {"vpods_only": only, "vpods_interrupt": allowed}
        return ["-e", json.dumps({name: names for name, names in lists.items() if names is not None})]


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, to be declared otherwise; the machines of the floor are those of the simulated POD64."""
    return declared_otherwise(tmp_path_factory.mktemp("inventory"))


@pytest.fixture(scope="module")
def vpods(pod: Any, inventory: Path) -> Vpods:
    """Three of the four tenants: carol has gone."""
    tenants = Vpods(pod, inventory)
    tenants.change("carol", state="absent")
    tenants.done(only=["carol"], allowed=["carol"])
    del tenants.vpods["carol"]
    tenants.write()
    return tenants


def test_a_vpod_is_made_beside_others_who_do_not_notice(vpods: Vpods) -> None:
    with vpods.untouched("carol"):
        vpods.vpods["carol"] = yaml.safe_load((INVENTORY / "pods.yml").read_text())["vpods"]["carol"]
        vpods.write()
        run = vpods.check_then_do(["carol"])
    assert {host for host, _task in run.changes} == {"ctrl001", "pod001-tor", "pod001-poplar3"}
    assert {host for host, _task, _result in run.tasks} <= {"localhost", "ctrl001", "pod001-tor", "pod001-poplar3"}
    assert vpods.isolated()
    assert "carol-serve" in vpods.pod.inside("pod001-poplar3", "vipu list partitions")


def test_a_change_that_would_end_running_work_is_refused_before_anything_is_touched(vpods: Vpods) -> None:
    before = vpods.pod.fingerprint()
    vpods.change("carol", ipus=16)
    for options in ((), ("--check",)):
        refused = vpods.run(*options, only=["carol"])
        assert refused.code != 0
        assert "vPOD carol is to grow" in refused.messages
        assert "partition carol-serve" in refused.messages
        assert '\\"vpods_interrupt\\": [\\"carol\\"]' in json.dumps(refused.messages)
    assert vpods.pod.fingerprint() == before


def test_it_grows_when_allowed(vpods: Vpods) -> None:
    with vpods.unnoticed("carol"):
        vpods.done(only=["carol"], allowed=["carol"])
    assert len(vpods.machines_of("carol")) == 4
    assert "carol-serve" in vpods.pod.inside("pod001-poplar3", "vipu list partitions")


def test_it_does_not_shrink_where_its_server_would_go_on_reaching_what_it_gives_up(vpods: Vpods) -> None:
    before, in_pod = vpods.pod.fingerprint(), vpods.document["pods"]["pod001"]
    quarantine = in_pod.pop("vlans")
    vpods.change("carol", ipus=4)
    refused = vpods.run(only=["carol"], allowed=["carol"])
    in_pod["vlans"] = quarantine
    vpods.change("carol", ipus=16)
    assert refused.code != 0
    assert "pod001-tor: the VLAN of vPOD carol would reach " in refused.messages
    assert "declare a VLAN for what no vPOD has, pods.pod001.rnic.vlan or pods.pod001" in refused.messages
    assert vpods.pod.fingerprint() == before


def test_it_shrinks_and_what_it_leaves_rests_in_quarantine(vpods: Vpods) -> None:
    had = vpods.machines_of("carol")
    with vpods.untouched("carol"):
        vpods.change("carol", ipus=4)
        vpods.check_then_do(["carol"], allowed=["carol"])
    has = vpods.machines_of("carol")
    assert len(has) == 1
    for machine in set(had) - set(has):
        assert "access vlan 999" in vpods.port(8 + int(machine.removeprefix("pod001-ipum")))


def test_it_moves_to_other_machines_by_pins(vpods: Vpods) -> None:
    free = {f"pod001-ipum{n}" for n in range(1, 17)} - {
        agent for each in vpods.listed("allocations") for agent in each["spec"]["agent_ids"]
    }
    target = max(free, key=lambda name: int(name.removeprefix("pod001-ipum")))
    with vpods.unnoticed("carol"):
        vpods.change("carol", ipu_machines=[target])
        vpods.done(only=["carol"], allowed=["carol"])
    assert vpods.machines_of("carol") == [target]
    assert vpods.isolated()


def test_it_moves_to_another_vlan_unless_a_job_runs_on_its_server(vpods: Vpods) -> None:
    vpods.change("carol", vlan=213)
    vpods.pod.inside("pod001-poplar3", f"printf '{SQUEUE}' > /usr/local/bin/squeue; chmod +x /usr/local/bin/squeue")
    refused = vpods.run(only=["carol"])
    assert refused.code != 0
    assert "Slurm job 4711 of ann on pod001-poplar3" in refused.messages
    vpods.pod.inside("pod001-poplar3", "rm /usr/local/bin/squeue")
    with vpods.untouched("carol"):
        vpods.done(only=["carol"])
    assert "trunk native vlan 213" in vpods.port(29)
    assert "203" not in vpods.port(29)


def test_a_run_that_a_fault_ends_is_completed_by_the_same_run_again(vpods: Vpods) -> None:
    vpods.change("carol", ipus=8, ipu_machines=None)
    unit, drop_in = "/etc/systemd/system/vipu-server.service", "/run/systemd/system/vipu-server.service.d"
    vpods.pod.inside(
        "ctrl001",
        f"""mkdir -p {drop_in}; printf '{{"crash_on_write": 3}}' > /run/faults.json; """
        f"printf '[Service]\\nExecStart=\\n%s --faults /run/faults.json\\nRestartSec=0\\n' "
        f'"$(grep ^ExecStart= {unit})" > {drop_in}/faults.conf; '
        "systemctl daemon-reload; systemctl restart vipu-server",
    )
    broken = vpods.run(only=["carol"], allowed=["carol"])
    assert broken.code != 0
    vpods.pod.inside(
        "ctrl001", f"rm -r /run/faults.json {drop_in}; systemctl daemon-reload; systemctl restart vipu-server"
    )
    vpods.done(only=["carol"], allowed=["carol"])
    assert len(vpods.machines_of("carol")) == 2
    vpods.nothing_is_left(["carol"])


def test_another_partition_interrupts_nobody(vpods: Vpods) -> None:
    vpods.change("carol", partitions={**vpods.vpods["carol"]["partitions"], "carol-more": {"ipus": 4}})
    vpods.done(only=["carol"])
    assert "carol-more" in vpods.pod.inside("pod001-poplar3", "vipu list partitions")


def test_it_moves_to_another_server(vpods: Vpods) -> None:
    """Dave's server becomes Carol's, once Dave has gone."""
    with vpods.unnoticed("carol", "dave"):
        vpods.change("dave", state="absent")
        vpods.done(only=["dave"], allowed=["dave"])
    assert vpods.pod.inside("pod001-poplar4", LEFT_BEHIND) == ""
    assert "dave" not in json.dumps([vpods.listed(kind) for kind in ("allocations", "users", "partitions")])
    assert "204" not in vpods.running_config()
    del vpods.vpods["dave"]
    with vpods.untouched("carol"):
        vpods.change("carol", poplar_servers=["pod001-poplar4"])
        vpods.done(only=["carol"])
    assert vpods.pod.inside("pod001-poplar3", LEFT_BEHIND) == ""
    assert "native vlan 999" in vpods.port(29)
    assert "carol-serve" in vpods.pod.inside("pod001-poplar4", "vipu list partitions")


def test_a_vpod_goes_with_everything_that_its_tenant_made_and_nothing_of_others(vpods: Vpods) -> None:
    vpods.change("carol", partitions={"carol-serve": vpods.vpods["carol"]["partitions"]["carol-serve"]})
    vpods.pod.inside("pod001-poplar4", "vipu remove partition carol-more; vipu create partition hers --size 2")
    vpods.change("carol", state="absent")
    refused = vpods.run(only=["carol"])
    assert refused.code != 0
    assert "partition hers" in refused.messages
    with vpods.untouched("carol"):
        vpods.check_then_do(["carol"], allowed=["carol"])
    held = json.dumps([vpods.listed(kind) for kind in ("allocations", "users", "partitions")])
    assert "carol" not in held
    assert "carol" not in vpods.pod.inside("ctrl001", "ls /var/lib/vipu/keys")
    assert "hers" not in held
    assert vpods.pod.inside("pod001-poplar4", LEFT_BEHIND) == ""
    assert "213" not in vpods.running_config()


def test_in_the_end_site_finds_nothing_to_do_and_says_where_all_stand(vpods: Vpods) -> None:
    run = vpods.pod.playbook("site", inventory=vpods.inventory)
    assert (run.code, run.messages) == (0, "")
    assert run.changes == []
    status = vpods.pod.playbook("vpod_status", inventory=vpods.inventory)
    assert [line.split()[0] for line in status.reported] == ["vPOD", "carol", "alice", "bob"]
    assert "gone" in status.reported[1]
    assert "done" in status.reported[2]
