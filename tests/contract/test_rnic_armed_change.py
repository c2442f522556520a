# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An armed change on a real systemd and systemd-networkd in a container, over SSH: confirmed, cut off, rebooted, wrong.

What the container's kernel has no devices for (VLANs, bonds) is not shown here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from podsim.floor.image import NAME
from tests.contract.rnic_play import STATE, begin_change, cut_off, result_of, traces
from tests.support.container_server import ContainerServer, podman_in, skip_without_podman
from tests.support.processes import kill_with_all_below

FILE = "/etc/systemd/network/50-ipu-rnic0.network"
OLD, NEW = (9000, ["10.5.1.101"]), (4200, ["10.5.1.102"])

# Stands before the real program: systemd-networkd ends when it shall read its files, and cannot be started again.
BROKEN_NETWORKCTL = """\
#!/bin/sh
[ "$1" != reload ] || systemctl --quiet mask --runtime --now systemd-networkd.service
exec /usr/bin/networkctl "$@"
"""

# Stands before the real program, too.
FULL_DISK = """\
#!/bin/sh
echo "cp: error writing: No space left on device" >&2
exit 1
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerServer]:
    skip_without_podman()
    folder = tmp_path_factory.mktemp("rnic")
    podman = podman_in(folder)
    images = podman.images(NAME)
    if not images:
        pytest.skip("needs the image of the simulated pod; `make contract` builds it")
    server = ContainerServer(podman, folder)
    try:
        server.start(images[0])
        server.sh("systemctl enable --now systemd-networkd")
        yield server
    finally:
        server.stop()


@pytest.fixture
def configured(server: ContainerServer) -> ContainerServer:
    """The server with MTU 9000 on rnic0, confirmed."""
    result_of(begin_change(server, 9000, "10.5.1.101/16"))
    assert server.running("rnic0") == OLD
    return server


def test_a_change_is_confirmed_and_leaves_no_trace(configured: ContainerServer) -> None:
    result = result_of(begin_change(configured, 4200, "10.5.1.102/16"))
    assert result["changed"]
    assert result["after"]["interface"]["rnic0"]["mtu"] == 4200
    assert configured.running("rnic0") == NEW
    assert traces(configured) == ""
    again = result_of(begin_change(configured, 4200, "10.5.1.102/16"))
    assert not again["changed"]
    assert again["after"] == result["after"]


def test_a_connection_that_is_cut_in_the_middle(configured: ContainerServer) -> None:
    """The module dies with its connection, and no new one is taken; the server goes back by itself."""
    file = configured.sh(f"cat {FILE}")
    cut_off(configured, ends_the_module=True)
    result = result_of(begin_change(configured, 4200, "10.5.1.102/16"))
    assert result.get("failed"), result
    assert "the server has undone it at its deadline" in result["msg"]
    assert result["after"]["interface"]["rnic0"]["mtu"] == 9000
    assert configured.running("rnic0") == OLD
    assert configured.sh(f"cat {FILE}") == file
    assert "+ networkctl reload" in result["undo_log"]
    assert "ipu-rnic-undo" not in traces(configured)
    configured.sh("systemctl stop cut.path mend.path")


def test_a_wrong_address(configured: ContainerServer) -> None:
    """With it, the server's way back to the control node leads into the data plane, where nobody answers."""
    file = configured.sh(f"cat {FILE}")
    result = result_of(begin_change(configured, 9000, configured.misleading_address))
    assert result.get("failed"), result
    by_itself = ("the server has put the old settings back", "the server has undone it at its deadline")
    assert any(words in result["msg"] for words in by_itself)
    assert "+ networkctl reload" in result["undo_log"]
    assert result["after"] == result["before"]
    assert not result["changed"]
    assert configured.running("rnic0") == OLD
    assert configured.sh(f"cat {FILE}") == file


