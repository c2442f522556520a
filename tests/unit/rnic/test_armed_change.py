# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change that goes wrong, or that nobody confirms: the old settings are back, and the report says what happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import BACKENDS
from ansible_collections.ipu.pod.plugins.module_utils._rnic.confirmation import CHANGE, CONFIRM, Lost, carried_out
from ansible_collections.ipu.pod.plugins.module_utils._rnic.undo import ARMED, DIRECTORY, UNDOING
from tests.support.in_memory.rnic_runs import (
    CHANGE as CHANGE_ID,
)
from tests.support.in_memory.rnic_runs import (
    CONFIRM_WITHIN,
    changed,
    checkpoint_on,
    confirmed,
    networkd_server,
    persistent,
    problem_of_confirmation,
    running,
    server_with,
    session_on,
)
from tests.support.in_memory.server import TinyServer

WANTED = {"name": "rnic0", "addresses": ["10.5.1.101/16"], "mtu": 9000}
OTHER = {"name": "rnic0", "addresses": ["10.5.1.102/16"], "mtu": 4200}
VLAN = {"name": "tenant", "type": "vlan", "parent": "rnic0", "vlan_id": 101, "addresses": ["10.7.1.1/16"]}
BOND = [
    {"name": "rnic0", "addresses": []},
    {"name": "rnic1"},
    {"name": "bond0", "type": "bond", "members": ["rnic0", "rnic1"], "mode": "802.3ad", "mtu": 9000},
]
FUNCTIONS = [{"index": 0, "mac": "02:00:00:00:01:00", "vlan": 101}]
UNDONE = "(no route to host); the server has undone it at its deadline: the old settings are back"
backends = pytest.mark.parametrize("backend", sorted(BACKENDS))

CHANGES = [
    [OTHER, {"name": "rnic1", "addresses": ["10.6.1.1/16"]}],
    [{**WANTED, "addresses": []}, VLAN],
    BOND,
    [{"name": "rnic0", "virtual_functions": FUNCTIONS}],
    [{"name": "rnic0"}, {"name": "old", "type": "vlan", "state": "absent"}],
]


def prepared(backend: str) -> TinyServer:
    """A server with settings of ours, and some that were made by hand."""
    server = server_with(backend)
    server.sysfs.limits = {"rnic0": 4}
    confirmed(server, [WANTED, {**VLAN, "name": "old", "vlan_id": 7, "mtu": 1500, "addresses": ["10.8.1.1/16"]}])
    server.nics["rnic0"].addresses.append("10.99.1.1/24")
    return server


@backends
@pytest.mark.parametrize("options", CHANGES)
def test_what_nobody_confirms_is_undone_at_the_deadline(backend: str, options: list[dict[str, Any]]) -> None:
    server = prepared(backend)
    if options is BOND:
        confirmed(server, [{"name": "rnic0"}, {"name": "old", "type": "vlan", "state": "absent"}])
    before = running(server), persistent(server)
    assert changed(server, options).failure is None
    server.pause(CONFIRM_WITHIN - 31)
    assert (running(server), persistent(server)) != before
    server.pause(31)
    assert (running(server), persistent(server)) == before
    assert checkpoint_on(server).undone() is not None
    assert not [path for path in server.files.files if "ipu-rnic-" in path]
    assert problem_of_confirmation(server, options) == (
        "the server has put the old settings back before the confirmation"
    )


@backends
@pytest.mark.parametrize("options", CHANGES)
def test_what_nobody_confirms_is_undone_by_a_reboot(backend: str, options: list[dict[str, Any]]) -> None:
    server, never_changed = prepared(backend), prepared(backend)
    if options is BOND:
        for one in (server, never_changed):
            confirmed(one, [{"name": "rnic0"}, {"name": "old", "type": "vlan", "state": "absent"}])
    assert changed(server, options).failure is None
    server.reboot()
    never_changed.reboot()
    assert running(server) == running(never_changed)
    assert persistent(server) == persistent(never_changed)
    server.pause(10 * CONFIRM_WITHIN)
    assert running(server) == running(never_changed)


@backends
def test_what_is_confirmed_stays_and_leaves_nothing_behind(backend: str) -> None:
    server = prepared(backend)
    outcome = changed(server, [OTHER])
    assert session_on(server, [OTHER]).confirm(CHANGE_ID) == outcome.after
    after = running(server), persistent(server)
    assert not [path for path in server.files.files if "rnic-network" in path or "ipu-rnic-" in path]
    server.pause(10 * CONFIRM_WITHIN)
    assert (running(server), persistent(server)) == after


