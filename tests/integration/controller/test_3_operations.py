# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU controller in use: by two at once, restored, discovering, upgraded."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from podsim.vipu.archive import write_archive
from tests.support.processes import wait_until

MACHINES = {f"pod001-ipum{n}": f"10.2.1.{n}" for n in range(1, 17)}

# Stands in front of vipu-admin and holds `create cluster` back until somebody opens the gate.
GATE = """#!/bin/sh
case "$*" in *"create cluster"*) touch /run/at-the-gate; read -r _ < /run/gate;; esac
exec /usr/local/bin/vipu-admin "$@"
"""


def test_of_two_runs_at_once_one_stops_with_the_name_of_the_other(fresh_pod: Any) -> None:
    fresh_pod.forget_the_controller()
    fresh_pod.inside(
        "ctrl001",
        f"mkfifo /run/gate; cat > /usr/local/sbin/vipu-admin << 'END'\n{GATE}END\nchmod 755 /usr/local/sbin/vipu-admin",
    )
    with ThreadPoolExecutor() as pool:
        first = pool.submit(fresh_pod.playbook, "vipu_controllers")
        wait_until(lambda: "there" in fresh_pod.inside("ctrl001", "test ! -e /run/at-the-gate || echo there"))
        refused = fresh_pod.playbook("vipu_controllers")
        # The lock of the pod is not everybody's; that of the controller's writers is.
        second = fresh_pod.playbook("vipu_controllers", "-e", "pod_lock_directory=/run/of-another-tool")
        meanwhile = {kind: fresh_pod.held(kind) for kind in ("agents", "clusters", "allocations", "partitions")}
        fresh_pod.inside("ctrl001", "rm /usr/local/sbin/vipu-admin; echo > /run/gate; rm /run/gate /run/at-the-gate")
        completed = first.result()
    assert refused.code != 0
    assert "pod001 is held by root on " in refused.messages
    assert second.code != 0
    assert "of root on ctrl001, since " in second.messages
    assert "for ipu.pod.vipu_state, is changing this V-IPU controller; run again when it is done" in second.messages
    assert meanwhile == {"agents": sorted(MACHINES), "clusters": [], "allocations": [], "partitions": []}
    assert (completed.code, completed.messages) == (0, "")
    assert fresh_pod.held("agents") == sorted(MACHINES)
    assert [fresh_pod.held(kind) for kind in ("clusters", "allocations")] == [["c001"], ["demo"]]
    assert fresh_pod.held("partitions") == ["serve", "train"]


def test_a_confirmed_restore_brings_the_old_state_back(fresh_pod: Any) -> None:
    assert fresh_pod.playbook("site").code == 0
    fresh_pod.inside("ctrl001", "/usr/local/sbin/vipu-backup")
    backup = fresh_pod.inside("ctrl001", "ls /var/lib/vipu/backups | tail -n 1").strip()
    fresh_pod.inside(
        "ctrl001", "vipu-admin remove partition serve && vipu-admin create partition tenants --size 8 --allocation demo"
    )
    options = ("-l", "ctrl001", "-e", f"vipu_controller_restore={backup}")
    shown = fresh_pod.playbook("restore", *options)
    assert shown.code != 0
    assert "Nothing has been touched." in shown.messages
    assert fresh_pod.held("partitions") == ["tenants", "train"]

    restored = fresh_pod.playbook("restore", *options, "-e", "vipu_controller_restore_confirmed=true")
    assert (restored.code, restored.messages) == (0, "")
    (sentences,) = [
        result["msg"] for _, task, result in restored.tasks if task.endswith("Show what the restore would change")
    ]
    assert "partitions serve: only in the backup; would come back" in sentences
    assert "partitions tenants: only on the controller; would be forgotten" in sentences
    assert any(
        sentence.startswith("partition tenants: held by ") and sentence.endswith("its IPUs would seem free")
        for sentence in sentences
    )
    assert fresh_pod.held("partitions") == ["serve", "train"]
    after = fresh_pod.playbook("site")
    assert (after.code, after.messages, after.changes) == (0, "", [])
    # The state before the restore is not lost, either.
    kept = fresh_pod.inside("ctrl001", "grep -l '\"tenants\"' /var/lib/vipu/backups/*.json")
    assert kept.strip()