def test_a_wrong_mtu(configured: ContainerServer) -> None:
    """The kernel takes it; networkd makes it 1280, because there is an IPv6 address."""
    file = configured.sh(f"cat {FILE}")
    result = result_of(begin_change(configured, 1000, "10.5.1.102/16"))
    assert result["msg"] == "after 10 s interface rnic0: its mtu is 1280, not 1000; the old settings are back"
    assert result["after"] == result["before"]
    assert configured.running("rnic0") == OLD
    assert configured.sh(f"cat {FILE}") == file
    assert traces(configured) == ""


def test_a_service_that_does_not_start(configured: ContainerServer) -> None:
    """Neither does it for the undoing: the kernel and the files are as before, and the report says what is not."""
    file = configured.sh(f"cat {FILE}")
    path = "/usr/local/sbin/networkctl"
    configured.sh(f"cat > {path} <<'END'\n{BROKEN_NETWORKCTL}END\nchmod +x {path}")
    try:
        result = result_of(begin_change(configured, 4200, "10.5.1.102/16"))
    finally:
        configured.sh(f"rm {path} && systemctl unmask --runtime systemd-networkd.service")
    assert result["msg"].startswith("networkctl reload: "), result
    assert "the old settings could not all be put back: after 10 s interface rnic0: its network_file" in result["msg"]
    assert configured.running("rnic0") == OLD
    assert configured.sh(f"cat {FILE}") == file
    refused = result_of(begin_change(configured, 4200, "10.5.1.102/16"))
    assert "neither systemd-networkd nor NetworkManager runs on this server" in refused["msg"]
    configured.sh("systemctl start systemd-networkd.service")


def test_a_full_disk_while_the_control_node_is_dead(configured: ContainerServer) -> None:
    """The new file stays whole, nothing is called undone, and it is tried again until there is room."""
    file = configured.sh(f"cat {FILE}")
    run = begin_change(configured, 4200, "10.5.1.102/16")
    configured.until(f"[ -e {STATE}/armed ]")
    kill_with_all_below(run)
    run.communicate()
    configured.until(f"grep -q MTUBytes=4200 {FILE}")
    path, journal = "/usr/local/sbin/cp", "journalctl --boot --unit ipu-rnic-undo.service --output cat"
    configured.sh(f"cat > {path} <<'END'\n{FULL_DISK}END\nchmod +x {path}")
    try:
        configured.until(f'{journal} | grep -q "not undone: {FILE}; tried again in 30 s"')
        assert "MTUBytes=4200" in configured.sh(f"cat {FILE}")
        assert "undone" not in configured.sh(f"ls {STATE}").split()
        refused = result_of(begin_change(configured, 9000, "10.5.1.101/16"))
        assert "the server is still putting the old settings back; it tries again every 30 s, and " in refused["msg"]
    finally:
        configured.sh(f"rm {path}")
    configured.until(f"[ -e {STATE}/undone ]")
    assert configured.sh(f"cat {FILE}") == file
    assert configured.running("rnic0") == OLD
    said = configured.sh(journal).splitlines()
    assert f"not put back, {FILE}: cp: error writing: No space left on device" in said
    assert f"put back {FILE}" in said
    assert "undone" in said


def test_a_reboot_while_the_control_node_is_dead(configured: ContainerServer) -> None:
    file = configured.sh(f"cat {FILE}")
    run = begin_change(configured, 4200, "10.5.1.102/16")
    configured.until(f"[ -e {STATE}/armed ]")
    kill_with_all_below(run)
    run.communicate()
    configured.until(f"grep -q MTUBytes=4200 {FILE}")
    configured.reboot()
    configured.until(f"[ -e {STATE}/undone ]")
    assert configured.sh(f"cat {FILE}") == file
    for _attempt in range(100):
        if configured.running("rnic0") == OLD:
            break
        time.sleep(0.1)
    assert configured.running("rnic0") == OLD
    assert result_of(begin_change(configured, 9000, "10.5.1.101/16"))["changed"] is False
    assert traces(configured) == ""
