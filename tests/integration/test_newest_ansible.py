# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated pod brought up by the newest Ansible; the other tests run the oldest that is supported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulated_pod import NEWEST_ANSIBLE, PROJECT


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    return PROJECT / "inventories" / "sim_two_servers"


@pytest.fixture(scope="module", name="programs")
def _programs() -> Path:
    if not (NEWEST_ANSIBLE / "ansible-playbook").exists():
        pytest.skip("no python3.13 on this machine when `make setup` ran; without it there is no newest Ansible")
    return NEWEST_ANSIBLE


def test_site_on_the_newest_ansible(fresh_pod: Any) -> None:
    first = fresh_pod.playbook("site")
    assert (first.code, first.messages) == (0, "")
    assert {"pod001-tor", "ctrl001", "pod001-poplar1"} <= {host for host, changed in first.changed.items() if changed}
    second = fresh_pod.playbook("site")
    assert (second.code, second.messages) == (0, "")
    assert second.changed == dict.fromkeys(second.changed, 0)
