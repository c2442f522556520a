# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bring-up by the newest Ansible, with the controller on a Poplar server; other tests run the oldest supported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.controller.conftest import INVENTORY
from tests.support.playbook_run import did_what_was_predicted
from tests.support.simulated_pod import NEWEST_ANSIBLE


@pytest.fixture(name="newest")
def _newest(fresh_pod: Any) -> Iterator[Any]:
    """The pod for playbooks of the newest Ansible."""
    if not (NEWEST_ANSIBLE / "ansible-playbook").exists():
        pytest.skip("no python3.13 on this machine when `make setup` ran; without it there is no newest Ansible")
    yield fresh_pod.with_programs(NEWEST_ANSIBLE)
    fresh_pod.forget_the_controller("pod001-poplar1")


@pytest.fixture
def on_a_server(tmp_path: Path) -> Path:
    """The inventory of the pod with its controller on a Poplar server."""
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["controllers"]["ctrl001"] = {"host": "pod001-poplar1"}
    (tmp_path / "pods.yml").write_text(yaml.safe_dump(document))
    (tmp_path / "group_vars").symlink_to(INVENTORY / "group_vars")
    return tmp_path


def test_site_on_the_newest_ansible_with_the_controller_on_a_poplar_server(newest: Any, on_a_server: Path) -> None:
    check = newest.playbook("site", "--check", inventory=on_a_server)
    assert (check.code, check.messages, set(check.changed.values())) == (0, "", {0})
    run = newest.playbook("site", inventory=on_a_server)
    assert (run.code, run.messages) == (0, "")
    # ansible-core 2.21 censors each loop whose no_log is a template, whatever that comes to.
    did_what_was_predicted(check, run)
    assert {"pod001-tor", "pod001-poplar1", "pod001-poplar2"} <= {
        host for host, changed in run.changed.items() if changed
    }
    assert newest.held("partitions", "pod001-poplar1") == ["serve", "train"]
    assert "train" in newest.inside("pod001-poplar2", "vipu list partitions")
    again = newest.playbook("site", inventory=on_a_server)
    assert (again.code, again.messages) == (0, "")
    assert again.changed == dict.fromkeys(again.changed, 0)
