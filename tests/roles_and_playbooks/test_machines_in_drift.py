# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A declared machine without its vPOD, on a cloud in memory: drift.yml and plan.yml say it, and no run fails for it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from tests.roles_and_playbooks.user_data_place import DECLARED, LIES, Place
from tests.support.strict_cloud import StrictCloud
from tests.support.strict_cloud_server import running

SENTENCE = (
    "cloud001: machine train is not there, and should have vPOD alice; make it and run attachments.yml, or correct "
    "machines.cloud001/train in pods.yml"
)


def test_it_is_drift_and_in_the_plan_and_fails_no_run(tmp_path: Path) -> None:
    declared = deepcopy(DECLARED)
    declared["pods"]["pod001"]["managed"] = []
    alice = declared["vpods"]["alice"]
    declared["vpods"] = {"alice": {**alice, **LIES, "cloud": {**alice["cloud"], "users": ["ann"], "image": "debian"}}}
    declared["machines"] = {"cloud001/train": {"user": "debian", "vpod": "alice"}}
    place, cloud = Place(tmp_path, declared), StrictCloud()
    with running(cloud) as site:
        site.write_entry(tmp_path / "clouds.yaml", cloud.password)

        def run(playbook: str) -> tuple[int, str]:
            locks = ("-e", f"pod_lock_own_directory={tmp_path}/locks")
            done = place.run(playbook, *locks, OS_CLIENT_CONFIG_FILE=str(tmp_path / "clouds.yaml"))
            return done.returncode, " ".join(done.stdout.split())

        for playbook, code, is_said in (("openstack", 0, False), ("plan", 0, True), ("drift", 2, True)):
            found, said = run(playbook)
            assert (found, SENTENCE in said) == (code, is_said), said
