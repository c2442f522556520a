# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change that cuts a server off goes back by itself, also when the control node dies and the server is reset."""

from __future__ import annotations

from typing import Any

import pytest

# Long enough for a slow machine, and short enough to wait for.
DEADLINE = 40
NEVER = 3600


def cut_off(number: int) -> list[dict[str, Any]]:
    """A wrong address: with it, the server's way back to the control node leads into the data plane."""
    wrong = f"10.3.1.15{number}/25"
    return [
        {"name": "rnic0"},
        {"name": "rnic0.101", "type": "vlan", "parent": "rnic0", "vlan_id": 101, "addresses": [wrong]},
    ]


@pytest.fixture(scope="module", name="before")
def _before(bed: Any) -> dict[str, Any]:
    return {name: bed.settings(name) for name in ("pod001-poplar1", "pod001-poplar2")}


@pytest.fixture(scope="module", name="outcome", autouse=True)
def _outcome(bed: Any, before: dict[str, Any]) -> Any:
    """Both servers are cut off at once: one control node waits for its server, the other one dies."""
    first, second = before
    boot = bed.boot(second)
    patient = bed.begin("change", server=first, backend="networkd", interfaces=cut_off(1), confirm_within=DEADLINE)
    dying = bed.begin("change", server=second, backend="netplan", interfaces=cut_off(2), confirm_within=NEVER)
    bed.until(lambda: not bed.answers("pod001-ipum1", "10.5.1.102"), "the second server was not changed")
    dying.kill()
    bed.reset(second)
    run = patient.end()
    bed.wait_for_boot(second, boot)
    return run


def test_the_report_says_that_the_server_has_undone_it(outcome: Any) -> None:
    assert outcome.code != 0
    assert "cannot be reached since the change" in outcome.messages or "the connection broke" in outcome.messages
    assert "the old settings are back" in outcome.messages


@pytest.mark.parametrize("name", ["pod001-poplar1", "pod001-poplar2"])
def test_the_old_settings_run_and_are_kept(bed: Any, before: dict[str, Any], name: str) -> None:
    assert bed.settings(name) == before[name]


@pytest.mark.parametrize("name", ["pod001-poplar1", "pod001-poplar2"])
def test_nothing_is_armed_any_more(bed: Any, name: str) -> None:
    server = bed.server(name)
    assert server.run("systemctl is-active ipu-rnic-undo.timer").rc != 0
    assert server.run("systemctl is-enabled ipu-rnic-undo.service").rc != 0


def test_the_journal_of_the_boot_says_what_was_put_back(bed: Any) -> None:
    """The root file system was not writable when it began."""
    server = bed.server("pod001-poplar2")
    assert "ro" in server.check_output("cat /proc/cmdline").split()
    said = server.check_output("journalctl --boot --unit ipu-rnic-undo.service --output cat").splitlines()
    assert "put back /etc/netplan/62-ipu-rnic0.101.yaml" in said
    assert "undone" in said


@pytest.mark.parametrize("address", ["10.5.1.101", "10.5.1.102", "10.5.1.112"])
def test_the_tenants_vlan_is_back(bed: Any, address: str) -> None:
    """The last of them by NetworkManager, which has also been through the reset."""
    assert bed.answers("pod001-ipum1", address)


def test_what_is_declared_is_still_there(bed: Any) -> None:
    run = bed.play("declared")
    assert run.code == 0, run.messages
    assert run.changes == []
