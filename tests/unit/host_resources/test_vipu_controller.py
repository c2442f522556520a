# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files and units of the role vipu_controller, from its variables."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.plain_data import looked_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import (
    Account,
    Directory,
    File,
    Link,
    Made,
    Resource,
    Unit,
    resource_steps,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import (
    looked_controllers,
    vipu_controller_resources,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import running_as as who_runs
from tests.support.controller_looks import SETTINGS, STARTED, in_service

ALICE = {"name": "alice", "mode": "secure", "user_port": 10404, "admin_port": 10405, "metrics_port": 10406}
WITH_ALICE = {**SETTINGS, "vipu_controller_dedicated": [ALICE]}
UNIT_FILE = "/etc/systemd/system/vipu-server.service"


def text(things: list[Resource], path: str) -> str:
    (content,) = [thing.content for thing in things if isinstance(thing, File) and thing.path == path]
    return content or ""


def command(things: list[Resource], path: str) -> str:
    (line,) = [line for line in text(things, path).splitlines() if line.startswith("ExecStart=")]
    return line.removeprefix("ExecStart=")


def names(things: list[Resource]) -> list[str]:
    return [thing.name for thing in things if isinstance(thing, Made)]


def test_a_controller_has_a_storage_a_program_that_copies_it_and_a_unit() -> None:
    things = vipu_controller_resources(SETTINGS)
    assert things[:6] == [
        Account("vipu-server", "/var/lib/vipu"),
        Directory("/var/lib/vipu", group="vipu-server", mode="1770"),
        Directory("/var/lib/vipu/keys", mode="0700"),
        Directory("/var/lib/vipu/backups", mode="0700"),
        Directory("/var/lib/vipu/log", mode="0700"),
        Made("Initialise the storage", "/var/lib/vipu/vipu-server.json"),
    ]
    assert [thing.path for thing in things if isinstance(thing, File)] == [
        "/usr/local/sbin/vipu-backup",
        UNIT_FILE,
    ]
    assert things[-1] == Unit("vipu-server.service", restarted_by=(UNIT_FILE, "/usr/local/bin/vipu-server"))
    assert command(things, UNIT_FILE) == (
        "/usr/local/bin/vipu-server --storage /var/lib/vipu/vipu-server.json --user-port 8090 --admin-port 8091"
    )


def test_a_secure_controller_has_certificates_and_credentials_and_keeps_its_log_to_itself() -> None:
    things = vipu_controller_resources({**SETTINGS, "vipu_controller_mode": "secure"})
    assert names(things) == [
        "Initialise the storage",
        "Make the TLS certificates",
        "Keep the administrator's credentials",
    ]
    assert things[-1] == Made("Keep the administrator's credentials", "/etc/vipu/vipu-admin.hcl")
    assert command(things, UNIT_FILE).endswith("--secure --default-user-id admin")
    assert "StandardOutput=append:/var/lib/vipu/log/vipu-server.log\n\n[Install]" in text(things, UNIT_FILE)
    assert text(things, UNIT_FILE).count("UMask=0077\n") == 1


def test_agents_announce_themselves_on_the_interfaces_that_are_named() -> None:
    things = vipu_controller_resources({**SETTINGS, "vipu_controller_autodiscovery_interfaces": ["eth0", "eth1"]})
    assert command(things, UNIT_FILE).endswith("--autodiscovery-listen-interfaces eth0,eth1")


def test_a_release_comes_from_its_archive_and_its_programs_are_linked() -> None:
    program = "/opt/gc/vipu-1.18.0/vipu-server"
    archive = {"vipu_controller_archive": "/vipu.tar.gz", "vipu_controller_program": program}
    things = vipu_controller_resources({**SETTINGS, **archive})
    assert things[:3] == [
        Made("Copy the release's archive", program),
        Made("Install the release", program),
        Link("/usr/local/bin/vipu", "/opt/gc/vipu-1.18.0/vipu"),
    ]
    assert len([thing for thing in things if isinstance(thing, Link)]) == 3


def test_all_that_a_dedicated_controller_has_carries_its_name_and_nothing_of_the_clusters_is_meant() -> None:
    clusters_own: dict[str, Any] = {
        "vipu_controller_directory": "/srv/vipu",
        "vipu_controller_storage": "/srv/storage.json",
        "vipu_controller_backup_directory": "/srv/backups",
        "vipu_controller_autodiscovery_interfaces": ["eth0"],
        "vipu_controller_mode": "insecure",
    }
    things = vipu_controller_resources({**WITH_ALICE, **clusters_own}, "alice")
    assert things == vipu_controller_resources(WITH_ALICE, "alice")
    unit = "/etc/systemd/system/vipu-server-alice.service"
    assert command(things, unit) == (
        "/usr/local/bin/vipu-server --storage /var/lib/vipu-server-alice/vipu-server.json --user-port 10404 "
        "--admin-port 10405 --secure --default-user-id admin --metrics-port 10406"
    )
    assert "of vPOD alice\n" in text(things, unit)
    backup = text(things, "/usr/local/sbin/vipu-backup-alice")
    assert "DIRECTORY = '/var/lib/vipu-server-alice/backups'\n" in backup
    made = [thing.creates for thing in things if isinstance(thing, Made)]
    assert made[-1] == "/etc/vipu/vipu-admin-alice.hcl"


def test_paths_are_quoted_in_the_program_that_copies_the_storage() -> None:
    places = {"vipu_controller_directory": "/srv", "vipu_controller_storage": "/srv/my $storage"}
    things = vipu_controller_resources({**SETTINGS, **places})
    assert "STORAGE = '/srv/my $storage'\n" in text(things, "/usr/local/sbin/vipu-backup")


def running_as(user: str) -> dict[str, Any]:
    """The part "things" of a host whose controller runs as a user, by a unit of somebody's own."""
    line = f"User={user}\n" if user else ""
    texts = {UNIT_FILE: f"[Service]\n{line}ExecStart=/usr/local/bin/vipu-server\n"}
    return {"paths": {UNIT_FILE: {"kind": "file"}}, "texts": texts}


@pytest.mark.parametrize("user", ["", "root"])
def test_a_controller_that_runs_as_root_keeps_its_user_and_its_unit(user: str) -> None:
    things = vipu_controller_resources(SETTINGS, seen=running_as(user))
    assert things[0] == Directory("/var/lib/vipu", mode="0700")
    unit = text(things, UNIT_FILE)
    for word in ("user=", "protect", "umask"):
        assert word not in unit.lower()
    assert not [thing for thing in things if isinstance(thing, Account)]


def test_a_controller_that_somebody_has_given_a_user_keeps_it() -> None:
    things = vipu_controller_resources(SETTINGS, seen=running_as("ipuuser"))
    assert things[0] == Directory("/var/lib/vipu", owner="ipuuser", mode="0700")
    unit = text(things, UNIT_FILE)
    assert "User=ipuuser\n" in unit
    assert "Protect" not in unit


def test_an_installation_that_broke_off_before_its_unit_goes_on_as_the_user_of_its_storage() -> None:
    for owner in ("root", "vipu-server"):
        storage = {"/var/lib/vipu/vipu-server.json": {"kind": "file", "owner": owner}}
        found = who_runs(SETTINGS, seen={"paths": storage, "texts": {}})
        assert found == {"user": owner, "user_there": owner, "account": "vipu-server"}


def test_another_user_is_a_matter_of_declaring_one() -> None:
    for user, declared in (("vipu-server", "own"), ("root", "root")):
        settings = {**SETTINGS, "vipu_controller_user": declared}
        for there in ("root", "vipu-server", "ipuuser"):
            assert who_runs(settings, seen=running_as(there))["user"] == user
        assert who_runs(settings)["user"] == user


def test_of_what_is_in_its_directory_a_controller_can_only_replace_its_own() -> None:
    things = vipu_controller_resources({**SETTINGS, "vipu_controller_mode": "secure"})
    unit = text(things, UNIT_FILE)
    for line in ("User=vipu-server", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict"):
        assert f"{line}\n" in unit
    assert "ReadWritePaths=/var/lib/vipu\n" in unit
    # What it writes as root reads its storage, and follows no link there.
    assert "ExecStartPre=-+/usr/local/sbin/vipu-backup\n" in unit
    assert "O_NOFOLLOW" in text(things, "/usr/local/sbin/vipu-backup")


def test_a_storage_that_the_controllers_user_could_not_write_is_refused_with_a_remedy() -> None:
    elsewhere = {**SETTINGS, "vipu_controller_storage": "/srv/storage.json"}
    with pytest.raises(Refused, match=r"storage is /srv/storage\.json, .* or set vipu_controller_user to root"):
        who_runs(elsewhere)
    assert who_runs({**elsewhere, "vipu_controller_user": "root"})
    assert who_runs(elsewhere, seen=running_as("root"))
    # Whoever only looks there refuses nothing.
    assert vipu_controller_resources(elsewhere)


def test_the_user_of_a_vpod_whose_name_is_no_users_has_another_name() -> None:
    for vpod in ("alice", "Alice", "a.b", "a" * 63):
        dedicated = {**SETTINGS, "vipu_controller_dedicated": [{**ALICE, "name": vpod}]}
        (account,) = [each for each in vipu_controller_resources(dedicated, vpod) if isinstance(each, Account)]
        assert re.fullmatch(r"vipu-server-[a-z0-9]{1,20}", account.name)
        assert (account.name == f"vipu-server-{vpod}") == (vpod == "alice")


def test_once_written_there_is_nothing_to_do() -> None:
    assert resource_steps(vipu_controller_resources(SETTINGS), in_service()) == []
    assert resource_steps(vipu_controller_resources(WITH_ALICE, "alice"), in_service(WITH_ALICE, "alice")) == []


def test_a_controller_that_runs_what_was_written_since_its_start_is_restarted() -> None:
    for path in (UNIT_FILE, "/usr/local/bin/vipu-server"):
        seen = in_service()
        seen["paths"][path]["modified"] = STARTED + 1
        (step,) = resource_steps(vipu_controller_resources(SETTINGS), seen)
        assert (step.name, step.reason, step.risk) == (
            "vipu-server.service",
            "state is 'active', wanted 'restarted'",
            "disruptive",
        )


def test_a_look_reads_all_that_may_be_there_of_dedicated_controllers() -> None:
    things = vipu_controller_resources(WITH_ALICE, "alice")
    wanted = looked_resources(things)
    asked = looked_controllers(SETTINGS, ["alice"])
    for option, names_ in asked.items():
        assert set(wanted[option]) <= set(names_)
    assert "/var/lib/vipu/keys/*.key" in asked["paths"]
    assert "/etc/vipu/vipu-admin.hcl" in asked["paths"]
