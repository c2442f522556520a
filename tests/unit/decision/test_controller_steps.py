# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of V-IPU controllers: their services, what they hold, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.controller_steps import (
    controller_steps,
    dedicated_steps,
    emptied_steps,
    entity_findings,
    held,
    moved,
    needs_decision_point,
    removed_steps,
    silence,
    tenant_steps,
)
from tests.support.controller_looks import HOST, PROGRAM, SETTINGS, in_service, look, on_a_host

SILENT = {"storage": True, "message": "the V-IPU controller at localhost:8091: connection refused"}
NEW = {**SILENT, "storage": False, "allocates_by_agents": True}
AGENTS = [f"p-ipum{number}" for number in range(1, 5)]


def shared(**more: Any) -> dict[str, Any]:
    return {
        "mode": "insecure",
        "user_port": 8090,
        "admin_port": 8091,
        "strict_sizes": False,
        "any_replica_size": False,
        **entities("c", "alice"),
        **more,
    }


def entities(cluster: str, vpod: str, machines: list[str] = AGENTS) -> dict[str, Any]:
    """The declared entities."""
    return {
        "agents": [{"name": name, "host": f"10.2.1.{name[-1]}", "port": 8080} for name in machines],
        "clusters": [{"name": cluster, "agents": machines, "ipu_link_domains": 1}],
        "allocations": [{"name": vpod, "cluster": cluster, "size": 8, "agents": machines[:2]}],
        "users": [],
        "partitions": [{"name": "train", "allocation": vpod, "size": 8}],
    }


def dedicated(vpod: str, machines: list[str], **more: Any) -> dict[str, Any]:
    ports = {"user_port": 10404, "admin_port": 10405, "metrics_port": 10406}
    return {"name": vpod, **shared(), **ports, **entities(vpod, vpod, machines), **more}


def holding(cluster: str, vpod: str, machines: list[str] = AGENTS, status: str = "ACTIVE") -> dict[str, Any]:
    """A controller's answer, when it has what is declared."""
    partition = {"allocation": vpod, "size": 8, "gcds": 1, "reconfigurable": False, "status": status}
    return {
        "storage": True,
        "release": "1.18.0",
        "agents": {name: {"host": f"10.2.1.{name[-1]}", "port": 8080, "status": "Up"} for name in machines},
        "clusters": {cluster: {"agents": machines, "topology": "mesh", "ipu_link_domains": 1, "looped": False}},
        "allocations": {vpod: {"cluster": cluster, "size": 8, "agents": machines[:2]}},
        "users": {"admin": {"allocations": [], "admin": True}},
        "partitions": {"train": partition},
        "allocates_by_agents": True,
    }


def brief(steps: list[Step]) -> list[tuple[str, str, str]]:
    return [(step.action, step.kind, step.name) for step in steps]


def refusal(decide: Callable[[], Any]) -> str:
    with pytest.raises(Refused) as refused:
        decide()
    return str(refused.value)


def test_a_new_controller_is_written_started_and_filled() -> None:
    steps = controller_steps(shared(), SETTINGS, look({"": NEW}, on_a_host()))
    assert brief(steps) == [
        ("create", "account", "vipu-server"),
        ("create", "file", "/var/lib/vipu"),
        ("create", "file", "/var/lib/vipu/keys"),
        ("create", "file", "/var/lib/vipu/backups"),
        ("create", "file", "/var/lib/vipu/log"),
        ("run", "task", "Initialise the storage"),
        ("create", "file", "/usr/local/sbin/vipu-backup"),
        ("create", "file", "/etc/systemd/system/vipu-server.service"),
        ("create", "service", "vipu-server.service"),
        *(("create", "agent", name) for name in AGENTS),
        ("create", "cluster", "c"),
        ("create", "allocation", "alice"),
    ]


def test_the_certificates_of_a_new_secure_controller_come_with_its_storage() -> None:
    steps = controller_steps(shared(mode="secure"), SETTINGS, look({"": NEW}, on_a_host()))
    tasks = [step.name for step in steps if step.kind == "task"]
    assert tasks == ["Initialise the storage", "Keep the administrator's credentials"]
    empty = {**holding("c", "alice"), "partitions": {}}
    steps = controller_steps(shared(mode="secure"), SETTINGS, look({"": empty}, in_service()))
    tasks = [step.name for step in steps if step.kind == "task"]
    assert tasks == ["Make the TLS certificates", "Keep the administrator's credentials"]


