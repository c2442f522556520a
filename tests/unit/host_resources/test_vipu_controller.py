# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files and units of the role vipu_controller, from its variables."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.plain_data import looked_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import (
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
    assert things[:2] == [
        Directory("/var/lib/vipu", mode="0700"),
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
    assert "umask" not in text(things, UNIT_FILE).lower()


def test_a_secure_controller_has_certificates_and_credentials_and_keeps_its_log_to_itself() -> None:
    things = vipu_controller_resources({**SETTINGS, "vipu_controller_mode": "secure"})
    assert names(things) == [
        "Initialise the storage",
        "Make the TLS certificates",
        "Keep the administrator's credentials",
    ]
    assert things[-1] == Made("Keep the administrator's credentials", "/etc/vipu/vipu-admin.hcl")
    assert command(things, UNIT_FILE).endswith("--secure --default-user-id admin")
    assert "UMask=0077\nStandardOutput=append:/var/lib/vipu/vipu-server.log\n\n[Install]" in text(things, UNIT_FILE)


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
    things = vipu_controller_resources({**SETTINGS, "vipu_controller_storage": "/srv/my $storage"})
    assert "STORAGE = '/srv/my $storage'\n" in text(things, "/usr/local/sbin/vipu-backup")


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
