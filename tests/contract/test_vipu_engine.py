# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine against the simulated controller: purge, re-creation, users, partitions that fail, a controller killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy, Purge
from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import Engine
from tests.support.in_memory.controller import InProcess

Declared = dict[str, list[dict[str, Any]]]
AGENTS = [f"ipum{number}" for number in range(1, 5)]


def pod(**changes: Any) -> Declared:
    """Four IPU-Machines, two tenants, a partition each; `changes` replace whole lists."""
    return {
        "agent": [{"name": name, "host": f"10.2.1.{index}", "port": 8080} for index, name in enumerate(AGENTS, 1)],
        "cluster": [{"name": "c", "agents": AGENTS, "topology": "torus", "ipu_link_domains": 1}],
        "allocation": [{"name": "alice", "cluster": "c", "size": 8}, {"name": "bob", "cluster": "c", "size": 4}],
        "user": [{"name": "alice", "allocations": ["alice"]}],
        "partition": [
            {"name": "train", "allocation": "alice", "size": 4, "reconfigurable": False},
            {"name": "serve", "allocation": "bob", "size": 2, "reconfigurable": True},
        ],
        **changes,
    }


def converge(
    site: InProcess, declared: Declared, check_mode: bool = False, keys: AccessKeys | None = None, **policy: Any
) -> Outcome:
    site.calls.clear()
    allowed = Policy(keeps_keys=True, **policy)
    return Engine(site.client, declared, allowed, keys or AccessKeys(keep=True), wait_timeout=0).converge(check_mode)


@pytest.fixture
def site() -> InProcess:
    """A controller that holds the pod."""
    found = InProcess()
    assert converge(found, pod()).failure is None
    return found


def slurm(site: InProcess, name: str, allocation: str = "alice") -> None:
    """A partition that Slurm makes."""
    create = f"vipu-admin -H localhost -P 8091 create partition {name} --size 1 --allocation {allocation}"
    assert site.run(create.split())[0] == 0


def test_agents_that_the_controller_has_chosen_are_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODSIM_VIPU_RELEASE", "1.17.0")
    site = InProcess()
    alice = {"name": "alice", "cluster": "c", "size": 8, "agents": AGENTS[2:]}
    declared = pod(allocation=[alice, {"name": "bob", "cluster": "c", "size": 4}])
    outcome = converge(site, declared)
    assert outcome.failure is None
    assert outcome.after
    assert outcome.after["allocation"]["alice"]["agents"] == AGENTS[:2]
    # From now on it is known where they lie.
    with pytest.raises(Refused, match=r"allocation alice: agents is \['ipum1', 'ipum2'\]"):
        converge(site, declared)


def test_purge_removes_undeclared_partitions_in_its_scope_only(site: InProcess) -> None:
    for name, allocation in (("old1", "alice"), ("p4711", "alice"), ("old2", "bob")):
        slurm(site, name, allocation)
    outcome = converge(site, pod(), purge=Purge(partitions_of=("alice",), ignore=("p[0-9]*",), max_deletions=1))
    assert outcome.failure is None
    assert [step.public() for step in outcome.steps] == [
        {
            "action": "remove",
            "kind": "partition",
            "name": "old1",
            "reason": "is not declared, and allocation alice is purged; partitions that die: old1",
            "risk": "tenant outage",
        }
    ]
    assert outcome.after
    assert outcome.after["partition"].keys() == {"train", "serve", "p4711", "old2"}


def test_more_deletions_than_allowed_are_refused_and_listed(site: InProcess) -> None:
    slurm(site, "old1")
    slurm(site, "old2")
    with pytest.raises(Refused, match=r"2 deletions \(partition old1, partition old2\) are more than max_deletions 0"):
        converge(site, pod(), purge=Purge(partitions_of=("alice",)))
    assert {call[0] for call in site.calls} == {"--showjson"}


def test_recreation_takes_declared_dependents_along(site: InProcess) -> None:
    wanted = pod(allocation=[{"name": "alice", "cluster": "c", "size": 4}, {"name": "bob", "cluster": "c", "size": 4}])
    outcome = converge(site, wanted, allow_recreate=True)
    assert outcome.failure is None
    assert [(step.action, step.kind, step.name) for step in outcome.steps] == [
        ("remove", "partition", "train"),
        ("remove", "user", "alice"),
        ("remove", "allocation", "alice"),
        ("create", "allocation", "alice"),
        ("create", "user", "alice"),
        ("create", "partition", "train"),
    ]
    assert outcome.steps[2].reason == "size is 8, wanted 4; partitions that die: train"
    assert not converge(site, wanted).changed


def test_recreation_never_takes_what_would_not_come_back(site: InProcess) -> None:
    slurm(site, "p4711")
    wanted = pod(allocation=[{"name": "alice", "cluster": "c", "size": 4}])
    with pytest.raises(Refused, match=r"partition p4711: depends on allocation alice, .* but it is not declared"):
        converge(site, wanted, allow_recreate=True)
    assert {call[0] for call in site.calls} == {"--showjson"}