def test_a_secure_controller_that_runs_gets_a_certificate_for_other_addresses_and_keeps_what_it_holds() -> None:
    settings = {**SETTINGS, "vipu_controller_mode": "secure"}
    there = look({"": holding("c", "alice")}, in_service(settings))
    assert controller_steps(shared(mode="secure"), SETTINGS, there) == []
    declared = shared(mode="secure", certificate_addresses=["10.6.0.200"])
    steps = controller_steps(declared, SETTINGS, there)
    assert [(*step, risk) for step, risk in zip(brief(steps), [step.risk for step in steps], strict=True)] == [
        ("run", "task", "Certify the controller's addresses in clouds", "none"),
        ("update", "service", "vipu-server.service", "disruptive"),
    ]
    certified = in_service({**settings, "vipu_controller_certificate_addresses": ["10.6.0.200"]})
    assert controller_steps(declared, SETTINGS, look({"": holding("c", "alice")}, certified)) == []


def test_without_authentication_there_is_no_certificate_for_an_address() -> None:
    there = look({"": holding("c", "alice")}, in_service())
    assert controller_steps(shared(certificate_addresses=["10.6.0.200"]), SETTINGS, there) == []


def test_what_is_as_declared_has_no_step() -> None:
    there = look({"": holding("c", "alice")}, in_service())
    assert controller_steps(shared(), SETTINGS, there) == tenant_steps(shared(), SETTINGS, there) == []


def test_the_declaration_counts_and_not_what_is_set_for_the_host() -> None:
    there = look({"": holding("c", "alice")}, in_service())
    steps = controller_steps(shared(user_port=9090), SETTINGS, there)
    assert brief(steps) == [
        ("update", "file", "/etc/systemd/system/vipu-server.service"),
        ("update", "service", "vipu-server.service"),
    ]


def test_tenants_are_planned_on_what_the_controller_holds_by_then() -> None:
    there = look({"": NEW}, on_a_host())
    earlier = controller_steps(shared(), SETTINGS, there)
    tenants = shared(users=[{"name": "alice", "allocations": ["alice"]}])
    assert brief(tenant_steps(tenants, SETTINGS, there, earlier)) == [
        ("create", "user", "alice"),
        ("create", "partition", "train"),
    ]


def test_keys_of_users_who_go_go_with_them() -> None:
    answer = holding("c", "alice")
    answer["users"]["alice"] = {"allocations": ["alice"], "admin": False}
    key = "/var/lib/vipu/keys/alice.key"
    there = look({"": answer}, {**in_service(), "paths": {**in_service()["paths"], key: {"kind": "file"}}})
    gone = {"users": [{"name": "alice", "state": "absent"}], "partitions": [{"name": "train", "state": "absent"}]}
    assert brief(tenant_steps(gone, SETTINGS, there)) == [
        ("remove", "partition", "train"),
        ("remove", "user", "alice"),
        ("remove", "file", key),
    ]


def test_rules_about_sizes_are_as_strict_as_declared() -> None:
    there = look({"": {**holding("c", "alice"), "partitions": {}}}, in_service())
    odd = [{"name": "train", "allocation": "alice", "size": 8, "gcds": 1, "replicas": 1}]
    assert "replicas" in refusal(lambda: tenant_steps(shared(partitions=odd), SETTINGS, there))
    assert tenant_steps(shared(partitions=odd, any_replica_size=True), SETTINGS, there)


def test_a_controller_that_is_there_and_silent_is_not_guessed_at() -> None:
    there = look({"": SILENT}, in_service())
    why = f"{SILENT['message']}; start vipu-server on {HOST}, or correct the controller in pods.yml"
    assert refusal(lambda: controller_steps(shared(), SETTINGS, there)) == why
    assert refusal(lambda: tenant_steps(shared(), SETTINGS, there)) == why
    assert silence(there) == why
    assert held(there) is None
    assert silence(look({"": NEW}, on_a_host())) == ""


def test_a_part_that_could_not_be_read_is_a_refusal() -> None:
    there = look({"": holding("c", "alice")}, {})
    there["parts"]["things"] = {"message": "no systemctl"}
    assert refusal(lambda: controller_steps(shared(), SETTINGS, there)) == (
        f"what is on {HOST} could not be read: no systemctl"
    )
    there = look({"message": "no vipu-admin"}, in_service())
    assert "no vipu-admin; start vipu-server on" in refusal(lambda: tenant_steps(shared(), SETTINGS, there))
    assert "no vipu-admin; start vipu-server on" in refusal(lambda: removed_steps(["alice"], SETTINGS, there))
    assert held(there) is None


