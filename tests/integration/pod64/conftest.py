# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated POD64 for the modules of this folder: one story, in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.conftest import running_pod
from tests.integration.pod64.reviewer import INVENTORY, Reviewer, everything


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(INVENTORY)


@pytest.fixture(scope="package")
def reviewer(fresh_pod: Any, tmp_path_factory: pytest.TempPathFactory) -> Reviewer:
    """Who plans and looks for drift there."""
    return Reviewer(fresh_pod, tmp_path_factory.mktemp("review"))


@pytest.fixture(scope="package")
def first(reviewer: Reviewer) -> dict[str, Any]:
    """The plan for a pod that nobody has touched, a dry run, and what came of the plan."""
    before = everything(reviewer.pod)
    plan, output = reviewer.plan_and_words()
    check = reviewer.pod.playbook("site", "--check", "--diff")
    untouched = everything(reviewer.pod) == before
    apply = reviewer.pod.playbook("apply", "--diff", "-e", f"plan={reviewer.saved_plan}")
    return {"plan": plan, "output": output, "check": check, "untouched": untouched, "apply": apply}


@pytest.fixture(scope="package")
def up(reviewer: Reviewer, first: dict[str, Any]) -> Reviewer:
    """The reviewer of a pod that its first plan has brought up."""
    assert first["apply"].code == 0, first["apply"].messages
    return reviewer


@pytest.fixture(scope="package")
def pod(up: Reviewer) -> Any:
    """The pod as declared."""
    return up.pod