def test_the_key_of_a_new_user_goes_into_a_file_of_its_own(tmp_path: Path) -> None:
    site, directory = InProcess(), tmp_path / "keys"
    outcome = converge(site, pod(), keys=AccessKeys(str(directory)))
    assert outcome.failure is None
    file = directory / "alice.key"
    key = file.read_text().strip()
    assert len(key) > 8
    assert (file.stat().st_mode & 0o777, directory.stat().st_mode & 0o777) == (0o600, 0o700)
    assert key not in repr(outcome)
    assert list(directory.iterdir()) == [file]


def test_without_a_place_for_the_key_no_user_is_created(tmp_path: Path) -> None:
    site, blocked = InProcess(), tmp_path / "file"
    blocked.write_text("")
    outcome = converge(site, {"user": [{"name": "eve"}]}, keys=AccessKeys(str(blocked)))
    assert "the access key of user eve cannot be kept" in str(outcome.failure)
    assert site.controller.state().users == {}


def test_a_partition_that_ends_in_error_fails_with_the_controllers_words() -> None:
    site = InProcess()
    site.failing = {"train"}
    failed = converge(site, pod()).result()
    assert failed["failed_step"]["name"] == "train"
    assert "IPU-Link training failed" in failed["failed_step"]["error"]
    assert [step["name"] for step in failed["not_tried"]] == ["serve"]


def test_a_declared_partition_in_error_is_reported_with_the_remedy_and_the_rest_is_done(site: InProcess) -> None:
    site.fleet.down = {"ipum1"}
    site.controller.poll()
    assert converge(site, pod(), check_mode=True).failure
    wanted = pod(partition=[*pod()["partition"], {"name": "new", "allocation": "bob", "size": 1}])
    outcome = converge(site, wanted)
    assert str(outcome.failure) == (
        "partition train is in ERROR: agent 'ipum1' is down; put that right, then reset the partition with "
        "vipu_action, or remove it"
    )
    assert outcome.after
    assert outcome.after["partition"]["new"]["status"] == "ACTIVE"
    assert [step["name"] for step in outcome.result()["done"]] == ["new"]


def test_a_partition_goes_although_an_agent_of_it_is_down(site: InProcess) -> None:
    site.fleet.down = {"ipum1"}
    site.controller.poll()
    gone = [{"name": name, "state": "absent"} for name in ("train", "serve")]
    outcome = converge(site, {"partition": gone})
    assert (outcome.failure, outcome.after and outcome.after["partition"]) == (None, {})
    removals = [call[call.index("remove") :] for call in site.calls if "remove" in call]
    assert removals == [["remove", "partition", "serve"], ["remove", "partition", "train", "--force"]]


def test_somebody_elses_partition_in_error_is_no_failure(site: InProcess) -> None:
    slurm(site, "p4711")
    site.failing = {"p4711"}
    site.run(["vipu-admin", "-H", "localhost", "-P", "8091", "reset", "partition", "p4711"])
    assert converge(site, pod()).failure is None


def test_users_are_only_read_where_they_matter(site: InProcess) -> None:
    converge(site, pod(user=[]))
    assert [call[2] for call in site.calls] == ["agents", "clusters", "allocations", "partitions"]
    converge(site, pod())
    assert [call[2] for call in site.calls] == ["agents", "clusters", "allocations", "users", "partitions"]


@pytest.mark.parametrize("after_the_write", [False, True])
def test_a_controller_killed_at_any_moment_of_a_bring_up_is_no_loss(after_the_write: bool) -> None:
    reference = InProcess()
    converge(reference, pod())
    for number in range(1, reference.memory.writes + 1):
        site = InProcess()
        site.dies_at_write(number, after_the_write)
        failed = converge(site, pod())
        assert failed.failure is not None
        assert failed.after is None
        site.start()
        again = converge(site, pod())
        assert again.failure is None
        assert again.after is not None
        assert {kind: again.after[kind].keys() for kind in again.after} == {
            kind: {entity["name"] for entity in entities} for kind, entities in pod().items()
        }
        assert again.after == converge(reference, pod()).after
        assert not converge(site, pod()).changed


def test_a_controller_that_is_gone_is_an_error_unless_this_run_installs_it() -> None:
    site = InProcess()
    site.dies_at_write(1, after_the_write=False)
    converge(site, pod())
    with pytest.raises(DeviceError, match="no V-IPU controller at localhost:8091"):
        converge(site, pod())
    engine = Engine(site.client, pod(), Policy(keeps_keys=True), AccessKeys(), wait_timeout=0, may_be_missing=True)
    assert len(engine.converge(check_mode=True).steps) == 10