@backends
def test_addresses_of_the_file_that_were_not_running(backend: str) -> None:
    """The old file brings them back, and the old running settings go without them."""
    server = prepared(backend)
    server.nics["rnic0"].addresses = []
    before = running(server), persistent(server)
    assert changed(server, [{**OTHER, "addresses": []}]).failure is None
    server.pause(CONFIRM_WITHIN)
    assert (running(server), persistent(server)) == before


@backends
def test_a_wrong_mtu(backend: str) -> None:
    """The driver claims to take it, and does not."""
    server = prepared(backend)
    before = running(server), persistent(server)
    server.refused_mtus = {4200}
    result = changed(server, [OTHER, {"name": "rnic1", "mtu": 9000}]).result()
    assert result["failed_step"]["error"] == (
        "after 30 s interface rnic0: its mtu is 9000, not 4200; the old settings are back"
    )
    assert result["after"] == result["before"]
    assert not result["changed"]
    server.refused_mtus = set()
    assert (running(server), persistent(server)) == before
    assert not [path for path in server.files.files if "rnic-network" in path]


def test_a_device_that_the_kernel_cannot_make() -> None:
    """networkd then has failed on the parent, and has to be asked to try again."""
    server = prepared("networkd")
    server.nics["rnic0"].addresses.remove("10.99.1.1/24")
    before = running(server), persistent(server)
    server.kernel.unsupported = {"vlan"}
    outcome = changed(server, [{"name": "rnic0"}, VLAN])
    assert str(outcome.failure) == "after 30 s interface tenant does not exist; the old settings are back"
    assert (running(server), persistent(server)) == before
    assert server.networkd.failed == set()


def test_a_file_that_networkd_prefers_after_all() -> None:
    """Somebody put it there, but networkd did not know it yet."""
    server = networkd_server()
    other = "/etc/systemd/network/10-site.network"
    server.files.files[other] = File("[Match]\nName=rnic0\n")
    before = running(server), persistent(server)
    outcome = changed(server, [WANTED])
    assert str(outcome.failure) == (
        f"after 30 s interface rnic0: its network_file is '{other}', not "
        "'/etc/systemd/network/50-ipu-rnic0.network'; the old settings are back"
    )
    assert (running(server), persistent(server)) == before


def test_a_service_that_does_not_start() -> None:
    server = prepared("networkd")
    server.systemd.broken_units = {"ipu-vf-rnic0.service"}
    before = running(server), persistent(server)
    outcome = changed(server, [{"name": "rnic0", "virtual_functions": FUNCTIONS}])
    assert "Job for ipu-vf-rnic0.service failed" in str(outcome.failure)
    assert "the old settings are back" in str(outcome.failure)
    assert (running(server), persistent(server)) == before


def test_a_way_back_that_cannot_be_prepared() -> None:
    server = prepared("networkd")
    before = running(server), persistent(server)
    known = server.systemd.systemd_run
    server.systemd.systemd_run = lambda words: server.systemd.systemctl(["no", *words])  # type: ignore[method-assign]
    outcome = changed(server, [OTHER])
    server.systemd.systemd_run = known  # type: ignore[method-assign]
    assert str(outcome.failure).startswith("the way back could not be prepared, nothing was changed: systemd-run")
    assert (running(server), persistent(server)) == before


def test_a_roll_back_that_fails_is_reported() -> None:
    server = prepared("networkd")
    server.refused_mtus = {4200}
    server.systemd.broken_units = {"ipu-rnic-undo.service"}
    outcome = changed(server, [OTHER])
    assert "the old settings could not all be put back: systemctl start ipu-rnic-undo.service" in str(outcome.failure)


def test_a_confirmation_that_finds_something_else() -> None:
    server = prepared("networkd")
    before = running(server), persistent(server)
    changed(server, [OTHER])
    server.nics["rnic0"].mtu = 1500
    assert problem_of_confirmation(server, [OTHER]) == (
        "interface rnic0 is no longer as planned: mtu is 1500, wanted 4200; the old settings were put back"
    )
    assert (running(server), persistent(server)) == before


def test_a_confirmation_while_the_server_is_undoing() -> None:
    server = prepared("networkd")
    changed(server, [OTHER])
    server.files.rename(f"{DIRECTORY}/{ARMED}", f"{DIRECTORY}/{UNDOING}")
    with pytest.raises(DeviceError, match="the server was just putting the old settings back"):
        checkpoint_on(server).confirm(CHANGE_ID)


def test_a_confirmation_without_the_default_route() -> None:
    server = prepared("networkd")
    changed(server, [OTHER])
    server.kernel.default_device = ""
    assert "the default route through eno1 is gone; the old" in problem_of_confirmation(server, [OTHER])
    assert server.nics["rnic0"].mtu == 9000


