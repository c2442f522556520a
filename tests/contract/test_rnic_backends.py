# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""netplan and NetworkManager, the real ones, on a server in a container: each in its own idiom, and back by itself.

systemd-networkd has its own tests, and VLANs are on a real kernel in the acceptance scenario: this one has none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from podsim.floor.errors import FloorError
from tests.contract.rnic_play import CONFIRM_WITHIN, begin_change, cut_off, result_of, traces
from tests.support.container_server import ContainerServer, image_with, podman_in, skip_without_podman

OLD = (9000, ["10.5.1.101"])
HEADER = "# Written by ipu.pod.rnic_network, which overwrites what is changed here by hand.\n"


@dataclass(frozen=True)
class Case:
    """A back end: how it comes to a server, the file that it has then, and who says that rnic0 is made from it.

    Args:
        lines: what the file says of MTU 9000 and 10.5.1.101/16, in the words of the back end.
        used: a command whose output names the file that the daemon uses, and that file.
    """

    backend: str
    prepare: str
    file: str
    lines: tuple[str, ...]
    used: tuple[str, str]


CASES = (
    Case(
        "netplan",
        "printf 'network:\\n  version: 2\\n  ethernets:\\n    rnic1: {}\\n' > /etc/netplan/50-site.yaml; "
        "chmod 600 /etc/netplan/50-site.yaml; netplan generate; systemctl enable --now systemd-networkd",
        "/etc/netplan/60-ipu-rnic0.yaml",
        ('    "rnic0":', "      mtu: 9000", '      addresses: ["10.5.1.101/16"]'),
        ("networkctl status rnic0", "Network File: /run/systemd/network/10-netplan-rnic0.network"),
    ),
    Case(
        "networkmanager",
        "printf '[main]\\nno-auto-default=*\\n' > /etc/NetworkManager/conf.d/site.conf; "
        "systemctl enable --now NetworkManager; nm-online --quiet --timeout 10 || true",
        "/etc/NetworkManager/system-connections/ipu-rnic0.nmconnection",
        ("interface-name=rnic0", "mtu=9000", "address1=10.5.1.101/16", "never-default=true"),
        (
            "nmcli --terse --fields DEVICE,FILENAME connection show --active",
            "rnic0:/etc/NetworkManager/system-connections/ipu-rnic0.nmconnection",
        ),
    ),
)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.backend)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture(scope="module")
def server(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerServer]:
    """A server with nothing but the back end."""
    skip_without_podman()
    folder = tmp_path_factory.mktemp("rnic")
    podman = podman_in(folder)
    try:
        image = image_with(podman, folder, ("netplan.io", "network-manager"))
    except FloorError as error:
        pytest.skip(f"needs an image with netplan and NetworkManager: {error}")
    server = ContainerServer(podman, folder)
    try:
        server.start(image)
        server.sh(case.prepare)
        yield server
    finally:
        server.stop()


@pytest.fixture
def configured(server: ContainerServer) -> ContainerServer:
    """The server with MTU 9000 on rnic0, confirmed."""
    result = result_of(begin_change(server, 9000, "10.5.1.101/16"))
    assert not result.get("failed"), result["msg"]
    return server


def test_running_and_persistent_and_not_again(configured: ContainerServer, case: Case) -> None:
    assert configured.running("rnic0") == OLD
    text = configured.sh(f"cat {case.file}")
    assert text.startswith(HEADER)
    assert set(case.lines) <= set(text.splitlines())
    command, used = case.used
    assert used in configured.sh(command)
    assert traces(configured) == ""
    again = result_of(begin_change(configured, 9000, "10.5.1.101/16"))
    assert again["changed"] is False
    assert again["plan"] == []


@pytest.mark.parametrize(
    ("drift", "reason"),
    [
        ("ip link set rnic0 mtu 1500", "mtu is 1500, wanted 9000"),
        ("sed -i s/9000/4200/ {file}", "its files are not as wanted"),
    ],
    ids=["running", "persistent"],
)
def test_drift_of_one_side_alone(configured: ContainerServer, case: Case, drift: str, reason: str) -> None:
    text = configured.sh(f"cat {case.file}")
    configured.sh(drift.format(file=case.file))
    result = result_of(begin_change(configured, 9000, "10.5.1.101/16"))
    assert [step["reason"] for step in result["plan"]] == [reason]
    assert not result.get("failed"), result["msg"]
    assert configured.running("rnic0") == OLD
    assert configured.sh(f"cat {case.file}") == text


def test_what_nobody_confirms_goes_back(configured: ContainerServer, case: Case) -> None:
    """The module finishes its work on the server, but no fresh connection comes through to confirm it."""
    text = configured.sh(f"cat {case.file}")
    cut_off(configured, ends_the_module=False)
    result = result_of(begin_change(configured, 4200, "10.5.1.102/16"))
    assert result.get("failed"), result
    assert "the server has undone it at its deadline" in result["msg"]
    assert configured.sh(f"cat {case.file}") == text
    assert configured.running("rnic0") == OLD
    command, used = case.used
    assert used in configured.sh(command)
    assert result_of(begin_change(configured, 9000, "10.5.1.101/16"))["changed"] is False
    assert traces(configured) == ""


def test_a_reboot_keeps_everything(configured: ContainerServer) -> None:
    configured.sh("ip address flush dev rnic0; ip link set rnic0 mtu 1500")
    configured.reboot()
    deadline = time.monotonic() + CONFIRM_WITHIN
    while configured.running("rnic0") != OLD and time.monotonic() < deadline:
        time.sleep(0.1)
    assert configured.running("rnic0") == OLD
    assert result_of(begin_change(configured, 9000, "10.5.1.101/16"))["changed"] is False
