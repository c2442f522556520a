# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pod answers is recorded, and nothing of the pod changes meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.pod64.reviewer import CONTROLLER, SERVERS, SWITCH


def test_recording_what_a_pod_answers_touches_nothing_and_names_nobody(pod: Any, tmp_path: Path) -> None:
    before, writes = pod.fingerprint(), pod.write_requests()
    run = pod.playbook("first_contact", "-e", f"first_contact_directory={tmp_path}")
    assert (run.code, run.messages) == (0, "")
    assert (pod.fingerprint(), pod.write_requests()) == (before, writes)
    archive = tmp_path / "answers.json"
    assert archive.stat().st_mode & 0o777 == 0o600
    text = archive.read_text(encoding="utf-8")
    recorded = json.loads(text)
    assert recorded["source"] == "simulated"
    assert len(recorded["devices"]) == len([SWITCH, CONTROLLER, *SERVERS])
    # Nor does it name a device, the tenant or the password of the switch.
    assert [name for name in (SWITCH, CONTROLLER, *SERVERS, "podsim", "pod001", "demo") if name in text] == []
