# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod with OpenStack for the modules of this folder, the first of which begins before any playbook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.conftest import Pod, brought_up, running_pod
from tests.support.checkout import ROOT
from tests.support.simulated_pod import STATE

INVENTORY = ROOT / "inventories" / "sim_openstack"


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod with a cloud that no playbook has touched."""
    yield from running_pod(INVENTORY)


@pytest.fixture(scope="package", name="pod")
def _pod(fresh_pod: Any) -> Iterator[Pod]:
    """The pod as declared, for all modules that leave it so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(STATE / "clouds.yaml"))
        yield brought_up(fresh_pod)


@pytest.fixture(scope="module")
def operator(pod: Pod) -> Any:
    """The cloud as its operator, by OpenStack's own client, once the pod is as declared."""
    assert pod
    return connected("cloud001")


def connected(entry: str) -> Any:
    """The cloud by one of the entries in the clouds.yaml of the pod."""
    openstack = pytest.importorskip("openstack", reason="openstacksdk is not installed; run: make setup")
    config = openstack.config.OpenStackConfig(config_files=[str(STATE / "clouds.yaml")], load_envvars=False)
    return openstack.connection.Connection(config=config.get_one(entry))