def test_a_controller_that_listens_finds_the_machines_of_the_floor(fresh_pod: Any) -> None:
    listens = ("-e", '{"vipu_controller_autodiscovery_interfaces": ["eth0"]}')
    run = fresh_pod.playbook("vipu_controllers", *listens)
    assert (run.code, run.messages) == (0, "")
    wait_until(lambda: fresh_pod.inside("ctrl001", "vipu-admin discover agent").count("| eth0") == len(MACHINES))
    found = fresh_pod.module("ctrl001", "vipu_info", discovered_agents=True)
    discovered = {agent["name"]: agent["host"] for agent in found["discovered_agents"]}
    assert discovered == MACHINES == {name: fields["host"] for name, fields in found["agents"].items()}
    # What was found is what pods.yml derived, so registering it changes nothing.
    assert not fresh_pod.module("ctrl001", "vipu_agent", agents=found["discovered_agents"])["changed"]
    again = fresh_pod.playbook("vipu_controllers", *listens)
    assert (again.code, again.changes) == (0, [])


def test_the_controller_exports_its_metrics(fresh_pod: Any) -> None:
    assert fresh_pod.held("agents") == sorted(MACHINES)
    with urlopen("http://10.3.1.200:2113/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    assert {"vipu_agents 16", "vipu_agents_up 16", 'vipu_partitions{state="ACTIVE"} 2', "# EOF"} <= set(lines)


def archive_options(role: str, directory: Path, release: str) -> tuple[str, str]:
    """The options by which a role installs this release from the vendor's archive, which is made here."""
    archive = directory / f"{release}.tar.gz"
    write_archive(archive, release)
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    return "-e", f"{role}_archive={archive} {role}_archive_sha256={checksum} {role}_release={release}"


def test_a_release_from_the_vendors_archive_has_to_be_that_of_the_agents(fresh_pod: Any, tmp_path: Path) -> None:
    runs = {}
    for release in ("1.17.0", "1.18.0"):
        options = archive_options("vipu_controller", tmp_path, release)
        runs[release] = fresh_pod.playbook("vipu_controllers", *options)
    assert runs["1.17.0"].code != 0
    assert "Agents of another V-IPU release than the controller's 1.17.0: pod001-ipum1 has 1.18.0, " in (
        runs["1.17.0"].messages
    )
    assert (runs["1.18.0"].code, runs["1.18.0"].messages) == (0, "")
    assert fresh_pod.inside("ctrl001", "ls /opt/gc").split() == ["vipu-1.17.0", "vipu-1.18.0"]
    assert "1.18.0" in fresh_pod.inside("ctrl001", "readlink /usr/local/bin/vipu-admin")
    assert fresh_pod.held("partitions") == ["serve", "train"]
    again = fresh_pod.playbook("vipu_controllers", *options)
    assert (again.code, again.changes) == (0, [])


def test_poplar_servers_get_the_program_of_their_controllers_release_alone(fresh_pod: Any, tmp_path: Path) -> None:
    own = archive_options("vipu_controller", tmp_path, "1.18.0")
    server = "pod001-poplar2"
    before, writes = fresh_pod.fingerprint(), fresh_pod.write_requests()
    refused = fresh_pod.playbook("site", *own, *archive_options("vpod", tmp_path, "1.17.0"))
    assert refused.code == 2
    assert "vpod_release is 1.17.0, but the V-IPU controller on ctrl001 is of release 1.18.0" in refused.messages
    assert (fresh_pod.fingerprint(), fresh_pod.write_requests()) == (before, writes)

    fitting = (*own, *archive_options("vpod", tmp_path, "1.18.0"))
    check, run = (fresh_pod.playbook("site", *fitting, *dry) for dry in (("--check",), ()))
    assert (run.code, run.messages) == (0, "")
    servers = {"pod001-poplar1", "pod001-poplar2"}
    steps = {"Copy the release's archive", "Install the release", "/usr/local/bin/vipu"}
    assert check.predicted == {(each, step) for each in servers for step in steps}
    assert {host for host, changed in run.changed.items() if changed} == servers
    assert fresh_pod.inside(server, "readlink /usr/local/bin/vipu").strip() == "/opt/gc/vipu-1.18.0/vipu"
    assert "train" in fresh_pod.inside(server, "vipu list partitions")
    again = fresh_pod.playbook("site", *fitting)
    assert (again.code, again.changes) == (0, [])