def test_there_is_a_program_or_an_archive_of_a_known_release() -> None:
    bare = look({"": NEW}, on_a_host(more=[]))
    assert f"{HOST} has no {PROGRAM}; set" in refusal(lambda: controller_steps(shared(), SETTINGS, bare))
    archive = {**SETTINGS, "vipu_controller_archive": "/vipu.tar.gz"}
    assert "release is missing" in refusal(lambda: controller_steps(shared(), archive, bare))
    archive["vipu_controller_release"] = "1.18.0"
    for checksum in ("", "0" * 63, "0" * 63 + "g", "0" * 64 + "\n"):
        wrong = {**archive, "vipu_controller_archive_sha256": checksum}
        assert "archive_sha256 is not the SHA-256" in refusal(
            lambda wrong=wrong: controller_steps(shared(), wrong, bare)
        )
    archive["vipu_controller_archive_sha256"] = "0" * 64
    steps = controller_steps(shared(), archive, bare)
    assert [step.name for step in steps][:3] == [
        "Copy the release's archive",
        "Install the release",
        "/usr/local/bin/vipu",
    ]
    own = dedicated_steps([dedicated("alice", AGENTS)], archive, bare, steps)
    assert [step.name for step in own][:1] == ["vipu-server-alice"]


def test_what_a_run_has_not_finished_is_finished() -> None:
    there = in_service()
    begun = {"/var/lib/vipu/vipu-server.json.unfinished": {"kind": "file"}}
    there = look({"": NEW}, {**there, "paths": {**there["paths"], **begun}})
    steps = controller_steps(shared(mode="secure"), SETTINGS, there)
    assert ("run", "task", "Keep the administrator's credentials") in brief(steps)
    assert ("create", "allocation", "alice") in brief(steps)


def test_nobody_is_locked_out_by_a_change_of_mode() -> None:
    credentials = {"/etc/vipu/vipu-admin.hcl": {"kind": "file"}}
    things = in_service()
    secure = {**things, "paths": {**things["paths"], **credentials}}
    there = holding("c", "alice")
    assert "but pods.yml says insecure" in refusal(
        lambda: controller_steps(shared(), SETTINGS, look({"": there}, secure))
    )
    wanted = shared(mode="secure")
    assert "holds partitions (train) and is not switched" in refusal(
        lambda: controller_steps(wanted, SETTINGS, look({"": there}, things))
    )
    assert "refused; whether partitions are active cannot be known" in refusal(
        lambda: controller_steps(wanted, SETTINGS, look({"": SILENT}, things))
    )
    assert controller_steps(wanted, SETTINGS, look({"": there}, secure))


def test_a_controller_is_moved_to_another_user_while_it_has_no_partition() -> None:
    as_root = {**SETTINGS, "vipu_controller_user": "root"}
    own = {**SETTINGS, "vipu_controller_user": "own"}
    things, empty = in_service(as_root), {**holding("c", "alice"), "partitions": {}}
    assert controller_steps(shared(), SETTINGS, look({"": empty}, things)) == []

    steps = controller_steps(shared(), own, look({"": empty}, things))
    assert brief(steps) == [
        ("run", "task", "Move the controller to its user"),
        ("create", "account", "vipu-server"),
        ("update", "file", "/var/lib/vipu"),
        *(("create", "file", f"/var/lib/vipu/{name}") for name in ("keys", "backups", "log")),
        ("update", "file", "/usr/local/sbin/vipu-backup"),
        ("update", "file", "/etc/systemd/system/vipu-server.service"),
        ("update", "service", "vipu-server.service"),
    ]
    assert (steps[0].reason, steps[0].risk) == ("it runs as root, wanted vipu-server", "disruptive")
    back = controller_steps(shared(), as_root, look({"": empty}, in_service()))
    assert (brief(back)[0], back[0].reason) == (brief(steps)[0], "it runs as vipu-server, wanted root")


def test_a_new_controller_whose_user_could_not_write_its_storage_is_refused() -> None:
    elsewhere = {**SETTINGS, "vipu_controller_storage": "/srv/storage.json"}
    assert "or set vipu_controller_user to root" in refusal(
        lambda: controller_steps(shared(), elsewhere, look({"": NEW}, on_a_host()))
    )