def test_the_next_run_waits_for_the_decision() -> None:
    server = prepared("networkd")
    changed(server, [OTHER])
    with pytest.raises(Refused, match=r"a change of rnic0 waits for its confirmation until .* UTC; let it be"):
        changed(server, [OTHER])
    assert server.run(["systemctl", "start", "ipu-rnic-undo.service"])[0] == 0
    assert server.systemd.timers == {}


def test_the_next_run_waits_for_the_undoing() -> None:
    """It has failed, on a full disk for example, and is tried again."""
    server = prepared("networkd")
    changed(server, [OTHER])
    server.files.rename(f"{DIRECTORY}/{ARMED}", f"{DIRECTORY}/{UNDOING}")
    with pytest.raises(Refused, match=r"putting the old settings back; it tries again every 30 s, and `journalctl"):
        changed(server, [OTHER])


def test_a_change_whose_timer_is_gone() -> None:
    server = prepared("networkd")
    changed(server, [OTHER])
    server.systemd.timers.clear()
    with pytest.raises(Refused, match=r"its timer is gone; undo it with `systemctl start ipu-rnic-undo.service`"):
        changed(server, [OTHER])
    assert server.run(["systemctl", "start", "ipu-rnic-undo.service"])[0] == 0
    assert server.nics["rnic0"].mtu == 9000
    confirmed(server, [OTHER])
    assert server.nics["rnic0"].mtu == 4200


class ControlNode:
    """Runs the phases of the module on a server; ``cut`` loses the connection in a phase, ``answer`` all answers."""

    def __init__(self, server: TinyServer, options: list[dict[str, Any]], lost_in: str = "", lost_for: int = 1) -> None:
        self.server = server
        self.options = options
        self.phases: list[str] = []
        self._lost_in = lost_in
        self._losses = lost_for

    def result(self, reconnect: Callable[[], None] = lambda: None) -> dict[str, Any]:
        return carried_out(self._call, reconnect, self.server.pause, CONFIRM_WITHIN)

    def _call(self, phase: str) -> dict[str, Any]:
        self.phases.append(phase)
        if phase == CHANGE:
            outcome = changed(self.server, self.options)
            answer = {**outcome.result(), **({"armed": True} if outcome.steps and not outcome.failure else {})}
        if (phase == self._lost_in or self.phases[0] != phase) and self._losses and self._lost_in in self.phases:
            self._losses -= 1
            raise Lost("no route to host")
        if phase == CHANGE:
            return answer
        session = session_on(self.server, self.options)
        if phase == CONFIRM:
            try:
                return {"after": session.confirm(CHANGE_ID)}
            except DeviceError as error:
                return {"failed": True, "msg": str(error)}
        log = checkpoint_on(self.server).undone()
        pending = checkpoint_on(self.server).is_pending()
        return {"after": session.read(), "pending": pending, "undo_log": None if log is None else log.splitlines()}


def test_one_phase_without_a_change_and_two_with_one() -> None:
    server = prepared("networkd")
    node = ControlNode(server, [OTHER])
    result = node.result()
    assert node.phases == ["change", "confirm"]
    assert result["after"]["interface"]["rnic0"]["mtu"] == 4200
    assert "armed" not in result
    again = ControlNode(server, [OTHER])
    assert not again.result()["changed"]
    assert again.phases == ["change"]


def test_a_new_connection_that_comes_too_late() -> None:
    server = prepared("networkd")
    result = ControlNode(server, [OTHER]).result(reconnect=lambda: server.pause(CONFIRM_WITHIN))
    assert result["msg"] == (
        "the change was not confirmed: the server has put the old settings back before the confirmation"
    )
    assert "+ networkctl reload" in result["undo_log"]
    assert result["after"] == result["before"]
    assert result["failed"]
    assert not result["changed"]


@pytest.mark.parametrize("phase", [CHANGE, CONFIRM])
def test_a_lost_connection(phase: str) -> None:
    server = prepared("networkd")
    before = running(server), persistent(server)
    node = ControlNode(server, [OTHER], lost_in=phase)
    result = node.result()
    assert result["failed"]
    assert result["msg"].endswith(
        "(no route to host); the server has undone it at its deadline: the old settings are back"
    )
    assert "+ networkctl reload" in result["undo_log"]
    assert not result["changed"]
    assert (running(server), persistent(server)) == before


def test_a_server_that_does_not_come_back() -> None:
    server = prepared("networkd")
    before = running(server), persistent(server)
    result = ControlNode(server, [OTHER], lost_in=CONFIRM, lost_for=99).result()
    assert "it cannot be reached 60 s after its deadline of 120 s either" in result["msg"]
    assert result["after"] is None
    assert (running(server), persistent(server)) == before
