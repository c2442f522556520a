# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files and settings of the role poplar_server, from its variables."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.poplar_server import poplar_server_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import (
    File,
    KernelParameter,
    Packages,
    Resource,
    Unit,
)

NOTHING: dict[str, Any] = {
    "poplar_server_packages": [],
    "poplar_server_start_networkd": False,
    "poplar_server_memlock": "",
    "poplar_server_memlock_units": [],
    "poplar_server_sysctl": {},
}


def things(**settings: Any) -> list[Resource]:
    return poplar_server_resources({**NOTHING, **settings})


def texts(found: list[Resource]) -> dict[str, str | None]:
    """Each file's text without the line that says who wrote it."""
    files = [thing for thing in found if isinstance(thing, File)]
    assert all((file.content or "").startswith("# Written by the role ipu.pod.poplar_server") for file in files)
    return {file.path: (file.content or "").split("\n", 1)[1] for file in files}


def test_a_server_may_need_nothing() -> None:
    assert things() == things(poplar_server_memlock=None) == []


def test_packages_are_those_of_the_os_or_the_named_ones() -> None:
    assert things(poplar_server_packages=["perftest"]) == [Packages(("perftest",))]
    (packages,) = things(poplar_server_packages=None)
    assert isinstance(packages, Packages)
    assert {"rdma-core", "iproute2"} <= set(packages.by_os_family["Debian"])
    assert {"rdma-core", "iproute"} <= set(packages.by_os_family["RedHat"])


def test_the_network_service_is_started_where_that_is_wanted() -> None:
    assert things(poplar_server_start_networkd=True) == [Unit("systemd-networkd.service")]


def test_locked_memory_of_sessions_and_units() -> None:
    found = things(poplar_server_memlock="64", poplar_server_memlock_units=["slurmd.service"])
    assert texts(found) == {
        "/etc/security/limits.d/90-ipu-memlock.conf": (
            "# RDMA registers memory, which has to stay where it is. The star does not mean root.\n"
            "* soft memlock 64\n* hard memlock 64\nroot soft memlock 64\nroot hard memlock 64\n"
        ),
        "/etc/systemd/system/slurmd.service.d/90-ipu-memlock.conf": "[Service]\nLimitMEMLOCK=64K\n",
    }
    units = things(poplar_server_memlock="unlimited", poplar_server_memlock_units=["slurmd.service"])
    assert "LimitMEMLOCK=infinity\n" in (texts(units)["/etc/systemd/system/slurmd.service.d/90-ipu-memlock.conf"] or "")


def test_kernel_parameters_now_and_after_a_restart() -> None:
    found = things(poplar_server_sysctl={"net.a": 1, "net.b": "1 2"})
    assert texts(found) == {"/etc/sysctl.d/90-ipu-pod.conf": "net.a=1\nnet.b=1 2\n"}
    assert found[1:] == [KernelParameter("net.a", "1"), KernelParameter("net.b", "1 2")]