def test_a_move_to_another_user_under_partitions_or_with_another_change_of_access_is_refused() -> None:
    own = {**SETTINGS, "vipu_controller_user": "own"}
    things = in_service({**SETTINGS, "vipu_controller_user": "root"})
    assert "holds partitions (train) and is not moved to user vipu-server" in refusal(
        lambda: controller_steps(shared(), own, look({"": holding("c", "alice")}, things))
    )
    options = [dedicated("alice", AGENTS)]
    services = {**own, "vipu_controller_user": "root", "vipu_controller_dedicated": options}
    silent = look({"": NEW, "alice": SILENT}, in_service(services, "alice"))
    assert f"connection refused; start vipu-server-alice on {HOST}" in refusal(
        lambda: dedicated_steps(options, own, silent)
    )
    empty = {**holding("c", "alice"), "partitions": {}}
    assert "cannot become secure and be moved to user vipu-server in one run" in refusal(
        lambda: controller_steps(shared(mode="secure"), own, look({"": empty}, things))
    )


def test_dedicated_controllers_are_distinguished() -> None:
    options = [dedicated("alice", AGENTS[:2]), dedicated("bob", AGENTS[2:], admin_port=10409)]
    services = {**SETTINGS, "vipu_controller_dedicated": options}
    bobs = holding("bob", "bob", AGENTS[2:])
    there = look({"": holding("c", "alice"), "bob": bobs}, in_service(services, "bob"))
    steps = dedicated_steps(options, SETTINGS, there)
    assert [(step.kind, step.name) for step in steps] == [
        ("account", "vipu-server-alice"),
        *(("file", f"/var/lib/vipu-server-alice{part}") for part in ("", "/keys", "/backups", "/log")),
        ("task", "Initialise the storage"),
        ("file", "/usr/local/sbin/vipu-backup-alice"),
        ("file", "/etc/systemd/system/vipu-server-alice.service"),
        ("service", "vipu-server-alice.service"),
        *(("agent", name) for name in AGENTS[:2]),
        ("cluster", "alice"),
        ("allocation", "alice"),
        ("partition", "train"),
    ]
    assert dedicated_steps([], SETTINGS, look({}, {})) == []


def test_one_that_is_emptied_is_filled_again_and_its_neighbour_left_alone() -> None:
    options = [dedicated("alice", AGENTS[1:3]), dedicated("bob", AGENTS[:2])]
    services = {**SETTINGS, "vipu_controller_dedicated": options}
    controllers = {"": NEW, "alice": holding("alice", "alice", AGENTS[:2]), "bob": holding("bob", "bob", AGENTS[:2])}
    there = look(controllers, in_service(services, "alice", "bob"))
    assert "cluster alice: agents is" in refusal(lambda: dedicated_steps(options, SETTINGS, there))
    names = {
        "agents": AGENTS[:2],
        "clusters": ["alice"],
        "allocations": ["alice"],
        "users": [],
        "partitions": ["train"],
    }
    absent = {kind: [{"name": name, "state": "absent"} for name in found] for kind, found in names.items()}
    nobody = {"name": "carol", **absent}
    emptied = emptied_steps([{"name": "alice", **absent}, nobody], SETTINGS, there)
    assert [(step.action, step.kind) for step in emptied] == [
        ("remove", kind) for kind in ("partition", "allocation", "cluster", "agent", "agent")
    ]
    again = dedicated_steps(options, SETTINGS, there, emptied)
    assert brief(again) == [
        *(("create", "agent", name) for name in AGENTS[1:3]),
        ("create", "cluster", "alice"),
        ("create", "allocation", "alice"),
        ("create", "partition", "train"),
    ]


def test_one_that_goes_leaves_its_storage_alone() -> None:
    options = [dedicated("alice", AGENTS)]
    services = {**SETTINGS, "vipu_controller_dedicated": options}
    answer = holding("alice", "alice")
    answer["partitions"]["of-a-tenant"] = dict(answer["partitions"]["train"], size=1)
    there = look({"": NEW, "alice": answer}, in_service(services, "alice"))
    steps = removed_steps(["alice", "carol"], SETTINGS, there)
    assert brief(steps) == [
        ("remove", "partition", "of-a-tenant"),
        ("remove", "partition", "train"),
        ("update", "service", "vipu-server-alice.service"),
        ("remove", "file", "/etc/systemd/system/vipu-server-alice.service"),
        ("run", "task", "Keep the storage"),
        ("remove", "file", "/var/lib/vipu-server-alice"),
        ("remove", "file", "/usr/local/sbin/vipu-backup-alice"),
        ("remove", "account", "vipu-server-alice"),
    ]
    silent = look({"": NEW, "alice": SILENT}, in_service(services, "alice"))
    assert refusal(lambda: removed_steps(["alice"], SETTINGS, silent)).endswith(f"start vipu-server-alice on {HOST}")


