# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions between pods.yml and the variables of Backend.AI are reported before a host is asked: here is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.checkout import ROOT
from tests.support.playbook_run import JSON_OUTPUT, PlaybookRun, read_run, run_playbook

INVENTORY = ROOT / "inventories" / "sim_backend_ai"
# Actions that ask no host.
ON_THE_CONTROL_NODE = {
    "ipu.pod.backend_ai_plan",
    "ipu.pod.scope",
    *(f"ansible.builtin.{name}" for name in ("assert", "include_role", "validate_argument_spec")),
}


@pytest.fixture(name="inventory")
def _inventory(tmp_path: Path) -> Path:
    """The pods.yml without the simulator, and without variables."""
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    del document["sim"]
    (tmp_path / "pods.yml").write_text(yaml.safe_dump(document))
    return tmp_path


def run(inventory: Path, variables: dict[str, Any]) -> PlaybookRun:
    """Run the playbook for a pod of which nothing is there."""
    name = "backend_ai"
    return read_run(name, run_playbook(name, "-e", json.dumps(variables), inventory=inventory, **JSON_OUTPUT))


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"backend_ai_agent_vpod": "mk"}, "'mk', and pods.yml declares no such vPOD; it declares ml"),
        ({"backend_ai_agent_vpod": None}, "backend_ai_agent_vpod"),
        ({"backend_ai_agent_plugin": "/nowhere"}, "/nowhere is no wheel and no checkout with src/ai/backend/"),
        ({"backend_ai_agent_environment": {"A B": 1}}, "backend_ai_agent_environment.A B: this is no name of a"),
    ],
)
def test_a_contradiction_is_reported_before_a_host_is_contacted(
    inventory: Path, variables: dict[str, Any], sentence: str
) -> None:
    chosen = {"backend_ai_agent_vpod": "ml", "backend_ai_agent_python": "/opt/backend.ai/venv/bin/python"}
    ended = run(inventory, {name: value for name, value in {**chosen, **variables}.items() if value is not None})
    assert ended.code != 0
    assert sentence in ended.messages
    assert {result.get("action") for _, _, result in ended.tasks} <= ON_THE_CONTROL_NODE