def test_a_removal_that_broke_off_is_completed() -> None:
    services = {**SETTINGS, "vipu_controller_dedicated": [dedicated("alice", AGENTS)]}
    things = in_service(services, "alice")
    del things["paths"]["/etc/systemd/system/vipu-server-alice.service"]
    steps = removed_steps(["alice"], SETTINGS, look({"": NEW}, things))
    assert [step.name for step in steps] == [
        "Keep the storage",
        "/var/lib/vipu-server-alice",
        "/usr/local/sbin/vipu-backup-alice",
        "vipu-server-alice",
    ]


def test_the_contents_of_each_controller_are_known_or_none() -> None:
    there = look({"": holding("c", "alice"), "bob": holding("bob", "bob"), "eve": SILENT}, {})
    found = held(there)
    assert found is not None
    assert found.keys() == {"allocations", "users", "partitions", "dedicated"}
    assert list(found["partitions"]) == ["train"]
    assert list(found["dedicated"]["bob"]) == ["agents", "clusters", "allocations", "users", "partitions"]
    assert found["dedicated"]["eve"] is None
    nothing = {"allocations": {}, "users": {}, "partitions": {}, "dedicated": {}}
    assert held(look({"": NEW}, {})) == nothing
    assert held(look({"": NEW}, {}), is_managed=False) is None


def test_users_and_partitions_do_not_move_between_controllers() -> None:
    there = look({"": holding("c", "alice"), "bob": holding("bob", "bob")}, {})
    assert moved(["alice"], ["bob"], {}, there) == []
    (why,) = moved([], ["alice", "bob"], {}, there)
    assert why.startswith("vPOD alice shall have a dedicated controller, and has partitions on the shared one of")
    (why,) = moved(["bob"], [], {}, there)
    assert why.startswith(f"vPOD bob shall be on the shared controller of {HOST}, and has a dedicated one there")
    assert moved(["alice"], ["carol"], {"carol": "carol-controller"}, there) == []
    assert moved(["alice"], ["bob"], {"bob": "bob-controller"}, there) == [
        f"vPOD bob shall have its dedicated controller on bob-controller, and has it on {HOST}; users and partitions "
        "cannot move: leave vpods.bob.controller_address out, or make the vPOD absent first, without it"
    ]


@pytest.mark.parametrize(
    ("status", "said"),
    [("ERROR", "partition train is in ERROR: the controller"), ("PENDING", "partition train is still PENDING")],
)
def test_a_partition_that_does_not_work_is_found_unless_it_goes(status: str, said: str) -> None:
    there = look({"": holding("c", "alice", status=status)}, in_service())
    (found,) = entity_findings({"": shared()}, there, (), AGENTS)
    assert (found.kind, found.name) == ("partition", "train")
    assert found.finding.startswith(said)
    again = [{"name": "train", "state": "absent"}]
    removal = tenant_steps({"partitions": again}, SETTINGS, there)
    assert entity_findings({"": shared()}, there, removal, AGENTS) == []
    assert entity_findings({"": shared()}, look({"": SILENT}, {}), (), AGENTS) == []


def test_an_agent_that_is_down_is_found_once_unless_nobody_waits_for_its_machine() -> None:
    controllers = {"": shared(), "bob": dedicated("bob", AGENTS[2:])}
    answers = {"": holding("c", "alice"), "bob": holding("bob", "bob", AGENTS[2:])}
    for answer in answers.values():
        answer["agents"]["p-ipum3"]["status"] = "Down"
    there = look(answers, in_service())
    (found,) = entity_findings(controllers, there, (), AGENTS)
    assert (found.kind, found.name) == ("agent", "p-ipum3")
    assert found.finding == f"agent p-ipum3 is Down, says the V-IPU controller on {HOST}"
    assert found.remedy == "start it again at 10.2.1.3, or declare p-ipum3 `excluded` in its pod while it is repaired"
    assert entity_findings(controllers, there, (), [name for name in AGENTS if name != "p-ipum3"]) == []


@pytest.mark.parametrize("status", ["Up", "up", "unknown", "", None])
def test_an_agent_of_which_nothing_bad_is_known_is_not_found(status: str | None) -> None:
    answer = holding("c", "alice")
    answer["agents"]["p-ipum3"]["status"] = status
    assert entity_findings({"": shared()}, look({"": answer}, in_service()), (), AGENTS) == []


def test_a_controller_that_takes_no_agents_has_to_be_asked_where_an_allocation_lies() -> None:
    for by_agents in (True, False):
        new = {**NEW, "allocates_by_agents": by_agents}
        there = look({"": new}, on_a_host())
        steps = controller_steps(shared(), SETTINGS, there)
        assert needs_decision_point(steps, there) == (not by_agents)
        assert not needs_decision_point(steps[:-1], there)
